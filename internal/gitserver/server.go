// Package gitserver serves Git repositories over smart HTTP from inside this process: clone, fetch
// and push by any git client, through the git program's own http-backend.
//
// It serves bare repositories in its own directory and nothing else. It refuses everyone who does
// not show a token, and on the loopback interface requests under the name of another machine; a user is only known to git after that. A mirror of a user's working copy is a
// mirror that borrows objects: the user's own repository is never served nor written,
// and nothing that it configures is run. A mirror refuses pushes, since the working copy is what it
// shows.
package gitserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/loopback"
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
	log      logr.Logger
	done     chan error

	// creating is held while a repository is made.
	creating sync.Mutex

	mu      sync.RWMutex
	users   map[string]user
	push    []func(repo string)
	mirrors map[string]bool
	// copies are the mirrors of working copies.
	copies map[string]*Mirror
}

// Start starts a server, which runs until Stop. It logs to the logger of ctx.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("creating the directory of repositories: %w", err)
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
	s := &Server{
		dir: dir, backend: backend, listener: listener, log: logr.FromContextOrDiscard(ctx).WithName("git"),
		done: make(chan error, 1), users: map[string]user{}, mirrors: map[string]bool{}, copies: map[string]*Mirror{},
	}
	mux := http.NewServeMux()
	for path, handler := range cfg.Mount {
		mux.Handle(path, handler)
	}
	mux.Handle(mount+"/", http.StripPrefix(mount, s))
	s.http = &http.Server{
		Handler: loopback.Only(listener, mux), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: errorLog(s.log),
	}
	go s.serve()
	return s, nil
}

func (s *Server) serve() {
	defer close(s.done)
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		s.done <- fmt.Errorf("serving Git: %w", err)
	}
}

// findBackend asks git where its http-backend is.
func findBackend(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "--exec-path").Output()
	if err != nil {
		return "", fmt.Errorf("searching for git: %w; install git and try again", err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		return "", fmt.Errorf("searching for git's http-backend: %w; install git and try again", err)
	}
	return backend, nil
}

// mount is the path below which repositories are served.
const mount = "/git"

// Base is the URL of the server, without a path.
func (s *Server) Base() string { return "http://" + s.listener.Addr().String() }

// URL is where a repository is served.
func (s *Server) URL(repo string) string { return s.Base() + mount + "/" + repo + ".git" }

// Done brings the failure of a server that ended without Stop. It is closed when the server has
// ended.
func (s *Server) Done() <-chan error { return s.done }

// Stop ends the server, waiting for requests in progress as long as ctx allows.
func (s *Server) Stop(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("stopping the Git server: %w", err), s.http.Close())
	}
	return nil
}

// AddUser lets a user in who shows token, as a password or as a bearer token. An empty token
// refuses every request.
func (s *Server) AddUser(name, token string, write bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[name] = newUser(token, write)
}

// OnPush has f called after a push changed a repository, before the client has its answer's end.
func (s *Server) OnPush(f func(repo string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push = append(s.push, f)
}
