package gitserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	stdlog "log"
	"net/http"
	"net/http/cgi"
	"os"
	"regexp"
	"strings"

	"github.com/go-logr/logr"
)

type user struct {
	token [sha256.Size]byte
	write bool
}

func newUser(token string, write bool) user {
	return user{token: sha256.Sum256([]byte(token)), write: write}
}

// request is what a git client asks for.
type request struct {
	repo string
	// push is set for all that leads to a push, writes for the push itself, lists for the references that a fetch begins with.
	push, writes, lists bool
}

// parse reads a request of the smart protocol; there are no others.
func parse(r *http.Request) (request, bool) {
	repo, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	if !ok || !repoName.MatchString(repo) {
		return request{}, false
	}
	asked, ok := service(r, rest)
	asked.repo = repo
	return asked, ok
}

// service reads which service of the smart protocol a request is for, from the path below the repository.
func service(r *http.Request, rest string) (request, bool) {
	name := r.URL.Query().Get("service")
	switch {
	case r.Method == http.MethodGet && rest == "info/refs" && (name == "git-upload-pack" || name == "git-receive-pack"):
		return request{push: name == "git-receive-pack", lists: name == "git-upload-pack"}, true
	case r.Method == http.MethodPost && rest == "git-upload-pack":
		return request{}, true
	case r.Method == http.MethodPost && rest == "git-receive-pack":
		return request{push: true, writes: true}, true
	default:
		return request{}, false
	}
}

// ServeHTTP serves one request of a git client.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Unknown users learn nothing, not even which repositories exist.
	name, write, ok := s.authenticate(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="headgate"`)
		http.Error(w, "user and token required", http.StatusUnauthorized)
		return
	}
	asked, ok := parse(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if _, err := os.Stat(s.path(asked.repo)); err != nil {
		http.NotFound(w, r)
		return
	}
	switch {
	case asked.push && !write:
		http.Error(w, fmt.Sprintf("user %q is not allowed to push", name), http.StatusForbidden)
	case asked.push && s.mirrored(asked.repo):
		http.Error(w, "this repository serves a working copy; commit there instead", http.StatusForbidden)
	case asked.writes:
		s.receive(w, r, name, asked.repo)
	default:
		if m := s.copyOf(asked.repo); m != nil && asked.lists {
			m.settle(r.Context())
		}
		s.handle(w, r, name)
	}
}

func (s *Server) mirrored(repo string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mirrors[repo]
}

// copyOf is the working copy that a repository serves, nil where it serves none.
func (s *Server) copyOf(repo string) *Mirror {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.copies[repo]
}

// receive takes a push and tells those who listen when it changed something.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, name, repo string) {
	// A client that hangs up has changed the repository all the same.
	ctx := context.WithoutCancel(r.Context())
	before := s.refs(ctx, repo)
	s.handle(w, r, name)
	if s.refs(ctx, repo) == before {
		return
	}
	s.mu.RLock()
	listeners := s.push
	s.mu.RUnlock()
	for _, f := range listeners {
		f(repo)
	}
}

// authenticate finds the user whose token the request shows.
func (s *Server) authenticate(r *http.Request) (name string, write, ok bool) {
	claimed, token, basic := r.BasicAuth()
	if !basic {
		scheme, rest, found := strings.Cut(r.Header.Get("Authorization"), " ")
		if !found || !strings.EqualFold(scheme, "Bearer") {
			return "", false, false
		}
		token = rest
	}
	if token == "" {
		return "", false, false
	}
	sum := sha256.Sum256([]byte(token))
	s.mu.RLock()
	defer s.mu.RUnlock()
	for n, u := range s.users {
		if subtle.ConstantTimeCompare(sum[:], u.token[:]) == 1 && (!basic || claimed == n) {
			return n, u.write, true
		}
	}
	return "", false, false
}

// protocol is what git clients say which version of the protocol they speak.
var protocol = regexp.MustCompile(`^version=[0-9]$`)

// handle runs git's http-backend for one request.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, name string) {
	backend := &cgi.Handler{Path: s.backend, Logger: errorLog(s.log), Stderr: &lines{log: s.log}}
	serveBackend(w, r, backend, s.dir, name, nil)
}

func errorLog(log logr.Logger) *stdlog.Logger { return stdlog.New(&lines{log: log}, "", 0) }

// lines logs what programs and the library print.
type lines struct{ log logr.Logger }

func (l *lines) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		l.log.V(1).Info("the Git server printed a line", "line", string(bytes.TrimSpace(line)))
	}
	return len(p), nil
}
