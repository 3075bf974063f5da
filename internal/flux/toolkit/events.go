package toolkit

import (
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	notifyv1beta3 "github.com/fluxcd/notification-controller/api/v1beta3"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/declared"
)

// Events are those of the controllers of the upstream. Notifications branch off where they are written.
type Events struct {
	*declared.Events

	scheme *runtime.Scheme
}

// NewEvents returns the recorder of events, each of which is handed to a branch as well.
func NewEvents(client kubernetes.Interface, branch declared.Branch) (Events, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, kustomizev1.AddToScheme, sourcev1.AddToScheme, helmv2.AddToScheme, swapi.AddToScheme,
		notifyv1.AddToScheme, notifyv1beta3.AddToScheme, imagev1.AddToScheme, autov1.AddToScheme, fluxcdv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return Events{}, err
		}
	}
	return Events{Events: declared.NewEvents(client, branch), scheme: s}, nil
}

// Record writes an event about an object, as the controller of its kind.
func (e Events) Record(o runtime.Object, kind, reason, message string, annotations map[string]string) {
	ref, err := reference.GetReference(e.scheme, o)
	object, is := o.(metav1.Object)
	if err != nil || !is {
		return
	}
	e.Emit(object, ref, declared.Event{Component: componentOf(o), Type: kind, Reason: reason, Message: message, Annotations: annotations})
}

// componentOf is the controller of the upstream whose object it is.
func componentOf(o runtime.Object) string {
	switch o.(type) {
	case *kustomizev1.Kustomization:
		return ApplyManager
	case *helmv2.HelmRelease:
		return ReleaseManager
	case *swapi.ArtifactGenerator:
		return GeneratorManager
	case *fluxcdv1.ResourceSet, *fluxcdv1.ResourceSetInputProvider, *fluxcdv1.FluxInstance:
		return OperatorManager
	case *notifyv1beta3.Alert, *notifyv1beta3.Provider, *notifyv1.Receiver:
		return NotifierManager
	case *imagev1.ImageRepository, *imagev1.ImagePolicy:
		return reflectorManager
	case *autov1.ImageUpdateAutomation:
		return automationManager
	}
	return sourceManager
}

// maxLines bounds the objects that an event lists.
const maxLines = 40

// ChangeLog lists what became of objects, a line each.
func ChangeLog(changes []apply.Result) string {
	lines := make([]string, 0, len(changes))
	for _, c := range changes {
		lines = append(lines, c.Entry.ID.String()+" "+string(c.Action))
	}
	slices.Sort(lines)
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], fmt.Sprintf("and %d more", len(lines)-maxLines))
	}
	return strings.Join(lines, "\n")
}
