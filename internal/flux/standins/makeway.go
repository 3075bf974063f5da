package standins

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// Wrap has everything that is sent with a configuration go through the simulation: a request that writes the real
// definition of a kind finds its place free, whatever the stub had guessed. The simulation's own requests do not.
func (s *Simulation) Wrap(config *rest.Config) (*rest.Config, error) {
	var err error
	if s.client, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &clearance{next, s} })
	return config, nil
}

// clearance is a transport that takes stubs away when the real thing comes.
type clearance struct {
	next       http.RoundTripper
	simulation *Simulation
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// RoundTrip checks requests that write definitions.
func (h *clearance) RoundTrip(q *http.Request) (*http.Response, error) {
	writes := q.Method == http.MethodPost || q.Method == http.MethodPut || q.Method == http.MethodPatch
	if !writes || q.Body == nil || !strings.HasPrefix(q.URL.Path, definitions) || q.URL.Query().Has("dryRun") {
		return h.next.RoundTrip(q)
	}
	body, err := io.ReadAll(q.Body)
	_ = q.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading the request body: %w", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	// What cannot be read here the server refuses.
	if yaml.Unmarshal(body, &crd) == nil && crd.Spec.Names.Kind != "" {
		if err := h.simulation.makeWay(q.Context(), schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}); err != nil {
			return nil, err
		}
	}
	sent := q.Clone(q.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	sent.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return h.next.RoundTrip(sent)
}

// clearanceTimeout bounds the wait until a stub is gone.
const clearanceTimeout = 30 * time.Second

// makeWay deletes the stub of a kind with its objects. Their owners apply them again when the real kind is
// served.
func (s *Simulation) makeWay(ctx context.Context, gk schema.GroupKind) error {
	s.mu.Lock()
	name, stub := s.stubs[gk]
	s.mu.Unlock()
	if !stub {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clearanceTimeout)
	defer cancel()
	client := s.client.Resource(crdResource)
	if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the stub of %s: %w", gk, err)
	}
	tick := time.NewTicker(simulateEvery)
	defer tick.Stop()
	for {
		if _, err := client.Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the end of the stub of %s: %w", gk, context.Cause(ctx))
		case <-tick.C:
		}
	}
	s.mu.Lock()
	delete(s.stubs, gk)
	s.mu.Unlock()
	s.dropped("CustomResourceDefinition", name)
	return nil
}
