package policy

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// Guard is what stands before a deletion.
type Guard string

// The guards.
const (
	// GuardNone lets objects be deleted.
	GuardNone Guard = ""
	// GuardConfirm waits until a person approves of the deletion.
	GuardConfirm Guard = "confirm"
	// GuardForbid has objects stay.
	GuardForbid Guard = "false"
)

// Options are those of one sync of an Application.
type Options struct {
	// Objects are the options of objects that say nothing themselves.
	Objects ObjectOptions
	// OutOfSyncOnly leaves out objects that are in sync; hooks run.
	OutOfSyncOnly bool
	// CreateNamespace has the namespace of the destination made.
	CreateNamespace bool
	// FailOnShared fails where another Application has one of the objects.
	FailOnShared bool
	// RespectIgnored leaves ignored fields alone when objects are applied, not only when they are compared.
	RespectIgnored bool
	// Migrate has the fields of objects taken over that kubectl once applied; it is true by default.
	Migrate bool
	// Propagation is how what objects own is deleted with them: the foreground, by default.
	Propagation metav1.DeletionPropagation
	// Unknown are the options that are unknown, or have an invalid value; they are ignored.
	Unknown []string
}

// ObjectOptions are those of one object.
type ObjectOptions struct {
	// Prune guards an object that its source no longer holds, Delete one whose Application is deleted.
	Prune, Delete Guard
	// Validate has the API server hold objects against their schema; it is true by default.
	Validate bool
	// SkipDryRunOnMissing tries no dry run of objects whose kind is not served.
	SkipDryRunOnMissing bool
	// Replace has objects replaced or created, not applied. It comes before ServerSide.
	Replace bool
	// Force deletes and recreates objects that cannot be changed.
	Force bool
	// ServerSide is true or false where the user says how objects are applied, and ServerSideSaid is true then.
	ServerSide, ServerSideSaid bool
	// PruneLast has objects pruned after everything else.
	PruneLast bool
	// Unknown are the unknown options of the object's annotation.
	Unknown []string
}

// The values of most options.
const (
	yes = "true"
	no  = "false"
)

// OptionsOf are the options of a sync: those of the operation where it lists any, and otherwise those of the
// Application. Of an option that is listed twice the last one holds. A nil operation is one without options.
func OptionsOf(app *v1alpha1.Application, operation *v1alpha1.SyncOperation) Options {
	var listed []string
	if app.Spec.SyncPolicy != nil {
		listed = app.Spec.SyncPolicy.SyncOptions
	}
	if operation != nil && len(operation.SyncOptions) > 0 {
		listed = operation.SyncOptions
	}
	o := Options{Migrate: true, Propagation: metav1.DeletePropagationForeground, Objects: ObjectOptions{Validate: true}}
	for _, text := range listed {
		if text = strings.TrimSpace(text); text != "" && !o.set(text) && !o.Objects.set(text) {
			o.Unknown = append(o.Unknown, text)
		}
	}
	if operation != nil && operation.SyncStrategy != nil {
		s := operation.SyncStrategy
		o.Objects.Force = o.Objects.Force || s.Apply != nil && s.Apply.Force || s.Hook != nil && s.Hook.Force
	}
	return o
}

// set reads an option that only Applications have, and is false for what is none.
func (o *Options) set(text string) bool {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "ApplyOutOfSyncOnly":
		return flag(value, &o.OutOfSyncOnly)
	case "CreateNamespace":
		return flag(value, &o.CreateNamespace)
	case "FailOnSharedResource":
		return flag(value, &o.FailOnShared)
	case "RespectIgnoreDifferences":
		return flag(value, &o.RespectIgnored)
	case "ClientSideApplyMigration":
		return flag(value, &o.Migrate)
	case "PrunePropagationPolicy":
		return propagation(value, &o.Propagation)
	}
	return false
}

// For are the options of one object: what its annotation says, and otherwise what holds for all. The object is the one
// of the source, or where there is none the live one.
func (o Options) For(object metav1.Object) ObjectOptions {
	own := o.Objects
	own.Unknown = nil
	if object.GetAnnotations()["helm.sh/resource-policy"] == "keep" {
		own.Delete = GuardForbid
	}
	for _, text := range annotated(object, v1alpha1.SyncOptionsAnnotation) {
		if !own.set(text) {
			own.Unknown = append(own.Unknown, text)
		}
	}
	return own
}

// set reads an option that objects have too, and is false for what is none.
func (o *ObjectOptions) set(text string) bool {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "Prune":
		return guard(value, &o.Prune)
	case "Delete":
		return guard(value, &o.Delete)
	case "Validate":
		return flag(value, &o.Validate)
	case "SkipDryRunOnMissingResource":
		return flag(value, &o.SkipDryRunOnMissing)
	case "Replace":
		return flag(value, &o.Replace)
	case "Force":
		return flag(value, &o.Force)
	case "PruneLast":
		return flag(value, &o.PruneLast)
	case "ServerSideApply":
		read := flag(value, &o.ServerSide)
		o.ServerSideSaid = o.ServerSideSaid || read
		return read
	}
	return false
}

// annotated are the items of an annotation.
func annotated(object metav1.Object, key string) []string {
	items := strings.Split(object.GetAnnotations()[key], ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return slices.DeleteFunc(items, func(item string) bool { return item == "" })
}

func flag(value string, into *bool) bool {
	if value != yes && value != no {
		return false
	}
	*into = value == yes
	return true
}

func guard(value string, into *Guard) bool {
	switch value {
	case yes:
		*into = GuardNone
	case no, string(GuardConfirm):
		*into = Guard(value)
	default:
		return false
	}
	return true
}

func propagation(value string, into *metav1.DeletionPropagation) bool {
	switch value {
	case "foreground":
		*into = metav1.DeletePropagationForeground
	case "background":
		*into = metav1.DeletePropagationBackground
	case "orphan":
		*into = metav1.DeletePropagationOrphan
	default:
		return false
	}
	return true
}
