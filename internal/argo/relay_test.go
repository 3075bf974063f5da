package argo

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/engine"
)

// listener notes what it is told of Applications, and is slow to take it.
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

// TestRelay reads one Application by several goroutines, as the watch and those that write to it do: what is told last is
// the latest version, and one that went is not told of again.
func TestRelay(t *testing.T) {
	const versions, readers = 400, 4
	l := &listener{}
	e := &Engine{
		apps: newRegistry(), projects: configuration.NewProjects(), settings: configuration.NewSettings("argocd"), options: Options{Namespace: "argocd"}, told: &relay{audience: l},
	}
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
