package kit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// Charts is a server of Helm repositories over plain http.
type Charts struct {
	// Host is its host and port. The first part of a path names the repository.
	Host string
	http *http.Server

	mu    sync.Mutex
	repos map[string]*chartRepo
}

// chartRepo is one repository.
type chartRepo struct {
	files          map[string][]byte
	versions       map[string][]map[string]any
	user, password string
	down           bool
	asked          []string
}

// StartCharts starts a server without charts on a free port.
func StartCharts() (*Charts, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a chart server: %w", err)
	}
	c := &Charts{Host: listener.Addr().String(), repos: map[string]*chartRepo{}}
	c.http = &http.Server{Handler: c}
	go func() { _ = c.http.Serve(listener) }()
	return c, nil
}

// Stop ends the server.
func (c *Charts) Stop(ctx context.Context) error { return c.http.Shutdown(ctx) }

// Put packs the files of a chart, which are below a directory of its name, and lists it.
func (c *Charts) Put(repo, name, version string, files map[string][]byte) error {
	data, err := pack(files)
	if err != nil {
		return fmt.Errorf("packing chart %s %s: %w", name, version, err)
	}
	sum := sha256.Sum256(data)
	file := name + "-" + version + ".tgz"
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.repo(repo)
	r.files[file] = data
	r.versions[name] = append(r.versions[name], map[string]any{
		"apiVersion": "v2", "name": name, "version": version, "urls": []string{file}, "digest": hex.EncodeToString(sum[:]),
	})
	return nil
}

// Login has a repository ask for a password from now on.
func (c *Charts) Login(repo, user, password string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.repo(repo).user, c.repo(repo).password = user, password
}

// Down takes a repository out of service, or back into it.
func (c *Charts) Down(repo string, down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.repo(repo).down = down
}

// Asked returns what was asked of a repository, in order.
func (c *Charts) Asked(repo string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.repo(repo).asked...)
}

// repo returns a repository, which begins to exist. The lock is held.
func (c *Charts) repo(name string) *chartRepo {
	r := c.repos[name]
	if r == nil {
		r = &chartRepo{files: map[string][]byte{}, versions: map[string][]map[string]any{}}
		c.repos[name] = r
	}
	return r
}

// ServeHTTP serves the repositories.
func (c *Charts) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	name, file, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, "/"), "/")
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.repo(name)
	r.asked = append(r.asked, file)
	user, password, _ := q.BasicAuth()
	switch {
	case r.down:
		http.Error(w, "out of service", http.StatusServiceUnavailable)
	case r.user != user || r.password != password:
		http.Error(w, "who are you?", http.StatusUnauthorized)
	case file == "index.yaml":
		index, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "entries": r.versions})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(index)
	case r.files[file] != nil:
		_, _ = w.Write(r.files[file])
	default:
		http.NotFound(w, q)
	}
}
