package apply

import (
	"errors"
	"fmt"
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// ObjectError is an error that belongs to one object.
type ObjectError struct {
	ID  engine.ObjectID
	Err error
}

// Error names the object.
func (e *ObjectError) Error() string { return e.ID.String() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ObjectError) Unwrap() error { return e.Err }

// ErrConflict is the cause when an object belongs to another unit.
var ErrConflict = errors.New("it already belongs to")

// Conflicting is the result for an object that belongs to another unit.
func Conflicting(e engine.Entry, owner engine.UnitID) *Result {
	return &Result{Entry: e, Err: &ObjectError{ID: e.ID, Err: fmt.Errorf("%w %s; remove it from one of the two", ErrConflict, owner)}}
}

// Disputed is the result for an object of which a unit declares fields otherwise than the units that own them.
func Disputed(e engine.Entry, disputes []engine.Dispute) *Result {
	return &Result{Entry: e, Err: &ObjectError{ID: e.ID, Err: disputed(disputes)}}
}

// Waiting is the result for an object that another unit may be about to release.
func Waiting(e engine.Entry, why string) *Result {
	return &Result{Entry: e, Wait: &Need{Wait: engine.Wait{On: e.ID, Reason: why}, What: ObjectReleased, Object: e.ID}}
}

// disputed words that a unit declares fields otherwise than the units that own them.
func disputed(disputes []engine.Dispute) error {
	owners, fields := make([]string, len(disputes)), []string{}
	for i, d := range disputes {
		owners[i] = d.Owner.String()
		fields = append(fields, d.Fields...)
	}
	more := ""
	if n := len(fields) - maxFields; n > 0 {
		fields, more = fields[:maxFields], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%w %s; remove it from one of the two, or declare the same in both: %s%s",
		ErrConflict, strings.Join(owners, " and "), strings.Join(fields, ", "), more)
}

// Transient reports whether an error may pass without a change, soon: the server was not there, too busy,
// or in the middle of something.
func Transient(err error) bool {
	var network net.Error
	var early *unserved
	var lacks *lacking
	var unknown *cluster.UnknownKind
	switch {
	case err == nil, mistyped(err):
		return false
	case errors.As(err, &early), errors.As(err, &lacks), errors.As(err, &unknown):
		return true
	case apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsTooManyRequests(err),
		apierrors.IsInternalError(err), apierrors.IsServiceUnavailable(err), apierrors.IsConflict(err),
		apierrors.IsUnauthorized(err),
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return true
	case errors.As(err, &network):
		return true
	}
	var status apierrors.APIStatus
	return !errors.As(err, &status) && isConnection(err)
}

// Refused reports whether an error says that the account may not do it, or that the object does not fit the schema of its kind. Both may pass
// soon: a role counts a moment after it was created, and so does a definition that was changed.
func Refused(err error) bool { return apierrors.IsForbidden(err) || mistyped(err) }

func isConnection(err error) bool {
	text := err.Error()
	for _, sign := range []string{"connection refused", "connection reset", "EOF", "broken pipe", "http2: ", "client connection"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// immutable reports whether a field cannot be changed on the object as it is.
func immutable(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(strings.ToLower(err.Error()), "immutable") ||
		apierrors.IsInvalid(err) && strings.Contains(err.Error(), "Forbidden: updates to")
}

// missingNamespace returns the namespace whose absence an error is about.
func missingNamespace(err error) (string, bool) {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return "", false
	}
	details := status.Status().Details
	if details == nil || details.Kind != "namespaces" {
		return "", false
	}
	return details.Name, true
}

// explain words the refusal of a server for a person.
func explain(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return withoutValues(err.Error())
	}
	s := status.Status()
	if s.Reason == metav1.StatusReasonInvalid && s.Details != nil && len(s.Details.Causes) > 0 {
		parts := make([]string, 0, len(s.Details.Causes))
		for _, c := range s.Details.Causes {
			parts = append(parts, strings.TrimPrefix(c.Field+": ", ": ")+c.Message)
		}
		return "refused as invalid: " + Brief(strings.Join(parts, "; "))
	}
	if mistyped(err) {
		return "refused as invalid: " + Brief(misfit(s.Message))
	}
	return Brief(withoutValues(s.Message))
}
