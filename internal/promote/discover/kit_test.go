package discover

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	served "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

const project = "shop"

// anywhere searches without credentials.
func anywhere() Options {
	return Options{HTTP: &http.Client{Transport: &http.Transport{}}, Allow: func(context.Context, string) error { return nil }}
}

// warehouse has one Warehouse of these subscriptions.
func warehouse(subscriptions ...v1alpha1.RepoSubscription) *v1alpha1.Warehouse {
	return &v1alpha1.Warehouse{
		ObjectMeta: metav1.ObjectMeta{Namespace: project, Name: "w"}, Spec: v1alpha1.WarehouseSpec{Subscriptions: subscriptions},
	}
}

func ofImage(s v1alpha1.ImageSubscription) *v1alpha1.Warehouse {
	return warehouse(v1alpha1.RepoSubscription{Image: &s})
}

func find(t *testing.T, f *Finder, w *v1alpha1.Warehouse, before *v1alpha1.DiscoveredArtifacts) *v1alpha1.DiscoveredArtifacts {
	t.Helper()
	found, err := f.Find(t.Context(), w, before)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// refused expects an error that has all of some texts.
func refused(t *testing.T, f *Finder, w *v1alpha1.Warehouse, texts ...string) {
	t.Helper()
	_ = failure(t, f, w, texts...)
}

// failure is an error that has all of some texts.
func failure(t *testing.T, f *Finder, w *v1alpha1.Warehouse, texts ...string) error {
	t.Helper()
	found, err := f.Find(t.Context(), w, nil)
	if err == nil {
		t.Fatalf("it found %+v", found)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not say %q: %v", text, err)
		}
	}
	return err
}

// store is a registry that remembers what was requested.
type store struct {
	server *httptest.Server
	host   string

	mu     sync.Mutex
	asked  []string
	answer http.HandlerFunc
}

// serve starts an empty registry.
func serve(t *testing.T, start func(http.Handler) *httptest.Server) *store {
	t.Helper()
	s := &store{}
	inner := served.New(served.Logger(log.New(io.Discard, "", 0)))
	s.server = start(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, q.Method+" "+q.URL.Path)
		answer := s.answer
		s.mu.Unlock()
		if answer != nil {
			answer(w, q)
			return
		}
		inner.ServeHTTP(w, q)
	}))
	t.Cleanup(s.server.Close)
	s.host = s.server.Listener.Addr().String()
	return s
}

// answers has all requests answered by a function, or by the registry again.
func (s *store) answers(with http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = with
}

// requests are those since the last call, without those for the version of the API.
func (s *store) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := slices.DeleteFunc(s.asked, func(one string) bool { return one == "GET /v2/" })
	s.asked = nil
	return asked
}

func (s *store) methods() map[string]int {
	counts := map[string]int{}
	for _, one := range s.requests() {
		method, path, _ := strings.Cut(one, " ")
		what := "other"
		for _, part := range []string{"tags", "manifests", "blobs"} {
			if strings.Contains(path, "/"+part+"/") {
				what = part
			}
		}
		counts[method+" "+what]++
	}
	return counts
}

// built is an image that was created on a day of 2026.
func built(t *testing.T, day int, platform v1.Platform, labels map[string]string) v1.Image {
	t.Helper()
	file, err := empty.Image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.Created, file.OS, file.Architecture, file.Variant = v1.Time{Time: onDay(day)}, platform.OS, platform.Architecture, platform.Variant
	file.Config.Labels = labels
	one, err := mutate.ConfigFile(empty.Image, file)
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func onDay(day int) time.Time {
	return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, day)
}

func amd64() v1.Platform { return v1.Platform{OS: "linux", Architecture: "amd64"} }

func annotated(t *testing.T, one v1.Image, annotations map[string]string) v1.Image {
	t.Helper()
	with, is := mutate.Annotations(one, annotations).(v1.Image)
	if !is {
		t.Fatal("annotations made it something else")
	}
	return with
}

func (s *store) reference(t *testing.T, tag string) name.Reference {
	t.Helper()
	r, err := name.ParseReference(s.host+"/team/app:"+tag, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// push pushes an image, and further tags of it.
func (s *store) push(t *testing.T, one v1.Image, tags ...string) {
	t.Helper()
	if err := remote.Write(s.reference(t, tags[0]), one, remote.WithTransport(s.server.Client().Transport)); err != nil {
		t.Fatal(err)
	}
	for _, tag := range tags[1:] {
		r, is := s.reference(t, tag).(name.Tag)
		if !is {
			t.Fatal("not a tag")
		}
		if err := remote.Tag(r, one, remote.WithTransport(s.server.Client().Transport)); err != nil {
			t.Fatal(err)
		}
	}
	s.requests()
}

func tagsOf(found *v1alpha1.DiscoveredArtifacts) []string {
	var tags []string
	for _, one := range found.Images[0].References {
		tags = append(tags, one.Tag)
	}
	return tags
}

func login(username, password string) func(context.Context, string, string, string) (steps.Login, error) {
	return func(_ context.Context, of, _, _ string) (steps.Login, error) {
		if of != project {
			return steps.Login{}, errors.New("another Project")
		}
		return steps.Login{Username: username, Password: password}, nil
	}
}
