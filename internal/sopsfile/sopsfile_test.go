package sopsfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/sopsfile"
)

// owner is an identity, and the keys that it makes.
type owner struct {
	recipient string
	keys      *decrypt.Keys
}

func newOwner(t *testing.T) owner {
	t.Helper()
	file, recipient, err := sopsfile.NewIdentity(false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := decrypt.ParseAge(file)
	if err != nil {
		t.Fatal(err)
	}
	return owner{recipient, keys}
}

// write makes files in a directory of their own and returns it. ME in a file becomes the recipient.
func (o owner) write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "ME", o.recipient)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// open returns the content of an encrypted file.
func (o owner) open(t *testing.T, name string, data []byte) string {
	t.Helper()
	file, err := sopsfile.Open(name, data, o.keys, false)
	if err != nil {
		t.Fatalf("opening what was encrypted: %v\n%s", err, data)
	}
	return string(file.Plain())
}

func TestNewIdentity(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		quantum bool
		want    string
	}{
		"classic":      {false, `^# created: 2026-01-02T03:04:05Z\n# public key: (age1[a-z0-9]{58})\nAGE-SECRET-KEY-1[A-Z0-9]+\n$`},
		"post-quantum": {true, `^# created: 2026-01-02T03:04:05Z\n# public key: (age1pq1[a-z0-9]+)\nAGE-SECRET-KEY-PQ-1[A-Z0-9]+\n$`},
	} {
		file, recipient, err := sopsfile.NewIdentity(c.quantum, at)
		if err != nil {
			t.Fatal(err)
		}
		match := regexp.MustCompile(c.want).FindSubmatch(file)
		if match == nil || string(match[1]) != recipient {
			t.Errorf("%s: the file is not that of age-keygen, or of another key", name)
		}
		if identities, err := age.ParseIdentities(bytes.NewReader(file)); err != nil || len(identities) != 1 {
			t.Errorf("%s: age reads %d identities, %v", name, len(identities), err)
		}
	}
}

func TestEncrypt(t *testing.T) {
	me := newOwner(t)
	const secret = "apiVersion: v1\nkind: Secret\nmetadata:\n    name: x # kept\nstringData:\n    password: hunter2\n"
	cases := map[string]struct {
		reason, rules, file, plain string
		clear, closed              []string
	}{
		"regex":           {"only what the rule names", "creation_rules: [{path_regex: \\.sops\\.yaml$, encrypted_regex: ^stringData$, age: ME}]", "a/x.sops.yaml", secret, []string{"name: x # kept", "encrypted_regex: ^stringData$"}, []string{"hunter2"}},
		"unencrypted":     {"all but what the rule names", "creation_rules: [{unencrypted_regex: ^metadata$, age: [ME]}]", "x.yaml", secret, []string{"name: x"}, []string{"hunter2", "kind: Secret"}},
		"suffix":          {"by the ends of keys", "creation_rules: [{encrypted_suffix: word, age: ME}]", "x.yaml", secret, []string{"kind: Secret"}, []string{"hunter2"}},
		"default suffix":  {"what the sops command leaves out", "creation_rules: [{age: ME}]", "x.yaml", "a: hunter2\nb_unencrypted: seen\n", []string{"b_unencrypted: seen"}, []string{"hunter2"}},
		"mac of values":   {"a setting of the rule", "creation_rules: [{age: ME, encrypted_regex: word, mac_only_encrypted: true}]", "x.yaml", secret, []string{"mac_only_encrypted: true"}, []string{"hunter2"}},
		"first rule wins": {"an earlier rule over a later one", "creation_rules: [{path_regex: ^a/, encrypted_regex: ^metadata$, age: ME}, {age: ME}]", "a/x.yaml", "metadata:\n    name: x\nb: hunter2\n", []string{"hunter2"}, []string{"name: x"}},
		"key groups":      {"of several holders", "creation_rules: [{key_groups: [{age: [ME]}, {age: [ME]}], shamir_threshold: 2}]", "x.yaml", "a: hunter2\n", []string{"shamir_threshold: 2"}, []string{"hunter2"}},
		"indentation":     {"as the rules say", "stores: {yaml: {indent: 2}}\ncreation_rules: [{encrypted_regex: word, age: ME}]", "x.yaml", "a:\n    b: 1\n", []string{"a:\n  b: 1\n"}, nil},
		"json":            {"by the name", "creation_rules: [{age: ME}]", "x.json", "{\n\t\"a\": \"hunter2\"\n}", []string{`"sops": {`}, []string{"hunter2"}},
		"dotenv":          {"by the name", "creation_rules: [{age: ME}]", "x.env", "A=hunter2\n", []string{"sops_mac="}, []string{"hunter2"}},
		"ini":             {"by the name", "creation_rules: [{age: ME}]", "x.ini", "[a]\nb = hunter2\n", []string{"[sops]"}, []string{"hunter2"}},
		"binary":          {"rules about keys do not concern it", "creation_rules: [{encrypted_regex: ^x$, age: ME}]", "tls.key", "hunter2", []string{`"data": "ENC[`}, []string{"hunter2"}},
		"nearest rules":   {"those of the directory over those above", "creation_rules: [{age: none}]", "near/x.yaml", "a: hunter2\n", nil, []string{"hunter2"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := me.write(t, map[string]string{".sops.yaml": c.rules, "near/.sops.yaml": "creation_rules: [{age: ME}]"})
			out, err := sopsfile.Encrypt(filepath.Join(dir, c.file), []byte(c.plain))
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			for _, want := range c.clear {
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("%s: no %q in\n%s", c.reason, want, out)
				}
			}
			for _, hidden := range c.closed {
				if bytes.Contains(out, []byte(hidden)) {
					t.Errorf("%s: %q is in clear in\n%s", c.reason, hidden, out)
				}
			}
			want := c.plain
			if name == "indentation" {
				want = "a:\n  b: 1\n"
			}
			if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(me.open(t, filepath.Join(dir, c.file), out))); diff != "" {
				t.Errorf("%s: what comes back (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestEncryptRefuses(t *testing.T) {
	me := newOwner(t)
	t.Setenv("PATH", "")
	t.Setenv("GNUPGHOME", t.TempDir())
	cases := map[string]struct {
		reason, rules, plain, want string
		is                         error
	}{
		"no rule":       {"no rule matches", "creation_rules: [{path_regex: ^other$, age: ME}]", "a: hunter2", ".sops.yaml matches it", nil},
		"empty rules":   {"there are none", "stores: {}", "a: hunter2", ".sops.yaml matches it", nil},
		"no recipients": {"nobody could open it", "creation_rules: [{path_regex: x}]", "a: hunter2", "names no recipients", nil},
		"bad recipient": {"a typing error", "creation_rules: [{age: age1x}]", "a: hunter2", "creation rule 1 of", nil},
		"bad regex":     {"a typing error", "creation_rules: [{path_regex: '(', age: ME}]", "a: hunter2", "path_regex of creation rule 1", nil},
		"two regexes":   {"the library has one", "creation_rules: [{age: ME, encrypted_regex: a, unencrypted_regex: b}]", "a: hunter2", "more than one of", nil},
		"encrypted":     {"twice is a mistake", "creation_rules: [{age: ME}]", "a: hunter2\nsops: {}", "", sopsfile.ErrEncrypted},
		"syntax":        {"the line and not the text", "creation_rules: [{age: ME}]", "a: 1\nb: hunter2: c\n", "line 2 is not valid yaml", nil},
		"empty":         {"nothing to encrypt", "creation_rules: [{age: ME}]", "", "it is empty", nil},
		"pgp":           {"what PGP takes", "creation_rules: [{pgp: 85D77543B3D624B63CEA9E6DBC17301B491B3F21}]", "a: hunter2", "requires the gpg command, which is not installed", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := me.write(t, map[string]string{".sops.yaml": c.rules})
			out, err := sopsfile.Encrypt(filepath.Join(dir, "x.yaml"), []byte(c.plain))
			if err == nil || out != nil || (c.is != nil && !errors.Is(err, c.is)) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%s: error %v, want %q", c.reason, err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: the error shows a value: %v", c.reason, err)
			}
		})
	}
}

// line returns the line of a text that begins with a word.
func line(t *testing.T, text []byte, word string) string {
	t.Helper()
	for _, one := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(strings.TrimSpace(one), word) {
			return one
		}
	}
	t.Fatalf("no line begins with %q in\n%s", word, text)
	return ""
}

func TestReplace(t *testing.T) {
	me := newOwner(t)
	dir := me.write(t, map[string]string{".sops.yaml": "creation_rules: [{age: ME}]"})
	name := filepath.Join(dir, "x.yaml")
	before, err := sopsfile.Encrypt(name, []byte("# note\na: hunter2\nb: [1, 2]\nc: old\n"))
	if err != nil {
		t.Fatal(err)
	}
	// The rules of today do not matter for a file that was encrypted.
	if err := os.WriteFile(filepath.Join(dir, ".sops.yaml"), []byte("creation_rules: [{age: "+newOwner(t).recipient+"}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := sopsfile.Open(name, before, me.keys, false)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"a: [": "is not valid", "sops: {}": "already encrypted", "": "empty"} {
		if _, err := file.Replace([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("replacing by %q: error %v, want %q", text, err, want)
		}
	}
	const plain = "# note\na: hunter2\nb: [1, 3]\nc: new\nd: more\n"
	after, err := file.Replace([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []string{"a: ENC", "#ENC", "recipient:", "YWdl"} {
		if line(t, before, same) != line(t, after, same) {
			t.Errorf("the line %q has changed without need", same)
		}
	}
	for _, other := range []string{"c: ENC", "mac:"} {
		if line(t, before, other) == line(t, after, other) {
			t.Errorf("the line %q has not changed", other)
		}
	}
	if got := me.open(t, name, after); !strings.Contains(got, "c: new\nd: more\n") || !strings.Contains(got, "# note") {
		t.Errorf("the content is now\n%s", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	me, other := newOwner(t), newOwner(t)
	name := filepath.Join(me.write(t, map[string]string{".sops.yaml": "creation_rules: [{age: ME, encrypted_regex: ^a$}]"}), "x.yaml")
	file, err := sopsfile.Encrypt(name, []byte("a: hunter2\nb: seen\n"))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(file, []byte("b: seen"), []byte("b: forged"), 1)
	if _, err := sopsfile.Open(name, changed, me.keys, false); !errors.Is(err, sopsfile.ErrMAC) {
		t.Errorf("a changed file: error %v, want ErrMAC", err)
	}
	opened, err := sopsfile.Open(name, changed, me.keys, true)
	if err != nil || !bytes.Contains(opened.Plain(), []byte("b: forged")) {
		t.Errorf("a changed file is not opened by force: %v", err)
	}
	if _, err := sopsfile.Open(name, []byte("a: hunter2\n"), me.keys, false); !errors.Is(err, sopsfile.ErrNotEncrypted) {
		t.Errorf("a plain file: error %v, want ErrNotEncrypted", err)
	}
	var none *decrypt.NoKeyError
	if _, err := sopsfile.Open(name, file, other.keys, false); !errors.As(err, &none) || none.Recipients[0] != me.recipient {
		t.Errorf("a foreign file: error %v, want a NoKeyError for %s", err, me.recipient)
	}
	broken := bytes.Replace(file, []byte("lastmodified: \""), []byte("lastmodified: \"x"), 1)
	if _, err := sopsfile.Open(name, broken, me.keys, false); err == nil || !strings.Contains(err.Error(), "metadata is invalid") {
		t.Errorf("broken metadata: error %v", err)
	}
}

// TestVersion keeps the version that files say they are written in that of the library.
func TestVersion(t *testing.T) {
	me := newOwner(t)
	name := filepath.Join(me.write(t, map[string]string{".sops.yaml": "creation_rules: [{age: ME}]"}), "x.yaml")
	file, err := sopsfile.Encrypt(name, []byte("a: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	modules, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`getsops/sops/v3 v(\S+)`).FindSubmatch(modules)
	if match == nil || !strings.Contains(line(t, file, "version:"), string(match[1])) {
		t.Errorf("the file says %q, go.mod has %q", line(t, file, "version:"), match)
	}
}
