package decrypt_test

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/getsops/sops/v3"
	sopsage "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/keyservice"
	"github.com/getsops/sops/v3/pgp"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
)

const sample = "a: hunter2\nb: 1\n"

// opens fails the test unless the keys open the file as it was.
func opens(t *testing.T, keys *decrypt.Keys, file []byte) {
	t.Helper()
	plain, err := keys.Data(file, decrypt.YAML, decrypt.YAML)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample, string(plain)); diff != "" {
		t.Errorf("what was opened (-want +got):\n%s", diff)
	}
}

func newKeys(t *testing.T, data map[string]string) *decrypt.Keys {
	t.Helper()
	raw := map[string][]byte{}
	for name, value := range data {
		raw[name] = []byte(value)
	}
	keys, err := decrypt.NewKeys(raw)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// noKey fails the test unless err is a NoKeyError for these recipients. It returns the reasons.
func noKey(t *testing.T, err error, recipients ...string) []string {
	t.Helper()
	var none *decrypt.NoKeyError
	if !errors.As(err, &none) {
		t.Fatalf("error %v, want a NoKeyError", err)
	}
	if diff := cmp.Diff(recipients, none.Recipients); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
	return none.Reasons
}

func ageKey(t *testing.T, recipient fmt.Stringer) *sopsage.MasterKey {
	t.Helper()
	key, err := sopsage.MasterKeyFromRecipient(recipient.String())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestPostQuantumAge(t *testing.T) {
	owner, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	file, err := decrypttest.Encrypt([]byte(sample), decrypt.YAML, "", owner.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(owner.String(), "AGE-SECRET-KEY-PQ-1") || !bytes.Contains(file, []byte("recipient: age1pq1")) {
		t.Fatal("the key is not a post-quantum one")
	}
	opens(t, newKeys(t, map[string]string{"x.agekey": "# pq\n" + owner.String() + "\n" + identity(t).String()}), file)

	_, err = keys(t, identity(t)).Data(file, decrypt.YAML, decrypt.YAML)
	noKey(t, err, owner.Recipient().String())
	if len(err.Error()) > 300 {
		t.Errorf("the error is %d letters long", len(err.Error()))
	}
}

// pgpKey makes a PGP key of a profile and returns it with its armor.
func pgpKey(t *testing.T, config *packet.Config, passphrase string) (*openpgp.Entity, string) {
	t.Helper()
	entity, err := openpgp.NewEntity("Ops", "", "ops@example.dev", config)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := armor.Encode(&out, openpgp.PrivateKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if passphrase != "" {
		if err := entity.EncryptPrivateKeys([]byte(passphrase), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := entity.SerializePrivateWithoutSigning(w, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return entity, out.String() + "\n"
}

// pgpService closes data keys for PGP keys as gpg does, and leaves the others to the library.
type pgpService struct {
	keyservice.LocalClient
	entities openpgp.EntityList
}

func pgpFor(entities ...*openpgp.Entity) pgpService {
	return pgpService{LocalClient: keyservice.NewLocalClient(), entities: entities}
}

func fingerprint(e *openpgp.Entity) string { return fmt.Sprintf("%X", e.PrimaryKey.Fingerprint) }

func (s pgpService) Encrypt(ctx context.Context, in *keyservice.EncryptRequest, o ...grpc.CallOption) (*keyservice.EncryptResponse, error) {
	key, ok := in.Key.KeyType.(*keyservice.Key_PgpKey)
	if !ok {
		return s.LocalClient.Encrypt(ctx, in, o...)
	}
	var out bytes.Buffer
	w, err := armor.Encode(&out, "PGP MESSAGE", nil)
	if err != nil {
		return nil, err
	}
	for _, e := range s.entities {
		if fingerprint(e) != key.PgpKey.Fingerprint {
			continue
		}
		body, err := openpgp.Encrypt(w, []*openpgp.Entity{e}, nil, &openpgp.FileHints{IsBinary: true}, nil)
		if err != nil {
			return nil, err
		}
		if _, err := body.Write(in.Plaintext); err != nil {
			return nil, err
		}
		err = errors.Join(body.Close(), w.Close())
		return &keyservice.EncryptResponse{Ciphertext: out.Bytes()}, err
	}
	return nil, errors.New("no such PGP key")
}

func (s pgpService) close(t *testing.T, recipe decrypttest.Recipe) []byte {
	t.Helper()
	recipe.Service = s
	file, err := decrypttest.EncryptAs([]byte(sample), decrypt.YAML, recipe)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPGP(t *testing.T) {
	// Neither a home nor a program may be of use.
	t.Setenv("GNUPGHOME", t.TempDir())
	t.Setenv("PATH", "")
	profiles := map[string]*packet.Config{
		"rsa":        {Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048},
		"curve25519": {Algorithm: packet.PubKeyAlgoEdDSA, Curve: packet.Curve25519, DefaultHash: crypto.SHA256},
	}
	for name, profile := range profiles {
		t.Run(name, func(t *testing.T) {
			owner, armored := pgpKey(t, profile, "")
			_, other := pgpKey(t, profile, "")
			file := pgpFor(owner).close(t,
				decrypttest.Recipe{Groups: []sops.KeyGroup{{pgp.NewMasterKeyFromFingerprint(fingerprint(owner))}}})

			opens(t, newKeys(t, map[string]string{"x.asc": armored}), file)
			opens(t, newKeys(t, map[string]string{"both.asc": other + armored}), file)
			_, err := newKeys(t, map[string]string{"x.asc": other}).Data(file, decrypt.YAML, decrypt.YAML)
			noKey(t, err, "pgp "+fingerprint(owner))
		})
	}
}

// TestShamir opens what needs two of three groups, each of another kind or holder.
func TestShamir(t *testing.T) {
	a, b := identity(t), identity(t)
	c, armored := pgpKey(t, nil, "")
	file := pgpFor(c).close(t, decrypttest.Recipe{
		Groups: []sops.KeyGroup{
			{ageKey(t, a.Recipient())},
			{ageKey(t, b.Recipient()), ageKey(t, identity(t).Recipient())},
			{pgp.NewMasterKeyFromFingerprint(fingerprint(c))},
		},
		Threshold: 2,
	})
	opens(t, newKeys(t, map[string]string{"a.agekey": a.String(), "c.asc": armored}), file)
	opens(t, decrypt.Merge(keys(t, a), nil, keys(t, b)), file)
	for name, k := range map[string]*decrypt.Keys{"one group": keys(t, b), "none": {}} {
		_, err := k.Data(file, decrypt.YAML, decrypt.YAML)
		var none *decrypt.NoKeyError
		if !errors.As(err, &none) || len(none.Recipients) != 4 {
			t.Errorf("%s: error %v, want a NoKeyError with four recipients", name, err)
		}
	}
}

func TestNewKeysNamesTheEntry(t *testing.T) {
	_, locked := pgpKey(t, nil, "NOTONE")
	cases := map[string]struct {
		reason, entry, value, want string
	}{
		"age line":         {"an identity that is none", "bad.agekey", "# fine\nAGE-SECRET-KEY-1NOTONE\n", "line 2"},
		"age empty":        {"only comments", "bad.agekey", "# NOTONE\n", "no age identity"},
		"age recipient":    {"the public half", "bad.agekey", "age1NOTONE", "line 1"},
		"pgp passphrase":   {"nobody can be asked for it", "bad.asc", locked, "protected by a passphrase"},
		"pgp garbage":      {"a block that is none", "bad.asc", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nNOTONE\n-----END PGP PRIVATE KEY BLOCK-----", "not an armored"},
		"pgp no block":     {"no armor", "bad.asc", "NOTONE", "no armored"},
		"vault empty":      {"the library would look for one", "sops.vault-token", " \n", "not a token"},
		"vault words":      {"a token is one word", "sops.vault-token", "s.NOTONE x", "not a token"},
		"aws no secret":    {"half an account", "sops.aws-kms", "aws_access_key_id: NOTONE", `"aws_secret_access_key" is missing`},
		"aws no id":        {"the other half", "sops.aws-kms", "aws_secret_access_key: NOTONE", `"aws_access_key_id" is missing`},
		"aws INI":          {"the file of the aws command", "sops.aws-kms", "[default]\naws_access_key_id = NOTONE\n", "not a YAML"},
		"vault no URL":     {"a host without a scheme may be of either", "sops.vault-addresses", "https://a NOTONE", "not a list of URLs"},
		"vault no server":  {"", "sops.vault-addresses", " \n", "names no URL"},
		"azure path":       {"", "sops.azure-kv-addresses", "https://a/NOTONE", "not a list of URLs"},
		"azure empty":      {"no client", "sops.azure-kv", "tenantId: NOTONE", `"clientId" is missing`},
		"azure no tenant":  {"a secret without its tenant", "sops.azure-kv", "clientId: x\nclientSecret: NOTONE", `"tenantId" is missing`},
		"azure no secret":  {"nothing to sign in with", "sops.azure-kv", "clientId: x\ntenantId: NOTONE", `"clientSecret" or "clientCertificate"`},
		"azure bad cert":   {"a certificate that is none", "sops.azure-kv", "clientId: x\ntenantId: y\nclientCertificate: NOTONE", `"clientCertificate" is unusable`},
		"azure bad tenant": {"a tenant that is none", "sops.azure-kv", "clientId: x\ntenantId: NOT/ONE\nclientSecret: NOTONE", `"tenantId" is unusable`},
		"gcp no JSON":      {"no object", "sops.gcp-kms", "NOTONE", "not a YAML"},
		"gcp other type":   {"it would read files of the machine", "sops.gcp-kms", `{"type": "external_account", "x": "NOTONE"}`, `"type" is not`},
		"gcp no type":      {"no kind", "sops.gcp-kms", `{"client_email": "NOTONE"}`, `"type" is missing`},
		"gcp no key":       {"no key", "sops.gcp-kms", `{"type": "service_account", "client_email": "NOTONE"}`, `"private_key" is missing`},
		"gcp bad key":      {"a key that is none", "sops.gcp-kms", `{"type": "service_account", "client_email": "x", "private_key": "NOTONE"}`, `"private_key" is not a PEM`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := decrypt.NewKeys(map[string][]byte{c.entry: []byte(c.value)})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q: ", c.entry)) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%s: error %v, want the entry and %q", c.reason, err, c.want)
			}
			if strings.Contains(err.Error(), "NOTONE") {
				t.Errorf("%s: the error shows the value: %v", c.reason, err)
			}
		})
	}
}

func TestDigest(t *testing.T) {
	a, b := identity(t).String(), identity(t).String()
	_, armored := pgpKey(t, nil, "")
	sets := map[string]map[string]string{
		"age":      {"x.agekey": a},
		"same key": {"y.agekey": a},
		"another":  {"x.agekey": b},
		"pgp":      {"x.asc": armored},
		"vault":    {"sops.vault-token": "s.one"},
		"vault 2":  {"sops.vault-token": "s.two"},
		"vault 3":  {"sops.vault-token": "s.two", "sops.vault-addresses": "https://a"},
		"aws":      {"sops.aws-kms": "aws_access_key_id: x\naws_secret_access_key: y"},
		"azure":    {"sops.azure-kv": "clientId: x\ntenantId: y\nclientSecret: z"},
		"azure 2":  {"sops.azure-kv": "appId: x\ntenant: y\npassword: z"},
		"managed":  {"sops.azure-kv": "clientId: x"},
		"nothing":  {},
	}
	seen := map[string]string{}
	for name, data := range sets {
		digest := newKeys(t, data).Digest()
		if digest != newKeys(t, data).Digest() {
			t.Errorf("%s: the digest changes by itself", name)
		}
		if other := seen[digest]; other != "" {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[digest] = name
	}
	plain := newKeys(t, sets["age"]).Digest()
	if plain != newKeys(t, map[string]string{"x.agekey": a, "note": "b"}).Digest() {
		t.Error("an entry that is no key changes the digest")
	}
	one, two := newKeys(t, sets["age"]), newKeys(t, sets["vault"])
	if merged := decrypt.Merge(one, two).Digest(); seen[merged] != "" || merged != decrypt.Merge(one, nil, two).Digest() {
		t.Error("the digest of a merged set does not tell it apart")
	}
}

func TestMergeAndAgeKeys(t *testing.T) {
	owner, global := identity(t), identity(t)
	file := encrypt(t, sample, "", decrypt.YAML, global)
	fallback, err := decrypt.NewAgeKeys(map[string][]byte{
		"age.agekey": []byte(global.String()), "sops.vault-token": []byte("two words"), "x.asc": []byte("none"),
	})
	if err != nil {
		t.Fatalf("entries that are no age identities are not left alone: %v", err)
	}
	opens(t, decrypt.Merge(keys(t, owner), fallback), file)
	opens(t, decrypt.Merge(nil, fallback), file)
	if decrypt.Merge() != nil || decrypt.Merge(nil, nil) != nil {
		t.Error("of nothing it makes something")
	}
	if _, err := keys(t, owner).Data(file, decrypt.YAML, decrypt.YAML); err == nil {
		t.Error("merging changed a set of keys")
	}
	if (&decrypt.Keys{}).Empty() != true || fallback.Empty() {
		t.Error("Empty does not tell whether there is a key")
	}
}

func TestReason(t *testing.T) {
	refused := &url.Error{Op: "Put", URL: "https://v.example/v1", Err: errors.New("connection refused")}
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"not sent":   {"the cause, without the way to it", fmt.Errorf("a: b: attempt 3, RequestID: 17: %w", refused), `Put "https://v.example/v1": connection refused`},
		"no answer":  {"the same each time", fmt.Errorf("a: %w", &url.Error{Op: "Put", Err: context.DeadlineExceeded}), "no response in time"},
		"by grpc":    {"its code", fmt.Errorf("a: %w", status.Error(codes.PermissionDenied, "no")), "PermissionDenied: no"},
		"of lines":   {"one line", errors.New("a\n  b"), "a b"},
		"long":       {"it is cut", errors.New(strings.Repeat("x", 300) + "end"), strings.Repeat("x", 188) + "…xxxxxxxxxend"},
		"of no type": {"as it is", errors.New("no"), "no"},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, decrypt.Reason(c.err)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

// FuzzNewKeys searches for entries of a Secret that break the parser, or show in its errors.
func FuzzNewKeys(f *testing.F) {
	names := []string{"x.agekey", "x.asc", "sops.vault-token", "sops.aws-kms", "sops.azure-kv", "sops.gcp-kms"}
	f.Add(uint8(0), []byte("# one\nAGE-SECRET-KEY-1X"))
	f.Add(uint8(1), []byte("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlFgE\n-----END PGP PRIVATE KEY BLOCK-----\n"))
	f.Add(uint8(3), []byte("aws_access_key_id: x\naws_secret_access_key: y"))
	f.Add(uint8(4), []byte("\xff\xfea\x00"))
	f.Add(uint8(4), []byte("{\"tenantId\": \"a\", \"clientId\": \"b\", \"clientCertificate\": \"-----BEGIN CERTIFICATE-----\"}"))
	f.Add(uint8(5), []byte("{\"type\": \"service_account\"}"))
	f.Fuzz(func(t *testing.T, kind uint8, value []byte) {
		keys, err := decrypt.NewKeys(map[string][]byte{names[int(kind)%len(names)]: value})
		if (keys == nil) == (err == nil) {
			t.Errorf("keys %v beside the error %v", keys, err)
		}
	})
}
