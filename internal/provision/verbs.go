package provision

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// Switch pauses by the annotation of the upstream. Configurations of providers have nothing to pause.
func (d *Dialect) Switch(gk schema.GroupKind, suspend bool) map[string]any {
	if titles, _ := d.Columns(gk); titles == nil {
		return nil
	}
	var word any
	if suspend {
		word = "true"
	}
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{managed.AnnotationPaused: word}}}
}

// Request requests a pass by the annotation of the upstream.
func (*Dialect) Request(token string, _ dialect.RequestOptions) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{managed.AnnotationRequestedAt: token}}}
}

// Handled reports whether the last pass answered a request.
func (*Dialect) Handled(u *unstructured.Unstructured, token string) bool {
	return dialect.Answers(dialect.Text(u, "status", "lastHandledReconcileAt"), token)
}

// Forces is false of all kinds.
func (*Dialect) Forces(schema.GroupKind) bool { return false }
