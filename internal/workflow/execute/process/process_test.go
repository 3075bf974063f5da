package process

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

func TestMain(m *testing.M) {
	if _, is := Serve(); is {
		return
	}
	if os.Getenv(withoutMounts) != "" {
		ableWithoutMounts()
		return
	}
	if dir := os.Getenv(engineDir); dir != "" {
		engineThatIsKilled(dir)
		return
	}
	m.Run()
}

const secretValue = "hunter2-is-secret"

// apiServer answers what an executor asks an API server.
type apiServer struct {
	*httptest.Server
	mu sync.Mutex
	// forbidden is whether the account may not read Secrets.
	forbidden bool
	tokens    int
}

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := func(code int, reason metav1.StatusReason) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: reason, Code: int32(code), Message: string(reason)})
	}
	as := r.Header.Get("Impersonate-User")
	path := strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/team/")
	switch {
	case path == "serviceaccounts/builder/token" && as == "":
		s.tokens++
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"token-of-builder"}}`)
	case as != "system:serviceaccount:team:builder" || s.forbidden:
		status(http.StatusForbidden, metav1.StatusReasonForbidden)
	case path == "secrets/login":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"login"},"data":{"password":%q,"user":%q}}`,
			base64.StdEncoding.EncodeToString([]byte(secretValue)), base64.StdEncoding.EncodeToString([]byte("ann")))
	case path == "configmaps/settings":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings"},"data":{"colour":"green","file.txt":"from a file\n"}}`)
	default:
		status(http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

// world is an executor with what it needs.
type world struct {
	*Executor
	t    *testing.T
	dir  string
	api  *apiServer
	wf   *v1alpha1.Workflow
	of   execute.Workflow
	told *told
	end  context.CancelFunc
}

// told is notified of changes.
type told struct{ ch chan struct{} }

func (l *told) LeavesChanged(execute.Workflow) {
	select {
	case l.ch <- struct{}{}:
	default:
	}
}

func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), api: newAPIServer(t)}
	w.wf = workflow()
	w.of = execute.Of(w.wf)
	w.start(change...)
	return w
}

func workflow() *v1alpha1.Workflow {
	return &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "wf", UID: types.UID("11-22")}}
}

func optionsIn(dir, host string) (Options, error) {
	limits := artifacts.DefaultLimits()
	store, err := artifacts.OpenStore(filepath.Join(dir, "artifacts"), limits)
	return Options{
		Dir: filepath.Join(dir, "steps"), Config: &rest.Config{Host: host}, Program: sandbox.Self(),
		Places: &artifacts.Places{Store: store, Limits: limits}, Guard: guard.Guard{},
	}, err
}

// start begins an engine on the directory of the world, as after a restart.
func (w *world) start(change ...func(*Options)) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	o, err := optionsIn(w.dir, w.api.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	w.told = &told{make(chan struct{}, 1)}
	o.Listener = w.told
	for _, do := range change {
		do(&o)
	}
	if w.Executor, err = New(ctx, o); err != nil {
		w.t.Fatal(err)
	}
	w.end = func() {
		cancel()
		w.Wait()
	}
	w.t.Cleanup(func() {
		nodes, _ := w.nodes(w.of)
		for _, node := range nodes {
			_ = w.Stop(context.Background(), w.of, node, "the test is over")
		}
		_ = w.Forget(context.Background(), w.of)
		w.end()
	})
}

// shell is a template that runs a script of sh.
func shell(source string) *v1alpha1.Template {
	return &v1alpha1.Template{Name: "shell", Script: &v1alpha1.ScriptTemplate{Container: corev1.Container{Image: "alpine", Command: []string{"sh"}}, Source: source}}
}

func (w *world) run(node string, t *v1alpha1.Template, change ...func(*plan.Run)) {
	w.t.Helper()
	run := plan.Run{Kind: plan.Pod, NodeID: node, NodeName: node, Name: node, Template: t, Result: true}
	run.Settings.ServiceAccountName = "builder"
	for _, do := range change {
		do(&run)
	}
	if err := w.Start(w.t.Context(), w.wf, run); err != nil {
		w.t.Fatal(err)
	}
}

// until waits for a state of a leaf.
func (w *world) until(node string, is func(plan.Leaf) bool) plan.Leaf {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		leaves, err := w.Leaves(ctx, w.of)
		if err != nil {
			w.t.Fatal(err)
		}
		leaf, exists := leaves[node]
		if exists && is(leaf) {
			return leaf
		}
		select {
		case <-w.told.ch:
		case <-tick.C:
		case <-ctx.Done():
			w.t.Fatalf("%s is %+v; log: %s", node, leaf, w.log(node))
		}
	}
}

func ended(l plan.Leaf) bool { return l.Phase.Fulfilled() }

func (w *world) log(node string) string {
	w.t.Helper()
	r, err := w.Logs(context.Background(), w.of, node, false)
	if err != nil {
		return ""
	}
	defer r.Close()
	data, _ := io.ReadAll(r)
	return string(data)
}

// outcome runs a template to its end.
func (w *world) outcome(node string, t *v1alpha1.Template, change ...func(*plan.Run)) plan.Leaf {
	w.t.Helper()
	w.run(node, t, change...)
	leaf := w.until(node, ended)
	// What it needed is deleted after its end was recorded.
	w.until(node, func(plan.Leaf) bool {
		return w.activeAt(filepath.Join(w.options.Dir, runsDir, string(w.of.UID), node)) == nil
	})
	return leaf
}
