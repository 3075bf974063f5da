package managed

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
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
type toys struct {
	deleted chan struct{}
	// configured gets the generation of the configuration of each pass, when the kind has any.
	configured chan int64
}

func (toys) Groups() []dialect.Group { return []dialect.Group{{Name: "toys.example.dev"}} }

func (t toys) Kinds() []Kind {
	kind := func(name string) dialect.Kind {
		return dialect.Kind{GroupKind: schema.GroupKind{Group: "toys.example.dev", Kind: name}, Version: "v1", Resource: strings.ToLower(name) + "s", ClusterScoped: true}
	}
	toy := Kind{Kind: kind("Toy"), Deletion: true, Poll: -1}
	if t.configured != nil {
		toy.Configurations, toy.DefaultName = []Configuration{{Kind: kind("ProviderConfig"), Usage: kind("ProviderConfigUsage")}}, "default"
	}
	return []Kind{toy}
}

func (toys) Definitions() ([]*unstructured.Unstructured, error) { return nil, nil }

func (t toys) Serve(context.Context, Tools) (Connector, error) { return t, nil }

func (t toys) Connect(_ context.Context, r *Resource) (External, error) {
	if t.configured != nil {
		t.configured <- r.Configuration.GetGeneration()
	}
	return t, nil
}

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

// groups is a dialect of which only the groups are read.
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

// reconciling is what serves toys, from an API server that answers to each write of a status with an object, and to each other write with
// what it was sent.
func reconciling(t *testing.T, provider toys, answer *unstructured.Unstructured) *Reconciler {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(q.URL.Path, "/status") {
			_, _ = io.Copy(w, q.Body)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	host := &dialect.Host{
		Tenants: &dialect.Tenants{},
		Config:  config, Home: &cluster.Cluster{Dynamic: client}, Serve: dialect.Catalogue{groups{all: provider.Groups()}}.All(),
		Metrics: meter.New(t.Context(), nil), Log: logr.Discard(),
	}
	r, err := New(t.Context(), host, Options{}, provider)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDeletedMeanwhile deletes what a resource stands for although the resource was deleted while a pass wrote its status: the answer
// to the write has the deletion already, so that its notice, which comes after that, says nothing new.
func TestDeletedMeanwhile(t *testing.T) {
	provider := toys{deleted: make(chan struct{}, 1)}
	// The deletion was version 10.
	r := reconciling(t, provider, toy("11", deleting))
	r.loop.Start(t.Context())
	r.put(toy("9", nil))
	select {
	case <-provider.deleted:
	case <-time.After(time.Minute):
		t.Error("nothing was deleted: the pass that wrote the status was the last one")
	}
}

// TestConfigurations has a pass made when a provider configuration says something else, and none when its users are counted.
func TestConfigurations(t *testing.T) {
	provider := toys{configured: make(chan int64, 100)}
	r := reconciling(t, provider, toy("10", nil))
	configuration := func(version, generation int64) *unstructured.Unstructured {
		o := object("2", strconv.FormatInt(version, 10), nil)
		o.SetAPIVersion("toys.example.dev/v1")
		o.SetKind("ProviderConfig")
		o.SetName("default")
		o.SetGeneration(generation)
		return o
	}
	another := func(o *unstructured.Unstructured) { o.SetName("b") }
	key := keyOf(toy("9", nil))
	r.configs.put(configuration(100, 1))
	r.put(toy("9", nil))
	r.Pass(t.Context(), key)
	r.loop.Forget(key)
	for version := int64(101); version < 110; version++ {
		r.configs.put(configuration(version, 1))
	}
	// The pass of another one comes after those that were requested before.
	r.loop.Start(t.Context())
	r.put(toy("9", another))
	got := []int64{<-provider.configured, <-provider.configured}
	r.configs.put(configuration(110, 2))
	got = append(got, <-provider.configured, <-provider.configured)
	if want := []int64{1, 1, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("passes were made for the generations %v, not %v", got, want)
	}
}

// TestCounts writes the users of a configuration once a second.
func TestCounts(t *testing.T) {
	u := &usages{written: map[Key]time.Time{}}
	key, now := Key{Name: "default"}, time.Unix(100, 0)
	for _, step := range []struct{ at, want time.Duration }{
		{0, 0}, {300 * time.Millisecond, 700 * time.Millisecond}, {999 * time.Millisecond, time.Millisecond}, {time.Second, 0}, {time.Second, time.Second},
	} {
		if wait := u.wait(key, now.Add(step.at)); wait != step.want {
			t.Errorf("after %s the wait is %s, not %s", step.at, wait, step.want)
		}
	}
}
