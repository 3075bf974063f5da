package cli

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/health/argocd"
)

// maxCauses bounds how many objects of one Application are explained.
const maxCauses = 10

// appCauses continues with what an Application waits for: what it depends on, children that are not ready, and objects that differ or
// are not healthy.
func (w *explainer) appCauses(ctx context.Context, u *unstructured.Unstructured, depth int) {
	app, err := applicationOf(u)
	if err != nil {
		w.print(depth, "✗ %v", err)
		return
	}
	w.results(app, depth)
	told := 0
	for _, r := range app.Status.Resources {
		if told == maxCauses {
			w.print(depth, "and more: headgate tree app/%s/%s --all", app.Namespace, app.Name)
			return
		}
		if w.resource(ctx, app, r, depth) {
			told++
		}
	}
}

// results prints the objects that the last sync failed at.
func (w *explainer) results(app *v1alpha1.Application, depth int) {
	state := app.Status.OperationState
	if state == nil || state.SyncResult == nil || state.Phase == v1alpha1.OperationSucceeded {
		return
	}
	for _, r := range state.SyncResult.Resources {
		switch {
		case r.Status == v1alpha1.ResultCodeSyncFailed || r.HookPhase == v1alpha1.OperationFailed:
			w.print(depth, "✗ %s failed in %s: %s", resourceName(r), orWord(r.SyncPhase, "Sync"), oneLine(r.Message))
		case r.HookType != "" && r.HookPhase == v1alpha1.OperationRunning:
			w.print(depth, "◌ hook %s of %s runs: %s", resourceName(r), r.SyncPhase, oneLine(r.Message))
		}
	}
}

// resource explains one object of an Application, and tells whether there was something to say.
func (w *explainer) resource(ctx context.Context, app *v1alpha1.Application, r v1alpha1.ResourceStatus, depth int) bool {
	if r.Hook {
		return false
	}
	name := strings.Join([]string{r.Kind, strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")}, "/")
	if r.Group == argo.Group && r.Kind == applicationKind.Kind {
		return w.child(ctx, reference{served: w.known(applicationKind), namespace: r.Namespace, name: r.Name}, depth)
	}
	if r.RequiresPruning {
		w.print(depth, "✗ %s is no longer declared, and is not pruned", name)
		return true
	}
	if local := app.Spec.Destination; local.Name != "" && local.Name != "in-cluster" || local.Server != "" && local.Server != settings.InClusterServer {
		// It is in another cluster.
		if r.Status != v1alpha1.SyncStatusCodeSynced {
			w.print(depth, "✗ %s is %s", name, r.Status)
		}
		return r.Status != v1alpha1.SyncStatusCodeSynced
	}
	h, there, err := w.healthOf(ctx, r)
	switch {
	case err != nil:
		w.print(depth, "✗ %s: %v", name, err)
	case !there:
		w.print(depth, "◌ %s does not exist yet", name)
	case h.Status != "" && h.Status != argocd.Healthy:
		w.print(depth, "✗ %s is %s: %s", name, h.Status, oneLine(orWord(h.Message, "no message")))
	case r.Status != v1alpha1.SyncStatusCodeSynced:
		w.print(depth, "✗ %s is %s", name, r.Status)
	default:
		return false
	}
	return true
}

// child explains a child Application that is not ready.
func (w *explainer) child(ctx context.Context, ref reference, depth int) bool {
	u, err := ref.client(w.client).Get(ctx, ref.name, metav1.GetOptions{})
	if err == nil {
		if status, _, _ := appReadiness(u); status == "True" {
			return false
		}
	}
	if _, err := w.explain(ctx, ref, depth); err != nil {
		w.print(depth, "✗ %v", err)
	}
	return true
}

// healthOf reads an object and judges it as Argo CD does, by the settings of the cluster.
func (w *explainer) healthOf(ctx context.Context, r v1alpha1.ResourceStatus) (h argocd.Health, there bool, err error) {
	if w.judge == nil {
		if w.judge, err = newLiveJudge(ctx, w.globals, w.client); err != nil {
			return h, false, err
		}
	}
	return w.judge.health(ctx, r)
}

// liveJudge judges objects of the cluster.
type liveJudge struct {
	client dynamic.Interface
	mapper meta.RESTMapper
	checks *argocd.Checks
}

func newLiveJudge(ctx context.Context, g *globals, client dynamic.Interface) (*liveJudge, error) {
	config, err := g.restConfig()
	if err != nil {
		return nil, err
	}
	mapper, err := flux.Mapper(config)
	if err != nil {
		return nil, err
	}
	j := &liveJudge{client: client, mapper: mapper, checks: argocd.New(argocd.Settings{})}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(argo.DefaultNamespace)
	u, err := maps.Get(ctx, settings.ConfigName, metav1.GetOptions{})
	if err != nil {
		// An installation without settings has none.
		return j, nil
	}
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	if parsed, err := argocd.ParseSettings(data); err == nil {
		j.checks = argocd.New(parsed)
	}
	return j, nil
}

func (j *liveJudge) health(ctx context.Context, r v1alpha1.ResourceStatus) (h argocd.Health, there bool, err error) {
	gvk := schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
	mapping, err := j.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return h, false, nil
	}
	client := j.client.Resource(mapping.Resource).Namespace(r.Namespace)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		client = j.client.Resource(mapping.Resource)
	}
	u, err := client.Get(ctx, r.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	h, _ = j.checks.Health(ctx, u)
	return h, true, nil
}
