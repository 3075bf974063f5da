package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
)

// What an Application says when all is well.
const (
	appSynced  = string(v1alpha1.SyncStatusCodeSynced)
	appHealthy = "Healthy"
)

// isApplication tells whether an object is an Application of Argo CD.
func isApplication(u *unstructured.Unstructured) bool {
	return groupKindOf(u) == applicationKind
}

// applicationOf reads an Application.
func applicationOf(u *unstructured.Unstructured) (*v1alpha1.Application, error) {
	app := &v1alpha1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, app); err != nil {
		return nil, fmt.Errorf("reading Application %s/%s: %w", u.GetNamespace(), u.GetName(), err)
	}
	return app, nil
}

// readApplication reads an Application of the cluster.
func readApplication(ctx context.Context, g *globals, ref reference) (dynamic.Interface, *v1alpha1.Application, error) {
	client, err := g.client()
	if err != nil {
		return nil, nil, err
	}
	u, err := ref.get(ctx, client)
	if err != nil {
		return nil, nil, err
	}
	app, err := applicationOf(u)
	return client, app, err
}

// suspended tells whether nothing moves an object.
func suspended(u *unstructured.Unstructured) bool {
	if isApplication(u) {
		return u.GetAnnotations()[v1alpha1.SkipReconcileAnnotation] == "true"
	}
	return flux.Suspended(u)
}

// appReadiness is how an Application stands, in the words of a Ready condition.
func appReadiness(u *unstructured.Unstructured) (status, reason, message string) {
	app, err := applicationOf(u)
	if err != nil {
		return "False", "InvalidSpecError", err.Error()
	}
	sync, health := string(app.Status.Sync.Status), string(app.Status.Health.Status)
	state := app.Status.OperationState
	running := state != nil && !over(app)
	if sync == appSynced && health == appHealthy && !running {
		message := "Synced and Healthy"
		if pin := app.Annotations[argo.AnnotationPin]; pin != "" {
			message += ", pinned to " + pin
		}
		return "True", "Synced", message
	}
	if sync == "" && state == nil {
		return "False", "Unknown", "waiting to be reconciled"
	}
	return "False", appReason(sync, health, running), appMessage(app, running)
}

// appReason is one word for what is not as it should be.
func appReason(sync, health string, running bool) string {
	switch {
	case running:
		return "Syncing"
	case sync != appSynced:
		return orWord(sync, "Unknown")
	default:
		return orWord(health, "Unknown")
	}
}

// appMessage is what an Application says of what is not as it should be: errors, a sync that runs or failed, health.
func appMessage(app *v1alpha1.Application, running bool) string {
	var texts []string
	for _, c := range app.Status.Conditions {
		texts = append(texts, c.Type+": "+c.Message)
	}
	state := app.Status.OperationState
	if state != nil && state.Message != "" && (running || state.Phase != v1alpha1.OperationSucceeded) &&
		!slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, state.Message) }) {
		texts = append(texts, state.Message)
	}
	if health := app.Status.Health; string(health.Status) != appHealthy && health.Message != "" {
		texts = append(texts, health.Message)
	}
	if pin := app.Annotations[argo.AnnotationPin]; pin != "" {
		texts = append(texts, "pinned to "+pin)
	}
	if len(texts) == 0 {
		texts = []string{fmt.Sprintf("it is %s and %s", orWord(string(app.Status.Sync.Status), "Unknown"), orWord(string(app.Status.Health.Status), "Unknown"))}
	}
	return strings.Join(texts, "; ")
}

// over tells whether the last sync of an Application has ended: one that is tried again has not.
func over(app *v1alpha1.Application) bool {
	state := app.Status.OperationState
	return state == nil || state.Phase != v1alpha1.OperationRunning && state.Phase != v1alpha1.OperationTerminating
}

// appRevision is what was compared last.
func appRevision(u *unstructured.Unstructured) string {
	if several, _, _ := unstructured.NestedStringSlice(u.Object, "status", "sync", "revisions"); len(several) > 0 {
		return strings.Join(several, ",")
	}
	return text(u, "status", "sync", "revision")
}

// appInventory is what the status of an Application says that it holds.
func appInventory(u *unstructured.Unstructured) []engine.ObjectID {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "resources")
	var ids []engine.ObjectID
	for _, item := range list {
		r, _ := item.(map[string]any)
		field := func(name string) string { s, _ := r[name].(string); return s }
		if hook, _ := r["hook"].(bool); !hook {
			ids = append(ids, engine.ObjectID{Group: field("group"), Kind: field("kind"), Namespace: field("namespace"), Name: field("name")})
		}
	}
	return ids
}

// appDepends are the units that an Application waits for by its annotation.
func appDepends(u *unstructured.Unstructured) ([]engine.UnitID, error) {
	deps, err := engine.ParseDependsOn(u.GetAnnotations()["headgate.dev/depends-on"], u.GetNamespace())
	if err != nil {
		return nil, fmt.Errorf("annotation headgate.dev/depends-on: %w", err)
	}
	return unitsOf(deps), nil
}

// appSince is since when an Application stands as it does, empty when it says nothing.
func appSince(u *unstructured.Unstructured) string {
	app, err := applicationOf(u)
	if err != nil {
		return ""
	}
	if state := app.Status.OperationState; state != nil && !over(app) {
		return state.StartedAt.UTC().Format(time.RFC3339)
	}
	for _, c := range app.Status.Conditions {
		if c.LastTransitionTime != nil {
			return c.LastTransitionTime.UTC().Format(time.RFC3339)
		}
	}
	if at := app.Status.Health.LastTransitionTime; at != nil {
		return at.UTC().Format(time.RFC3339)
	}
	if at := app.Status.ReconciledAt; at != nil {
		return at.UTC().Format(time.RFC3339)
	}
	return ""
}

// errNoSingle is that a verb for Applications was given something else.
var errNoSingle = errors.New("it requires an Application of Argo CD")

// appReference reads what a verb for Applications is about: "app NAME", "app/NAME", or NAME alone.
func (g *globals) appReference(args []string, namespace string) (reference, error) {
	target := strings.Join(args, "/")
	if !strings.Contains(target, "/") {
		target = "app/" + target
	}
	ref, err := g.parseReference(target, namespace)
	if err == nil && ref.groupKind() != applicationKind {
		err = hint(fmt.Errorf("%s: %w", ref, errNoSingle), "headgate get apps")
	}
	return ref, err
}

func orWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// argoOwner is what made an object of Argo CD's: the ApplicationSet that owns it, or the Application that it is tracked by.
func (g *globals) argoOwner(u *unstructured.Unstructured) (reference, bool) {
	for _, owner := range u.GetOwnerReferences() {
		if owner.Kind == applicationSetKind.Kind && strings.HasPrefix(owner.APIVersion, argo.Group+"/") {
			return reference{served: g.known(applicationSetKind), namespace: u.GetNamespace(), name: owner.Name}, true
		}
	}
	name, _, found := strings.Cut(u.GetAnnotations()[v1alpha1.TrackingAnnotation], ":")
	if !found {
		return reference{}, false
	}
	if namespace, inner, other := strings.Cut(name, "_"); other {
		return reference{served: g.known(applicationKind), namespace: namespace, name: inner}, true
	}
	return reference{served: g.known(applicationKind), namespace: argo.DefaultNamespace, name: name}, true
}
