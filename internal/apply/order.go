package apply

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// WriteMode is how an object is written.
type WriteMode int

// The modes: server-side apply, a three-way merge as kubectl apply does it on the client, the whole
// object in place of what is there, and server-side apply beside other managers: only kubectl's fields are taken over, and
// marks of the object steer it.
const (
	ServerSide WriteMode = iota
	ClientSide
	Replace
	Beside
)

// Order is one object to be written, and how.
type Order struct {
	// Object is complete: with its tracking marks, and with its namespace if its kind has one.
	Object *unstructured.Unstructured
	Mode   WriteMode
	// Force deletes an object, to be recreated, when it cannot be changed in place; with Replace,
	// whenever it exists. Namespaces and CRDs are never deleted.
	Force bool
	// Migrate takes over, before a server-side apply, what MigrateManager ("kubectl-client-side-apply" if
	// it is empty), Helm and our own manager own by updates: what of it is not declared is then removed.
	Migrate        bool
	MigrateManager string
	// Ignored returns the paths of a live object that are left to others, elements of lists by their
	// indexes there. What it names is created as it is declared, and never written again.
	Ignored func(live *unstructured.Unstructured) []engine.Pointer
	// Digest is that of the declaration, with everything that says how it is written. Empty stands for one
	// that is computed; with Ignored, which has none, nothing is remembered then.
	Digest string
	// Propagation is for Force; empty stands for Foreground.
	Propagation metav1.DeletionPropagation
	// Validate leaves the validation of fields to the server's default, which warns of unknown and
	// duplicate fields, and refuses unknown ones of a server-side apply. Without it, they are ignored: an object
	// that has unknown ones is applied client-side.
	Validate bool
	// Fresh trusts no memory.
	Fresh bool

	// Ignore are the fields that are left to others, and Shared is set when other units own the object too; both are for Beside.
	Ignore []engine.IgnoreRule
	Shared *Shared
	// Refused, when set, is why the object is not written.
	Refused *Result
}

// Written is what became of an order.
type Written struct {
	Result
	// Object is what the server holds now; nil when nothing had to be asked, or it was refused.
	Object *unstructured.Unstructured
}

// attempts bounds how often a write is tried again that lost a race with another one.
const attempts = 5

// Write brings one object to what is declared, unless it is that already: what this process wrote and
// has not changed since takes no request.
func (a *Applier) Write(ctx context.Context, o Order) Written {
	w, result := a.wayOf(ctx, o)
	if w == nil {
		return Written{Result: result}
	}
	if result.Action = w.plan(); result.Action == engine.Unchanged || result.Action == engine.Skip {
		return Written{Result: result}
	}
	a.slots <- struct{}{}
	defer func() { <-a.slots }()
	return w.do(ctx, result)
}

// way is how one ordered object gets to the cluster.
type way interface {
	// plan says what is to be done, by what is known; do does it.
	plan() engine.Action
	do(ctx context.Context, result Result) Written
}

// wayOf returns no way for an object that cannot be written, for the reason in the result.
func (a *Applier) wayOf(ctx context.Context, o Order) (way, Result) {
	if o.Mode == Beside {
		w, result := a.beside(o)
		if w == nil {
			return nil, result
		}
		return w, result
	}
	s, result := a.begin(ctx, o)
	if s == nil {
		return nil, result
	}
	return s, result
}

// place is where an object is written, not ok when it cannot be, for the reason in the result. The field is where a unit says
// in which namespace its objects are.
func (a *Applier) place(o Order, field string) (r cluster.Resource, result Result, ok bool) {
	if o.Refused != nil {
		return r, *o.Refused, false
	}
	result.Entry = a.Entry(o.Object)
	r, served := a.cluster.Kinds.Find(o.Object.GroupVersionKind())
	switch {
	case !served || misplaced(r, o.Object):
		return r, a.missingKind(result, o.Object), false
	case r.Namespaced && result.Entry.ID.Namespace == "":
		result.Err = &ObjectError{ID: result.Entry.ID, Err: errors.New("metadata.namespace: required; set it on the object, or " + field)}
		return r, result, false
	default:
		return r, result, true
	}
}

// computed is a digest of the object and of what else decides what is written.
func (o Order) computed() (string, error) {
	digest, err := engine.Digest(o.Object)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%d-%t-%t-%s-%t", digest, o.Mode, o.Force, o.Migrate, o.MigrateManager, o.Ignored != nil), nil
}
