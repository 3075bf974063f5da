package secrets_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/cli/secrets"
)

// run runs a command of the command line and returns its exit code, with what it printed.
func run(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	streams := console.IO{In: strings.NewReader(""), Out: &o, Err: &e}
	root, g := &cobra.Command{Use: "headgate", SilenceUsage: true, SilenceErrors: true}, &console.Globals{IO: streams}
	g.Bind(root)
	root.AddCommand(secrets.NewSecret(g))
	root.SetArgs(args)
	ctx := context.Background()
	return console.Exit(ctx, streams, root.ExecuteContext(ctx), ""), o.String(), e.String()
}

// must runs a command that has to succeed, and returns what it printed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := run(args...)
	if code != 0 {
		t.Fatalf("headgate %s: exit code %d\n%s", strings.Join(args, " "), code, errs)
	}
	return out
}

// repository makes a directory with rules for a new key, and has the commands find no other key.
func repository(t *testing.T, files map[string]string) (dir, key string) {
	t.Helper()
	dir, key = t.TempDir(), filepath.Join(t.TempDir(), "age.agekey")
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"XDG_CONFIG_HOME", "SOPS_AGE_KEY", "SOPS_AGE_KEY_FILE", "EDITOR"} {
		t.Setenv(name, "")
	}
	must(t, "secret", "keygen", "-o", key)
	_, recipient, _ := strings.Cut(read(t, key), "# public key: ")
	recipient, _, _ = strings.Cut(recipient, "\n")
	write(t, filepath.Join(dir, ".sops.yaml"), "creation_rules: [{path_regex: \\.sops\\., encrypted_regex: ^stringData$, age: "+recipient+"}]\n")
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	return dir, key
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const manifest = "apiVersion: v1\nkind: Secret\nmetadata:\n    name: x\nstringData:\n    password: hunter2\n    user: shop\n"

func TestKeygen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	code, out, errs := run("secret", "keygen", "--pq", "-o", name)
	if code != 0 || out != "" || !strings.HasPrefix(errs, "public key: age1pq1") {
		t.Errorf("exit code %d, output %q, said %.40q", code, out, errs)
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file: %v, %v, want mode 0600", info, err)
	}
	before := read(t, name)
	if code, _, errs = run("secret", "keygen", "-o", name); code != 2 || !strings.Contains(errs, "exists") || read(t, name) != before {
		t.Errorf("a key that exists: exit code %d, said %q", code, errs)
	}
	if out := must(t, "secret", "keygen"); !strings.Contains(out, "# public key: age1") || !strings.Contains(out, "\nAGE-SECRET-KEY-1") {
		t.Error("the key is not printed in the format of age-keygen")
	}
}

func TestEncryptAndDecrypt(t *testing.T) {
	dir, key := repository(t, map[string]string{"a.sops.yaml": manifest, "b.sops.yaml": manifest, "plain.yaml": manifest})
	a, b := filepath.Join(dir, "a.sops.yaml"), filepath.Join(dir, "b.sops.yaml")
	if out := must(t, "secret", "encrypt", a); strings.Contains(out, "hunter2") || !strings.Contains(out, "name: x") || read(t, a) != manifest {
		t.Errorf("what was printed is not encrypted, or the file has changed:\n%s", out)
	}
	if code, _, errs := run("secret", "encrypt", "-i", a, filepath.Join(dir, "plain.yaml")); code != 2 || !strings.Contains(errs, "no creation rule of "+dir) || read(t, a) != manifest {
		t.Errorf("a file without a rule: exit code %d, said %q", code, errs)
	}
	if code, _, _ := run("secret", "encrypt", a, b); code != 2 {
		t.Errorf("two files at once: exit code %d", code)
	}
	must(t, "secret", "encrypt", "-i", a, b)
	if info, err := os.Stat(a); err != nil || info.Mode() != 0o640 {
		t.Errorf("the file: %v, %v, want the mode that it had", info, err)
	}
	if code, _, errs := run("secret", "encrypt", "-i", a); code != 2 || !strings.Contains(errs, "headgate secret edit "+a) {
		t.Errorf("encrypting twice: exit code %d, said %q", code, errs)
	}
	code, out, errs := run("secret", "decrypt", a)
	if code != 2 || out != "" || !strings.Contains(errs, "it is encrypted for age1") || !strings.Contains(errs, "--age-key-file") {
		t.Errorf("without a key: exit code %d, output %q, said %q", code, out, errs)
	}
	// Keys are found where the sops command finds them.
	config := filepath.Join(t.TempDir(), "sops", "age", "keys.txt")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, config, read(t, key))
	places := map[string]func(t *testing.T) []string{
		"flag": func(*testing.T) []string { return []string{"--age-key-file", key} },
		"file": func(t *testing.T) []string { t.Setenv("SOPS_AGE_KEY_FILE", key); return nil },
		"text": func(t *testing.T) []string { t.Setenv("SOPS_AGE_KEY", read(t, key)); return nil },
		"directory": func(t *testing.T) []string {
			t.Setenv("XDG_CONFIG_HOME", filepath.Dir(filepath.Dir(filepath.Dir(config))))
			return nil
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(manifest, must(t, append([]string{"secret", "decrypt", b}, place(t)...)...)); diff != "" {
				t.Errorf("what was decrypted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEdit(t *testing.T) {
	dir, key := repository(t, map[string]string{"a.sops.yaml": manifest})
	a := filepath.Join(dir, "a.sops.yaml")
	must(t, "secret", "encrypt", "-i", a)
	before := read(t, a)
	edit := func(editor string) (int, string) {
		t.Setenv("EDITOR", editor)
		code, out, errs := run("secret", "edit", a, "--age-key-file", key, "--allow-tmp")
		if out != "" {
			t.Errorf("the editor %q: output %q", editor, out)
		}
		return code, errs
	}
	if code, errs := edit("true"); code != 0 || read(t, a) != before {
		t.Errorf("no change: exit code %d, said %q, and the file is another", code, errs)
	}
	if code, errs := edit("false"); code != 2 || read(t, a) != before {
		t.Errorf("an editor that fails: exit code %d, said %q", code, errs)
	}
	code, errs := edit(`sh -c 'test -e "$0.seen" || { touch "$0.seen"; echo "{" >"$0"; }'`)
	if code != 2 || read(t, a) != before || !strings.Contains(errs, "the saved file was not encrypted") {
		t.Errorf("a text that cannot be read: exit code %d, said %q", code, errs)
	}
	// The file is private, and deleted afterwards.
	seen := filepath.Join(t.TempDir(), "seen")
	code, errs = edit(`sh -c 'ls -ld "$(dirname "$0")" "$0" >` + seen + `; echo "$0" >>` + seen + `; sed -i s/hunter2/hunter3/ "$0"'`)
	if code != 0 {
		t.Fatalf("an edit: exit code %d, said %q", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(read(t, seen)), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "drwx------") || !strings.HasPrefix(lines[1], "-rw-------") {
		t.Errorf("the clear text could be read by others: %q", lines)
	}
	if _, err := os.Stat(filepath.Dir(lines[len(lines)-1])); !os.IsNotExist(err) {
		t.Errorf("the directory of the clear text is still there: %v", err)
	}
	want := strings.Replace(manifest, "hunter2", "hunter3", 1)
	if diff := cmp.Diff(want, must(t, "secret", "decrypt", a, "--age-key-file", key)); diff != "" {
		t.Errorf("what is encrypted now (-want +got):\n%s", diff)
	}
	_, user, _ := strings.Cut(before, "user: ")
	user, _, _ = strings.Cut(user, "\n")
	if !strings.Contains(read(t, a), user) {
		t.Error("a value that stayed is encrypted anew")
	}
}

func TestCheck(t *testing.T) {
	dir, key := repository(t, map[string]string{"a.sops.yaml": manifest, "b.sops.yaml": manifest, "README.md": "hunter2"})
	a := filepath.Join(dir, "a.sops.yaml")
	must(t, "secret", "encrypt", "-i", filepath.Join(dir, "b.sops.yaml"))
	code, out, errs := run("secret", "check", dir)
	want := a + ":6: stringData.password must be encrypted, but is in clear text\n" + a + ":7: stringData.user must be encrypted, but is in clear text\n"
	if code != 1 || out != want || !strings.Contains(errs, "no keys given") {
		t.Errorf("exit code %d, output %q, said %q; want 1 and %q", code, out, errs, want)
	}
	must(t, "secret", "encrypt", "-i", a)
	if out := must(t, "secret", "check", dir, "--age-key-file", key); out != "" {
		t.Errorf("nothing is wrong, but there is %q", out)
	}
	other := filepath.Join(t.TempDir(), "other")
	must(t, "secret", "keygen", "-o", other)
	if code, out, _ := run("secret", "check", a, "--age-key-file", other); code != 1 || !strings.HasPrefix(out, a+":1: none of the keys can decrypt it; it is encrypted for age1") {
		t.Errorf("a foreign key: exit code %d, output %q", code, out)
	}
	if code, _, errs := run("secret", "check", dir, "--cluster", "--state-dir", t.TempDir()); code != 2 || !strings.Contains(errs, "no embedded cluster") {
		t.Errorf("no cluster: exit code %d, said %q", code, errs)
	}
}
