package decrypt_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf16"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azkeys"
	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/azkv"
	"github.com/getsops/sops/v3/gcpkms"
	"github.com/getsops/sops/v3/hcvault"
	sopskeys "github.com/getsops/sops/v3/keys"
	"github.com/getsops/sops/v3/keyservice"
	"github.com/getsops/sops/v3/kms"
	"google.golang.org/grpc"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
)

// strongbox closes and opens texts as the services do, each with a key that never leaves it.
type strongbox struct{ cipher.AEAD }

func newStrongbox(t *testing.T) strongbox {
	t.Helper()
	block, err := aes.NewCipher([]byte(rand.Text()[:16]))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return strongbox{aead}
}

func (s strongbox) close(plain, context string) string {
	nonce := []byte(rand.Text()[:s.NonceSize()])
	return base64.StdEncoding.EncodeToString(s.Seal(nonce, nonce, unbase64(plain), []byte(context)))
}

func (s strongbox) open(closed, context string) (string, bool) {
	raw := unbase64(closed)
	if len(raw) < s.NonceSize() {
		return "", false
	}
	plain, err := s.Open(nil, raw[:s.NonceSize()], raw[s.NonceSize():], []byte(context))
	return base64.StdEncoding.EncodeToString(plain), err == nil
}

func unbase64(text string) []byte {
	raw, _ := base64.StdEncoding.DecodeString(text)
	return raw
}

// server answers requests with JSON and counts them.
func server(t *testing.T, answer func(h http.Header, r *http.Request, body map[string]any) (int, any)) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	asked := &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		code, data := answer(w.Header(), r, body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(data)
	}))
	t.Cleanup(s.Close)
	return s, asked
}

func text(body map[string]any, field string) string {
	value, _ := body[field].(string)
	return value
}

func encryptFor(t *testing.T, key sopskeys.MasterKey) []byte {
	t.Helper()
	file, err := decrypttest.EncryptAs([]byte(sample), decrypt.YAML, decrypttest.Recipe{Groups: []sops.KeyGroup{{key}}})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// refused fails the test unless the keys do not open the file, for these reasons, and without showing
// a secret.
func refused(t *testing.T, k *decrypt.Keys, file []byte, recipient string, reasons ...string) {
	t.Helper()
	_, err := k.Data(file, decrypt.YAML, decrypt.YAML)
	given := noKey(t, err, recipient)
	if strings.Join(given, "\n") != strings.Join(reasons, "\n") {
		t.Errorf("the reasons are %q, want %q", given, reasons)
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("the error shows a secret: %v", err)
	}
}

// vaultServer is the transit engine of Vault, for one token.
func vaultServer(t *testing.T, token string) (*httptest.Server, *atomic.Int32) {
	box := newStrongbox(t)
	return server(t, func(_ http.Header, r *http.Request, body map[string]any) (int, any) {
		fail := func(code int, text string) (int, any) { return code, map[string]any{"errors": []string{text}} }
		if given := r.Header.Get("X-Vault-Token"); given != token {
			return fail(http.StatusForbidden, "permission denied for "+given)
		}
		dir, name := path.Split(r.URL.Path)
		switch dir {
		case "/v1/transit/encrypt/":
			return http.StatusOK, map[string]any{"data": map[string]any{"ciphertext": "vault:v1:" + box.close(text(body, "plaintext"), name), "key_version": 1}}
		case "/v1/transit/decrypt/":
			closed, ours := strings.CutPrefix(text(body, "ciphertext"), "vault:v1:")
			if !ours {
				return fail(http.StatusBadRequest, "invalid ciphertext: no prefix")
			}
			plain, ok := box.open(closed, name)
			if !ok {
				return fail(http.StatusBadRequest, "cipher: message authentication failed")
			}
			return http.StatusOK, map[string]any{"data": map[string]any{"plaintext": plain}}
		default:
			return fail(http.StatusNotFound, "unsupported path")
		}
	})
}

func TestVault(t *testing.T) {
	s, asked := vaultServer(t, "s.hush")
	t.Setenv("VAULT_TOKEN", "s.hush")
	file := encryptFor(t, hcvault.NewMasterKey(s.URL, "transit", "ops"))
	before := asked.Load()
	// The token of the environment, which closed the file, must not open it.
	refused(t, &decrypt.Keys{}, file, "hc_vault "+s.URL+"/v1/transit/keys/ops")
	if asked.Load() != before {
		t.Error("Vault was asked without a token of ours")
	}
	opens(t, newKeys(t, map[string]string{"sops.vault-token": "s.hush\n", "sops.vault-addresses": "https://vault.example, " + s.URL + "/\n"}), file)
	refused(t, newKeys(t, map[string]string{"sops.vault-token": "s.other-hush", "sops.vault-addresses": s.URL}), file,
		"hc_vault "+s.URL+"/v1/transit/keys/ops", "hc_vault: status 403: permission denied for **")
}

// TestVaultOfAStranger: a file may name any server; the token is sent to those that its Secret names.
func TestVaultOfAStranger(t *testing.T) {
	s, asked := vaultServer(t, "s.hush")
	t.Setenv("VAULT_TOKEN", "s.hush")
	closed := string(encryptFor(t, hcvault.NewMasterKey(s.URL, "transit", "ops")))
	for name, tc := range map[string]struct {
		reason            string
		old, new, listing string
		want              string
	}{
		"NoneListed": {
			"a token alone is for no server", "", "", "",
			"the Secret does not say that its token is for " + s.URL + "; if it is, add the entry sops.vault-addresses: " + s.URL,
		},
		"Another":    {"", "", "", "https://vault.example:8200", s.URL + " is not among the URLs of the entry sops.vault-addresses"},
		"OtherPort":  {"", "", "", "http://127.0.0.1", s.URL + " is not among the URLs of the entry sops.vault-addresses"},
		"Encryption": {"http is not https", "", "", strings.Replace(s.URL, "http", "https", 1), s.URL + " is not among the URLs of the entry sops.vault-addresses"},
		"Login":      {"a login before the host is not shown either", "http://", "http://hush:hush@", s.URL, "its address is not the URL of a server"},
		"Path":       {"nor does a path lead elsewhere", "vault_address: " + s.URL, "vault_address: " + s.URL + "/v1/sys?x=", s.URL, "its address is not the URL of a server"},
		"Engine":     {"the token may be able to write elsewhere", "engine_path: transit", "engine_path: transit/../secret", s.URL, "its engine or its key is not a path"},
		"Key":        {"", "key_name: ops", "key_name: ../../secret/data/x", s.URL, "its engine or its key is not a path"},
		"Query":      {"", "key_name: ops", "key_name: ops?x", s.URL, "its engine or its key is not a path"},
	} {
		t.Run(name, func(t *testing.T) {
			before := asked.Load()
			entries := map[string]string{"sops.vault-token": "s.hush"}
			if tc.listing != "" {
				entries["sops.vault-addresses"] = tc.listing
			}
			file := strings.ReplaceAll(closed, tc.old, tc.new)
			if tc.old == "" {
				file = closed
			} else if file == closed {
				t.Fatalf("%q is not in the file", tc.old)
			}
			_, err := newKeys(t, entries).Data([]byte(file), decrypt.YAML, decrypt.YAML)
			var none *decrypt.NoKeyError
			if !errors.As(err, &none) || len(none.Reasons) != 1 || none.Reasons[0] != "hc_vault: not requested: "+tc.want {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if asked.Load() != before {
				t.Errorf("%s: a request was sent", tc.reason)
			}
		})
	}
	policy, err := egress.Run{Remote: true}.Policy()
	if err != nil {
		t.Fatal(err)
	}
	before := asked.Load()
	foreign := newKeys(t, map[string]string{"sops.vault-token": "s.hush", "sops.vault-addresses": s.URL}).Within(policy.Fetches)
	if _, err := foreign.Data([]byte(closed), decrypt.YAML, decrypt.YAML); err == nil || !strings.Contains(err.Error(), "the address is not permitted") || asked.Load() != before {
		t.Errorf("the repository of others reaches this machine: %v", err)
	}
	merged := decrypt.Merge(newKeys(t, map[string]string{"sops.vault-token": "s.hush"}), newKeys(t, map[string]string{"sops.vault-token": "s.other", "sops.vault-addresses": s.URL}))
	if _, err := merged.Data([]byte(closed), decrypt.YAML, decrypt.YAML); err == nil {
		t.Error("a token is for the servers that another Secret names")
	}
}

// TestServersOfClouds: the regions of AWS and the Key Vaults of Azure become names of hosts.
func TestServersOfClouds(t *testing.T) {
	aws, azure := newKeys(t, map[string]string{"sops.aws-kms": "aws_access_key_id: a\naws_secret_access_key: hush"}), &decrypt.Keys{}
	listed := newKeys(t, map[string]string{"sops.azure-kv-addresses": "https://vault.example"})
	requested := 0
	for _, k := range []*decrypt.Keys{azure, listed} {
		k.SetAzure(func(*azkv.MasterKey) { requested++ })
	}
	vault := func(address string) *azkv.MasterKey { return azkv.NewMasterKey(address, "ops", "1") }
	for name, tc := range map[string]struct {
		keys *decrypt.Keys
		key  sopskeys.MasterKey
		want string
	}{
		"Region":    {aws, kms.NewMasterKey("arn:aws:kms:x.evil.example/#:123456789012:key/1", "", nil), "kms: not requested: its ARN is not that of a key"},
		"Stranger":  {azure, vault("https://vault.azure.net.evil.example"), "azure_kv: not requested: https://vault.azure.net.evil.example:443 is not a Key Vault of Microsoft; if it is yours, add the entry sops.azure-kv-addresses: https://vault.azure.net.evil.example:443"},
		"Below":     {azure, vault("https://evil.example/.vault.azure.net"), "azure_kv: not requested: its address is not the URL of a server"},
		"Login":     {azure, vault("https://demo.vault.azure.net@evil.example"), "azure_kv: not requested: its address is not the URL of a server"},
		"Clear":     {azure, vault("http://demo.vault.azure.net"), "azure_kv: not requested: http://demo.vault.azure.net:80 is not a Key Vault of Microsoft; if it is yours, add the entry sops.azure-kv-addresses: http://demo.vault.azure.net:80"},
		"NotListed": {listed, vault("https://demo.vault.azure.net"), "azure_kv: not requested: https://demo.vault.azure.net:443 is not among the URLs of the entry sops.azure-kv-addresses"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.key.SetEncryptedDataKey([]byte("eA=="))
			tree := sops.Tree{Metadata: sops.Metadata{KeyGroups: []sops.KeyGroup{{tc.key}}}}
			_, err := tc.keys.DataKey(&tree)
			var none *decrypt.NoKeyError
			if !errors.As(err, &none) || strings.Join(none.Reasons, "\n") != tc.want {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if requested != 0 {
		t.Errorf("the account of Azure was given away %d times", requested)
	}
}

// kmsServer is AWS KMS, for one access key and with the encryption context as additional data.
func kmsServer(t *testing.T, id, session string) (*httptest.Server, *atomic.Int32) {
	box := newStrongbox(t)
	return server(t, func(_ http.Header, r *http.Request, body map[string]any) (int, any) {
		if !strings.Contains(r.Header.Get("Authorization"), "Credential="+id+"/") || r.Header.Get("X-Amz-Security-Token") != session {
			return http.StatusBadRequest, map[string]any{"__type": "UnrecognizedClientException", "message": "The security token is invalid."}
		}
		sealed, _ := json.Marshal([]any{body["KeyId"], body["EncryptionContext"]})
		switch r.Header.Get("X-Amz-Target") {
		case "TrentService.Encrypt":
			return http.StatusOK, map[string]any{"CiphertextBlob": box.close(text(body, "Plaintext"), string(sealed)), "KeyId": body["KeyId"]}
		case "TrentService.Decrypt":
			plain, ok := box.open(text(body, "CiphertextBlob"), string(sealed))
			if !ok {
				return http.StatusBadRequest, map[string]any{"__type": "InvalidCiphertextException", "message": ""}
			}
			return http.StatusOK, map[string]any{"Plaintext": plain, "KeyId": body["KeyId"]}
		default:
			return http.StatusBadRequest, map[string]any{"__type": "UnknownOperationException"}
		}
	})
}

func TestAWS(t *testing.T) {
	s, asked := kmsServer(t, "AKIAONE", "hush-session")
	t.Setenv("AWS_ENDPOINT_URL_KMS", s.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAONE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hush")
	t.Setenv("AWS_SESSION_TOKEN", "hush-session")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	const arn = "arn:aws:kms:eu-central-1:123456789012:key/612d5f0a"
	role := "prod"
	file := encryptFor(t, kms.NewMasterKey(arn, "", map[string]*string{"env": &role}))
	before := asked.Load()
	refused(t, &decrypt.Keys{}, file, "kms "+arn+"|env:prod")
	if asked.Load() != before {
		t.Error("KMS was asked without an account of ours")
	}
	account := "aws_access_key_id: AKIAONE\naws_secret_access_key: hush\naws_session_token: hush-session\n"
	opens(t, newKeys(t, map[string]string{"sops.aws-kms": account}), file)
	refused(t, newKeys(t, map[string]string{"sops.aws-kms": strings.Replace(account, "ONE", "TWO", 1)}), file, "kms "+arn+"|env:prod",
		"kms: UnrecognizedClientException: The security token is invalid.")
}

// serviceAccount makes the key of an account that signs in at a server.
func serviceAccount(t *testing.T, server string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "ops@demo.iam.gserviceaccount.com", "private_key_id": "1", "token_uri": server + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestGCP(t *testing.T) {
	box := newStrongbox(t)
	s, asked := server(t, func(_ http.Header, r *http.Request, body map[string]any) (int, any) {
		name, verb, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), ":")
		switch {
		case r.URL.Path == "/token":
			return http.StatusOK, map[string]any{"access_token": "hush", "token_type": "Bearer", "expires_in": 3600}
		case r.Header.Get("Authorization") != "Bearer hush":
			return http.StatusUnauthorized, map[string]any{"error": map[string]any{"code": 401, "status": "UNAUTHENTICATED", "message": "no token"}}
		case verb == "encrypt":
			return http.StatusOK, map[string]any{"ciphertext": box.close(text(body, "plaintext"), name)}
		default:
			plain, ok := box.open(text(body, "ciphertext"), name)
			if !ok {
				return http.StatusBadRequest, map[string]any{"error": map[string]any{"code": 400, "status": "INVALID_ARGUMENT", "message": "wrong key"}}
			}
			return http.StatusOK, map[string]any{"plaintext": plain}
		}
	})
	t.Setenv(gcpkms.SopsGCPKMSEndpointEnv, s.URL)
	t.Setenv(gcpkms.SopsGCPKMSClientTypeEnv, "rest")
	t.Setenv(gcpkms.SopsGoogleCredentialsEnv, serviceAccount(t, s.URL))
	const id = "projects/demo/locations/global/keyRings/ops/cryptoKeys/sops"
	file := encryptFor(t, gcpkms.NewMasterKeyFromResourceID(id))
	before := asked.Load()
	refused(t, &decrypt.Keys{}, file, "gcp_kms "+id)
	if asked.Load() != before {
		t.Error("KMS was asked without an account of ours")
	}
	t.Setenv(gcpkms.SopsGoogleCredentialsEnv, "")
	ours := newKeys(t, map[string]string{"sops.gcp-kms": serviceAccount(t, s.URL) + "\n"})
	opens(t, ours, file)
	_, err := ours.Data([]byte(strings.ReplaceAll(string(file), "keyRings/ops", "keyRings/dev")), decrypt.YAML, decrypt.YAML)
	given := noKey(t, err, "gcp_kms "+strings.Replace(id, "ops", "dev", 1))
	if len(given) != 1 || !strings.Contains(given[0], "wrong key") {
		t.Errorf("the reasons are %q", given)
	}
}

// azureCredential is a token that needs no sign-in.
type azureCredential struct{}

func (azureCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "hush"}, nil
}

// ownService closes data keys with a master key that knows its account.
type ownService struct {
	keyservice.LocalClient
	key sopskeys.MasterKey
}

func (s ownService) Encrypt(_ context.Context, in *keyservice.EncryptRequest, _ ...grpc.CallOption) (*keyservice.EncryptResponse, error) {
	err := s.key.Encrypt(in.Plaintext)
	return &keyservice.EncryptResponse{Ciphertext: s.key.EncryptedDataKey()}, err
}

// redirect sends requests for any host to one server.
type redirect string

func (to redirect) Do(r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(string(to), "http://")
	return http.DefaultClient.Do(r)
}

// TestAzure asks a Key Vault whose sign-in is left out.
func TestAzure(t *testing.T) {
	box := newStrongbox(t)
	s, _ := server(t, func(h http.Header, r *http.Request, body map[string]any) (int, any) {
		// This API speaks the other base64, without padding.
		turn := func(text string) string {
			raw, _ := base64.RawURLEncoding.DecodeString(text)
			return base64.StdEncoding.EncodeToString(raw)
		}
		back := func(text string) string { return base64.RawURLEncoding.EncodeToString(unbase64(text)) }
		if r.Header.Get("Authorization") != "Bearer hush" {
			h.Set("WWW-Authenticate", `Bearer authorization="https://login.example/demo", resource="https://vault.azure.net"`)
			return http.StatusUnauthorized, map[string]any{}
		}
		switch path.Base(r.URL.Path) {
		case "encrypt":
			return http.StatusOK, map[string]any{"value": back(box.close(turn(text(body, "value")), ""))}
		default:
			plain, ok := box.open(turn(text(body, "value")), "")
			if !ok {
				return http.StatusForbidden, map[string]any{"error": map[string]any{"code": "Forbidden", "message": "no"}}
			}
			return http.StatusOK, map[string]any{"value": back(plain)}
		}
	})
	account := func(key *azkv.MasterKey) {
		azkv.NewTokenCredential(azureCredential{}).ApplyToMasterKey(key)
		azkv.NewClientOptions(&azkeys.ClientOptions{
			ClientOptions:                        azcore.ClientOptions{Transport: redirect(s.URL)},
			DisableChallengeResourceVerification: true,
		}).ApplyToMasterKey(key)
	}
	key := azkv.NewMasterKey("https://demo.vault.azure.net", "ops", "1")
	account(key)
	file, err := decrypttest.EncryptAs([]byte(sample), decrypt.YAML, decrypttest.Recipe{
		Groups: []sops.KeyGroup{{key}}, Service: ownService{LocalClient: keyservice.NewLocalClient(), key: key},
	})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, &decrypt.Keys{}, file, "azure_kv https://demo.vault.azure.net/keys/ops/1")
	ours := &decrypt.Keys{}
	ours.SetAzure(account)
	opens(t, ours, file)
	box.AEAD = newStrongbox(t).AEAD
	refused(t, ours, file, "azure_kv https://demo.vault.azure.net/keys/ops/1", "azure_kv: status 403 Forbidden")
}

func TestAzureReadsWhatAPowerShellWrote(t *testing.T) {
	const account = `{"appId": "x", "tenant": "y", "password": "z"}`
	for name, first := range map[string]int{"big endian": 0, "little endian": 1} {
		data := []byte{0xfe, 0xff}
		data[0], data[1] = data[first], data[1-first]
		for _, unit := range utf16.Encode([]rune(account)) {
			pair := [2]byte{byte(unit >> 8), byte(unit)}
			data = append(data, pair[first], pair[1-first])
		}
		if _, err := decrypt.NewKeys(map[string][]byte{"sops.azure-kv": data}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
