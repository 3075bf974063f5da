// Package migration moves a cluster from the controllers of Flux to Headgate, and back.
//
// Nothing that a repository declared is touched: the controllers are paused, what they wrote (inventories,
// releases, fields, finalizers) is what Headgate goes on with, and what was paused is written down in the
// cluster, so that it can be started again. The package refuses to decide whether that is a good idea.
package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/installation"
)

// record is the ConfigMap that says what was paused, and its key.
const (
	record    = "headgate-migration"
	recordKey = "paused.json"
)

// ErrNothing is returned when there is nothing to move back.
var ErrNothing = errors.New("no migration is written down in this cluster")

// Paused is what was paused, and how it was before.
type Paused struct {
	Deployments []Deployment     `json:"deployments,omitempty"`
	Instances   []Instance       `json:"instances,omitempty"`
	Services    []corev1.Service `json:"services,omitempty"`
}

// Deployment is a Deployment and its replicas.
type Deployment struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Replicas  int32  `json:"replicas"`
}

func (d Deployment) String() string { return d.Namespace + "/" + d.Name }

// Instance is a FluxInstance; flux-operator is told by an annotation to leave it alone.
type Instance struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Reconcile is what the annotation said before; empty when there was none.
	Reconcile string `json:"reconcile,omitempty"`
}

// Migration works on one cluster.
type Migration struct {
	config  *rest.Config
	client  kubernetes.Interface
	dynamic dynamic.Interface
	say     func(what, text string)
}

// New returns a Migration, which tells what it does.
func New(config *rest.Config, say func(what, text string)) (*Migration, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &Migration{config: config, client: client, dynamic: dyn, say: say}, nil
}

// Found says which controllers of the upstream serve the groups, and how many pods each has. A controller of
// an earlier pause counts with what it had then.
func (m *Migration) Found(ctx context.Context, serve flux.Groups) (Paused, error) {
	found, err := m.recorded(ctx)
	if err != nil && !errors.Is(err, ErrNothing) {
		return found, err
	}
	list, err := m.client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{LabelSelector: flux.PartOf + "=flux"})
	if err != nil {
		return found, fmt.Errorf("looking for the controllers of Flux: %w", err)
	}
	for i := range list.Items {
		d := &list.Items[i]
		known := slices.ContainsFunc(found.Deployments, func(have Deployment) bool { return have.Namespace == d.Namespace && have.Name == d.Name })
		if n := ptr.Deref(d.Spec.Replicas, 1); serve.Replaces(d.Name) && n > 0 && !known {
			found.Deployments = append(found.Deployments, Deployment{d.Namespace, d.Name, n})
		}
	}
	slices.SortStableFunc(found.Deployments, byTurn)
	return found, m.addInstances(ctx, &found, serve)
}

// turns is the order in which controllers are paused: those first that would start the others again.
func turns() []string {
	return []string{"flux-operator", "kustomize-controller", "helm-controller"}
}

func byTurn(a, b Deployment) int {
	at := func(d Deployment) int {
		i := slices.IndexFunc(turns(), func(name string) bool { return d.Name == name || strings.HasPrefix(d.Name, name+"-") })
		if i < 0 {
			return len(turns())
		}
		return i
	}
	return at(a) - at(b)
}

// recorded reads what was paused.
func (m *Migration) recorded(ctx context.Context) (Paused, error) {
	var p Paused
	cm, err := m.client.CoreV1().ConfigMaps(flux.Namespace).Get(ctx, record, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return p, ErrNothing
	}
	if err != nil {
		return p, fmt.Errorf("reading what was paused: %w", err)
	}
	if err := json.Unmarshal([]byte(cm.Data[recordKey]), &p); err != nil {
		return p, fmt.Errorf("reading ConfigMap %s/%s: data[%q]: %w", flux.Namespace, record, recordKey, err)
	}
	return p, nil
}

// write writes down what is about to be paused, before it is.
func (m *Migration) write(ctx context.Context, p Paused) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding what is paused: %w", err)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: record, Namespace: flux.Namespace}, Data: map[string]string{recordKey: string(data)}}
	_, err = m.client.CoreV1().ConfigMaps(flux.Namespace).Create(ctx, cm, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = m.client.CoreV1().ConfigMaps(flux.Namespace).Update(ctx, cm, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("writing down what is paused: %w", err)
	}
	return nil
}

// Pause writes down what is found, and pauses it: first what would start the rest again. It returns when no
// pod of a paused controller is left.
func (m *Migration) Pause(ctx context.Context, p Paused) error {
	services, err := m.services(ctx)
	if err != nil {
		return err
	}
	if len(p.Services) == 0 {
		p.Services = services
	}
	if err := m.write(ctx, p); err != nil {
		return err
	}
	for _, i := range p.Instances {
		if err := m.annotate(ctx, i, disabled); err != nil {
			return err
		}
	}
	for _, d := range p.Deployments {
		if err := m.scale(ctx, d, 0); err != nil {
			return err
		}
		if err := m.gone(ctx, d); err != nil {
			return err
		}
		m.say("paused", d.String())
	}
	return nil
}

// Resume starts what was paused, as it was, and forgets the migration when all of it runs. Headgate stops by
// itself when it sees the first of the controllers; the others follow when it has let go of its lease.
func (m *Migration) Resume(ctx context.Context) error {
	p, err := m.recorded(ctx)
	if err != nil {
		return err
	}
	for n, d := range slices.Backward(p.Deployments) {
		if err := m.scale(ctx, d, d.Replicas); err != nil {
			return err
		}
		m.say("started", d.String())
		if n == len(p.Deployments)-1 {
			if err := m.quiet(ctx); err != nil {
				return err
			}
		}
	}
	for _, s := range p.Services {
		if err := m.restore(ctx, s); err != nil {
			return err
		}
	}
	for _, i := range p.Instances {
		if err := m.annotate(ctx, i, i.Reconcile); err != nil {
			return err
		}
	}
	for _, d := range p.Deployments {
		if err := m.running(ctx, d); err != nil {
			return err
		}
	}
	err = m.client.CoreV1().ConfigMaps(flux.Namespace).Delete(ctx, record, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("forgetting the migration: %w", err)
	}
	return nil
}

// quiet waits until nobody holds a lease of Headgate, those of its shards included.
func (m *Migration) quiet(ctx context.Context) error {
	shards, err := installation.Shards(ctx, m.client)
	if err != nil {
		return err
	}
	for _, shard := range append(shards, "") {
		err := m.until(ctx, "Headgate to let go of its lease", func() (bool, error) {
			holder, err := flux.Holder(ctx, m.client, shard, time.Now())
			return holder == "", err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Rest scales Headgate's own Deployments to nothing, and returns the Kustomizations that would start them again:
// those whose repositories declare them.
func (m *Migration) Rest(ctx context.Context) ([]string, error) {
	list, err := m.client.AppsV1().Deployments(flux.Namespace).List(ctx, metav1.ListOptions{LabelSelector: flux.PartOf + "=headgate"})
	if err != nil {
		return nil, fmt.Errorf("looking for Headgate's own Deployments: %w", err)
	}
	var declared []string
	for i := range list.Items {
		live := &list.Items[i]
		if by := live.Labels["kustomize.toolkit.fluxcd.io/name"]; by != "" {
			declared = append(declared, live.Labels["kustomize.toolkit.fluxcd.io/namespace"]+"/"+by)
		}
		d := Deployment{live.Namespace, live.Name, 0}
		if err := m.scale(ctx, d, 0); err != nil {
			return nil, err
		}
		m.say("paused", d.String())
	}
	return declared, nil
}

func (m *Migration) scale(ctx context.Context, d Deployment, replicas int32) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	_, err := m.client.AppsV1().Deployments(d.Namespace).Patch(ctx, d.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "headgate-migrate"})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("scaling Deployment %s to %d: %w", d, replicas, err)
	}
	return nil
}

// gone waits until a Deployment has no pods.
func (m *Migration) gone(ctx context.Context, d Deployment) error {
	return m.until(ctx, "the pods of Deployment "+d.String()+" to end", func() (bool, error) {
		live, err := m.client.AppsV1().Deployments(d.Namespace).Get(ctx, d.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		pods, err := m.client.CoreV1().Pods(d.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(live.Spec.Selector)})
		return err == nil && len(pods.Items) == 0, err
	})
}

// running waits until a Deployment has the pods that it should have.
func (m *Migration) running(ctx context.Context, d Deployment) error {
	return m.until(ctx, "Deployment "+d.String()+" to be available", func() (bool, error) {
		live, err := m.client.AppsV1().Deployments(d.Namespace).Get(ctx, d.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && live.Status.ObservedGeneration == live.Generation && live.Status.AvailableReplicas >= d.Replicas, err
	})
}

// look is how often something is looked at that is waited for.
const look = 250 * time.Millisecond

// until waits until a condition holds, or ctx ends.
func (m *Migration) until(ctx context.Context, what string, holds func() (bool, error)) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		ok, err := holds()
		if ok {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
