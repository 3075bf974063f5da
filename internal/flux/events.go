package flux

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/reference"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	notifyv1beta3 "github.com/fluxcd/notification-controller/api/v1beta3"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
)

// events writes Kubernetes events, in the background and in bounds.
type events struct {
	scheme      *runtime.Scheme
	broadcaster record.EventBroadcaster
	kustomize   record.EventRecorder
	source      record.EventRecorder
	helm        record.EventRecorder
	watcher     record.EventRecorder
	operator    record.EventRecorder
	notifier    record.EventRecorder
	reflector   record.EventRecorder
	automation  record.EventRecorder
	// notifications are handed every event, whole.
	notifications *notifications
}

// told is what an event says.
type told struct {
	kind, reason, message string
	annotations           map[string]string
}

// maxEvent is the longest message that the API takes.
const maxEvent = 1024

func newEvents(client kubernetes.Interface, n *notifications) (events, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, kustomizev1.AddToScheme, sourcev1.AddToScheme, helmv2.AddToScheme, swapi.AddToScheme,
		notifyv1.AddToScheme, notifyv1beta3.AddToScheme, imagev1.AddToScheme, autov1.AddToScheme, fluxcdv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return events{}, err
		}
	}
	b := record.NewBroadcaster()
	b.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return events{
		scheme: s, broadcaster: b, notifications: n,
		kustomize:  b.NewRecorder(s, corev1.EventSource{Component: applyManager}),
		source:     b.NewRecorder(s, corev1.EventSource{Component: sourceManager}),
		helm:       b.NewRecorder(s, corev1.EventSource{Component: releaseManager}),
		watcher:    b.NewRecorder(s, corev1.EventSource{Component: generatorManager}),
		operator:   b.NewRecorder(s, corev1.EventSource{Component: operatorManager}),
		notifier:   b.NewRecorder(s, corev1.EventSource{Component: notifierManager}),
		reflector:  b.NewRecorder(s, corev1.EventSource{Component: reflectorManager}),
		automation: b.NewRecorder(s, corev1.EventSource{Component: automationManager}),
	}, nil
}

func (e events) emit(o runtime.Object, kind, reason, message string, annotations map[string]string) {
	recorder, controller := e.recorder(o)
	ref, err := reference.GetReference(e.scheme, o)
	if err != nil {
		return
	}
	e.notifications.publish(o, ref, controller, told{kind, reason, message, annotations})
	if len(message) > maxEvent {
		message = message[:maxEvent-3] + "..."
	}
	recorder.AnnotatedEventf(ref, annotations, kind, reason, "%s", message)
}

// recorder is that of the controller of the upstream whose object it is.
func (e events) recorder(o runtime.Object) (record.EventRecorder, string) {
	switch o.(type) {
	case *kustomizev1.Kustomization:
		return e.kustomize, applyManager
	case *helmv2.HelmRelease:
		return e.helm, releaseManager
	case *swapi.ArtifactGenerator:
		return e.watcher, generatorManager
	case *fluxcdv1.ResourceSet, *fluxcdv1.ResourceSetInputProvider, *fluxcdv1.FluxInstance:
		return e.operator, operatorManager
	case *notifyv1beta3.Alert, *notifyv1beta3.Provider, *notifyv1.Receiver:
		return e.notifier, notifierManager
	case *imagev1.ImageRepository, *imagev1.ImagePolicy:
		return e.reflector, reflectorManager
	case *autov1.ImageUpdateAutomation:
		return e.automation, automationManager
	}
	return e.source, sourceManager
}

func (e events) stop() { e.broadcaster.Shutdown() }
