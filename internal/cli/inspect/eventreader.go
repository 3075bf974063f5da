package inspect

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// listTimeout bounds the list of another cluster, so that one which does not respond keeps no other waiting.
const listTimeout = 10 * time.Second

// reader reads the events of one cluster.
type reader struct {
	dialect.Cluster
	clusters  *console.Clusters
	namespace string
	// wants reports whether an event is about what is requested.
	wants func(*corev1.Event) bool
	// client and version are those of the list that was read.
	client  kubernetes.Interface
	version string
}

// readers are those of the clusters that are asked: the one that declares units for these, and each for any other object.
func (o eventsOptions) readers(clusters *console.Clusters) ([]*reader, error) {
	chosen, err := clusters.Choose(o.cluster)
	if err != nil {
		return nil, err
	}
	wants, one := o.wants, true
	switch {
	case o.target == "" && !chosen[0].Home:
		wants = func(*corev1.Event) bool { return true }
	case o.target != "":
		if o.only, err = o.ParseReference(o.target, o.namespace); err == nil {
			o.namespace, wants = o.only.Namespace, o.wants
			break
		}
		if !strings.Contains(o.target, "/") {
			return nil, err
		}
		sought, err := console.Seek(o.target, o.namespace, o.cluster)
		if err != nil {
			return nil, err
		}
		if o.namespace = sought.Namespace; sought.Anywhere {
			o.namespace = metav1.NamespaceAll
		}
		one, wants = false, func(e *corev1.Event) bool {
			of := e.InvolvedObject
			return sought.Is(engine.ObjectID{Kind: of.Kind, Namespace: of.Namespace, Name: of.Name})
		}
	}
	var all []*reader
	for _, c := range chosen {
		all = append(all, &reader{Cluster: c, clusters: clusters, namespace: o.namespace, wants: wants})
		if one {
			break
		}
	}
	return all, nil
}

// list are the events that are there.
func (r *reader) list(ctx context.Context) ([]happened, error) {
	config, err := r.clusters.Config(r.Cluster)
	if err != nil {
		return nil, err
	}
	if r.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	if !r.Home {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, listTimeout)
		defer cancel()
	}
	list, err := r.client.CoreV1().Events(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, console.Unreachable(fmt.Errorf("listing events: %w", err))
	}
	r.version = list.ResourceVersion
	var events []happened
	for i := range list.Items {
		if e := &list.Items[i]; r.wants(e) {
			events = append(events, happened{e, r.Name})
		}
	}
	return events, nil
}

// happened is an event in a cluster.
type happened struct {
	event   *corev1.Event
	cluster string
}

// columns are those of an event, with the cluster when there are several.
func (h happened) columns(several bool) []string {
	of := h.event.InvolvedObject
	columns := []string{h.event.LastTimestamp.Format(time.RFC3339), h.event.Type, h.event.Reason}
	if several {
		columns = append(columns, h.cluster)
	}
	return append(columns, of.Kind+"/"+of.Namespace+"/"+of.Name, console.OneLine(h.event.Message))
}

// stay prints events as they come. Nothing ends it but ctx, and a server that forgot what came before.
func (o eventsOptions) stay(ctx context.Context, from []*reader, several bool) error {
	var printing sync.Mutex
	all, ctx := errgroup.WithContext(ctx)
	for _, one := range from {
		all.Go(func() error {
			return one.follow(ctx, func(h happened) {
				printing.Lock()
				defer printing.Unlock()
				columns := h.columns(several)
				columns[1] = fmt.Sprintf("%-7s", columns[1])
				fmt.Fprintln(o.IO.Out, strings.Join(columns, "  "))
			})
		})
	}
	return all.Wait()
}

// follow hands events over as they come.
func (r *reader) follow(ctx context.Context, take func(happened)) error {
	events := r.client.CoreV1().Events(r.namespace)
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, r.version, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return events.Watch(ctx, options)
		},
	})
	if err != nil {
		return console.Unreachable(fmt.Errorf("watching events: %w", err))
	}
	defer watcher.Stop()
	for came := range watcher.ResultChan() {
		switch e := came.Object.(type) {
		case *corev1.Event:
			if came.Type != watch.Deleted && r.wants(e) {
				take(happened{e, r.Name})
			}
		case *metav1.Status:
			return console.Hint(fmt.Errorf("watching events: %w", apierrors.FromObject(e)), "headgate events --follow")
		}
	}
	return context.Cause(ctx)
}
