// Package migration moves a cluster from the controllers of Flux or of Argo CD to Headgate, and back.
//
// Nothing that a repository declared is touched: the controllers are paused, what they wrote (inventories,
// releases, fields, finalizers) is what Headgate continues with, and what was paused is recorded in the
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
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/installation"
)

// recordKey is the key in the ConfigMap that says what was paused.
const recordKey = "paused.json"

// record is the ConfigMap that says what was paused of an engine.
func (m *Migration) record() string {
	if m.of == ArgoCD {
		return "headgate-migration-argocd"
	}
	return "headgate-migration"
}

// ErrNothing is returned when there is nothing to move back.
var ErrNothing = errors.New("no migration is recorded in this cluster")

// Paused is what was paused, and how it was before.
type Paused struct {
	Controllers []Controller     `json:"deployments,omitempty"`
	Instances   []Instance       `json:"instances,omitempty"`
	Services    []corev1.Service `json:"services,omitempty"`
}

// Controller is a Deployment or a StatefulSet and its replicas.
type Controller struct {
	// Kind is StatefulSet, or nothing for a Deployment.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Replicas  int32  `json:"replicas"`
}

func (c Controller) String() string { return c.Namespace + "/" + c.Name }

// Described is the controller with its kind.
func (c Controller) Described() string {
	if c.Kind == "" {
		return "Deployment " + c.String()
	}
	return c.Kind + " " + c.String()
}

// Instance is a FluxInstance; an annotation makes flux-operator ignore it.
type Instance struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Reconcile is what the annotation said before; empty when there was none.
	Reconcile string `json:"reconcile,omitempty"`
}

// Upstream names the engine that a cluster moves from, or back to, as commands do.
type Upstream string

// The engines.
const (
	Flux   Upstream = "flux"
	ArgoCD Upstream = "argocd"
)

// Migration works on one cluster.
type Migration struct {
	// Namespace is that of the Applications that are read; empty for all.
	Namespace string

	of      Upstream
	config  *rest.Config
	client  kubernetes.Interface
	dynamic dynamic.Interface
	say     func(what, text string)
}

// New returns a Migration from an engine, which reports what it does.
func New(config *rest.Config, of Upstream, say func(what, text string)) (*Migration, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return &Migration{of: of, config: config, client: client, dynamic: dyn, say: say}, nil
}

// Found says which controllers of the upstream serve the groups, and how many pods each has. A controller of
// an earlier pause counts with what it had then.
func (m *Migration) Found(ctx context.Context, serve dialect.Groups) (Paused, error) {
	found, err := m.recorded(ctx)
	if err != nil && !errors.Is(err, ErrNothing) {
		return found, err
	}
	workloads, err := host.Workloads(ctx, m.client, serve)
	if err != nil {
		return found, err
	}
	for _, w := range workloads {
		one := Controller{Namespace: w.Namespace, Name: w.Name, Replicas: w.Replicas}
		if w.Kind != "Deployment" {
			one.Kind = w.Kind
		}
		known := slices.ContainsFunc(found.Controllers, func(have Controller) bool { return have.Described() == one.Described() })
		if _, of, _ := w.Serves(serve); of == string(m.of) && w.Replicas > 0 && !known {
			found.Controllers = append(found.Controllers, one)
		}
	}
	slices.SortStableFunc(found.Controllers, byTurn)
	if m.of != Flux {
		return found, nil
	}
	return found, m.addInstances(ctx, &found, serve)
}

// turns is the order in which controllers are paused: those first that would start the others again.
func turns() []string {
	return []string{"flux-operator", "kustomize-controller", "helm-controller", "argocd-application-controller"}
}

// sourceController is the one that serves artifacts, which is started before those that fetch them.
const sourceController = "source-controller"

func (c Controller) called(name string) bool {
	return c.Name == name || strings.HasPrefix(c.Name, name+"-")
}

func byTurn(a, b Controller) int {
	at := func(c Controller) int {
		i := slices.IndexFunc(turns(), c.called)
		switch {
		case i >= 0:
			return i
		case c.Kind != "":
			// Of all controllers only that of Applications is a StatefulSet, whatever its name.
			return len(turns()) - 1
		}
		// Those that serve artifacts are paused last, and started first.
		return len(turns()) + 1 + slices.IndexFunc([]string{"source-watcher", sourceController}, c.called)
	}
	return at(a) - at(b)
}

// recorded reads what was paused.
func (m *Migration) recorded(ctx context.Context) (Paused, error) {
	var p Paused
	cm, err := m.client.CoreV1().ConfigMaps(toolkit.Namespace).Get(ctx, m.record(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return p, ErrNothing
	}
	if err != nil {
		return p, fmt.Errorf("reading what was paused: %w", err)
	}
	if err := json.Unmarshal([]byte(cm.Data[recordKey]), &p); err != nil {
		return p, fmt.Errorf("reading ConfigMap %s/%s: data[%q]: %w", toolkit.Namespace, m.record(), recordKey, err)
	}
	return p, nil
}

// write writes down what is about to be paused, before it is.
func (m *Migration) write(ctx context.Context, p Paused) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding what is paused: %w", err)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: m.record(), Namespace: toolkit.Namespace}, Data: map[string]string{recordKey: string(data)}}
	_, err = m.client.CoreV1().ConfigMaps(toolkit.Namespace).Create(ctx, cm, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = m.client.CoreV1().ConfigMaps(toolkit.Namespace).Update(ctx, cm, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("recording what is paused: %w", err)
	}
	return nil
}

// Pause writes down what is found, and pauses it: first what would start the rest again. It returns when no
// pod of a paused controller is left.
func (m *Migration) Pause(ctx context.Context, p Paused) error {
	if len(p.Services) == 0 && m.of == Flux {
		services, err := m.services(ctx)
		if err != nil {
			return err
		}
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
	for _, d := range p.Controllers {
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

// Resume starts what was paused, as it was, and forgets the migration when all of it runs. Headgate stops
// when it sees the first of the controllers; the others follow when it has released its lease.
func (m *Migration) Resume(ctx context.Context) error {
	p, err := m.recorded(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(p.Controllers, byTurn) // also those that an earlier version recorded
	ours, err := m.artifacts(ctx)
	if err != nil {
		return err
	}
	for n, d := range slices.Backward(p.Controllers) {
		if err := m.scale(ctx, d, d.Replicas); err != nil {
			return err
		}
		m.say("started", d.String())
		if n == len(p.Controllers)-1 {
			if err := m.quiet(ctx); err != nil {
				return err
			}
		}
		if d.called(sourceController) {
			if err := m.fetched(ctx, d, ours); err != nil {
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
	for _, d := range p.Controllers {
		if err := m.running(ctx, d); err != nil {
			return err
		}
	}
	err = m.client.CoreV1().ConfigMaps(toolkit.Namespace).Delete(ctx, m.record(), metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the record of the migration: %w", err)
	}
	return nil
}

// quiet waits until no lease of Headgate is held, including those of its shards.
func (m *Migration) quiet(ctx context.Context) error {
	shards, err := installation.Shards(ctx, m.client)
	if err != nil {
		return err
	}
	for _, shard := range append(shards, "") {
		err := m.until(ctx, "Headgate to release its lease", func() (bool, error) {
			holder, err := host.Holder(ctx, m.client, shard, time.Now())
			return holder == "", err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pause is the interval of polling while waiting.
const pause = 250 * time.Millisecond

// until waits until a condition holds, or ctx ends.
func (m *Migration) until(ctx context.Context, what string, holds func() (bool, error)) error {
	tick := time.NewTicker(pause)
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
