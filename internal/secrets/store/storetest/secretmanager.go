package storetest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// SecretManager is that of Google Cloud with its login service, for the project "project" and its location "europe-west1".
type SecretManager struct {
	server
	// Denied are operations that the account may not do: list.
	Denied map[string]bool
	// Logins counts tokens that were issued.
	Logins int

	key     *rsa.PrivateKey
	secrets map[string]*managedSecret
}

type managedSecret struct {
	labels   map[string]string
	versions []managedVersion
}

type managedVersion struct {
	data     string
	disabled bool
}

// NewSecretManager starts a server.
func NewSecretManager(t testing.TB) *SecretManager {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := &SecretManager{Denied: map[string]bool{}, key: key, secrets: map[string]*managedSecret{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", s.login)
	for _, parent := range []string{"/v1/projects/project", "/v1/projects/project/locations/europe-west1"} {
		mux.HandleFunc("GET "+parent+"/secrets", s.list)
		mux.HandleFunc("POST "+parent+"/secrets", s.create)
		mux.HandleFunc("GET "+parent+"/secrets/{name}", s.describe)
		mux.HandleFunc("DELETE "+parent+"/secrets/{name}", s.remove)
		mux.HandleFunc("POST "+parent+"/secrets/{verb}", s.add)
		mux.HandleFunc("GET "+parent+"/secrets/{name}/versions", s.versions)
		mux.HandleFunc("GET "+parent+"/secrets/{name}/versions/{verb}", s.access)
	}
	s.start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/token" && r.Header.Get("Authorization") != "Bearer google-access" {
			s.refuse(w, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return s
}

// Key is that of the account, as JSON.
func (s *SecretManager) Key() string {
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(s.key)})
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "project", "private_key_id": "1", "private_key": string(block), "client_email": "reader@project.example", "token_uri": s.URL + "/token",
	})
	if err != nil {
		panic(err) // of strings
	}
	return string(data)
}

// Put adds a version of a secret, with labels.
func (s *SecretManager) Put(name, value string, labels map[string]string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.put(name, base64.StdEncoding.EncodeToString([]byte(value)), labels)
}

func (s *SecretManager) put(name, data string, labels map[string]string) {
	if s.secrets[name] == nil {
		s.secrets[name] = &managedSecret{labels: labels}
	}
	s.secrets[name].versions = append(s.secrets[name].versions, managedVersion{data: data})
}

// Disable has the last version of a secret be disabled.
func (s *SecretManager) Disable(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	versions := s.secrets[name].versions
	versions[len(versions)-1].disabled = true
}

// Versions is how many versions a secret has.
func (s *SecretManager) Versions(name string) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.secrets[name] == nil {
		return 0
	}
	return len(s.secrets[name].versions)
}

// refuse answers an error as Google does, with a text that is not to be shown.
func (s *SecretManager) refuse(w http.ResponseWriter, status int) {
	reply(w, status, map[string]any{"error": map[string]any{"code": status, "message": "s3cret", "status": http.StatusText(status)}})
}

func (s *SecretManager) login(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	signed, signature, found := cutLast(r.Form.Get("assertion"), ".")
	digest := sha256.Sum256([]byte(signed))
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if !found || err != nil || rsa.VerifyPKCS1v15(&s.key.PublicKey, crypto.SHA256, digest[:], raw) != nil {
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": "s3cret"})
		return
	}
	s.Logins++
	reply(w, http.StatusOK, map[string]any{"access_token": "google-access", "token_type": "Bearer", "expires_in": 3600})
}

func cutLast(text, at string) (before, after string, found bool) {
	i := strings.LastIndex(text, at)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(at):], true
}

func (s *SecretManager) list(w http.ResponseWriter, r *http.Request) {
	if s.Denied["list"] {
		s.refuse(w, http.StatusForbidden)
		return
	}
	var names []string
	for name := range s.secrets {
		names = append(names, name)
	}
	slices.Sort(names)
	from, _ := strconv.Atoi(r.URL.Query().Get("pageToken"))
	size, _ := strconv.Atoi(r.URL.Query().Get("pageSize"))
	end := min(len(names), from+max(size, 1))
	all := []map[string]any{}
	for _, name := range names[from:end] {
		all = append(all, map[string]any{"name": strings.TrimPrefix(r.URL.Path, "/v1/") + "/" + name, "labels": s.secrets[name].labels})
	}
	answer := map[string]any{"secrets": all}
	if end < len(names) {
		answer["nextPageToken"] = fmt.Sprint(end)
	}
	reply(w, http.StatusOK, answer)
}

func (s *SecretManager) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Labels      map[string]string
		Replication map[string]any
	}
	regional := strings.Contains(r.URL.Path, "/locations/")
	name := r.URL.Query().Get("secretId")
	switch {
	case json.NewDecoder(r.Body).Decode(&body) != nil || regional == (body.Replication != nil):
		s.refuse(w, http.StatusBadRequest)
	case s.secrets[name] != nil:
		s.refuse(w, http.StatusConflict)
	default:
		s.secrets[name] = &managedSecret{labels: body.Labels}
		reply(w, http.StatusOK, map[string]any{"name": name})
	}
}

func (s *SecretManager) describe(w http.ResponseWriter, r *http.Request) {
	if one := s.secrets[r.PathValue("name")]; one != nil {
		reply(w, http.StatusOK, map[string]any{"name": strings.TrimPrefix(r.URL.Path, "/v1/"), "labels": one.labels, "annotations": map[string]string{"owner": "shop"}})
		return
	}
	s.refuse(w, http.StatusNotFound)
}

func (s *SecretManager) remove(w http.ResponseWriter, r *http.Request) {
	if s.secrets[r.PathValue("name")] == nil {
		s.refuse(w, http.StatusNotFound)
		return
	}
	delete(s.secrets, r.PathValue("name"))
	reply(w, http.StatusOK, map[string]any{})
}

func (s *SecretManager) add(w http.ResponseWriter, r *http.Request) {
	var body struct{ Payload struct{ Data string } }
	name, is := strings.CutSuffix(r.PathValue("verb"), ":addVersion")
	if !is || s.secrets[name] == nil || json.NewDecoder(r.Body).Decode(&body) != nil {
		s.refuse(w, http.StatusNotFound)
		return
	}
	s.put(name, body.Payload.Data, nil)
	reply(w, http.StatusOK, map[string]any{"name": name})
}

func (s *SecretManager) versions(w http.ResponseWriter, r *http.Request) {
	one := s.secrets[r.PathValue("name")]
	if one == nil {
		s.refuse(w, http.StatusNotFound)
		return
	}
	all := []map[string]any{}
	for i := len(one.versions); i > 0; i-- {
		if !one.versions[i-1].disabled {
			all = append(all, map[string]any{"name": fmt.Sprintf("%s/%d", strings.TrimPrefix(r.URL.Path, "/v1/"), i)})
		}
	}
	reply(w, http.StatusOK, map[string]any{"versions": all})
}

func (s *SecretManager) access(w http.ResponseWriter, r *http.Request) {
	one := s.secrets[r.PathValue("name")]
	text, is := strings.CutSuffix(r.PathValue("verb"), ":access")
	if one == nil || !is {
		s.refuse(w, http.StatusNotFound)
		return
	}
	number, err := strconv.Atoi(text)
	if text == "latest" {
		number, err = len(one.versions), nil
	}
	switch {
	case err != nil || number < 1 || number > len(one.versions):
		s.refuse(w, http.StatusNotFound)
	case one.versions[number-1].disabled:
		s.refuse(w, http.StatusBadRequest)
	default:
		reply(w, http.StatusOK, map[string]any{"payload": map[string]string{"data": one.versions[number-1].data}})
	}
}
