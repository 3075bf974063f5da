// Package commands says what the commands of people mean for the objects of Argo CD: how they stand, their columns, why an
// Application is not ready, and how it is synced, rolled back and terminated.
//
// It acts through the session of a command alone. It refuses to serve anything, and to print.
package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// AnnotationPin holds an Application at a revision of its history: ID, until when.
const AnnotationPin = "headgate.dev/pin"

// group is the API group of Argo CD, namespace that of an installation that names none.
const (
	group     = "argoproj.io"
	namespace = "argocd"
)

var (
	applicationKind    = schema.GroupKind{Group: group, Kind: "Application"}
	applicationSetKind = schema.GroupKind{Group: group, Kind: "ApplicationSet"}
	projectKind        = schema.GroupKind{Group: group, Kind: "AppProject"}
)

// Verbs are the abilities of the dialect that commands ask for.
type Verbs struct{}

// State is how an object of Argo CD stands.
func (Verbs) State(u *unstructured.Unstructured) dialect.State {
	switch kindOf(u) {
	case applicationKind:
		return applicationState(u)
	case applicationSetKind:
		s := dialect.Conventional(u)
		s.Ready, s.Reason, s.Message = setReadiness(u)
		s.Said, s.Current = s.Reason != "Unknown", true
		return s
	}
	return dialect.Conventional(u)
}

// applicationState is how an Application stands, in the words of a Ready condition.
func applicationState(u *unstructured.Unstructured) dialect.State {
	s := dialect.State{
		Said: true, Current: true, Since: since(u), Revision: revisionOf(u), Inventory: inventory(u), Alone: true,
		Suspended: u.GetAnnotations()[v1alpha1.SkipReconcileAnnotation] == "true",
	}
	s.Ready, s.Reason, s.Message = readiness(u)
	s.Manual = manual(u)
	s.Moving = !s.Manual && slices.Contains([]string{"Syncing", "Progressing", "Missing", "OutOfSync", "Unknown"}, s.Reason)
	return s
}

// OwnerOf is what made an object: the ApplicationSet that owns it, or the Application that it is tracked by.
func (Verbs) OwnerOf(u *unstructured.Unstructured) (engine.UnitID, bool) {
	for _, owner := range u.GetOwnerReferences() {
		if owner.Kind == applicationSetKind.Kind && strings.HasPrefix(owner.APIVersion, group+"/") {
			return engine.UnitID{Group: group, Kind: applicationSetKind.Kind, Namespace: u.GetNamespace(), Name: owner.Name}, true
		}
	}
	name, _, found := strings.Cut(u.GetAnnotations()[v1alpha1.TrackingAnnotation], ":")
	if !found {
		return engine.UnitID{}, false
	}
	id := engine.UnitID{Group: group, Kind: applicationKind.Kind, Namespace: namespace, Name: name}
	if where, inner, other := strings.Cut(name, "_"); other {
		id.Namespace, id.Name = where, inner
	}
	return id, true
}

// Switch suspends an Application by the annotation of Argo CD; other kinds are not suspended.
func (Verbs) Switch(gk schema.GroupKind, suspend bool) map[string]any {
	if gk != applicationKind {
		return nil
	}
	annotations := map[string]any{v1alpha1.SkipReconcileAnnotation: nil}
	if suspend {
		annotations[v1alpha1.SkipReconcileAnnotation] = "true"
	}
	return map[string]any{"metadata": map[string]any{"annotations": annotations}}
}

func kindOf(u *unstructured.Unstructured) schema.GroupKind { return u.GroupVersionKind().GroupKind() }

func idOf(u *unstructured.Unstructured) engine.UnitID { return engine.UnitOf(engine.IDOf(u)) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// hint gives an error the next command to try.
func hint(err error, format string, args ...any) error {
	return &dialect.HintError{Err: err, Next: fmt.Sprintf(format, args...)}
}

// What an Application says when all is well.
const (
	synced  = string(v1alpha1.SyncStatusCodeSynced)
	healthy = "Healthy"
)

// applicationOf reads an Application.
func applicationOf(u *unstructured.Unstructured) (*v1alpha1.Application, error) {
	app := &v1alpha1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, app); err != nil {
		return nil, fmt.Errorf("reading Application %s/%s: %w", u.GetNamespace(), u.GetName(), err)
	}
	return app, nil
}

// readiness is how an Application stands, in the words of a Ready condition.
func readiness(u *unstructured.Unstructured) (status, reason, message string) {
	app, err := applicationOf(u)
	if err != nil {
		return "False", "InvalidSpecError", err.Error()
	}
	sync, health := string(app.Status.Sync.Status), string(app.Status.Health.Status)
	state := app.Status.OperationState
	running, failed := state != nil && !over(app), failedNow(app)
	if sync == synced && health == healthy && !running && !failed {
		message := "Synced and Healthy"
		if pin := app.Annotations[AnnotationPin]; pin != "" {
			message += ", pinned to " + pin
		}
		return "True", "Synced", message
	}
	if sync == "" && state == nil {
		return "False", "Unknown", "waiting to be reconciled"
	}
	if failed && sync == synced && health == healthy {
		return "False", "SyncFailed", messageOf(app, running)
	}
	return "False", reasonOf(sync, health, running), messageOf(app, running)
}

// manual reports whether an Application differs from its source and is not synced automatically, and nothing else is wrong: its objects are healthy, or
// not there yet.
func manual(u *unstructured.Unstructured) bool {
	app, err := applicationOf(u)
	if err != nil || policy.Automated(app.Spec.SyncPolicy) || !over(app) || failedNow(app) {
		return false
	}
	health := string(app.Status.Health.Status)
	return app.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync && (health == healthy || health == "Missing")
}

// failedNow reports whether the last sync failed at what is compared now: that is not ready, however well the objects are.
func failedNow(app *v1alpha1.Application) bool {
	state, sync := app.Status.OperationState, app.Status.Sync
	if state == nil || state.SyncResult == nil || state.Phase != v1alpha1.OperationFailed && state.Phase != v1alpha1.OperationError {
		return false
	}
	dry := state.Operation.Sync != nil && state.Operation.Sync.DryRun
	return !dry && state.SyncResult.Revision == sync.Revision && slices.Equal(state.SyncResult.Revisions, sync.Revisions)
}

// reasonOf is one word for what is not as it should be.
func reasonOf(sync, health string, running bool) string {
	switch {
	case running:
		return "Syncing"
	case sync != synced:
		return cmp.Or(sync, "Unknown")
	default:
		return cmp.Or(health, "Unknown")
	}
}

// messageOf is what an Application says of what is not as it should be: errors, a sync that runs or failed, health.
func messageOf(app *v1alpha1.Application, running bool) string {
	var texts []string
	for _, c := range app.Status.Conditions {
		texts = append(texts, c.Type+": "+c.Message)
	}
	state := app.Status.OperationState
	if state != nil && state.Message != "" && (running || state.Phase != v1alpha1.OperationSucceeded) &&
		!slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, state.Message) }) {
		texts = append(texts, state.Message)
	}
	if health := app.Status.Health; string(health.Status) != healthy && health.Message != "" {
		texts = append(texts, health.Message)
	}
	if pin := app.Annotations[AnnotationPin]; pin != "" {
		texts = append(texts, "pinned to "+pin)
	}
	if len(texts) == 0 {
		texts = []string{fmt.Sprintf("it is %s and %s", cmp.Or(string(app.Status.Sync.Status), "Unknown"), cmp.Or(string(app.Status.Health.Status), "Unknown"))}
	}
	return strings.Join(texts, "; ")
}

// over reports whether the last sync of an Application has ended: one that is tried again has not.
func over(app *v1alpha1.Application) bool {
	state := app.Status.OperationState
	return state == nil || state.Phase != v1alpha1.OperationRunning && state.Phase != v1alpha1.OperationTerminating
}

// revisionOf is what was compared last.
func revisionOf(u *unstructured.Unstructured) string {
	if several, _, _ := unstructured.NestedStringSlice(u.Object, "status", "sync", "revisions"); len(several) > 0 {
		return strings.Join(several, ",")
	}
	return dialect.Text(u, "status", "sync", "revision")
}

// inventory is what the status of an Application says that it holds.
func inventory(u *unstructured.Unstructured) []engine.ObjectID {
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

// since is since when an Application stands as it does, empty when it says nothing.
func since(u *unstructured.Unstructured) string {
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

// WaveOf is the wave of an Application below the one that declares it; an ApplicationSet has one for those that it generates.
func (Verbs) WaveOf(u *unstructured.Unstructured) (wave int, has bool) {
	return operation.WaveOf(u.GetAnnotations()), kindOf(u) == applicationKind
}

var _ dialect.Waved = Verbs{}
