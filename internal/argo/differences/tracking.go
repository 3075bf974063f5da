package differences

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// Tracking marks objects as those of an Application, and reads the marks.
type Tracking struct {
	// Method says whether marks are annotations, labels or both. The zero value is the annotation.
	Method settings.TrackingMethod
	// LabelKey is the key of labels.
	LabelKey string
	// InstallationID tells the installations apart that share a cluster; it is empty where there is one.
	InstallationID string
	// AppName is the name of the Application as InstanceName has it.
	AppName string
	// Namespace is that of the destination, which the marks of cluster-scoped objects carry.
	Namespace string
}

// InstanceName is the name by which the objects of an Application are known: with its namespace before an underscore
// unless that is the one of the installation.
func InstanceName(namespace, name, installation string) string {
	if namespace == "" || namespace == installation {
		return name
	}
	return namespace + "_" + name
}

// Mark marks an object. Definitions of kinds get no mark: they must not be pruned with all of their objects. The error
// is about a name that is too long for a label where the label alone is what objects are known by.
func (t Tracking) Mark(u *unstructured.Unstructured) error {
	if isDefinition(u) {
		return nil
	}
	if t.Method == settings.TrackLabel {
		if problems := validation.IsValidLabelValue(t.AppName); len(problems) > 0 {
			return fmt.Errorf("application.resourceTrackingMethod: the name %q cannot be the value of label %s: %s; track by annotation+label",
				t.AppName, t.LabelKey, strings.Join(problems, ", "))
		}
		t.label(u, t.AppName)
		return nil
	}
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.TrackingAnnotation] = t.id(u)
	delete(annotations, v1alpha1.InstallationAnnotation)
	if t.InstallationID != "" {
		annotations[v1alpha1.InstallationAnnotation] = t.InstallationID
	}
	u.SetAnnotations(annotations)
	if t.Method == settings.TrackAnnotationAndLabel {
		t.label(u, truncated(t.AppName))
	}
	return nil
}

func (t Tracking) label(u *unstructured.Unstructured, value string) {
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[t.LabelKey] = value
	u.SetLabels(labels)
}

// endOfLabel are the characters with which a label may not end.
var endOfLabel = regexp.MustCompile(`[^a-zA-Z0-9]+$`)

// truncated is a name that fits into a label. One that fits stays as it is.
func truncated(name string) string {
	if len(name) <= validation.LabelValueMaxLength {
		return name
	}
	return endOfLabel.ReplaceAllString(name[:validation.LabelValueMaxLength], "")
}

// id is what the annotation says: APP:GROUP/KIND:NAMESPACE/NAME.
func (t Tracking) id(u *unstructured.Unstructured) string {
	namespace := u.GetNamespace()
	if namespace == "" {
		namespace = t.Namespace
	}
	kind := u.GroupVersionKind()
	return fmt.Sprintf("%s:%s/%s:%s/%s", t.AppName, kind.Group, kind.Kind, namespace, u.GetName())
}

// Owner is the name of the Application that an object is marked with, "" for none, and whether the mark is its own: a
// controller that copies an object copies its annotations too, and the copy has no owner. A mark of another
// installation is none.
func (t Tracking) Owner(live *unstructured.Unstructured) (app string, self bool) {
	if t.Method == settings.TrackLabel {
		app = live.GetLabels()[t.LabelKey]
		return app, app != ""
	}
	annotations := live.GetAnnotations()
	if annotations[v1alpha1.InstallationAnnotation] != t.InstallationID {
		return "", false
	}
	parts := strings.SplitN(annotations[v1alpha1.TrackingAnnotation], ":", 3)
	if len(parts) != 3 {
		return "", false
	}
	group, kind, ofKind := strings.Cut(parts[1], "/")
	namespace, name, ofName := strings.Cut(parts[2], "/")
	if !ofKind || !ofName || strings.Contains(kind, "/") || strings.Contains(name, "/") {
		return "", false
	}
	is := live.GroupVersionKind().GroupKind()
	self = is == schema.GroupKind{Group: group, Kind: kind} && live.GetName() == name &&
		(live.GetNamespace() == "" || live.GetNamespace() == namespace)
	return parts[0], self
}

// Mine is true for an object that the Application has, and that is not a copy of one.
func (t Tracking) Mine(live *unstructured.Unstructured) bool {
	app, self := t.Owner(live)
	return self && app == t.AppName
}

// Backfill is the live object with the annotation that the desired one has, where it has none yet but the label. An
// installation that changes from labels to annotations would have everything out of sync otherwise. Annotations that are
// there stay, since one of another Application is a difference.
func (t Tracking) Backfill(desired, live *unstructured.Unstructured) *unstructured.Unstructured {
	wanted := desired.GetAnnotations()[v1alpha1.TrackingAnnotation]
	annotations := live.GetAnnotations()
	marked := annotations[v1alpha1.TrackingAnnotation] != ""
	if t.Method == settings.TrackLabel || wanted == "" || marked || live.GetLabels()[t.LabelKey] == "" {
		return live
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.TrackingAnnotation] = wanted
	filled := live.DeepCopy()
	filled.SetAnnotations(annotations)
	if _, desires := desired.GetLabels()[t.LabelKey]; !desires {
		unstructured.RemoveNestedField(filled.Object, "metadata", "labels", t.LabelKey)
	}
	return filled
}

func isDefinition(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}
