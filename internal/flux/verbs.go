package flux

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/flux/walk"
)

// Declared is the unit that an object declares.
func (*Dialect) Declared(u *unstructured.Unstructured) (engine.Unit, error) {
	if !walk.IsUnit(u) {
		return engine.Unit{ID: engine.UnitOf(engine.IDOf(u))}, nil
	}
	d, err := walk.Declared(u)
	return d.Unit, err
}

// ChartOf is where the chart of a HelmRelease comes from.
func (*Dialect) ChartOf(u *unstructured.Unstructured) dialect.Origin {
	if !walk.IsUnit(u) {
		return dialect.Origin{}
	}
	d, err := walk.Declared(u)
	if err != nil || d.Chart.Source.Kind == "" {
		return dialect.Origin{}
	}
	return dialect.Origin{Source: d.Chart.Source, Text: d.Chart.String()}
}

// SourceOf is the source of a unit, or the one that a HelmChart is taken from.
func (*Dialect) SourceOf(u *unstructured.Unstructured) (engine.SourceID, error) {
	return walk.SourceOf(u)
}

// State is how an object stands, by its Ready condition or as the flux command words it.
func (*Dialect) State(u *unstructured.Unstructured) dialect.State {
	s := dialect.Conventional(u)
	s.Suspended, s.Revision = sources.Suspended(u), revisionOf(u)
	if walk.Static(u) {
		s.Static = "a registry: its charts are fetched one by one"
		if !s.Said {
			s.Ready, s.Reason, s.Message = "True", "Succeeded", "Helm repository is Ready"
		}
	}
	return s
}

// revisionOf is what a source holds, what a unit applied, or the version of the chart of a release.
func revisionOf(u *unstructured.Unstructured) string {
	if r := dialect.Text(u, "status", "artifact", "revision"); r != "" {
		return r
	}
	switch u.GroupVersionKind().GroupKind() {
	case toolkit.KindIn(toolkit.Image, "ImageRepository"):
		return dialect.Text(u, "status", "lastScanResult", "revision")
	case toolkit.KindIn(toolkit.Image, "ImagePolicy"):
		return dialect.Text(u, "status", "latestRef", "tag")
	case toolkit.KindIn(toolkit.Image, "ImageUpdateAutomation"):
		return dialect.Text(u, "status", "observedSourceRevision")
	case toolkit.HelmReleaseKind:
	default:
		return dialect.Text(u, "status", "lastAppliedRevision")
	}
	if history, _, _ := unstructured.NestedSlice(u.Object, "status", "history"); len(history) > 0 {
		latest, _ := history[0].(map[string]any)
		version, _ := latest["chartVersion"].(string)
		return version
	}
	return dialect.Text(u, "status", "lastAttemptedRevision")
}

// Columns are those of the flux command.
func (*Dialect) Columns(gk schema.GroupKind) (titles []string, whole bool) {
	switch gk {
	case toolkit.KindIn(toolkit.Notification, "Receiver"), toolkit.KindIn(toolkit.Notification, "Alert"), toolkit.KindIn(toolkit.Notification, "Provider"):
		return []string{"SUSPENDED"}, false
	case toolkit.KindIn(toolkit.Image, "ImageRepository"):
		return []string{"LAST SCAN", "SUSPENDED"}, false
	case toolkit.KindIn(toolkit.Image, "ImagePolicy"):
		return []string{"IMAGE", "TAG"}, false
	case toolkit.KindIn(toolkit.Image, "ImageUpdateAutomation"):
		return []string{"LAST RUN", "SUSPENDED"}, false
	}
	return nil, false
}

// Row are the values of the columns.
func (*Dialect) Row(u *unstructured.Unstructured) []string {
	held := "False"
	if sources.Suspended(u) {
		held = "True"
	}
	switch u.GroupVersionKind().GroupKind() {
	case toolkit.KindIn(toolkit.Image, "ImageRepository"):
		return []string{dialect.Text(u, "status", "lastScanResult", "scanTime"), held}
	case toolkit.KindIn(toolkit.Image, "ImagePolicy"):
		return []string{dialect.Text(u, "status", "latestRef", "name"), dialect.Text(u, "status", "latestRef", "tag")}
	case toolkit.KindIn(toolkit.Image, "ImageUpdateAutomation"):
		return []string{dialect.Text(u, "status", "lastAutomationRunTime"), held}
	}
	return []string{held}
}

// Switch suspends by the field, or by the annotation of the kinds that have none.
func (*Dialect) Switch(gk schema.GroupKind, suspend bool) map[string]any {
	if gk.Group != toolkit.Operator.Name {
		return map[string]any{"spec": map[string]any{"suspend": suspend}}
	}
	word := "enabled"
	if suspend {
		word = "disabled"
	}
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{toolkit.Operator.Name + "/reconcile": word}}}
}

// Releases are those in the history of a HelmRelease, whose status has the newest first.
func (*Dialect) Releases(u *unstructured.Unstructured) (releases []dialect.Release, has bool) {
	if u.GroupVersionKind().GroupKind() != toolkit.HelmReleaseKind {
		return nil, false
	}
	history, _, _ := unstructured.NestedSlice(u.Object, "status", "history")
	for _, item := range slices.Backward(history) {
		entry, _ := item.(map[string]any)
		text := func(field string) string { s, _ := entry[field].(string); return s }
		releases = append(releases, dialect.Release{
			Version: fmt.Sprint(entry["version"]), Date: text("lastDeployed"), Chart: text("chartName") + " " + text("chartVersion"), Status: text("status"),
		})
	}
	return releases, true
}

// requestPrefix is that of the annotations by which a pass is requested.
const requestPrefix = "reconcile.fluxcd.io/"

// Request requests a pass by annotations.
func (*Dialect) Request(token string, o dialect.RequestOptions) map[string]any {
	annotations := map[string]any{requestPrefix + "requestedAt": token}
	if o.Force {
		annotations[requestPrefix+"forceAt"] = token
	}
	if o.Reset {
		annotations[requestPrefix+"resetAt"] = token
	}
	return map[string]any{"metadata": map[string]any{"annotations": annotations}}
}

// Handled reports whether the status names a request, or one that took its place, and the object is no longer on its way.
func (*Dialect) Handled(u *unstructured.Unstructured, token string) bool {
	ready, _, _, _ := dialect.Condition(u, toolkit.ConditionReady)
	return dialect.Answers(dialect.Text(u, "status", "lastHandledReconcileAt"), token) && ready != "Unknown"
}

// Forces reports whether a kind is that of releases.
func (*Dialect) Forces(gk schema.GroupKind) bool { return gk == toolkit.HelmReleaseKind }

var (
	_ dialect.Explain   = (*Dialect)(nil)
	_ dialect.Charted   = (*Dialect)(nil)
	_ dialect.Sourced   = (*Dialect)(nil)
	_ dialect.Stating   = (*Dialect)(nil)
	_ dialect.Tabular   = (*Dialect)(nil)
	_ dialect.Switching = (*Dialect)(nil)
	_ dialect.Requested = (*Dialect)(nil)
)
