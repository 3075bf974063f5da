package storetest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Vault is a server of Vault with KV engines and tokens, AppRoles and accounts of Kubernetes to log in.
type Vault struct {
	server
	// Tokens are those that are valid, with the namespace that they are of.
	Tokens map[string]string
	// Denied are prefixes of paths that no one may use.
	Denied []string
	// Logins counts logins, and Revoked the tokens that were given back.
	Logins, Revoked int

	engines map[string]int
	secrets map[string]*vaultSecret
}

type vaultSecret struct {
	versions []map[string]any
	custom   map[string]string
}

// NewVault starts a server with engines by mount, and their versions.
func NewVault(t testing.TB, engines map[string]int) *Vault {
	v := &Vault{Tokens: map[string]string{"root": ""}, engines: engines, secrets: map[string]*vaultSecret{}}
	v.start(t, http.HandlerFunc(v.serve))
	return v
}

// TLS has the server speak TLS as well, at the URL that is returned.
func (v *Vault) TLS(t testing.TB) *httptest.Server {
	s := httptest.NewTLSServer(http.HandlerFunc(v.serve))
	t.Cleanup(s.Close)
	return s
}

// Put writes a version of a secret, with custom metadata.
func (v *Vault) Put(path string, data map[string]any, custom map[string]string) {
	v.lock.Lock()
	defer v.lock.Unlock()
	if v.secrets[path] == nil {
		v.secrets[path] = &vaultSecret{}
	}
	v.secrets[path].versions = append(v.secrets[path].versions, data)
	v.secrets[path].custom = custom
}

// Read returns the newest version and the custom metadata.
func (v *Vault) Read(path string) (map[string]any, map[string]string) {
	v.lock.Lock()
	defer v.lock.Unlock()
	s := v.secrets[path]
	if s == nil {
		return nil, nil
	}
	return s.versions[len(s.versions)-1], s.custom
}

func failed(w http.ResponseWriter, status int, texts ...string) {
	reply(w, status, map[string]any{"errors": append([]string{}, texts...)})
}

func (v *Vault) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	if strings.HasPrefix(path, "auth/") && strings.HasSuffix(path, "/login") {
		v.login(w, r, strings.TrimSuffix(strings.TrimPrefix(path, "auth/"), "/login"))
		return
	}
	token := r.Header.Get("X-Vault-Token")
	namespace, valid := v.Tokens[token]
	if !valid || namespace != r.Header.Get("X-Vault-Namespace") || slices.ContainsFunc(v.Denied, func(p string) bool { return strings.HasPrefix(path, p) }) {
		failed(w, 403, "permission denied")
		return
	}
	switch path {
	case "auth/token/lookup-self":
		reply(w, 200, map[string]any{"data": map[string]any{"ttl": 100}})
		return
	case "auth/token/revoke-self":
		delete(v.Tokens, token)
		v.Revoked++
		w.WriteHeader(204)
		return
	}
	for mount, version := range v.engines {
		if below, ok := strings.CutPrefix(path, mount+"/"); ok {
			if version == 1 {
				v.v1(w, r, path)
				return
			}
			kind, name, _ := strings.Cut(below, "/")
			v.v2(w, r, kind, mount, name)
			return
		}
	}
	failed(w, 404, "no handler for route")
}

func (v *Vault) login(w http.ResponseWriter, r *http.Request, method string) {
	var c map[string]string
	_ = json.NewDecoder(r.Body).Decode(&c)
	approle := method == "approle" && c["role_id"] == "role" && c["secret_id"] == "sesame"
	if !approle && (method != "clusters/dev" || c["jwt"] != "account-token" || c["role"] != "reader") {
		failed(w, 400, "invalid role or secret ID")
		return
	}
	v.Logins++
	token := "login-" + strconv.Itoa(v.Logins)
	v.Tokens[token] = r.Header.Get("X-Vault-Namespace")
	reply(w, 200, map[string]any{"auth": map[string]any{"client_token": token, "lease_duration": 3600}})
}

func (v *Vault) v1(w http.ResponseWriter, r *http.Request, path string) {
	s := v.secrets[path]
	switch r.Method {
	case http.MethodGet:
		if s == nil {
			failed(w, 404)
			return
		}
		reply(w, 200, map[string]any{"data": s.versions[len(s.versions)-1]})
	case http.MethodPost, http.MethodPut:
		data := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&data)
		v.secrets[path] = &vaultSecret{versions: []map[string]any{data}}
		w.WriteHeader(204)
	case http.MethodDelete:
		delete(v.secrets, path)
		w.WriteHeader(204)
	}
}

func (v *Vault) v2(w http.ResponseWriter, r *http.Request, kind, mount, name string) {
	path := mount + "/" + name
	s := v.secrets[path]
	switch {
	case kind == "metadata" && r.Method == "LIST":
		v.list(w, path)
	case kind == "metadata" && r.Method == http.MethodDelete:
		delete(v.secrets, path)
		w.WriteHeader(204)
	case kind == "metadata" && r.Method == http.MethodPost:
		var body struct {
			Custom map[string]string `json:"custom_metadata"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if s == nil {
			s = &vaultSecret{}
			v.secrets[path] = s
		}
		s.custom = body.Custom
		w.WriteHeader(204)
	case kind == "data" && r.Method == http.MethodPost:
		v.write(w, r, path, s)
	case s == nil:
		failed(w, 404)
	case kind == "metadata":
		reply(w, 200, map[string]any{"data": map[string]any{"current_version": len(s.versions), "custom_metadata": s.custom}})
	case kind == "data":
		s.data(w, r)
	default:
		failed(w, 404, "unsupported path")
	}
}

func (s *vaultSecret) data(w http.ResponseWriter, r *http.Request) {
	at := len(s.versions)
	if text := r.URL.Query().Get("version"); text != "" {
		at, _ = strconv.Atoi(text)
	}
	if at < 1 || at > len(s.versions) {
		failed(w, 404)
		return
	}
	status := 200
	if s.versions[at-1] == nil {
		// So it answers versions that were deleted.
		status = 404
	}
	reply(w, status, map[string]any{"data": map[string]any{"data": s.versions[at-1], "metadata": map[string]any{"version": at}}})
}

func (v *Vault) write(w http.ResponseWriter, r *http.Request, path string, s *vaultSecret) {
	var body struct {
		Data    map[string]any
		Options struct{ CAS *int }
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Data == nil {
		failed(w, 400, "no data provided")
		return
	}
	if s == nil {
		s = &vaultSecret{}
		v.secrets[path] = s
	}
	if body.Options.CAS != nil && *body.Options.CAS != len(s.versions) {
		failed(w, 400, "check-and-set parameter did not match the current version")
		return
	}
	s.versions = append(s.versions, body.Data)
	reply(w, 200, map[string]any{"data": map[string]any{"version": len(s.versions)}})
}

func (v *Vault) list(w http.ResponseWriter, path string) {
	path = strings.TrimRight(path, "/") + "/"
	keys := map[string]bool{}
	for name := range v.secrets {
		if below, ok := strings.CutPrefix(name, path); ok {
			if folder, _, has := strings.Cut(below, "/"); has {
				below = folder + "/"
			}
			keys[below] = true
		}
	}
	if len(keys) == 0 {
		failed(w, 404)
		return
	}
	reply(w, 200, map[string]any{"data": map[string]any{"keys": slices.Sorted(maps.Keys(keys))}})
}
