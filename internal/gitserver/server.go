// Package gitserver serves Git repositories over smart HTTP from inside this process: clone, fetch
// and push by any git client, through the git program's own http-backend.
//
// It serves bare repositories in a directory of ours and nothing else. It refuses everyone who does
// not show a token; a user is only known to git after that. A mirror of a user's working copy is a
// repository of ours that borrows objects: the user's own repository is never served nor written.
package gitserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Config is what a Server needs.
type Config struct {
	// Dir holds the repositories; it is made with mode 0700.
	Dir string
	// Addr is where to listen; empty means a free port of the loopback interface.
	Addr string
	// Mount serves further paths, without authentication by Git's users.
	Mount map[string]http.Handler
}

// Server is a Git server that runs.
type Server struct {
	dir      string
	backend  string
	listener net.Listener
	http     *http.Server

	mu    sync.RWMutex
	users map[string]user
	push  []func(repo string)
}

type user struct {
	token [sha256.Size]byte
	write bool
}

// repoName is what a repository may be called.
var repoName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,99}$`)

// Start starts a server.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of repositories: %w", err)
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("making the directory of repositories: %w", err)
	}
	backend, err := findBackend(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("listening for Git: %w", err)
	}
	s := &Server{dir: dir, backend: backend, listener: listener, users: map[string]user{}}
	mux := http.NewServeMux()
	for path, handler := range cfg.Mount {
		mux.Handle(path, handler)
	}
	mux.Handle("/git/", http.StripPrefix("/git", s))
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// findBackend asks git where its http-backend is.
func findBackend(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "--exec-path").Output()
	if err != nil {
		return "", fmt.Errorf("looking for git: %w; install git and try again", err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		return "", fmt.Errorf("looking for git's http-backend: %w; install git and try again", err)
	}
	return backend, nil
}

// Base is the URL of the server, without a path.
func (s *Server) Base() string { return "http://" + s.listener.Addr().String() }

// URL is where a repository is served.
func (s *Server) URL(repo string) string { return s.Base() + "/git/" + repo + ".git" }

// Stop ends the server, waiting for what is under way as long as ctx allows.
func (s *Server) Stop(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

// AddUser lets a user in who shows token, as a password or as a bearer token.
func (s *Server) AddUser(name, token string, write bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[name] = user{token: sha256.Sum256([]byte(token)), write: write}
}

// OnPush has f called after a push changed a repository.
func (s *Server) OnPush(f func(repo string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push = append(s.push, f)
}

// path is the directory of a repository.
func (s *Server) path(repo string) string { return filepath.Join(s.dir, repo+".git") }

// CreateRepo makes an empty repository, unless it exists.
func (s *Server) CreateRepo(ctx context.Context, repo string) error {
	if !repoName.MatchString(repo) {
		return fmt.Errorf("creating repository %q: use letters, digits, - and _", repo)
	}
	if _, err := os.Stat(filepath.Join(s.path(repo), "HEAD")); err == nil {
		return nil
	}
	if _, err := run(ctx, command{args: []string{"init", "-q", "--bare", "-b", "main", s.path(repo)}}); err != nil {
		return fmt.Errorf("creating repository %q: %w", repo, err)
	}
	_, err := run(ctx, command{args: []string{"-C", s.path(repo), "config", "http.receivepack", "true"}})
	return err
}

// ServeHTTP serves one request of a git client.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	if !ok || !repoName.MatchString(name) || strings.Contains(r.URL.Path, "..") {
		http.NotFound(w, r)
		return
	}
	who, write, ok := s.authenticate(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="headgate"`)
		http.Error(w, "a user and a token are needed", http.StatusUnauthorized)
		return
	}
	pushing := strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
	if pushing && !write {
		http.Error(w, fmt.Sprintf("user %q may not push", who), http.StatusForbidden)
		return
	}
	if _, err := os.Stat(s.path(name)); err != nil {
		http.NotFound(w, r)
		return
	}
	s.handler(r, who).ServeHTTP(w, r)
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
		s.pushed(name)
	}
}

func (s *Server) pushed(repo string) {
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
		token, basic = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if !basic {
		return "", false, false
	}
	sum := sha256.Sum256([]byte(token))
	s.mu.RLock()
	defer s.mu.RUnlock()
	for n, u := range s.users {
		if subtle.ConstantTimeCompare(sum[:], u.token[:]) == 1 && (claimed == "" || claimed == n) {
			return n, u.write, true
		}
	}
	return "", false, false
}

// handler runs git's http-backend for one request, in an environment of our making.
func (s *Server) handler(r *http.Request, who string) http.Handler {
	env := append(cleanEnvironment(),
		"GIT_PROJECT_ROOT="+s.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+who,
		"GIT_PROTOCOL="+strings.ReplaceAll(r.Header.Get("Git-Protocol"), "\n", ""),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	)
	return &cgi.Handler{Path: s.backend, Env: env, Root: "", InheritEnv: []string{}, Stderr: discard{}}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
