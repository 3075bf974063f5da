package registry

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// people are the accounts of the tests: an owner may do everything with its images, everyone may pull those of giteaAdmin, and
// reader may pull those of dev.
type people struct{}

// readOnly is a token of dev that permits to pull.
const readOnly = "token-s3cr3t"

var passwords = map[string]string{"dev": "dev-s3cr3t", "reader": "reader-s3cr3t", "intruder": "intruder-s3cr3t", "giteaAdmin": "admin-s3cr3t"}

func (people) Authenticate(_ context.Context, user, password string) (Account, bool) {
	if user == "dev" && password == readOnly {
		return Account{Login: user, ReadOnly: true}, true
	}
	return Account{Login: user}, passwords[user] == password && password != ""
}

func (people) Owner(_ context.Context, name string) (string, bool) {
	for user := range passwords {
		if strings.EqualFold(user, name) {
			return user, true
		}
	}
	return "", false
}

func (people) Permits(_ context.Context, login, owner string, access Access) bool {
	return login == owner || access == Pull && (owner == "giteaAdmin" || login == "reader" && owner == "dev")
}

func (people) Shape(_ context.Context, name string) any { return map[string]any{"login": name} }

// events are what a sink got.
type events struct {
	mu  sync.Mutex
	got []string
}

func (e *events) Package(_ context.Context, one Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, one.Action+" "+one.Owner+"/"+one.Package.Name+":"+one.Package.Version+" by "+one.Doer)
}

func (e *events) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	got := e.got
	e.got = nil
	return got
}

// server is a registry over HTTP.
type server struct {
	*Registry
	at     string
	events *events
	mu     sync.Mutex
	// requests are the methods, paths and answers.
	requests []string
	log      strings.Builder
}

func serve(t *testing.T, cfg Config) *server {
	t.Helper()
	s := &server{events: &events{}}
	cfg.Accounts, cfg.Sink = people{}, s.events
	cfg.Log = funcr.New(func(_, args string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log.WriteString(args + "\n")
	}, funcr.Options{Verbosity: 9})
	registry, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Registry = registry
	mux := http.NewServeMux()
	mux.Handle("/v2/", registry)
	mux.Handle("/v2", registry)
	mux.Handle("/api/v1/packages/", registry.API(func(r *http.Request) (Account, bool) {
		user, password, given := r.BasicAuth()
		if !given {
			return Account{}, true
		}
		return people{}.Authenticate(r.Context(), user, password)
	}))
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(listening.Close)
	s.at = strings.TrimPrefix(listening.URL, "http://")
	return s
}

func (s *server) ref(t *testing.T, image string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(s.at+"/"+image, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// as authenticates the client by a user's password.
func as(t *testing.T, user string) []remote.Option {
	t.Helper()
	options := []remote.Option{remote.WithContext(t.Context())}
	if user == "" {
		return options
	}
	return append(options, remote.WithAuth(&authn.Basic{Username: user, Password: passwords[user]}))
}

func picture(t *testing.T, size int64) v1.Image {
	t.Helper()
	made, err := random.Image(size, 2)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s *server) push(t *testing.T, user, to string, what v1.Image) {
	t.Helper()
	if err := remote.Write(s.ref(t, to), what, as(t, user)...); err != nil {
		t.Fatal(err)
	}
}

// do makes a request by basic authentication, and returns the answer with its body read.
func (s *server) do(t *testing.T, user, method, path string, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.at+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		req.SetBasicAuth(user, passwords[user])
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func digestOf(t *testing.T, what interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	digest, err := what.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}
