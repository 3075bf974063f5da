package sopsfile_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/sopsfile"
)

const secretManifest = `apiVersion: v1
kind: Secret
metadata:
  name: x
stringData:
  password: hunter2
  empty: ""
`

// configManifest is what rules for Secrets often match by the way.
const configManifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: hunter2\n"

// findings checks files and returns what is found, without the directory.
func findings(t *testing.T, dir string, names []string, keys *decrypt.Keys) []string {
	t.Helper()
	var files []string
	for _, name := range names {
		files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
	}
	found, err := sopsfile.Check(files, keys)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, one := range found {
		text := strings.ReplaceAll(one.String(), dir+string(filepath.Separator), "")
		if strings.Contains(text, "hunter2") {
			t.Errorf("a finding shows a value: %s", text)
		}
		texts = append(texts, text)
	}
	return texts
}

func TestCheckFindsWhatIsInClear(t *testing.T) {
	const byName = `creation_rules: [{path_regex: \.sops\.yaml$, encrypted_regex: "^(data|stringData)$", age: ME}]`
	const anyYAML = `creation_rules: [{path_regex: .*\.yaml, encrypted_regex: "^(data|stringData)$", age: ME}, {path_regex: .*\.env, age: ME}]`
	const any = `creation_rules: [{age: ME}]`
	cases := map[string]struct {
		reason, rules string
		files         map[string]string
		want          []string
	}{
		"a Secret": {
			"its values, not its name", byName,
			map[string]string{"a/x.sops.yaml": secretManifest},
			[]string{"a/x.sops.yaml:6: stringData.password must be encrypted, but is in clear text"},
		},
		"an object that is named to be encrypted": {
			"the rule is about this file", byName,
			map[string]string{"x.sops.yaml": configManifest},
			[]string{"x.sops.yaml:5: data.a must be encrypted, but is in clear text"},
		},
		"not matched": {"no rule says so", byName, map[string]string{"x.yaml": secretManifest}, nil},
		"any YAML": {
			"among objects only Secrets are meant, and no other text", anyYAML,
			map[string]string{"s.yaml": secretManifest, "c.yaml": configManifest, "values.yaml": "data: {a: hunter2}", "bad.yaml": "{{ if }}: [", "x.env": "A=1\n\nB=hunter2\n"},
			[]string{
				"s.yaml:6: stringData.password must be encrypted, but is in clear text",
				"x.env:1: A must be encrypted, but is in clear text", "x.env:3: B must be encrypted, but is in clear text",
			},
		},
		"any file": {
			"a rule without a path means Secrets", any,
			map[string]string{"README.md": "hunter2", "s.yaml": "apiVersion: v1\nkind: Secret\n", "values.yaml": "a: hunter2", "kustomization.yaml": "resources: [a]"},
			[]string{"s.yaml:1: apiVersion must be encrypted, but is in clear text", "s.yaml:2: kind must be encrypted, but is in clear text"},
		},
		"a directory": {
			"whatever is in it, but for objects that are no Secrets", `creation_rules: [{path_regex: ^secrets/, age: ME}]`,
			map[string]string{"secrets/tls.key": "hunter2", "secrets/kustomization.yaml": "resources: [a]", "secrets/v.yaml": "a:\n- b: hunter2\n- b: 1\n", "secrets/.keep": ""},
			[]string{
				"secrets/tls.key:1: must be encrypted, but is in clear text",
				"secrets/v.yaml:2: a.b must be encrypted, but is in clear text", "secrets/v.yaml:3: a.b must be encrypted, but is in clear text",
			},
		},
		"documents": {
			"each by itself, with its lines", anyYAML,
			map[string]string{"x.yaml": configManifest + "---\n" + secretManifest},
			[]string{"x.yaml:12: stringData.password must be encrypted, but is in clear text"},
		},
		"formats": {
			"lines of JSON and INI", `creation_rules: [{path_regex: "^x\\.", age: ME}]`,
			map[string]string{"x.json": "{\n\t\"a\": {\n\t\t\"b\": [\"hunter2\", null,\n\t\t3]\n\t}\n}", "x.ini": "[a]\n\nb = hunter2\n"},
			[]string{
				"x.ini:3: a.b must be encrypted, but is in clear text",
				"x.json:3: a.b must be encrypted, but is in clear text", "x.json:4: a.b must be encrypted, but is in clear text",
			},
		},
		"many": {
			"a few are named", byName,
			map[string]string{"x.sops.yaml": "data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"},
			append(slices.Repeat([]string{"x.sops.yaml:1: data must be encrypted, but is in clear text"}, 10), "x.sops.yaml:1: and 2 more values"),
		},
		"syntax":         {"what cannot be read is not encrypted", byName, map[string]string{"x.sops.yaml": "a: 1\nb: c: hunter2\n"}, []string{"x.sops.yaml:2: must be encrypted, but is not: line 2 is not valid yaml"}},
		"number as key":  {"SOPS cannot encrypt it", byName, map[string]string{"x.sops.yaml": "data: {1: hunter2}"}, []string{"x.sops.yaml:1: document 1 cannot be checked or encrypted: a key in it is not a string"}},
		"lost metadata":  {"nobody can open it any more", byName, map[string]string{"y.yaml": "a: 1\nb: ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]\n"}, []string{"y.yaml:2: b is encrypted, but the file has no sops metadata"}},
		"broken rules":   {"they are told of once", `creation_rules: [{path_regex: "(", age: ME}]`, map[string]string{"a.yaml": secretManifest, "b.yaml": secretManifest}, []string{".sops.yaml:1: .sops.yaml: path_regex of creation rule 1: error parsing regexp: missing closing ): `(`"}},
		"bad recipients": {"the same", `creation_rules: [{age: age1x}]`, map[string]string{"a.yaml": secretManifest, "b.yaml": secretManifest}, []string{".sops.yaml:1: creation rule 1 of .sops.yaml: failed to parse input as Bech32-encoded age public key: malformed recipient \"age1x\": separator '1' at invalid position: pos=3, len=5"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(c.files)
			files[".sops.yaml"] = c.rules
			dir := newOwner(t).write(t, files)
			names := slices.Sorted(maps.Keys(files))
			if diff := cmp.Diff(c.want, findings(t, dir, append(names, "gone.yaml"), nil)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestCheckOfEncryptedFiles(t *testing.T) {
	me, other := newOwner(t), newOwner(t)
	dir := me.write(t, map[string]string{".sops.yaml": "creation_rules: [{encrypted_regex: ^stringData$, age: ME}]"})
	name := filepath.Join(dir, "x.yaml")
	file, err := sopsfile.Encrypt(name, []byte(secretManifest))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, old, now string
		keys             *decrypt.Keys
		want             []string
	}{
		"fine":          {"nothing is wrong", "", "", me.keys, nil},
		"no keys":       {"whether it opens is not asked", "", "", nil, nil},
		"empty keys":    {"the same", "", "", &decrypt.Keys{}, nil},
		"foreign key":   {"the recipients are named", "", "", other.keys, []string{"x.yaml:1: none of the keys can decrypt it; it is encrypted for " + me.recipient}},
		"added value":   {"it never was encrypted", "stringData:\n", "stringData:\n    more: hunter2\n", nil, []string{"x.yaml:6: stringData.more is in clear text in an encrypted file"}},
		"changed value": {"its code does not fit", "name: x", "name: y", me.keys, []string{"x.yaml:1: " + sopsfile.ErrMAC.Error()}},
		"metadata":      {"it cannot be read", `lastmodified: "`, `lastmodified: "x`, nil, []string{"x.yaml:1: its sops metadata is invalid"}},
		"no recipients": {"nobody is left", "age:", "none:", nil, []string{"x.yaml:1: its sops metadata is invalid"}},
		"moved":         {"the metadata is no more", "\nsops:", "\nspos:", nil, []string{"x.yaml:6: stringData.password is encrypted, but the file has no sops metadata"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data := strings.Replace(string(file), c.old, c.now, 1)
			if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, findings(t, dir, []string{"x.yaml"}, c.keys)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// FuzzCheck searches for files that break the check, or show in its findings.
func FuzzCheck(f *testing.F) {
	dir := f.TempDir()
	rules := "creation_rules: [{path_regex: x, age: age1dc65w5gkyh4pdappjsyuldyuequpda4sykcd26ehrka0rfk54dps2suna0}]"
	if err := os.WriteFile(filepath.Join(dir, ".sops.yaml"), []byte(rules), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(secretManifest), uint8(0))
	f.Add([]byte("{\"a\": [1, {\"b\": null}]}"), uint8(1))
	f.Add([]byte("a: &x [1]\nb: *x\nsops: {lastmodified: 1}\n"), uint8(0))
	f.Add([]byte("a=1\nsops_mac=ENC[AES256_GCM,"), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, end uint8) {
		file := filepath.Join(dir, "x"+[]string{".yaml", ".json", ".env", ".ini", ".key"}[end%5])
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sopsfile.Check([]string{file}, nil); err != nil {
			t.Fatal(err)
		}
	})
}
