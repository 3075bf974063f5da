package flux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// ErrUpstream is returned when the upstream's controllers serve the API groups already.
var ErrUpstream = errors.New("another engine serves this cluster")

// Upstream names an engine whose controllers serve groups that are served here too, as "headgate migrate" takes it.
type Upstream string

// The engines.
const (
	Flux   Upstream = "flux"
	ArgoCD Upstream = "argocd"
)

func (u Upstream) title() string {
	if u == ArgoCD {
		return "Argo CD"
	}
	return "Flux"
}

// UpstreamError says which controllers serve groups that are to be served here. It is ErrUpstream.
type UpstreamError struct {
	// Engines are those whose controllers were found, Flux first.
	Engines []Upstream
	text    string
}

func (e *UpstreamError) Error() string { return e.text }

// Is tells that it is ErrUpstream.
func (e *UpstreamError) Is(target error) bool { return target == ErrUpstream }

// electionSuffix follows the controller in the names of the upstream's leases; those of shards go on behind it.
const electionSuffix = "-leader-election"

// master is a controller that serves a group which is served here too. The zero value is none.
type master struct {
	of   Upstream
	text string
}

// RefuseUpstream fails with ErrUpstream, naming the Deployment, the StatefulSet or the lease, when a controller of an
// upstream serves one of the groups on the cluster: two masters never serve one API group.
func RefuseUpstream(ctx context.Context, config *rest.Config, serve Groups) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	workloads, err := Controllers(ctx, client, serve)
	if err != nil {
		return err
	}
	var found []master
	for _, w := range workloads {
		found = append(found, w.master(serve))
	}
	leases, err := client.CoordinationV1().Leases(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("looking for the leases of the upstream's controllers: %w", err)
	}
	for i := range leases.Items {
		found = append(found, masterLease(&leases.Items[i], serve, time.Now()))
	}
	return refusal(found)
}

// refusal is the error for what was found; the zero value was no master.
func refusal(found []master) error {
	e := &UpstreamError{}
	var texts []string
	for _, of := range []Upstream{Flux, ArgoCD} {
		var here []string
		for _, m := range found {
			if m.of == of && m.text != "" {
				here = append(here, m.text)
			}
		}
		if len(here) == 0 {
			continue
		}
		slices.Sort(here)
		e.Engines = append(e.Engines, of)
		texts = append(texts, fmt.Sprintf("%s runs on this cluster: %s; `headgate migrate %s` pauses it and takes over, or leave its group out of --serve",
			of.title(), strings.Join(slices.Compact(here), "; "), of))
	}
	if len(texts) == 0 {
		return nil
	}
	e.text = strings.Join(texts, "; ")
	return e
}

// Workload is a Deployment or a StatefulSet that may be a controller of an upstream.
type Workload struct {
	// Kind is Deployment or StatefulSet.
	Kind string
	metav1.ObjectMeta
	// Replicas is what its spec asks for.
	Replicas int32
}

func deployed(d *appsv1.Deployment) Workload {
	return Workload{"Deployment", d.ObjectMeta, ptr.Deref(d.Spec.Replicas, 1)}
}

func stateful(s *appsv1.StatefulSet) Workload {
	return Workload{"StatefulSet", s.ObjectMeta, ptr.Deref(s.Spec.Replicas, 1)}
}

// Labels by which the controllers of Argo CD are known.
const (
	appNameLabel   = "app.kubernetes.io/name"
	componentLabel = "app.kubernetes.io/component"
	argoPart       = "argocd"
	fluxPart       = "flux"
)

// Serves tells which of the groups the workload serves, if it is a controller of an upstream that does, whether it has
// replicas or not. A controller of Flux has the label of Flux, since its name is one that others use too. One of Argo CD
// may have been given another name: then its labels say what it is.
func (w Workload) Serves(serve Groups) (group string, of Upstream, is bool) {
	if w.Labels[PartOf] == fluxPart {
		group, is = serve.servedBy(w.Name)
		return group, Flux, is && group != ArgoGroup
	}
	names := []string{w.Name, w.Labels[appNameLabel]}
	if w.Labels[PartOf] == argoPart {
		names = append(names, "argocd-"+w.Labels[componentLabel])
	}
	if !serve.serves(argoGroup) || !slices.ContainsFunc(names, argoGroup.theirs) {
		return "", "", false
	}
	return ArgoGroup, ArgoCD, true
}

// master says which served group a workload with replicas serves as well.
func (w Workload) master(serve Groups) master {
	group, of, is := w.Serves(serve)
	if !is || w.Replicas == 0 {
		return master{}
	}
	return master{of, fmt.Sprintf("%s %s/%s serves %s", w.Kind, w.Namespace, w.Name, group)}
}

// selection is where controllers of an upstream are looked for.
type selection struct {
	kind          string
	labels, field string
}

// selections are where those are looked for that serve one of the groups: by their label, and those of Argo CD by their
// name too, since what installs them may change labels.
func (g Groups) selections() []selection {
	var all []selection
	if g.ServesFlux() {
		all = append(all, selection{kind: "Deployment", labels: PartOf + "=" + fluxPart})
	}
	if !g.serves(argoGroup) {
		return all
	}
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		all = append(all, selection{kind: kind, labels: PartOf + "=" + argoPart})
		for _, name := range argoGroup.controllers {
			all = append(all, selection{kind: kind, field: "metadata.name=" + name})
		}
	}
	return all
}

func (s selection) String() string { return s.kind + "s with " + s.labels + s.field }

func (s selection) options() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: s.labels, FieldSelector: s.field}
}

// list asks for what there is.
func (s selection) list(ctx context.Context, client kubernetes.Interface) ([]Workload, error) {
	var all []Workload
	if s.kind == "Deployment" {
		list, err := client.AppsV1().Deployments("").List(ctx, s.options())
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			all = append(all, deployed(&list.Items[i]))
		}
		return all, nil
	}
	list, err := client.AppsV1().StatefulSets("").List(ctx, s.options())
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		all = append(all, stateful(&list.Items[i]))
	}
	return all, nil
}

// Controllers are the workloads of upstreams that serve one of the groups, those without replicas too, each once.
func Controllers(ctx context.Context, client kubernetes.Interface, serve Groups) ([]Workload, error) {
	var all []Workload
	for _, s := range serve.selections() {
		found, err := s.list(ctx, client)
		if err != nil {
			return nil, fmt.Errorf("looking for the upstream's controllers: %w", err)
		}
		for _, w := range found {
			_, _, is := w.Serves(serve)
			known := slices.ContainsFunc(all, func(have Workload) bool { return have.UID == w.UID })
			if is && !known {
				all = append(all, w)
			}
		}
	}
	return all, nil
}

// masterLease says which served group the holder of a lease of Flux serves as well.
func masterLease(l *coordinationv1.Lease, serve Groups, now time.Time) master {
	controller, shard, is := strings.Cut(l.Name, electionSuffix)
	group, theirs := serve.servedBy(controller)
	holder := holderOf(l, now)
	if !is || !theirs || holder == "" || shard != "" && shard[0] != '-' {
		return master{}
	}
	return master{Flux, fmt.Sprintf("%s holds the lease %s/%s and serves %s", holder, l.Namespace, l.Name, group)}
}

// holderOf is who holds a lease, and has renewed it in time.
func holderOf(l *coordinationv1.Lease, now time.Time) string {
	spec := l.Spec
	if spec.HolderIdentity == nil || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return ""
	}
	if now.Sub(spec.RenewTime.Time) > time.Duration(*spec.LeaseDurationSeconds)*time.Second {
		return ""
	}
	return *spec.HolderIdentity
}
