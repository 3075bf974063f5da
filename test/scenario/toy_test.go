package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/runner/objects"
)

// toy is a whole dialect: Applications of a group of its own, each of which makes a ConfigMap of its spec. Their kind has the
// name of Argo CD's on purpose.
type toy struct{}

const (
	toyGroup     = "toy.example.dev"
	toyFinalizer = toyGroup + "/prune"
)

var toyKind = dialect.Kind{
	GroupKind: schema.GroupKind{Group: toyGroup, Kind: "Application"}, Version: "v1", Resource: "applications",
	Aliases: []string{"toy", "toys", "application"}, Role: dialect.Unit,
}

func (toy) Name() string { return "toy" }
func (toy) Groups() []dialect.Group {
	return []dialect.Group{{Name: toyGroup, Controllers: []string{"toy-controller"}}}
}
func (toy) Kinds() []dialect.Kind { return []dialect.Kind{toyKind} }
func (toy) Upstream() dialect.Upstream {
	return dialect.Upstream{Name: "toy", Title: "Toy", PartOf: "toy", Kinds: []string{"Deployment"}}
}

func (toy) Definitions(serve dialect.Groups) (crds []*unstructured.Unstructured, namespaces []string, err error) {
	if !serve.Serves(toyGroup) {
		return nil, nil, nil
	}
	crd := &unstructured.Unstructured{}
	return []*unstructured.Unstructured{crd}, nil, yaml.Unmarshal([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: applications.toy.example.dev}
spec:
  group: toy.example.dev
  scope: Namespaced
  names: {kind: Application, plural: applications, singular: application}
  versions:
  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`), &crd.Object)
}

func (toy) Declared(u *unstructured.Unstructured) (engine.Unit, error) {
	unit := engine.Unit{
		ID: engine.UnitOf(engine.IDOf(u)), UID: string(u.GetUID()), Generation: u.GetGeneration(), Deleting: u.GetDeletionTimestamp() != nil,
		Prune: true, Deletion: engine.DeletionDelete, Timeout: time.Minute, Interval: time.Hour, RetryInterval: time.Second,
		Target: engine.Target{Owner: "toy"},
	}
	unit.Suspended, _, _ = unstructured.NestedBool(u.Object, "spec", "suspend")
	entries, _, _ := unstructured.NestedSlice(u.Object, "status", "inventory", "entries")
	for _, e := range entries {
		if id, err := engine.DecodeID(e.(map[string]any)["id"].(string)); err == nil {
			unit.Inventory = append(unit.Inventory, engine.Entry{ID: id, Version: "v1"})
		}
	}
	var err error
	depends, _, _ := unstructured.NestedString(u.Object, "spec", "dependsOn")
	unit.Dependencies, err = engine.ParseDependsOn(depends, u.GetNamespace())
	return unit, err
}

func (toy) Render(_ context.Context, u *unstructured.Unstructured) dialect.OfflineUnit {
	unit, err := toy{}.Declared(u)
	return dialect.OfflineUnit{Unit: unit, Objects: toyObjects(u), Err: err}
}

func toyObjects(u *unstructured.Unstructured) []*unstructured.Unstructured {
	data, _, _ := unstructured.NestedMap(u.Object, "spec", "data")
	name, _, _ := unstructured.NestedString(u.Object, "spec", "makes")
	return []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": u.GetNamespace()}, "data": data,
	}}}
}

func (toy) Serve(_ context.Context, h *dialect.Host) (dialect.Part, error) {
	return &toyPart{host: h, held: map[engine.UnitID]*unstructured.Unstructured{}}, nil
}

type toyPart struct {
	host *dialect.Host
	mu   sync.Mutex
	held map[engine.UnitID]*unstructured.Unstructured
}

func (p *toyPart) Joins() runner.Part {
	return runner.Part{
		Groups: []string{toyGroup}, Dialect: p, Drivers: map[schema.GroupKind]runner.Driver{toyKind.GroupKind: objects.New(p.host.Runner.Renderer(), p)},
		Names: map[string]apply.Names{"toy": {Manager: "toy", Prefix: toyGroup + "/", Name: toyGroup + "/name", Namespace: toyGroup + "/namespace"}},
	}
}

func (p *toyPart) Start(ctx context.Context) error {
	return p.host.Home.Watch(ctx, toyKind.GroupVersionResource(), p.host.Selector, cluster.Sink{Put: func(u *unstructured.Unstructured) {
		if u.GetDeletionTimestamp() == nil && !slices.Contains(u.GetFinalizers(), toyFinalizer) {
			_ = p.patch(ctx, u, map[string]any{"metadata": map[string]any{"finalizers": []string{toyFinalizer}}})
		}
		unit, err := toy{}.Declared(u)
		if err != nil {
			unit.Invalid = engine.Invalid{Reason: "Invalid", Message: err.Error()}
		}
		p.mu.Lock()
		p.held[unit.ID] = u
		p.mu.Unlock()
		p.host.Runner.Upsert(unit)
	}, Dropped: func(u *unstructured.Unstructured) { p.host.Runner.Remove(engine.UnitOf(engine.IDOf(u))) }})
}

func (p *toyPart) patch(ctx context.Context, u *unstructured.Unstructured, change map[string]any, sub ...string) error {
	data, err := json.Marshal(change)
	if err == nil {
		_, err = p.host.Home.Dynamic.Resource(toyKind.GroupVersionResource()).Namespace(u.GetNamespace()).
			Patch(ctx, u.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: "toy"}, sub...)
	}
	return err
}

func (p *toyPart) get(id engine.UnitID) *unstructured.Unstructured {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[id]
}

func (p *toyPart) Inputs(_ context.Context, id engine.UnitID) (runner.Inputs, error) {
	u := p.get(id)
	return runner.Inputs{
		Objects: toyObjects(u), Digest: u.GetResourceVersion(),
		Labels: map[string]string{toyGroup + "/name": id.Name, toyGroup + "/namespace": id.Namespace},
	}, nil
}

func (p *toyPart) Report(ctx context.Context, r runner.Report) error {
	ready, entries := "False", []map[string]any{}
	if r.OK {
		ready = "True"
	}
	for _, e := range r.Inventory {
		entries = append(entries, map[string]any{"id": e.ID.Encode(), "v": e.Version})
	}
	return p.patch(ctx, p.get(r.Unit), map[string]any{"status": map[string]any{
		"conditions": []any{map[string]any{
			"type": "Ready", "status": ready, "reason": r.Reason, "message": r.Message, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}},
		"observedGeneration": r.Generation, "inventory": map[string]any{"entries": entries},
	}}, "status")
}

func (p *toyPart) Release(ctx context.Context, id engine.UnitID) error {
	return p.patch(ctx, p.get(id), map[string]any{"metadata": map[string]any{"finalizers": []string{}}})
}

func (p *toyPart) Connect(context.Context, engine.UnitID) (runner.Connection, error) {
	return runner.Connection{}, errors.New("toys are at home")
}

func (p *toyPart) Orphaned(context.Context, engine.UnitID) error { return nil }

func (p *toyPart) Object(id engine.UnitID) map[string]any                                  { return p.get(id).Object }
func (p *toyPart) Drifted(context.Context, engine.UnitID, apply.Drift, int, time.Duration) {}
func (p *toyPart) Nudge(func(url string) bool)                                             {}
func (p *toyPart) Wait()                                                                   {}

// TestToyDialect serves a dialect that nothing but this file knows beside all others.
func TestToyDialect(t *testing.T) {
	t.Parallel()
	catalogue := append(dialects.All(), toy{})
	k := startKit(t, kit.Options{Dialects: catalogue})
	headgate := func(code int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		args = append([]string{"--kubeconfig", k.Plane.Kubeconfig(), "--state-dir", t.TempDir()}, args...)
		if got := cli.MainWith(t.Context(), args, cli.IO{In: strings.NewReader(""), Out: &out, Err: &out}, catalogue); got != code {
			t.Errorf("headgate %v: exit code %d, want %d\n%s", args[4:], got, code, out.String())
		}
		return out.String()
	}
	demand := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in\n%s", part, text)
			}
		}
	}
	dyn, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		mapper, err := roots.Mapper(k.Config)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(text, "---\n") {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
				t.Fatal(err)
			}
			if len(u.Object) == 0 {
				continue
			}
			m, err := mapper.RESTMapping(u.GroupVersionKind().GroupKind(), u.GroupVersionKind().Version)
			if err == nil {
				err = apply.Put(t.Context(), dyn.Resource(m.Resource).Namespace(u.GetNamespace()), "someone", u)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	toys := dyn.Resource(toyKind.GroupVersionResource()).Namespace("argocd")
	ready := func(name string, want string) {
		t.Helper()
		eventually(t, name, func() (bool, string) {
			u, err := toys.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
			return len(conditions) == 1 && conditions[0].(map[string]any)["status"] == want, fmt.Sprint(u.Object["status"])
		})
	}
	toyApp := func(name, spec string) string {
		return "apiVersion: toy.example.dev/v1\nkind: Application\nmetadata: {name: " + name + ", namespace: argocd}\nspec: " + spec + "\n---\n"
	}
	// An Application of Argo CD of the same name stands beside it; neither takes the other for itself.
	put("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: one, namespace: argocd}\nspec: {project: nowhere, source: {repoURL: '" +
		k.Git.URL("none") + "', path: .}, destination: {server: 'https://kubernetes.default.svc', namespace: argocd}}\n")
	put(toyApp("two", "{makes: two, data: {k: v}, dependsOn: toy.example.dev/Application/one}") + toyApp("blocked", "{makes: blocked, dependsOn: toy.example.dev/Application/two, suspend: false}"))
	ready("two", "False")
	demand(headgate(1, "why", "toy/two", "-n", "argocd"), "Application/argocd/two is not ready", "Application/argocd/one")
	put(toyApp("one", "{makes: one, data: {k: v}}"))
	for _, name := range []string{"one", "two", "blocked"} {
		ready(name, "True")
	}
	// Two owners of one object: the second is refused, and says whose it is.
	put(toyApp("rival", "{makes: one, data: {k: other}}"))
	ready("rival", "False")
	demand(headgate(0, "get", "toy", "-n", "argocd"), "NAME", "rival", "False", "Application/argocd/one")
	demand(headgate(0, "get", "application"), "application.argoproj.io/one", "application.toy.example.dev/one")
	demand(headgate(2, "sync", "application", "one"), "several objects are named", "Application.argoproj.io/argocd/one", "Application.toy.example.dev/argocd/one")
	demand(headgate(0, "tree", "toy/one", "-n", "argocd"), "Application/argocd/one", "ConfigMap/argocd/one")
	demand(headgate(0, "graph"), "Application/argocd/two", "Application/argocd/one")
	demand(headgate(0, "suspend", "toy/blocked", "-n", "argocd"), "suspended")
	demand(headgate(0, "__complete", "why", ""), "toy/", "ks/")
	demand(headgate(0, "__complete", "why", "-n", ""), "default", "kube-system")
	// What goes with its declaration goes, and nothing else.
	if err := toys.Delete(t.Context(), "rival", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := toys.Delete(t.Context(), "two", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	maps := dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("argocd")
	eventually(t, "the object of a deleted unit is pruned", func() (bool, string) {
		_, err := maps.Get(t.Context(), "two", metav1.GetOptions{})
		return apierrors.IsNotFound(err), "it is still there"
	})
	if _, err := maps.Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
		t.Errorf("the object of another unit: %v", err)
	}
	// A controller of its upstream is named, as those of the others are.
	put("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: toy-controller, namespace: argocd, labels: {app.kubernetes.io/part-of: toy}}\n" +
		"spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n")
	serve, err := catalogue.Parse([]string{"toy"})
	if err != nil {
		t.Fatal(err)
	}
	if err := host.RefuseUpstream(t.Context(), k.Config, serve); !errors.Is(err, host.ErrUpstream) || !strings.Contains(err.Error(), "Deployment argocd/toy-controller serves toy.example.dev") {
		t.Errorf("a controller of the upstream serves the group as well: %v", err)
	}
	// Without a cluster, it is walked with the Kustomization that declares it.
	repo := t.TempDir()
	writeFile(t, repo+"/cluster/toy.yaml", toyApp("offline", "{makes: offline, data: {k: v}}"))
	demand(headgate(0, "render", repo, "--path", "cluster"), "# Application/argocd/offline", "name: offline")
	demand(headgate(0, "graph", repo, "--path", "cluster"), "Application/argocd/offline")
}
