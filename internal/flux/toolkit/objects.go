package toolkit

import (
	"context"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// PatchAs are the options of a patch by a field manager.
func PatchAs(manager string) metav1.PatchOptions { return metav1.PatchOptions{FieldManager: manager} }

// SetFinalizer puts a finalizer on an object, or takes it off.
func SetFinalizer(ctx context.Context, client dynamic.NamespaceableResourceInterface, o metav1.Object, name string, on bool) error {
	_, err := declared.Writer{Client: client, Manager: KustomizeField}.Finalizer(ctx, o, name, on)
	return err
}

// HasFinalizer reports whether an object has the finalizer of Flux.
func HasFinalizer(o metav1.Object) bool {
	for _, f := range o.GetFinalizers() {
		if f == Finalizer {
			return true
		}
	}
	return false
}

// ReadyOf is the status of the Ready condition; it is Unknown when there is none.
func ReadyOf(conditions []metav1.Condition) string {
	if c := apimeta.FindStatusCondition(conditions, ConditionReady); c != nil {
		return string(c.Status)
	}
	return string(metav1.ConditionUnknown)
}

// DisabledByAnnotation reports whether an annotation disables an object.
func DisabledByAnnotation(o metav1.Object) bool {
	return o.GetAnnotations()[fluxcdv1.ReconcileAnnotation] == fluxcdv1.DisabledValue
}

// AppendEntry adds a line of an inventory. An invalid one names nothing that could be read
// or pruned.
func AppendEntry(entries []engine.Entry, text, version, cluster string) []engine.Entry {
	id, err := engine.DecodeID(text)
	if err != nil {
		return entries
	}
	return append(entries, engine.Entry{ID: id.In(cluster), Version: version})
}

// FirstInvalid returns the first of several findings that there is.
func FirstInvalid(found ...engine.Invalid) engine.Invalid {
	for _, one := range found {
		if one.Message != "" {
			return one
		}
	}
	return engine.Invalid{}
}

// ErrorText is the text of an error; it is empty when there is none.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Forget ends the series of an object that is gone.
func Forget(host *dialect.Host, kind string, o metav1.Object) {
	host.Metrics.Forget(kind, o.GetNamespace(), o.GetName())
}

// Finalize puts a finalizer on an object that lacks it, in the background: it is needed when
// the object is deleted, not before.
func Finalize(ctx context.Context, host *dialect.Host, o metav1.Object, r schema.GroupVersionResource, name string) {
	if o.GetDeletionTimestamp() != nil || slices.Contains(o.GetFinalizers(), name) {
		return
	}
	host.Guard.Go("finalizer of "+o.GetNamespace()+"/"+o.GetName(), func() {
		err := SetFinalizer(ctx, host.Home.Dynamic.Resource(r), o, name, true)
		if err != nil && ctx.Err() == nil {
			host.Log.V(1).Info("a finalizer could not be set; retrying at the next change of the object",
				"object", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
		}
	})
}

// Tools are what each part of the dialect works with.
type Tools struct {
	*dialect.Host

	// Secrets reads ConfigMaps, Secrets and accounts, as the engine.
	Secrets kubernetes.Interface
	Events  Events
}
