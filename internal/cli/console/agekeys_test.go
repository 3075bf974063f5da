package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

// TestGivenKeys reads the keys of a file, or of the environment where no file is named, and says which is no key.
func TestGivenKeys(t *testing.T) {
	one, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "age.agekey")
	if err := os.WriteFile(file, []byte("# a comment\n"+one.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, env, named string
		from, failure    string
	}{
		"None":    {},
		"File":    {file: file, env: "nonsense", from: "--age-key-file " + file},
		"Key":     {env: one.String(), named: "/nowhere", from: "SOPS_AGE_KEY"},
		"Named":   {named: file, from: "SOPS_AGE_KEY_FILE " + file},
		"Missing": {named: "/nowhere", failure: "SOPS_AGE_KEY_FILE /nowhere"},
		"No key":  {env: "nonsense", failure: "SOPS_AGE_KEY: line 1 is not an age identity"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SOPS_AGE_KEY", c.env)
			t.Setenv("SOPS_AGE_KEY_FILE", c.named)
			text, from, err := GivenKeys(c.file)
			if c.failure != "" {
				if err == nil || !strings.Contains(err.Error(), c.failure) || strings.Contains(err.Error(), "nonsense") {
					t.Fatalf("error %v, want %q", err, c.failure)
				}
				return
			}
			if err != nil || from != c.from || (from != "") != strings.Contains(string(text), one.String()) {
				t.Errorf("%d bytes of %q, %v; want %q", len(text), from, err, c.from)
			}
		})
	}
}
