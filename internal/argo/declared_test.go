package argo

import (
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

func application(uid string) *v1alpha1.Application {
	return &v1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "a", UID: types.UID(uid)},
		Spec: v1alpha1.ApplicationSpec{
			Project: "p", Source: &v1alpha1.ApplicationSource{RepoURL: "https://git.example/repo", Path: "."},
			Destination: v1alpha1.ApplicationDestination{Server: settings.InClusterServer, Namespace: "a"},
		},
	}
}

// TestSnapshots deletes and creates the project of an Application while a worker asks for its sync windows. That the worker
// reads no memory that is written meanwhile is for the race detector to say.
func TestSnapshots(t *testing.T) {
	e := &Engine{apps: newRegistry(), projects: configuration.NewProjects(), settings: configuration.NewSettings("argocd"), options: Options{Namespace: "argocd"}}
	d := &driver{e}
	project := &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "p"}}
	project.Spec.SyncWindows = []v1alpha1.SyncWindow{{Kind: "deny", Schedule: "* * * * *", Duration: "1h", Applications: []string{"*"}}}
	a, _ := e.apps.take(UnitID("argocd", "a"), declaration{obj: application("1")})
	a.mu.Unlock()
	swap := func(there bool) {
		e.projects.Drop("p")
		if there {
			e.projects.Put(project)
		}
		e.projects.Reread(e.settings.Now())
		a.mu.Lock()
		e.derive(a)
		a.mu.Unlock()
	}
	swap(true)
	op := &running{state: v1alpha1.OperationState{StartedAt: metav1.NewTime(time.Now())}}
	op.request.InitiatedBy.Automated = true

	const window = "Sync operation blocked by sync window"
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 500 {
			swap(i%2 == 1)
		}
	})
	for range 500 {
		if why, _ := d.ends(a, op); why != "" && !strings.HasPrefix(why, window) {
			t.Errorf("the project is there or is not: the sync ends with %q", why)
		}
	}
	wg.Wait()
	if why, _ := d.ends(a, op); !strings.HasPrefix(why, window) {
		t.Errorf("the project is there, and its window is open: the sync ends with %q", why)
	}
	swap(false)
	if why, _ := d.ends(a, op); why != "" {
		t.Errorf("the project is gone, and its window with it: the sync ends with %q", why)
	}
}

func TestTake(t *testing.T) {
	r := newRegistry()
	id := UnitID("argocd", "a")
	first, fresh := r.take(id, declaration{obj: application("1")})
	if first == nil || !fresh {
		t.Fatalf("the first one: got %v, %v", first, fresh)
	}
	first.mu.Unlock()
	if again, fresh := r.take(id, declaration{obj: application("1")}); again != first || fresh {
		t.Errorf("the same Application: got another one, or a fresh one (%v)", fresh)
	}
	second, fresh := r.take(id, declaration{obj: application("2")})
	if second == nil || second == first || !fresh {
		t.Fatalf("one that was created again under the name: it shares what a worker of the deleted one may be writing (%v)", fresh)
	}
	second.mu.Unlock()
	if r.get(id) != second {
		t.Errorf("the deleted one is still found by the name")
	}
	r.bury("2")
	if gone, _ := r.take(id, declaration{obj: application("2")}); gone != nil {
		t.Errorf("an answer that comes after the end brings the Application back")
	}
}
