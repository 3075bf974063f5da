package sets

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// place is an installation with Applications of which some are on their way, and why.
type place struct {
	applications []Application
	moving       map[string]string
	settings     settings.Settings
}

func (p *place) Settings() settings.Settings                      { return p.settings }
func (p *place) Applications(string) []Application                { return p.applications }
func (*place) Put(*unstructured.Unstructured)                     {}
func (*place) Verify(string, feeds.Key, feeds.State) error        { return nil }
func (*place) Behind(types.NamespacedName, *appset.AppState) bool { return false }

func (p *place) Moving(app types.NamespacedName) (why string, moving bool) {
	why, moving = p.moving[app.Name]
	return why, moving
}

// generated is an Application of a set, or of none.
func generated(name, set string) Application {
	obj := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: name}}
	if set != "" {
		obj.OwnerReferences = []metav1.OwnerReference{{Kind: Kind, Name: set}}
	}
	return Application{Declared: obj}
}

// TestHealth asks for the health of a set whose Applications are on their way or not.
func TestHealth(t *testing.T) {
	const healthy, progressing, degraded = "Healthy", "Progressing", "Degraded"
	for name, c := range map[string]struct {
		set           string
		status        string
		moving        map[string]string
		want, message string
	}{
		"nothing moves":                {set: "web", status: healthy, want: healthy},
		"the first by name is told":    {set: "web", status: healthy, moving: map[string]string{"c": "later", "b": "its sync is running"}, want: progressing, message: "Application/argocd/b: its sync is running"},
		"one that says nothing":        {set: "web", status: healthy, moving: map[string]string{"c": ""}, want: progressing, message: "Application/argocd/c"},
		"one of another set":           {set: "web", status: healthy, moving: map[string]string{"a": "it is OutOfSync"}, want: healthy},
		"one without an owner":         {set: "orphaning", status: healthy, moving: map[string]string{"d": "it is OutOfSync"}, want: progressing, message: "Application/argocd/d: it is OutOfSync"},
		"a set that leaves health out": {set: "other", status: healthy, moving: map[string]string{"a": "it is OutOfSync"}, want: healthy},
		"a set that failed":            {set: "web", status: degraded, moving: map[string]string{"b": "its sync is running"}, want: degraded},
		"a set that is not served":     {set: "unknown", status: healthy, want: healthy},
	} {
		t.Run(name, func(t *testing.T) {
			in := &place{moving: c.moving, applications: []Application{
				generated("c", "web"), generated("a", "other"), generated("d", ""), generated("b", "web"),
			}}
			s := New(Config{Host: &dialect.Host{}, Namespace: "argocd", Installation: in})
			for _, set := range []string{"web", "other", "orphaning"} {
				u := &unstructured.Unstructured{Object: map[string]any{}}
				u.SetNamespace("argocd")
				u.SetName(set)
				if set == "other" {
					u.SetAnnotations(map[string]string{v1alpha1.IgnoreHealthAnnotation: "true"})
				}
				s.Put(u)
			}
			s.remember(s.sets[types.NamespacedName{Namespace: "argocd", Name: "orphaning"}], appset.Generated{Origins: map[string]string{"d": ""}})
			h := s.Health(cluster.Record{
				ID:     engine.ObjectID{Group: v1alpha1.GroupVersion.Group, Kind: Kind, Namespace: "argocd", Name: c.set},
				Health: engine.ObjectHealth{Status: c.status},
			})
			if h.Status != c.want || h.Message != c.message {
				t.Errorf("got %s %q, want %s %q", h.Status, h.Message, c.want, c.message)
			}
		})
	}
}

// TestServes puts sets of several namespaces: those of the installation and of what its settings name are kept.
func TestServes(t *testing.T) {
	in := &place{}
	in.settings.AppSets.Namespaces = []string{"team-*"}
	s := New(Config{Host: &dialect.Host{}, Namespace: "argocd", Installation: in})
	for namespace, want := range map[string]bool{"argocd": true, "team-a": true, "default": false} {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetNamespace(namespace)
		u.SetName("web")
		s.Put(u)
		if got := s.sets[types.NamespacedName{Namespace: namespace, Name: "web"}] != nil; got != want {
			t.Errorf("namespace %s: kept is %v, want %v", namespace, got, want)
		}
	}
}
