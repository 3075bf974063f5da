package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// recreate is the option of Argo CD that deletes and recreates an object.
const recreate = "argocd.argoproj.io/sync-options: Replace=true,Force=true"

// refused is the result for an object that the server did not take.
func (s *scribe) refused(ctx context.Context, result Result, err error) Result {
	if result, settled := s.applier.passing(result, s.Object, err); settled {
		return result
	}
	if !unchangeable(err) || !s.Force || s.precious() {
		result.Err = &ObjectError{ID: s.id, Err: s.worded(err)}
		return result
	}
	if err = s.read(ctx); err == nil && s.before != nil {
		err = s.remove(ctx, s.before.GetUID(), s.before.GetDeletionTimestamp() != nil)
	}
	if err != nil {
		result.Err = &ObjectError{ID: s.id, Err: err}
		return result
	}
	return s.gone(result, "deleted, to be recreated as declared")
}

// worded is a server's error as a person reads it, with the way out if there is one.
func (s *scribe) worded(err error) error {
	if mistyped(err) {
		// Not the error itself, which would count as one that may pass.
		return errors.New(explain(err))
	}
	told := &terse{err: err, secret: s.id.Group == "" && s.id.Kind == "Secret"}
	switch {
	case !unchangeable(err):
		return told
	case s.precious():
		return fmt.Errorf("%w; a %s is never deleted and recreated, since its contents would be deleted: "+
			"revert the change, or delete it yourself", told, s.id.Kind)
	default:
		return fmt.Errorf("%w; to delete and recreate it, set the annotation %s", told, recreate)
	}
}

// terse words a refusal in one line, as the API server begins it, since people look for that: some servers add the
// difference of the whole object. Of a secret, it tells no values.
type terse struct {
	err    error
	secret bool
}

func (t *terse) Unwrap() error { return t.err }

func (t *terse) Error() string {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(t.err) || !errors.As(t.err, &status) ||
		status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return explain(t.err)
	}
	details := status.Status().Details
	var parts []string
	for _, c := range details.Causes {
		message, _, _ := strings.Cut(c.Message, "\n")
		if t.secret && slices.Contains([]metav1.CauseType{
			metav1.CauseTypeFieldValueInvalid, metav1.CauseTypeFieldValueNotSupported, metav1.CauseTypeFieldValueDuplicate,
			metav1.CauseTypeTypeInvalid,
		}, c.Type) {
			message = string(c.Type)
		}
		if part := Brief(strings.TrimPrefix(c.Field+": ", ": ") + message); part != "" {
			parts = append(parts, part)
		}
	}
	kind := schema.GroupKind{Group: details.Group, Kind: details.Kind}
	return fmt.Sprintf("%s %q is invalid: %s", kind, details.Name, listed(parts))
}

// listed are the causes of a refusal as the API server lists them.
func listed(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// passing is the result for an error that is a matter of time: a namespace is missing, or a kind is not
// taken yet. The second result is false for any other error.
func (a *Applier) passing(result Result, object *unstructured.Unstructured, err error) (Result, bool) {
	id := result.Entry.ID
	if need := a.namespaceNeed(id, err); need != nil {
		result.Wait = need
		return result, true
	}
	if apierrors.IsNotFound(err) || kindEnds(err) {
		result.Err = &ObjectError{ID: id, Err: a.notFound(object, err)}
		return result, true
	}
	return result, false
}

// notFound says what the server did not find as it took an object: the kind, or another object, to which this one refers.
func (a *Applier) notFound(object *unstructured.Unstructured, err error) error {
	own, _ := a.cluster.Kinds.Lookup(object.GroupVersionKind())
	if what := lackedBy(object, own.Resource, err); what != "" {
		return &lacking{what, err}
	}
	return &unserved{err}
}

// lackedBy is what an error says that an object refers to and that does not exist, empty when it is about the object or its kind. Of a binding
// without its role, the server says that the binding was not found.
func lackedBy(object *unstructured.Unstructured, plural string, err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonNotFound || status.Status().Details == nil {
		return ""
	}
	d := status.Status().Details
	unexpected := slices.ContainsFunc(d.Causes, func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeUnexpectedServerResponse })
	role, _, _ := unstructured.NestedStringMap(object.Object, "roleRef")
	switch {
	case d.Name == "" || unexpected:
		return ""
	case d.Kind != plural:
		return fmt.Sprintf("%s %q", schema.GroupResource{Group: d.Group, Resource: d.Kind}, d.Name)
	case role["name"] != "":
		return fmt.Sprintf("%s %q", role["kind"], role["name"])
	default:
		return ""
	}
}

// namespaceNeed is the wait for the namespace whose absence an error is about, nil when it is not.
func (a *Applier) namespaceNeed(id engine.ObjectID, err error) *Need {
	namespace, ok := missingNamespace(err)
	if !ok {
		return nil
	}
	ns := engine.ObjectID{Kind: "Namespace", Name: namespace, Cluster: id.Cluster}
	a.cluster.Objects.Follow(ns, "v1")
	return &Need{
		Wait: engine.Wait{On: id, Reason: fmt.Sprintf("namespace %q does not exist", namespace)},
		What: ObjectThere, Object: ns,
	}
}

// unchangeable reports whether a field cannot have another value on the object as it is. Servers say so in
// many ways.
func unchangeable(err error) bool {
	if !apierrors.IsInvalid(err) {
		return false
	}
	if immutable(err) {
		return true
	}
	text := strings.ToLower(err.Error())
	return slices.ContainsFunc([]string{
		"updates to", "may not change", "may not be changed", "may not be updated", "cannot change", "cannot be changed",
		"cannot be updated", "may not be unset",
	}, func(sign string) bool { return strings.Contains(text, sign) })
}

// invalidFields are the fields that a refusal names.
func invalidFields(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, c := range status.Status().Details.Causes {
		if c.Field != "" && c.Field != "<nil>" && !slices.Contains(fields, c.Field) {
			fields = append(fields, c.Field)
		}
	}
	return fields[:min(len(fields), maxFields)]
}

// noDryRun reports whether a webhook has side effects and was not called, so that nothing can be tried.
func noDryRun(err error) bool {
	return err != nil && apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// mistyped reports whether an object does not fit the schema of its kind. Server-side apply calls that an
// internal error.
func mistyped(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsInternalError(err) && errors.As(err, &status) && strings.Contains(status.Status().Message, "failed to create typed")
}

// misfit is what a mistyped error says of the field, without the object, which others name, and without values.
func misfit(text string) string {
	if _, after, is := strings.Cut(text, "): "); is {
		text = strings.TrimPrefix(after, ".")
	}
	return withoutValues(text)
}

// undeclared reports whether an object has a field that the schema of its kind does not know.
func undeclared(err error) bool {
	return mistyped(err) && strings.Contains(err.Error(), "field not declared in schema")
}

// withoutValues is the text of a mistyped error up to the first value that it quotes, which may be secret.
func withoutValues(text string) string {
	text, _, _ = strings.Cut(text, ", got &value.")
	return text
}
