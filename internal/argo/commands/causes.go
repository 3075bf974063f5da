package commands

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health/argocd"
)

// Causes are why an Application is not ready: what its last sync failed at, children that may not be ready, and objects that differ
// or are not healthy. There are none of one that could not be compared: its condition is the cause, and how its objects are is unknown.
func (Verbs) Causes(ctx context.Context, s dialect.Session, u *unstructured.Unstructured) iter.Seq[dialect.Cause] {
	return func(yield func(dialect.Cause) bool) {
		if kindOf(u) != applicationKind {
			return
		}
		app, err := applicationOf(u)
		if err != nil {
			yield(dialect.Cause{Text: "✗ " + err.Error()})
			return
		}
		if uncomparable(app) {
			return
		}
		for _, cause := range results(app) {
			if !yield(cause) {
				return
			}
		}
		judge := newJudge(ctx, s)
		if cause := judge.goTo(ctx, u); cause.Text != "" && !yield(cause) {
			return
		}
		for _, r := range app.Status.Resources {
			if cause := judge.cause(ctx, r); cause != (dialect.Cause{}) && !yield(cause) {
				return
			}
		}
	}
}

// Touched are the objects that the last sync of an Application was about; hooks are in no inventory.
func (Verbs) Touched(u *unstructured.Unstructured) []engine.ObjectID {
	app, err := applicationOf(u)
	if kindOf(u) != applicationKind || err != nil {
		return nil
	}
	var ids []engine.ObjectID
	if state := app.Status.OperationState; state != nil && state.SyncResult != nil {
		for _, r := range state.SyncResult.Resources {
			ids = append(ids, engine.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
		}
	}
	return ids
}

// results are the objects that the last sync failed at, and the hooks that run.
func results(app *v1alpha1.Application) []dialect.Cause {
	state := app.Status.OperationState
	if state == nil || state.SyncResult == nil || state.Phase == v1alpha1.OperationSucceeded {
		return nil
	}
	var causes []dialect.Cause
	for _, r := range state.SyncResult.Resources {
		id := engine.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		switch {
		case r.Status == v1alpha1.ResultCodeSyncFailed || r.HookPhase == v1alpha1.OperationFailed:
			text := fmt.Sprintf("✗ %s failed in %s: %s", resourceName(r), cmp.Or(r.SyncPhase, "Sync"), oneLine(r.Message))
			causes = append(causes, dialect.Cause{Text: text, Object: id})
		case r.HookType != "" && r.HookPhase == v1alpha1.OperationRunning:
			text := fmt.Sprintf("◌ hook %s of %s runs: %s; if it hangs, try: headgate terminate app %s -n %s",
				resourceName(r), r.SyncPhase, oneLine(r.Message), app.Name, app.Namespace)
			causes = append(causes, dialect.Cause{Text: text, Object: id})
		}
	}
	return causes
}

// judge evaluates objects of a cluster as Argo CD does, by the settings of the installation.
type judge struct {
	// session is one in the cluster that the objects are in; nil where that cannot be reached.
	session dialect.Session
	checks  *argocd.Checks
	// elsewhere is the name of that cluster, empty for the one of the installation.
	elsewhere string
}

func newJudge(ctx context.Context, s dialect.Session) *judge {
	j := &judge{session: s, checks: argocd.New(argocd.Settings{})}
	maps := s.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace)
	u, err := maps.Get(ctx, settings.ConfigName, metav1.GetOptions{})
	if err != nil {
		// An installation without settings has none.
		return j
	}
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	if parsed, err := argocd.ParseSettings(data); err == nil {
		j.checks = argocd.New(parsed)
	}
	return j
}

// goTo continues in the cluster that an Application deploys to. The cause is why it cannot; zero when it can.
func (j *judge) goTo(ctx context.Context, u *unstructured.Unstructured) dialect.Cause {
	clusters, err := Verbs{}.Clusters(ctx, j.session)
	name := Verbs{}.ClusterOf(u, clusters)
	if name == "" || name == clusters[0].Name {
		return dialect.Cause{}
	}
	home := j.session
	j.session, j.elsewhere = nil, name
	for _, c := range clusters {
		if c.Name == name {
			j.session, err = home.At(c)
		}
	}
	if err != nil {
		return dialect.Cause{Text: fmt.Sprintf("◌ the health of objects in %s is unknown: %v", name, err)}
	}
	return dialect.Cause{}
}

// cause is what keeps an object of an Application from being synced and healthy; the zero value for none.
func (j *judge) cause(ctx context.Context, r v1alpha1.ResourceStatus) dialect.Cause {
	name := strings.Join([]string{r.Kind, strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")}, "/")
	if j.elsewhere != "" {
		name += " in " + j.elsewhere
	}
	say := func(format string, args ...any) dialect.Cause {
		return dialect.Cause{Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case r.Hook:
		return dialect.Cause{}
	case r.Group == group && r.Kind == applicationKind.Kind && j.elsewhere == "":
		return dialect.Cause{Unit: engine.UnitID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}}
	case r.RequiresPruning:
		return say("✗ %s is no longer declared, and is not pruned", name)
	}
	differs := r.Status != v1alpha1.SyncStatusCodeSynced
	if j.session == nil {
		if differs {
			return say("✗ %s is %s", name, r.Status)
		}
		return dialect.Cause{}
	}
	h, there, err := j.health(ctx, r)
	switch {
	case err != nil && j.elsewhere != "" && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown:
		// It does not respond: no further object is requested.
		j.session = nil
		return say("◌ the health of objects in %s is unknown: %v", j.elsewhere, err)
	case err != nil:
		return say("✗ %s: %v", name, err)
	case !there:
		return say("◌ %s does not exist yet", name)
	case h.Status != "" && h.Status != argocd.Healthy:
		ill := say("✗ %s is %s: %s", name, h.Status, oneLine(cmp.Or(h.Message, "no message")))
		ill.Object = engine.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		return ill
	case differs:
		other := say("✗ %s is %s", name, r.Status)
		other.Object = engine.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		return other
	}
	return dialect.Cause{}
}

func (j *judge) health(ctx context.Context, r v1alpha1.ResourceStatus) (h argocd.Health, there bool, err error) {
	gvk := schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
	mapping, err := j.session.Mapping(gvk.GroupKind(), gvk.Version)
	if err != nil && j.elsewhere != "" && !meta.IsNoMatchError(err) {
		return h, false, err
	}
	if err != nil {
		return h, false, nil
	}
	client := j.session.Client().Resource(mapping.Resource).Namespace(r.Namespace)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		client = j.session.Client().Resource(mapping.Resource)
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
