package kit

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Registry is an OCI registry over plain http.
type Registry struct {
	// Host is its host and port.
	Host string
	http *http.Server

	mu   sync.Mutex
	down map[string]bool
}

// StartRegistry starts an empty registry on a free port.
func StartRegistry() (*Registry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a registry: %w", err)
	}
	quiet := registry.Logger(log.New(io.Discard, "", 0))
	r := &Registry{Host: listener.Addr().String(), down: map[string]bool{}}
	r.http = &http.Server{Handler: r.inService(registry.New(quiet))}
	go func() { _ = r.http.Serve(listener) }()
	return r, nil
}

// Stop ends the registry.
func (r *Registry) Stop(ctx context.Context) error { return r.http.Shutdown(ctx) }

// Down takes the repositories below a path out of service, or back into it.
func (r *Registry) Down(path string, down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down[path] = down
}

// inService answers for repositories that are out of service.
func (r *Registry) inService(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		path, _, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, "/v2/"), "/")
		r.mu.Lock()
		down := r.down[path]
		r.mu.Unlock()
		if down {
			http.Error(w, "out of service", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, q)
	})
}

// Media types of what Flux and Helm push.
const (
	chartConfigType = types.MediaType("application/vnd.cncf.helm.config.v1+json")
	chartType       = types.MediaType("application/vnd.cncf.helm.chart.content.v1.tar+gzip")

	configType = types.MediaType("application/vnd.cncf.flux.config.v1+json")
	layerType  = types.MediaType("application/vnd.cncf.flux.content.v1.tar+gzip")
)

// Push stores files as an artifact of one layer, as "flux push artifact" does, under REPOSITORY:TAG.
func (r *Registry) Push(ctx context.Context, reference string, files map[string][]byte, annotations map[string]string) error {
	return r.push(ctx, reference, files, annotations, configType, layerType)
}

// PushChart stores the files of a chart, below a directory of its name, as "helm push" does.
func (r *Registry) PushChart(ctx context.Context, reference string, files map[string][]byte) error {
	return r.push(ctx, reference, files, nil, chartConfigType, chartType)
}

func (r *Registry) push(ctx context.Context, reference string, files map[string][]byte, annotations map[string]string, config, media types.MediaType) error {
	layer, err := pack(files)
	if err != nil {
		return fmt.Errorf("packing %s: %w", reference, err)
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), config)
	image, err = mutate.AppendLayers(image, static.NewLayer(layer, media))
	if err != nil {
		return fmt.Errorf("packing %s: %w", reference, err)
	}
	annotated, ok := mutate.Annotations(image, annotations).(v1.Image)
	if !ok {
		return fmt.Errorf("packing %s: annotations changed its type", reference)
	}
	to, err := name.ParseReference(r.Host+"/"+reference, name.Insecure)
	if err != nil {
		return fmt.Errorf("pushing %s: %w", reference, err)
	}
	if err := remote.Write(to, annotated, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("pushing %s: %w", reference, err)
	}
	return nil
}

func pack(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := archive.WriteHeader(&tar.Header{Name: path, Mode: 0o644, Size: int64(len(files[path])), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(files[path]); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), zipped.Close())
	return out.Bytes(), err
}
