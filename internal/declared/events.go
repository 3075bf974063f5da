package declared

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/headgate-dev/headgate/internal/redaction"
)

// Events write Kubernetes events, in the background and in bounds. They are safe for concurrent use.
type Events struct {
	broadcaster record.EventBroadcaster
	branch      Branch

	mu sync.Mutex
	// recorders are those of the components that have told something.
	recorders map[string]record.EventRecorder
}

// Event is what a component says about an object.
type Event struct {
	Component, Type, Reason, Message string
	Annotations                      map[string]string
}

// Branch is handed every event, whole, before it is written. It must not block.
type Branch interface {
	Publish(o metav1.Object, ref *corev1.ObjectReference, e Event)
}

// NewEvents returns Events that are written until Stop, and handed to a branch, if there is one.
func NewEvents(client kubernetes.Interface, branch Branch) *Events {
	b := record.NewBroadcaster()
	b.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return &Events{broadcaster: b, branch: branch, recorders: map[string]record.EventRecorder{}}
}

// Emit writes an event about an object.
func (e *Events) Emit(o metav1.Object, ref *corev1.ObjectReference, event Event) {
	event.Message = redaction.Text(event.Message)
	if e.branch != nil {
		e.branch.Publish(o, ref, event)
	}
	e.recorder(event.Component).AnnotatedEventf(ref, event.Annotations, event.Type, event.Reason, "%s", bounded(event.Message))
}

func (e *Events) recorder(component string) record.EventRecorder {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, known := e.recorders[component]
	if !known {
		r = e.broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: component})
		e.recorders[component] = r
	}
	return r
}

// Stop ends the writing.
func (e *Events) Stop() { e.broadcaster.Shutdown() }

// longest is the longest message that the API takes.
const longest = 1024

func bounded(message string) string {
	if len(message) > longest {
		message = message[:longest-3] + "..."
	}
	return message
}
