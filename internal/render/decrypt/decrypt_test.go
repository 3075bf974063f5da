package decrypt_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
)

func identity(t testing.TB) *age.X25519Identity {
	t.Helper()
	made, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func keys(t testing.TB, identities ...*age.X25519Identity) *decrypt.Keys {
	t.Helper()
	data := map[string][]byte{}
	for i, one := range identities {
		data[string(rune('a'+i))+".agekey"] = []byte("# a comment\n" + one.String() + "\n")
	}
	made, err := decrypt.NewKeys(data)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func encrypt(t testing.TB, plain, regex string, format decrypt.Format, to *age.X25519Identity) []byte {
	t.Helper()
	out, err := decrypttest.Encrypt([]byte(plain), format, regex, to.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestObject(t *testing.T) {
	owner := identity(t)
	const plain = "apiVersion: v1\nkind: Secret\nmetadata:\n    name: x\nstringData:\n    password: hunter2\n    big: \"1\"\nspec:\n    id: 9007199254740993\n"
	object := map[string]any{}
	if err := yaml.Unmarshal(encrypt(t, plain, "^(data|stringData)$", decrypt.YAML, owner), &object); err != nil {
		t.Fatal(err)
	}
	object["spec"] = map[string]any{"id": int64(9007199254740993)}
	got, err := keys(t, identity(t), owner).Object(object)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "x"},
		"stringData": map[string]any{"password": "hunter2", "big": "1"}, "spec": map[string]any{"id": int64(9007199254740993)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the object (-want +got):\n%s", diff)
	}
}

func TestSecretData(t *testing.T) {
	owner := identity(t)
	const docker = "auths:\n    r.example:\n        auth: eA==\n"
	cases := map[string]struct {
		reason, key string
		data        []byte
		want        string
	}{
		"yaml":              {"a file is written as it was", "values.yaml", encrypt(t, docker, "", decrypt.YAML, owner), docker},
		"dotenv":            {"a file of variables is written as it was", "x.env", encrypt(t, "A=1\nB=two\n", "", decrypt.Dotenv, owner), "A=1\nB=two\n"},
		"ini":               {"an INI file is written as it was", "x.ini", encrypt(t, "[s]\nk = v\n", "", decrypt.INI, owner), "[s]\nk = v\n"},
		"binary":            {"any other file is written as it was", "tls.key", encrypt(t, "BEGIN\nkey", "", decrypt.Binary, owner), "BEGIN\nkey"},
		"docker from yaml":  {"the key asks for JSON", ".dockerconfigjson", encrypt(t, docker, "", decrypt.YAML, owner), "{\n\t\"auths\": {\n\t\t\"r.example\": {\n\t\t\t\"auth\": \"eA==\"\n\t\t}\n\t}\n}"},
		"variables to json": {"the key asks for JSON", "a.json", encrypt(t, "A=1\n", "", decrypt.Dotenv, owner), "{\n\t\"A\": \"1\"\n}"},
		"plain":             {"what is not encrypted stays", "note", []byte("sops: is a tool, mac: it computes"), "sops: is a tool, mac: it computes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data := map[string]any{c.key: base64.StdEncoding.EncodeToString(c.data), "broken": "%%%"}
			found, err := keys(t, owner).SecretData(data)
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			if want := c.want != string(c.data); found != want {
				t.Errorf("%s: found is %v", c.reason, found)
			}
			got, err := base64.StdEncoding.DecodeString(data[c.key].(string))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(c.want), strings.TrimSpace(string(got))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestNoKeyFits(t *testing.T) {
	owner, other := identity(t), identity(t)
	file := encrypt(t, "a: hunter2\n", "", decrypt.YAML, owner)
	stranger, err := decrypt.NewKeys(map[string][]byte{"x.agekey": []byte(other.String())})
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]*decrypt.Keys{"another key": stranger, "no key": {}} {
		_, err := k.Data(file, decrypt.YAML, decrypt.YAML)
		var none *decrypt.NoKeyError
		if !errors.As(err, &none) {
			t.Fatalf("%s: error %v, want a NoKeyError", name, err)
		}
		if diff := cmp.Diff([]string{owner.Recipient().String()}, none.Recipients); diff != "" {
			t.Errorf("%s: recipients (-want +got):\n%s", name, diff)
		}
	}
}

func TestDamaged(t *testing.T) {
	owner := identity(t)
	file := string(encrypt(t, "a: hunter2\nb: hunter3\n", "", decrypt.YAML, owner))
	at := strings.Index(file, "data:") + len("data:")
	flipped := []byte(file)
	flipped[at] ^= 1
	for name, data := range map[string]string{
		"changed value": string(flipped),
		"no metadata":   "a: ENC[AES256_GCM,data:x]\n",
		"no YAML":       "a: b: c",
		"empty":         "",
	} {
		_, err := keys(t, owner).Data([]byte(data), decrypt.YAML, decrypt.YAML)
		if err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// FuzzData searches for files on which decryption panics.
func FuzzData(f *testing.F) {
	owner := identity(f)
	f.Add(encrypt(f, "a: 1\n", "", decrypt.YAML, owner), uint8(decrypt.YAML), uint8(decrypt.JSON))
	f.Add(encrypt(f, "A=1\n", "", decrypt.Dotenv, owner), uint8(decrypt.Dotenv), uint8(decrypt.Binary))
	f.Add(encrypt(f, "x", "", decrypt.Binary, owner), uint8(decrypt.Binary), uint8(decrypt.INI))
	opened := keys(f, owner)
	f.Fuzz(func(t *testing.T, data []byte, in, out uint8) {
		const formats = uint8(decrypt.INI) + 1
		plain, err := opened.Data(data, decrypt.Format(in%formats), decrypt.Format(out%formats))
		if err != nil && plain != nil {
			t.Errorf("content beside the error %v", err)
		}
	})
}
