// Package alerts serves Alerts and Providers: it selects the events that they ask for and hands them to internal/notify.
//
// Neither kind has a status: a problem of one is an event about it.
package alerts

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"

	notifyv1beta3 "github.com/fluxcd/notification-controller/api/v1beta3"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/notify"
)

// The reasons of the upstream for what is wrong with an Alert or a Provider.
const (
	reasonInvalidConfig  = "InvalidConfig"
	reasonDispatchFailed = "NotificationDispatchFailed"
)

// ReasonDriftCorrected is our reason for drift that was reverted.
const ReasonDriftCorrected = "DriftCorrected"

var (
	alertResource    = notifyv1beta3.GroupVersion.WithResource("alerts")
	providerResource = notifyv1beta3.GroupVersion.WithResource("providers")
)

// Keeper serves Alerts and Providers. Neither kind has a status: a problem of one is reported by an
// event about it. It is safe for concurrent use.
type Keeper struct {
	toolkit.ByNamespace

	client   dynamic.Interface
	reach    access.Reach
	events   toolkit.Events
	policies *policies.Effective
	log      logr.Logger
	instance string

	alerts    *declared.Registry[notifyv1beta3.Alert, *notifyv1beta3.Alert]
	providers *declared.Registry[notifyv1beta3.Provider, *notifyv1beta3.Provider]
	desk      *toolkit.Desk
	running   sync.WaitGroup
	// notifier is nil until everything is listed.
	notifier atomic.Pointer[notify.Notifier]

	mu sync.RWMutex
	// index holds the Alerts by the kind and the namespace of the objects that they select.
	index map[objectsOf][]*notify.Alert
	// listed is set when all Alerts and Providers are known.
	listed bool
	// told is what was said last about each object.
	told map[engine.UnitID]string
	// failing is the last failure of each Alert.
	failing map[notify.Ref]string
}

// objectsOf are those of a kind in a namespace.
type objectsOf struct{ kind, namespace string }

// New returns what serves Alerts and Providers; it reads none before it is started.
func New(client kubernetes.Interface, p *policies.Effective, log logr.Logger, g guard.Guard) *Keeper {
	n := &Keeper{
		policies: p, log: log,
		alerts:    declared.NewRegistry[notifyv1beta3.Alert](toolkit.KindIn(toolkit.Notification, notifyv1beta3.AlertKind)),
		providers: declared.NewRegistry[notifyv1beta3.Provider](toolkit.KindIn(toolkit.Notification, notifyv1beta3.ProviderKind)),
		index:     map[objectsOf][]*notify.Alert{}, told: map[engine.UnitID]string{}, failing: map[notify.Ref]string{},
	}
	// A Provider reads its Secrets when something is delivered: one that was changed holds at once, and
	// nothing is asked while nothing happens.
	n.reach.Held = func(ctx context.Context, namespace, name string) (map[string][]byte, error) {
		s, err := client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return s.Data, nil
	}
	if host, err := os.Hostname(); err == nil {
		n.instance = host
	}
	n.desk = toolkit.NewDesk(log, g, n)
	return n
}

// start begins to deliver what an earlier process left. A directory that cannot be used keeps
// no receiver from getting its messages, and nothing else from being served.
func (n *Keeper) start(ctx context.Context, host *dialect.Host) error {
	dir := host.Dir
	if dir != "" {
		dir = filepath.Join(dir, "notifications")
	}
	config := notify.Config{
		Dir: dir, Alerts: n.concerned, Resolve: n.resolve, Failed: n.failed, Count: host.Metrics.Notified, Log: host.Log, Guard: host.Guard,
		Egress: host.Egress.Fetches,
	}
	notifier, err := notify.Start(ctx, config)
	if err != nil && config.Dir != "" {
		host.Log.Info("pending notifications are lost when this process ends", "error", err.Error())
		config.Dir = ""
		notifier, err = notify.Start(ctx, config)
	}
	if err != nil {
		return fmt.Errorf("starting the notifications: %w", err)
	}
	n.notifier.Store(notifier)
	n.running.Go(notifier.Wait)
	return nil
}

// Watch reads the Alerts and Providers before anything happens that one could report.
func (n *Keeper) Watch(ctx context.Context, host *dialect.Host, ev toolkit.Events) error {
	n.client, n.events = host.Home.Dynamic, ev
	err := host.Home.Watch(ctx, providerResource, host.Selector, cluster.Sink{Put: n.putProvider, Dropped: n.dropProvider})
	if err == nil {
		err = host.Home.Watch(ctx, alertResource, host.Selector, cluster.Sink{Put: n.putAlert, Dropped: n.dropAlert})
	}
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.listed = true
	n.mu.Unlock()
	if err := n.start(ctx, host); err != nil {
		return err
	}
	n.Reindex()
	n.desk.Start(ctx)
	n.running.Go(n.desk.Wait)
	return nil
}

// Wait waits until nothing is delivered any more.
func (n *Keeper) Wait() { n.running.Wait() }

// Handler takes the events that other controllers post, as notification-controller does at its port.
func (n *Keeper) Handler() http.Handler {
	notifier := n.notifier.Load()
	if notifier == nil {
		return http.NotFoundHandler()
	}
	return notifier.Handler(func(event notify.Event) notify.Fact {
		fact := notify.Outside(event)
		fact.Labels = func(ctx context.Context) (map[string]string, error) { return n.labels(ctx, event.InvolvedObject) }
		return fact
	})
}

// labelsTimeout bounds the reading of an object for its labels.
const labelsTimeout = 5 * time.Second

// labels reads those of an object that is served elsewhere.
func (n *Keeper) labels(ctx context.Context, o notify.Object) (map[string]string, error) {
	gv, err := schema.ParseGroupVersion(o.APIVersion)
	if err != nil {
		return nil, fmt.Errorf("reading the labels of %s: %w", o, err)
	}
	ctx, cancel := context.WithTimeout(ctx, labelsTimeout)
	defer cancel()
	// The kinds that an Alert can name have plurals of this form.
	plural := strings.ToLower(o.Kind) + "s"
	if stem, y := strings.CutSuffix(plural, "ys"); y {
		plural = stem + "ies"
	}
	u, err := n.client.Resource(gv.WithResource(plural)).Namespace(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the labels of %s: %w", o, err)
	}
	return u.GetLabels(), nil
}

// quietReasons are those of warnings about objects that are ready all the same.
var quietReasons = []string{"TugOfWar", "DriftDetected", "ReconciliationDisabled", "RewritesIllegible"}

// Publish hands an event over. It never blocks.
func (n *Keeper) Publish(o metav1.Object, ref *corev1.ObjectReference, event declared.Event) {
	notifier := n.notifier.Load()
	if notifier == nil || ref.GroupVersionKind().Group == notifyv1beta3.GroupVersion.Group {
		return
	}
	e := notify.Event{
		InvolvedObject: notify.Object{
			Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, UID: string(ref.UID), APIVersion: ref.APIVersion,
			ResourceVersion: ref.ResourceVersion,
		},
		Severity: notify.SeverityInfo, Timestamp: time.Now().UTC().Truncate(time.Second), Message: notify.Bounded(event.Message), Reason: event.Reason,
		Metadata: maps.Clone(event.Annotations), ReportingController: event.Component, ReportingInstance: n.instance,
	}
	fact := notify.Fact{
		Ready: strings.HasSuffix(event.Reason, "Succeeded") || event.Reason == "NewArtifact" || event.Reason == toolkit.ConditionReady,
	}
	switch {
	case event.Reason == ReasonDriftCorrected:
		// It was reverted by the time that the message arrives.
		fact.Ready = false
	case event.Type == corev1.EventTypeWarning:
		e.Severity, fact.Ready = notify.SeverityError, false
		fact.Failing = !slices.Contains(quietReasons, event.Reason)
	}
	labels := maps.Clone(o.GetLabels())
	fact.Labels = func(context.Context) (map[string]string, error) { return labels, nil }
	for k, v := range o.GetAnnotations() {
		if strings.HasPrefix(k, notify.EventGroup+"/") {
			if e.Metadata == nil {
				e.Metadata = map[string]string{}
			}
			e.Metadata[k] = v
		}
	}
	fact.Event = e
	notifier.Publish(fact)
}

// concerned returns the Alerts that select objects of a kind in a namespace.
func (n *Keeper) concerned(kind, namespace string) []*notify.Alert {
	closed := n.policies.Now().NoCrossNamespaceRefs
	n.mu.RLock()
	defer n.mu.RUnlock()
	list := n.index[objectsOf{kind, namespace}]
	if !closed {
		return list
	}
	var own []*notify.Alert
	for _, a := range list {
		if a.Ref.Namespace == namespace {
			own = append(own, a)
		}
	}
	return own
}

// say reports a problem of an object, once; an empty text says that there is none.
func (n *Keeper) say(o runtime.Object, id engine.UnitID, reason, text string) {
	n.mu.Lock()
	news := n.told[id] != text
	n.told[id] = text
	if text == "" {
		delete(n.told, id)
	}
	n.mu.Unlock()
	if text == "" || !news {
		return
	}
	n.log.Info("an object is invalid or not supported", "object", id.String(), "reason", reason, "error", text)
	n.events.Record(o, corev1.EventTypeWarning, reason, text, nil)
}

// failed reports a failed delivery, once for each change of the error.
func (n *Keeper) failed(d notify.Delivery, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	n.mu.Lock()
	news := n.failing[d.Alert] != text
	n.failing[d.Alert] = text
	if text == "" {
		delete(n.failing, d.Alert)
	}
	n.mu.Unlock()
	if text == "" || !news {
		return
	}
	n.log.Info("a notification was not delivered", "alert", d.Alert.String(), "provider", d.Provider.String(),
		"object", d.Event.InvolvedObject.String(), "error", text)
	if a, there := n.alerts.Get(alertID(d.Alert.Namespace, d.Alert.Name)); there {
		n.events.Record(a, corev1.EventTypeWarning, reasonDispatchFailed, fmt.Sprintf(
			"failed to send notification for %s by Provider %s: %s", d.Event.InvolvedObject, d.Provider, text), nil)
	}
}

func (n *Keeper) unreadable(err error) {
	n.log.Info("an object cannot be read", "error", err.Error())
}

// forget drops what was said about an object that is gone.
func (n *Keeper) forget(id engine.UnitID) {
	n.mu.Lock()
	delete(n.told, id)
	delete(n.failing, notify.Ref{Namespace: id.Namespace, Name: id.Name})
	n.mu.Unlock()
}
