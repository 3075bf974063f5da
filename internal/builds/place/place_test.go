package place_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate-dev/headgate/internal/builds/place"
)

func TestOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/two.yaml":     "# first\napiVersion: v1\nkind: Secret\nmetadata:\n  name: one\n---\napiVersion: x/v1\nkind: Object\nmetadata: {name: two}\nspec:\n  forProvider:\n    manifest: {metadata: {generateName: x-}}\n",
		"b.json":         `{"kind": "Droplet", "metadata": {"name": "d"}, "spec": {"image": ""}}`,
		"template.yaml":  "kind: Secret\nmetadata: {name: {{ .Values.x }}}\n",
		"notes.txt":      "kind: Secret\nmetadata: {name: text}\n",
		".git/x.yaml":    "kind: Secret\nmetadata: {name: git}\n",
		"untracked.yaml": "kind: Secret\nmetadata: {name: untracked}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	only := map[string]bool{"a/two.yaml": true, "b.json": true, "template.yaml": true}
	x := place.Find(dir, only)
	for name, c := range map[string]struct{ kind, name, field, want string }{
		"a field":           {"Object", "two", "generateName", "a/two.yaml:12: "},
		"a missing field":   {"Secret", "one", "image", "a/two.yaml:3: "},
		"JSON":              {"Droplet", "d", "image", "b.json:1: "},
		"not YAML":          {"Secret", "text", "kind", ""},
		"Git":               {"Secret", "git", "kind", ""},
		"a file of no list": {"Secret", "untracked", "kind", ""},
		"unknown":           {"Secret", "nothing", "kind", ""},
	} {
		if got := x.Of(c.kind, c.name, c.field); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := place.Find(dir, nil).Of("Secret", "untracked", "kind"); got != "untracked.yaml:1: " {
		t.Errorf("without a list: %q", got)
	}
	if got := place.Find("", nil).Of("Secret", "one", "kind"); got != "" {
		t.Errorf("without a directory: %q", got)
	}
}
