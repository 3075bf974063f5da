package compose_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/compose"
)

// treeOf makes a tree of contents by path; a content that begins with "->" is a symbolic link.
func treeOf(t *testing.T, contents map[string]string) *source.Tree {
	t.Helper()
	var files []*source.File
	for p, content := range contents {
		if target, link := strings.CutPrefix(content, "->"); link {
			files = append(files, source.NewLink(p, target))
			continue
		}
		files = append(files, source.NewFile(p, 0o644, []byte(content)))
	}
	tree, err := source.NewTree(files)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func contentsOf(t *testing.T, tree *source.Tree) map[string]string {
	t.Helper()
	contents := map[string]string{}
	for _, p := range tree.Paths() {
		f, _ := tree.File(p)
		data, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		contents[p] = string(data)
	}
	return contents
}

func archive(t *testing.T, contents map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	if _, _, err := source.Pack(treeOf(t, contents), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func repo(t *testing.T) map[string]string {
	return map[string]string{
		"app.yaml": "a: 1", "README.md": "read me",
		"deploy/front/x.yaml": "x: 1", "deploy/front/notes.md": "notes", "deploy/front/test/t.yaml": "t: 1",
		"deploy/back/y.yaml": "y: 1", "deploy/linked": "->front/test", "deploy/alias.yaml": "->back/y.yaml",
		"deploy/outside": "->../../etc/passwd", "deploy/self": "->.", "charts/a-1.tgz": archive(t, map[string]string{"a/Chart.yaml": "name: a", "a/values.yaml": "v: 1"}),
		"charts/notes.txt": "no archive", "charts/old/b.tar.gz": archive(t, map[string]string{"b/Chart.yaml": "name: b"}),
	}
}

func TestCompose(t *testing.T) {
	tests := map[string]struct {
		reason string
		copies []compose.Copy
		want   map[string]string
		err    string
	}{
		"file under its name": {
			"a file goes into a directory under its own name",
			[]compose.Copy{{From: "@repo/app.yaml", To: "@artifact/apps/"}},
			map[string]string{"apps/app.yaml": "a: 1"},
			"",
		},
		"file under another": {
			"or under the name that is given",
			[]compose.Copy{{From: "@repo/app.yaml", To: "@artifact/apps/b.yaml"}},
			map[string]string{"apps/b.yaml": "a: 1"},
			"",
		},
		"file to a directory that is there": {
			"a directory that an earlier operation made is a directory",
			[]compose.Copy{{From: "@repo/deploy/back/**", To: "@artifact/apps/"}, {From: "@repo/app.yaml", To: "@artifact/apps"}},
			map[string]string{"apps/y.yaml": "y: 1", "apps/app.yaml": "a: 1"},
			"",
		},
		"directory": {
			"a directory is copied under its own name",
			[]compose.Copy{{From: "@repo/deploy/back/", To: "@artifact/to"}},
			map[string]string{"to/back/y.yaml": "y: 1"},
			"",
		},
		"what is in a directory": {
			"dir/** names what is in it, at any depth",
			[]compose.Copy{{From: "@repo/deploy/front/**", To: "@artifact/"}},
			map[string]string{"x.yaml": "x: 1", "notes.md": "notes", "test/t.yaml": "t: 1"},
			"",
		},
		"pattern": {
			"other patterns keep the paths of what they match, and take directories with all that is in them",
			[]compose.Copy{{From: "@repo/deploy/f*", To: "@artifact/to/"}},
			map[string]string{"to/deploy/front/x.yaml": "x: 1", "to/deploy/front/notes.md": "notes", "to/deploy/front/test/t.yaml": "t: 1"},
			"",
		},
		"deep pattern": {
			"** matches any number of directories, none as well",
			[]compose.Copy{{From: "@repo/**/{x,app}.yaml", To: "@artifact/"}},
			map[string]string{"app.yaml": "a: 1", "deploy/front/x.yaml": "x: 1"},
			"",
		},
		"exclude": {
			"a pattern without / names files at any depth, one with / is relative to the source or to what is before the pattern",
			[]compose.Copy{{From: "@repo/deploy/front/**", To: "@artifact/", Exclude: []string{"*.md", "test/**"}}},
			map[string]string{"x.yaml": "x: 1"},
			"",
		},
		"exclude from the root": {
			"the path in the source counts too",
			[]compose.Copy{{From: "@repo/deploy/front", To: "@artifact/", Exclude: []string{"deploy/front/test", "**/*.md"}}},
			map[string]string{"front/x.yaml": "x: 1"},
			"",
		},
		"exclude the one file": {
			"a file that is named and excluded is no failure",
			[]compose.Copy{{From: "@repo/app.yaml", To: "@artifact/", Exclude: []string{"app.yaml"}}},
			map[string]string{},
			"",
		},
		"links": {
			"what links name stands in their place; what leaves the tree or goes in circles is left out",
			[]compose.Copy{{From: "@repo/deploy/**", To: "@artifact/", Exclude: []string{"front/**", "back"}}},
			map[string]string{"alias.yaml": "y: 1", "linked/t.yaml": "t: 1"},
			"",
		},
		"overwrite": {
			"a later operation wins",
			[]compose.Copy{{From: "@repo/app.yaml", To: "@artifact/a"}, {From: "@repo/deploy/back/y.yaml", To: "@artifact/a"}},
			map[string]string{"a": "y: 1"},
			"",
		},
		"merge": {
			"mappings are merged, lists replaced, documents laid one over the other",
			[]compose.Copy{{From: "@values/base.yaml", To: "@artifact/values.yaml"}, {From: "@values/prod.yaml", To: "@artifact/values.yaml", Strategy: compose.Merge}},
			map[string]string{"values.yaml": "deep:\n  kept: 1\n  new: 3\n  set: 2\nlist:\n- 9\nother: true\n"},
			"",
		},
		"merge into nothing": {
			"it is a copy when nothing is there",
			[]compose.Copy{{From: "@values/prod.yaml", To: "@artifact/v.yaml", Strategy: compose.Merge}},
			map[string]string{"v.yaml": "deep: {set: 2}\nlist: [9]\n---\ndeep: {new: 3}\nother: true\n"},
			"",
		},
		"extract": {
			"an archive gives what it holds",
			[]compose.Copy{
				{From: "@repo/charts/a-1.tgz", To: "@artifact/"}, {From: "@repo/charts/a-1.tgz", To: "@artifact/charts", Strategy: compose.Extract},
			},
			map[string]string{"a-1.tgz": archive(t, map[string]string{"a/Chart.yaml": "name: a", "a/values.yaml": "v: 1"}), "charts/a/Chart.yaml": "name: a", "charts/a/values.yaml": "v: 1"},
			"",
		},
		"extract many": {
			"a pattern passes over what is no archive",
			[]compose.Copy{{From: "@repo/charts/**", To: "@artifact/", Strategy: compose.Extract, Exclude: []string{"a-*"}}},
			map[string]string{"b/Chart.yaml": "name: b"},
			"",
		},
		"no alias":       {"", []compose.Copy{{From: "@other/x", To: "@artifact/"}}, nil, `copy[0].from: no source has the alias "other"`},
		"no file":        {"", []compose.Copy{{From: "@repo/app.yaml", To: "@artifact/"}, {From: "@repo/nope", To: "@artifact/"}}, nil, `copy[1].from: "nope" does not exist in source "repo"`},
		"no match":       {"", []compose.Copy{{From: "@repo/*.json", To: "@artifact/"}}, nil, `copy[0].from: nothing matches "*.json" in source "repo"`},
		"all excluded":   {"", []compose.Copy{{From: "@repo/*.md", To: "@artifact/", Exclude: []string{"*.md"}}}, nil, `copy[0].from: everything that matches is excluded "*.md" in source "repo"`},
		"leaves source":  {"", []compose.Copy{{From: "@repo/../x", To: "@artifact/"}}, nil, `copy[0].from: path "../x" leaves the root`},
		"leaves":         {"", []compose.Copy{{From: "@repo/app.yaml", To: "@artifact/a/../../x"}}, nil, `copy[0].to: path "a/../../x" leaves the root`},
		"no artifact":    {"", []compose.Copy{{From: "@repo/app.yaml", To: "@repo/x"}}, nil, `copy[0].to: "@repo/x": want @artifact/PATH`},
		"no source":      {"", []compose.Copy{{From: "app.yaml", To: "@artifact/"}}, nil, `copy[0].from: "app.yaml": want @ALIAS/PATH`},
		"bad pattern":    {"", []compose.Copy{{From: "@repo/[", To: "@artifact/"}}, nil, `copy[0].from: pattern "[" is invalid`},
		"bad exclude":    {"", []compose.Copy{{From: "@repo/**", To: "@artifact/", Exclude: []string{"a", "[*.md"}}}, nil, `copy[0].exclude[1]: pattern "[*.md" is invalid`},
		"dear pattern":   {"", []compose.Copy{{From: "@repo/" + strings.Repeat("{a,?}", 20) + "b", To: "@artifact/"}}, nil, "its braces stand for more than 1000 patterns"},
		"bad strategy":   {"", []compose.Copy{{From: "@repo/**", To: "@artifact/", Strategy: "Move"}}, nil, `copy[0].strategy: "Move" is not one of Overwrite, Merge, Extract`},
		"file below one": {"", []compose.Copy{{From: "@repo/app.yaml", To: "@artifact/a"}, {From: "@repo/app.yaml", To: "@artifact/a/b"}}, nil, `copy[1].to: copying "app.yaml": "a" is a file in the artifact, not a directory`},
		"over a directory": {
			"",
			[]compose.Copy{{From: "@repo/app.yaml", To: "@artifact/README.md/x"}, {From: "@repo/*.md", To: "@artifact/"}},
			nil,
			`copy[1].to: copying "README.md": "README.md" is a directory in the artifact`,
		},
		"merge of no YAML":   {"", []compose.Copy{{From: "@repo/app.yaml", To: "@artifact/a"}, {From: "@repo/README.md", To: "@artifact/a", Strategy: compose.Merge}}, nil, `copy[1].to: copying "README.md": merging: reading "README.md": a document is not a YAML mapping`},
		"extract a file":     {"", []compose.Copy{{From: "@repo/app.yaml", To: "@artifact/", Strategy: compose.Extract}}, nil, `copy[0].from: "app.yaml" is not an archive (.tar.gz, .tgz) in source "repo"`},
		"extract a dir":      {"", []compose.Copy{{From: "@repo/charts", To: "@artifact/", Strategy: compose.Extract}}, nil, `copy[0].from: "charts" is a directory`},
		"extract a bad file": {"", []compose.Copy{{From: "@values/bad.tgz", To: "@artifact/", Strategy: compose.Extract}}, nil, `copy[0].to: copying "bad.tgz": unpacking: `},
	}
	sources := map[string]*source.Tree{"repo": treeOf(t, repo(t)), "values": treeOf(t, map[string]string{
		"base.yaml": "deep: {kept: 1, set: 1}\nlist: [1, 2]\n", "prod.yaml": "deep: {set: 2}\nlist: [9]\n---\ndeep: {new: 3}\nother: true\n", "bad.tgz": "no archive",
	})}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := compose.New(sources, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Compose(tt.copies)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("%s: the error is %v, want %q", tt.reason, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			if diff := cmp.Diff(tt.want, contentsOf(t, got)); diff != "" {
				t.Errorf("%s: -want +got\n%s", tt.reason, diff)
			}
			again, err := c.Compose(tt.copies)
			if err != nil || again.Digest() != got.Digest() {
				t.Errorf("composed again it is another tree: %v", err)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	aliases := map[string]bool{"repo": true}
	for text, want := range map[string]string{
		"@repo/a": "", "@other/a": `copy[1].from: no source has the alias "other"`, "@repo/[": "copy[1].from: pattern",
	} {
		err := compose.Check([]compose.Copy{{From: "@repo/{app}/**", To: "@artifact/{app}/"}, {From: text, To: "@artifact/"}}, aliases)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", text, err, want)
		}
	}
}

// TestLinksDoNotMultiply has directories that all link to each other.
func TestLinksDoNotMultiply(t *testing.T) {
	contents := map[string]string{}
	for _, dir := range strings.Split("abcdefghijkl", "") {
		contents[dir+"/file"] = dir
		for _, other := range strings.Split("abcdefghijkl", "") {
			contents[dir+"/to-"+other] = "->../" + other
		}
	}
	_, err := compose.New(map[string]*source.Tree{"repo": treeOf(t, contents)}, "")
	if err == nil || !strings.Contains(err.Error(), `reading source "repo": with the targets of its symbolic links, it has more than`) {
		t.Errorf("the error is %v", err)
	}
}

func TestFind(t *testing.T) {
	c, err := compose.New(map[string]*source.Tree{"repo": treeOf(t, map[string]string{
		"apps/Auth/envs/dev/x": "", "apps/auth.v2/envs/prod/x": "", "apps/pay/other/dev/x": "", "apps/pay/envs/file": "",
	})}, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := compose.ParsePattern("@repo/apps/{app}/envs/{env}/")
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Find(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []compose.Found{
		{Dir: "apps/Auth/envs/dev", Captures: map[string]string{"app": "Auth", "env": "dev"}},
		{Dir: "apps/auth.v2/envs/prod", Captures: map[string]string{"app": "auth.v2", "env": "prod"}},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for text, want := range map[string]string{
		"repo/x": "want @ALIAS/PATH", "@repo/{app": "not a capture", "@repo/app}": "unmatched }", "@repo/{}": "not a capture", "@repo/{a}/{a}": "occurs twice", "@repo/{1}": "not a capture",
	} {
		if _, err := compose.ParsePattern(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", text, err, want)
		}
	}
}

func TestFill(t *testing.T) {
	got, err := compose.Fill("{app}-{env}.x", map[string]string{"app": "a", "env": "b"})
	if err != nil || got != "a-b.x" {
		t.Errorf("got %q, %v", got, err)
	}
	errs := map[string]error{}
	for _, text := range []string{"{other}", "{app", "app}"} {
		if _, err := compose.Fill(text, map[string]string{"app": "a"}); err != nil {
			errs[text] = err
		}
	}
	if len(errs) != 3 {
		t.Errorf("only %v failed: %v", slices.Sorted(maps.Keys(errs)), errors.Join(slices.Collect(maps.Values(errs))...))
	}
}
