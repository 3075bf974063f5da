package managed

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/meter"
)

// toys is a provider with a kind whose objects stand for something that is there, and up to date, until it is deleted.
type toys struct{ deleted chan struct{} }

func (toys) Groups() []dialect.Group { return []dialect.Group{{Name: "toys.example.dev"}} }

func (toys) Kinds() []Kind {
	return []Kind{{
		Kind:     dialect.Kind{GroupKind: schema.GroupKind{Group: "toys.example.dev", Kind: "Toy"}, Version: "v1", Resource: "toys", ClusterScoped: true},
		Deletion: true, Poll: -1,
	}}
}

func (toys) Definitions() ([]*unstructured.Unstructured, error) { return nil, nil }

func (t toys) Serve(context.Context, Tools) (Connector, error) { return t, nil }

func (t toys) Connect(context.Context, *Resource) (External, error) { return t, nil }

func (toys) Observe(context.Context) (Observation, error) {
	return Observation{Exists: true, UpToDate: true, Ready: Available()}, nil
}

func (toys) Create(context.Context, Intent) (Result, error) { return Result{}, nil }

func (toys) Update(context.Context) (Result, error) { return Result{}, nil }

func (t toys) Delete(context.Context) (Result, error) {
	select {
	case t.deleted <- struct{}{}:
	default:
	}
	return Result{}, nil
}

// groups is a dialect of which only its groups are asked for.
type groups struct {
	dialect.Dialect
	all []dialect.Group
}

func (g groups) Groups() []dialect.Group { return g.all }

// toy is a version of the resource as its API server has it.
func toy(version string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	o := object("1", version, change)
	o.SetAPIVersion("toys.example.dev/v1")
	o.SetKind("Toy")
	o.SetFinalizers([]string{Finalizer})
	o.SetAnnotations(map[string]string{AnnotationExternalName: "a"})
	return o
}

// TestDeletedMeanwhile deletes what a resource stands for although the resource was deleted while a pass wrote its status: the answer
// to the write has the deletion already, so that its notice, which comes after that, says nothing new.
func TestDeletedMeanwhile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(q.URL.Path, "/status") {
			_, _ = io.Copy(w, q.Body)
			return
		}
		// The deletion was version 10.
		_ = json.NewEncoder(w).Encode(toy("11", deleting))
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	provider := toys{make(chan struct{}, 1)}
	host := &dialect.Host{
		Config: config, Home: &cluster.Cluster{Dynamic: client}, Serve: dialect.Catalogue{groups{all: provider.Groups()}}.All(),
		Metrics: meter.New(t.Context(), nil), Log: logr.Discard(),
	}
	r, err := New(t.Context(), host, Options{}, provider)
	if err != nil {
		t.Fatal(err)
	}
	r.loop.Start(t.Context())
	r.put(toy("9", nil))
	select {
	case <-provider.deleted:
	case <-time.After(time.Minute):
		t.Error("nothing was deleted: the pass that wrote the status was the last one")
	}
}
