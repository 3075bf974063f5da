package source_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

// tree makes a tree; a content that begins with "->" is a symbolic link.
func tree(t testing.TB, files map[string]string) *source.Tree {
	t.Helper()
	made, err := source.NewTree(list(files))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func list(files map[string]string) []*source.File {
	var made []*source.File
	for name, content := range files {
		if len(content) >= 2 && content[:2] == "->" {
			made = append(made, source.NewLink(name, content[2:]))
			continue
		}
		made = append(made, source.NewFile(name, 0o644, []byte(content)))
	}
	return made
}

func TestNewTreeRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  []*source.File
	}{
		"up":       {"a path that leaves the tree", list(map[string]string{"../x": ""})},
		"absolute": {"a path that begins at the root", list(map[string]string{"/x": ""})},
		"unclean":  {"a path that is not clean", list(map[string]string{"a//b": ""})},
		"dot":      {"the tree itself", list(map[string]string{".": ""})},
		"clash":    {"a file that is a directory", list(map[string]string{"a": "", "a/b": ""})},
		"below":    {"a file below a link", list(map[string]string{"a": "->/etc", "a/passwd": ""})},
		"twice":    {"a path given twice", append(list(map[string]string{"a": ""}), list(map[string]string{"a": "x"})...)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := source.NewTree(c.files); err == nil {
				t.Errorf("%s was taken", c.reason)
			}
		})
	}
}

func TestTreeDigest(t *testing.T) {
	base := map[string]string{"a": "1", "b/c": "2", "l": "->a"}
	same := tree(t, base).Digest()
	if tree(t, base).Digest() != same {
		t.Error("equal trees have different digests")
	}
	for reason, change := range map[string]map[string]string{
		"a content": {"a": "2", "b/c": "2", "l": "->a"}, "a path": {"a": "1", "b/d": "2", "l": "->a"},
		"a link": {"a": "1", "b/c": "2", "l": "->b"}, "a kind": {"a": "1", "b/c": "2", "l": "a"},
	} {
		if tree(t, change).Digest() == same {
			t.Errorf("%s does not change the digest", reason)
		}
	}
}

func TestResolve(t *testing.T) {
	made := tree(t, map[string]string{
		"apps/x": "x", "link": "->apps", "apps/up": "->../link/x", "out": "->../etc", "abs": "->/etc/passwd",
		"one": "->two", "two": "->one", "apps/root": "->..", "hidden": "->apps/../../etc",
	})
	cases := map[string]struct {
		reason, path, want string
		fails              bool
	}{
		"plain":     {"a path without links", "apps/x", "apps/x", false},
		"directory": {"a link to a directory", "link/x", "apps/x", false},
		"twice":     {"a link through a link", "link/up", "apps/x", false},
		"root":      {"a link to the root", "apps/root/apps/x", "apps/x", false},
		"unclean":   {"a path is cleaned", "/apps/../apps/./x", "apps/x", false},
		"missing":   {"what there is not", "apps/none", "apps/none", false},
		"out":       {"a link out of the tree", "out", "", true},
		"absolute":  {"a link to the root of the machine", "abs", "", true},
		"hidden":    {"a link that leaves the tree on its way", "hidden", "", true},
		"circle":    {"links in a circle", "one", "", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := made.Resolve(c.path)
			if (err != nil) != c.fails || got != c.want {
				t.Errorf("%s: %q, %v; want %q", c.reason, got, err, c.want)
			}
		})
	}
	entries, ok := made.Entries("apps")
	if diff := cmp.Diff([]string{"root", "up", "x"}, entries); diff != "" || !ok {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
