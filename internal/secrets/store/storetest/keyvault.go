package storetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// KeyVault is a vault of Azure with its login service, over TLS.
type KeyVault struct {
	server
	// Secret is that of the client "client"; Assertion is a token that is accepted instead.
	Secret, Assertion string
	// Logins counts tokens that were issued.
	Logins int

	secrets map[string][]map[string]any
}

// NewKeyVault starts a server.
func NewKeyVault(t testing.TB) *KeyVault {
	k := &KeyVault{Secret: "azure-secret", Assertion: "account-token", secrets: map[string][]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{tenant}/v2.0/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		at := k.URL + "/" + r.PathValue("tenant")
		reply(w, 200, map[string]string{"token_endpoint": at + "/oauth2/v2.0/token", "authorization_endpoint": at + "/oauth2/v2.0/authorize", "issuer": at + "/v2.0"})
	})
	mux.HandleFunc("POST /{tenant}/oauth2/v2.0/token", k.login)
	mux.HandleFunc("GET /secrets", k.list)
	mux.HandleFunc("GET /secrets/{name}/{version}", k.get)
	mux.HandleFunc("GET /secrets/{name}/{$}", k.get)
	mux.HandleFunc("PUT /secrets/{name}", k.set)
	mux.HandleFunc("DELETE /secrets/{name}", k.remove)
	k.startTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/secrets") && r.Header.Get("Authorization") != "Bearer azure-access" {
			w.Header().Set("WWW-Authenticate", `Bearer authorization="`+k.URL+`/tenant", resource="https://vault.azure.net"`)
			reply(w, 401, map[string]any{"error": map[string]string{"code": "Unauthorized"}})
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return k
}

// Put adds a version of a secret, with tags.
func (k *KeyVault) Put(name, value string, tags map[string]string) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.put(name, value, tags, true)
}

// Disable has a secret be disabled.
func (k *KeyVault) Disable(name string) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.secrets[name][len(k.secrets[name])-1]["attributes"] = map[string]any{"enabled": false}
}

func (k *KeyVault) put(name, value string, tags map[string]string, enabled bool) map[string]any {
	version := fmt.Sprintf("v%d", len(k.secrets[name])+1)
	secret := map[string]any{"value": value, "id": k.URL + "/secrets/" + name + "/" + version, "tags": tags, "attributes": map[string]any{"enabled": enabled}}
	k.secrets[name] = append(k.secrets[name], secret)
	return secret
}

func (k *KeyVault) login(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	secret := r.Form.Get("client_id") == "client" && r.Form.Get("client_secret") == k.Secret
	if !secret && r.Form.Get("client_assertion") != k.Assertion {
		reply(w, 401, map[string]string{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."})
		return
	}
	k.Logins++
	reply(w, 200, map[string]any{"access_token": "azure-access", "token_type": "Bearer", "expires_in": 3600, "ext_expires_in": 3600})
}

func (k *KeyVault) missing(w http.ResponseWriter) {
	reply(w, 404, map[string]any{"error": map[string]string{"code": "SecretNotFound", "message": "A secret with this name was not found"}})
}

func (k *KeyVault) list(w http.ResponseWriter, _ *http.Request) {
	all := []map[string]any{}
	for name, versions := range k.secrets {
		last := versions[len(versions)-1]
		all = append(all, map[string]any{"id": k.URL + "/secrets/" + name, "tags": last["tags"], "attributes": last["attributes"]})
	}
	reply(w, 200, map[string]any{"value": all})
}

func (k *KeyVault) get(w http.ResponseWriter, r *http.Request) {
	versions := k.secrets[r.PathValue("name")]
	for i, secret := range versions {
		if version := r.PathValue("version"); version == fmt.Sprintf("v%d", i+1) || (version == "" && i == len(versions)-1) {
			reply(w, 200, secret)
			return
		}
	}
	k.missing(w)
}

func (k *KeyVault) set(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Value *string
		Tags  map[string]string
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Value == nil {
		reply(w, 400, map[string]any{"error": map[string]string{"code": "BadParameter"}})
		return
	}
	reply(w, 200, k.put(r.PathValue("name"), *body.Value, body.Tags, true))
}

func (k *KeyVault) remove(w http.ResponseWriter, r *http.Request) {
	if k.secrets[r.PathValue("name")] == nil {
		k.missing(w)
		return
	}
	delete(k.secrets, r.PathValue("name"))
	reply(w, 200, map[string]any{"id": k.URL + "/secrets/" + r.PathValue("name")})
}
