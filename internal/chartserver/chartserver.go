// Package chartserver serves the Helm charts of a directory as a registry does, so that a repository whose
// charts are elsewhere can be tried with charts that are here.
//
// Every chart is packaged on request, if its files have changed. It listens on the loopback interface, below a path that only this process knows,
// and takes nothing from anybody. It refuses to fetch: dependencies have to be in the charts.
package chartserver

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/headgate-dev/headgate/internal/loopback"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// Media types of charts in registries.
const (
	configType = types.MediaType("application/vnd.cncf.helm.config.v1+json")
	chartType  = types.MediaType("application/vnd.cncf.helm.chart.content.v1.tar+gzip")
)

// Server serves the charts of directories.
type Server struct {
	// At is where its charts are, as HOST:PORT/PATH. The path is a secret: other users of the machine do not read the charts.
	At string

	http    *http.Server
	host    string
	path    string
	token   string
	backend http.Handler
	mu      sync.Mutex
	dirs    []string
	// packed are the digests of the files that a chart was packed from, by its directory.
	packed map[string]string
}

// Start serves the charts that are directories of the given ones: "NAME/Chart.yaml". A directory that
// holds none is an error.
func Start(ctx context.Context, dirs ...string) (*Server, error) {
	s := &Server{dirs: dirs, packed: map[string]string{}, token: rand.Text(), path: strings.ToLower(rand.Text())}
	for _, dir := range dirs {
		found, err := charts(dir)
		switch {
		case err != nil:
			return nil, err
		case len(found) == 0:
			return nil, fmt.Errorf("no chart in %q: none of its directories has a Chart.yaml", dir)
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serving charts: %w", err)
	}
	s.host = listener.Addr().String()
	s.At = s.host + "/" + s.path
	s.backend = registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s.http = &http.Server{Handler: loopback.Only(listener, s), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }()
	if err := s.pack(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(ctx))
	}
	return s, nil
}

// Stop ends the server.
func (s *Server) Stop(ctx context.Context) error { return s.http.Shutdown(ctx) }

// charts returns the directories of the charts in a directory.
func charts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("searching for charts: %w", err)
	}
	var found []string
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(at, "Chart.yaml")); err == nil {
			found = append(found, at)
		}
	}
	return found, nil
}

// ServeHTTP answers those who read.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if subtle.ConstantTimeCompare([]byte(q.Header.Get(writerHeader)), []byte(s.token)) == 1 {
		s.backend.ServeHTTP(w, q)
		return
	}
	if q.URL.Path != "/v2/" && !strings.HasPrefix(q.URL.Path, "/v2/"+s.path+"/") {
		http.NotFound(w, q)
		return
	}
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		http.Error(w, "read-only: charts cannot be pushed", http.StatusMethodNotAllowed)
		return
	}
	if strings.Contains(q.URL.Path, "/manifests/") || strings.Contains(q.URL.Path, "/tags/") {
		if err := s.pack(q.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	s.backend.ServeHTTP(w, q)
}

// pack packs the charts whose files have changed since they were packed last.
func (s *Server) pack(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range s.dirs {
		found, err := charts(dir)
		if err != nil {
			return err
		}
		for _, at := range found {
			if err := s.packOne(ctx, at); err != nil {
				return fmt.Errorf("chart %s: %w", at, err)
			}
		}
	}
	return nil
}

func (s *Server) packOne(ctx context.Context, dir string) error {
	// What a repository would not take is part of a chart all the same.
	everything := source.KeepAll
	tree, err := source.Directory{Path: dir}.Tree(source.Selection{Ignore: &everything})
	if err != nil {
		return err
	}
	if s.packed[dir] == tree.Digest() {
		return nil
	}
	packed, err := chart.Package(ctx, tree, ".", chart.Options{})
	if err != nil {
		return err
	}
	if err := s.push(ctx, packed); err != nil {
		return err
	}
	s.packed[dir] = tree.Digest()
	return nil
}

// push puts a chart into the registry.
func (s *Server) push(ctx context.Context, packed *chart.Packed) error {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), configType)
	image, err := mutate.AppendLayers(image, static.NewLayer(packed.Data, chartType))
	if err != nil {
		return err
	}
	to, err := name.ParseReference(s.At+"/"+packed.Name+":"+strings.ReplaceAll(packed.Version, "+", "_"), name.Insecure)
	if err != nil {
		return err
	}
	return remote.Write(to, image, remote.WithContext(ctx), remote.WithTransport(writer{s.token}))
}

// writerHeader carries the token of the only writer: this process.
const writerHeader = "Headgate-Writer"

// writer is a transport that may write.
type writer struct{ token string }

// RoundTrip adds the token to a request.
func (w writer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set(writerHeader, w.token)
	return http.DefaultTransport.RoundTrip(q)
}
