package inspect_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/cli/inspect"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// TestValidateKeys validates an example with encrypted files: manifests, and one that a generator reads.
func TestValidateKeys(t *testing.T) {
	const example = "../../../examples/layered"
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	another := identity.String() + "\n"
	wrong := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(wrong, []byte(another), 0o600); err != nil {
		t.Fatal(err)
	}
	files := []string{"apps/shop/payment.yaml", "bootstrap/secrets.yaml", "controllers/database/database.env"}
	for name, c := range map[string]struct {
		reason string
		args   []string
		env    string
		// problems are said of each file; summary is a part of the last line.
		problem, summary string
	}{
		"right":       {reason: "everything is decrypted", args: []string{"--age-key-file", example + "/age.agekey"}, summary: " 0 problems\n"},
		"wrong":       {reason: "a key that is given has to decrypt", args: []string{"--age-key-file", wrong}, problem: "the key of --age-key-file " + wrong + " decrypts nothing of it: it is encrypted for age1", summary: " 3 problems\n"},
		"environment": {reason: "also one of the environment", env: another, problem: "the key of SOPS_AGE_KEY decrypts nothing of it", summary: " 3 problems\n"},
		"none":        {reason: "without a key nothing fails, and the summary says it", summary: " 0 problems; " + strings.Join(files, ", ") + " are not decrypted: no key for them is given\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SOPS_AGE_KEY", c.env)
			t.Setenv("SOPS_AGE_KEY_FILE", "")
			var stdout, stderr bytes.Buffer
			cmd := inspect.NewValidate(&console.Globals{IO: console.IO{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, Catalogue: dialects.All()})
			cmd.SetArgs(append([]string{example}, c.args...))
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			if err := cmd.ExecuteContext(t.Context()); (err == nil) != (c.problem == "") {
				t.Errorf("%s: error %v", c.reason, err)
			}
			for _, file := range files {
				if c.problem != "" && !strings.Contains(stdout.String(), file+":1: error: "+c.problem) {
					t.Errorf("%s: nothing is said of %s:\n%s", c.reason, file, &stdout)
				}
			}
			if !strings.HasSuffix(stderr.String(), c.summary) || strings.Contains(stdout.String(), "SECRET-KEY-1") {
				t.Errorf("%s: %s%s", c.reason, &stdout, &stderr)
			}
		})
	}
}
