package gitserver_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

// other is the tree of another source; a content that begins with "->" is a symbolic link.
func other(t *testing.T, files map[string]string) *source.Tree {
	t.Helper()
	var made []*source.File
	for name, content := range files {
		if target, ok := strings.CutPrefix(content, "->"); ok {
			made = append(made, source.NewLink(name, target))
			continue
		}
		made = append(made, source.NewFile(name, 0o644, []byte(content)))
	}
	tree, err := source.NewTree(made)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestFetchIncludes(t *testing.T) {
	s := serve(t)
	lib := other(t, map[string]string{
		"deploy/base/x.yaml": "x", "deploy/app/link.yaml": "->../base/x.yaml", "deploy/app/dir": "->../base",
		"deploy/app/near.yaml": "->own.yaml", "deploy/app/own.yaml": "own", "deploy/app/out": "->../../../etc",
		"deploy/app/gone": "->../nothing", "deploy/app/abs": "->/deploy/app/own.yaml", "photo.jpg": "jpg", "README.md": "read",
		"ring/a": "->../ring2", "ring2/b": "->../ring", "skip/.sourceignore": "*.tmp\n", "skip/a.tmp": "a", "skip/b": "b",
	})
	with := func(more ...string) []string {
		return slices.Sorted(slices.Values(append(more, "a.yaml", "dir/b.yaml", "version.yaml")))
	}
	cases := map[string]struct {
		reason  string
		include []source.Inclusion
		ignore  string
		want    []string
		says    string
	}{
		"directory": {
			"links within it stay, others are replaced by what they name, and those that lead nowhere left out",
			[]source.Inclusion{{Name: "lib", Tree: lib, From: "./deploy/app/", To: "lib"}},
			"", with("lib/dir/x.yaml", "lib/link.yaml", "lib/near.yaml", "lib/own.yaml"), "",
		},
		"file":        {"a single file", []source.Inclusion{{Name: "lib", Tree: lib, From: "deploy/base/x.yaml", To: "vendor/y.yaml"}}, "", with("vendor/y.yaml"), ""},
		"by link":     {"a directory that a link names", []source.Inclusion{{Name: "lib", Tree: lib, From: "deploy/app/dir", To: "x"}}, "", with("x/x.yaml"), ""},
		"up":          {"no path leaves its tree", []source.Inclusion{{Name: "lib", Tree: lib, From: "../deploy/base", To: "../../x"}}, "", with("x/x.yaml"), ""},
		"into one":    {"a directory that is there already takes more", []source.Inclusion{{Name: "lib", Tree: lib, From: "deploy/base", To: "dir"}}, "", with("dir/x.yaml"), ""},
		"root":        {"the root is a directory too", []source.Inclusion{{Name: "lib", Tree: lib, From: "deploy/base", To: "/"}}, "", with("x.yaml"), ""},
		"rules":       {"the rules of both count", []source.Inclusion{{Name: "lib", Tree: lib, From: "skip", To: "s"}}, "/dir\n", []string{"a.yaml", "s/.sourceignore", "s/b", "version.yaml"}, ""},
		"defaults":    {"and those that count where there are none", []source.Inclusion{{Name: "lib", Tree: other(t, map[string]string{"p.jpg": "", "q": ""}), To: "s"}}, "", with("s/q"), ""},
		"missing":     {"what is not there is named", []source.Inclusion{{Name: "lib", Tree: lib, From: "nope", To: "x"}}, "", nil, `"lib": fromPath "nope" does not exist in its artifact`},
		"taken":       {"nothing is replaced", []source.Inclusion{{Name: "lib", Tree: other(t, map[string]string{"b.yaml": ""}), To: "dir"}}, "", nil, `"lib": path "dir/b.yaml" is already used by the repository itself`},
		"taken twice": {"by another one neither", []source.Inclusion{{Name: "lib", Tree: lib, From: "deploy/base", To: "x"}, {Name: "lib2", Tree: lib, From: "deploy/base", To: "x"}}, "", nil, `"lib2": path "x/x.yaml" is already used by "lib"`},
		"file, root":  {"a file needs a name", []source.Inclusion{{Name: "lib", Tree: lib, From: "README.md", To: "."}}, "", nil, "toPath names no file"},
		"ring":        {"links that go in circles end", []source.Inclusion{{Name: "lib", Tree: lib, From: "ring", To: "x"}}, "", nil, "too many links"},
		"below a file": {
			"a file is no directory", []source.Inclusion{{Name: "lib", Tree: lib, From: "deploy/base", To: "a.yaml"}}, "", nil, "is a file and a directory",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := s.options(source.GitRef{Branch: "main"})
			o.Include = c.include
			if c.ignore != "" {
				o.Ignore = &c.ignore
			}
			got, err := source.FetchGit(t.Context(), o, "", nil)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("%s: error %v, want one with %q", c.reason, err, c.says)
				}
				if name != "below a file" && !errors.Is(err, source.ErrInclude) {
					t.Errorf("%s: %v is no ErrInclude", c.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Tree.Paths()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if want := "main@sha1:" + s.commits["four"]; got.Revision != want {
				t.Errorf("%s: revision %q, want %q", c.reason, got.Revision, want)
			}
		})
	}
}
