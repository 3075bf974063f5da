package argo

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/engine"
)

// listener notes what it hears of Applications, and is slow to take it.
type listener struct {
	mu       sync.Mutex
	versions []uint64
	wanted   []string
	gone     bool
}

func (l *listener) Want(_ string, keys []feeds.Key) {
	runtime.Gosched()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		l.wanted = append(l.wanted, k.URL)
	}
}

func (l *listener) Upsert(unit engine.Unit) {
	runtime.Gosched()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.versions, l.gone = append(l.versions, unit.Version), false
}

func (l *listener) Remove(engine.UnitID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
}

func (*listener) Stir(engine.UnitID) {}

// TestRelay reads one Application by several goroutines, as the watch and those that write to it do: what is said last is
// the latest version, and one that went is not reported again.
func TestRelay(t *testing.T) {
	const versions, readers = 400, 4
	l := &listener{}
	e := &Engine{
		feeds: &feeds.Feeds{},
		apps:  newRegistry(), projects: configuration.NewProjects(), settings: configuration.NewSettings("argocd"), options: Options{Namespace: "argocd"}, told: &relay{audience: l},
	}
	e.projects.Put(&v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1alpha1.AppProjectSpec{SourceRepos: []string{"*"}}})
	id := UnitID("argocd", "a")
	url := func(version int) string { return fmt.Sprintf("https://git.example/%d", version) }
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() {
			for v := 1 + i; v <= versions; v += readers {
				obj := application("1")
				obj.ResourceVersion, obj.Spec.Source.RepoURL = strconv.Itoa(v), url(v)
				e.enter(id, declaration{obj: obj})
				if a := e.apps.get(id); a != nil {
					e.declare(a)
				}
			}
		})
	}
	wg.Wait()
	for i := 1; i < len(l.versions); i++ {
		if l.versions[i] < l.versions[i-1] {
			t.Fatalf("version %d was told of after version %d", l.versions[i], l.versions[i-1])
		}
	}
	if last := l.versions[len(l.versions)-1]; last != versions {
		t.Errorf("the last version that was told of is %d", last)
	}
	if last := l.wanted[len(l.wanted)-1]; last != url(versions) {
		t.Errorf("the repository that was wanted last is %s", last)
	}

	a := e.apps.get(id)
	wg.Go(func() {
		for range versions {
			e.declare(a)
		}
	})
	wg.Go(func() { e.leave(id, a.uid) })
	wg.Wait()
	e.declare(a)
	e.enter(id, declaration{obj: a.now()})
	if !l.gone {
		t.Error("an Application that went was told of again")
	}
}

// TestReads: an Application reads what its project permits, and a requested sync brings no other source along.
func TestReads(t *testing.T) {
	const own, foreign = "https://git.example/repo", "https://git.example/foreign"
	with := func(url string) *v1alpha1.ApplicationSource {
		return &v1alpha1.ApplicationSource{RepoURL: url, Path: "."}
	}
	several := func(sources ...*v1alpha1.ApplicationSource) (all []v1alpha1.ApplicationSource) {
		for _, s := range sources {
			all = append(all, *s)
		}
		return all
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*v1alpha1.Application)
		reads  []string
		phase  v1alpha1.OperationPhase
	}{
		"Permitted": {"", func(*v1alpha1.Application) {}, []string{own}, ""},
		"Foreign":   {"a fetch would bring the login of the repository along", func(a *v1alpha1.Application) { a.Spec.Source = with(foreign) }, nil, ""},
		"OneOfSeveral": {"", func(a *v1alpha1.Application) {
			a.Spec.Source, a.Spec.Sources = nil, several(with(own), with(foreign))
		}, nil, ""},
		"NoProject": {"", func(a *v1alpha1.Application) { a.Spec.Project = "q" }, nil, ""},
		"Namespace": {"", func(a *v1alpha1.Application) { a.Namespace = "team" }, nil, ""},
		"Hydrated": {"", func(a *v1alpha1.Application) {
			a.Spec.Source, a.Spec.SourceHydrator = nil, &v1alpha1.SourceHydrator{
				DrySource: v1alpha1.DrySource{RepoURL: foreign}, SyncSource: v1alpha1.SyncSource{RepoURL: own, TargetBranch: "main"},
			}
		}, nil, ""},
		"Sync": {"", func(a *v1alpha1.Application) {
			a.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Source: with(own + ".git")}}
		}, []string{own + ".git"}, ""},
		"SyncOfForeign": {"the sync ends, and the Application stays what it was", func(a *v1alpha1.Application) {
			a.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Source: with(foreign)}}
		}, []string{own}, v1alpha1.OperationError},
		"SyncOfSeveral": {"", func(a *v1alpha1.Application) {
			a.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Sources: several(with(own), with(foreign))}}
		}, []string{own}, v1alpha1.OperationError},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listener{}
			e := &Engine{
				feeds: &feeds.Feeds{},
				apps:  newRegistry(), projects: configuration.NewProjects(), settings: configuration.NewSettings("argocd"), options: Options{Namespace: "argocd"}, told: &relay{audience: l},
			}
			e.feeds = feeds.New(t.Context(), feeds.Config{Settings: e.settings.Now})
			e.projects.Put(&v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1alpha1.AppProjectSpec{SourceRepos: []string{own}}})
			obj := application("1")
			tc.change(obj)
			id := UnitID("argocd", "a")
			e.enter(id, declaration{obj: obj})
			if diff := cmp.Diff(tc.reads, l.wanted); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			phase := v1alpha1.OperationPhase("")
			if state := e.apps.get(id).view.operation; state != nil {
				phase = state.Phase
			}
			if phase != tc.phase {
				t.Errorf("%s: the phase is %q, want %q", tc.reason, phase, tc.phase)
			}
		})
	}
}
