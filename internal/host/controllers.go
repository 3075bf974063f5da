package host

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// ErrUpstream is returned when controllers of an upstream serve the API groups already.
var ErrUpstream = errors.New("another engine serves this cluster")

// UpstreamError says which controllers serve groups that are to be served here. It is ErrUpstream.
type UpstreamError struct {
	// Upstreams are those whose controllers were found, by their names, in the order of the catalogue.
	Upstreams []string
	// Migrates are those that `headgate migrate` takes over from.
	Migrates []string
	text     string
}

func (e *UpstreamError) Error() string { return e.text }

// Is reports whether it is ErrUpstream.
func (e *UpstreamError) Is(target error) bool { return target == ErrUpstream }

// electionSuffix follows the controller in the names of the upstream's leases; those of shards have the shard behind it.
const electionSuffix = "-leader-election"

// finding is a controller that serves a group which is served here too. The zero value is none.
type finding struct {
	upstream string
	text     string
}

// RefuseUpstream fails with ErrUpstream, naming the Deployment, the StatefulSet or the lease, when a controller of an
// upstream serves one of the groups on the cluster: two controllers never serve one API group.
func RefuseUpstream(ctx context.Context, config *rest.Config, serve dialect.Groups) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	workloads, err := Workloads(ctx, client, serve)
	if err != nil {
		return err
	}
	var found []finding
	for _, w := range workloads {
		found = append(found, w.finding(serve))
	}
	for _, up := range serve.Upstreams() {
		if up.LeaseNamespace == "" {
			continue
		}
		leases, err := client.CoordinationV1().Leases(up.LeaseNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing the leases of the controllers of %s: %w", up.Title, err)
		}
		for i := range leases.Items {
			found = append(found, leaseFinding(&leases.Items[i], up, time.Now()))
		}
	}
	return refusal(serve, found)
}

// refusal is the error for what was found.
func refusal(serve dialect.Groups, found []finding) error {
	e := &UpstreamError{}
	var texts []string
	for _, up := range serve.Upstreams() {
		var here []string
		for _, f := range found {
			if f.upstream == up.Name && f.text != "" {
				here = append(here, f.text)
			}
		}
		if len(here) == 0 {
			continue
		}
		slices.Sort(here)
		e.Upstreams = append(e.Upstreams, up.Name)
		next := "scale it to 0 replicas"
		if up.Migrates {
			next = fmt.Sprintf("`headgate migrate %s` pauses it and takes over", up.Name)
			e.Migrates = append(e.Migrates, up.Name)
		}
		texts = append(texts, fmt.Sprintf("%s runs on this cluster: %s; %s, or leave its group out of --serve",
			up.Title, strings.Join(slices.Compact(here), "; "), next))
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
	// Pods are the labels by which it selects its pods.
	Pods map[string]string
	// Images are those of its containers, without registry, version and digest.
	Images []string
}

func deployed(d *appsv1.Deployment) Workload {
	return Workload{"Deployment", d.ObjectMeta, ptr.Deref(d.Spec.Replicas, 1), selected(d.Spec.Selector), images(&d.Spec.Template.Spec)}
}

func stateful(s *appsv1.StatefulSet) Workload {
	return Workload{"StatefulSet", s.ObjectMeta, ptr.Deref(s.Spec.Replicas, 1), selected(s.Spec.Selector), images(&s.Spec.Template.Spec)}
}

func selected(by *metav1.LabelSelector) map[string]string {
	if by == nil {
		return nil
	}
	return by.MatchLabels
}

// images are the last parts of the names of images, such as provider-kubernetes.
func images(pod *corev1.PodSpec) []string {
	var all []string
	for i := range pod.Containers {
		name := path.Base(pod.Containers[i].Image)
		name, _, _ = strings.Cut(name, "@")
		name, _, _ = strings.Cut(name, ":")
		all = append(all, name)
	}
	return all
}

// The labels by which controllers are known.
const (
	PartOf         = dialect.PartOf
	appNameLabel   = "app.kubernetes.io/name"
	componentLabel = "app.kubernetes.io/component"
)

// Serves reports which of the groups the workload serves, if it is a controller of an upstream that does, whether it has
// replicas or not. It has the label of its upstream, since its name is one that others use too; where an installation may
// rename controllers, their labels, those of their pods or their name report what they are.
func (w Workload) Serves(serve dialect.Groups) (group, upstream string, is bool) {
	for _, up := range serve.Upstreams() {
		for _, name := range w.calledAs(up.Upstream) {
			if group, is = up.Serve.ServedBy(name); is {
				return group, up.Name, true
			}
		}
	}
	return "", "", false
}

// calledAs are the names by which a workload may be known as a controller of an upstream.
func (w Workload) calledAs(up dialect.Upstream) []string {
	labelled := w.Labels[PartOf] == up.PartOf
	switch {
	case up.PodLabel != "":
		name, has := w.Pods[up.PodLabel]
		if !has {
			return nil
		}
		return append([]string{name}, w.Images...)
	case up.Renamed && labelled:
		return []string{w.Name, w.Labels[appNameLabel], up.PartOf + "-" + w.Labels[componentLabel]}
	case up.Renamed:
		return []string{w.Name, w.Labels[appNameLabel]}
	case labelled:
		return []string{w.Name}
	default:
		return nil
	}
}

// finding says which served group a workload with replicas serves as well.
func (w Workload) finding(serve dialect.Groups) finding {
	group, upstream, is := w.Serves(serve)
	if !is || w.Replicas == 0 {
		return finding{}
	}
	return finding{upstream, fmt.Sprintf("%s %s/%s serves %s", w.Kind, w.Namespace, w.Name, group)}
}

// selection is where controllers of an upstream are searched for.
type selection struct {
	kind          string
	labels, field string
}

// selections are where controllers that serve one of the groups are searched for: by their label, and by their names too where
// an installation may change labels. Labels of pods cannot be selected by.
func selections(serve dialect.Groups) []selection {
	var all []selection
	for _, up := range serve.Upstreams() {
		for _, kind := range up.Kinds {
			if up.PodLabel != "" {
				all = append(all, selection{kind: kind})
				continue
			}
			all = append(all, selection{kind: kind, labels: PartOf + "=" + up.PartOf})
			if !up.Renamed {
				continue
			}
			for _, name := range up.Serve.Controllers() {
				all = append(all, selection{kind: kind, field: "metadata.name=" + name})
			}
		}
	}
	return all
}

func (s selection) String() string {
	if s.labels+s.field == "" {
		return s.kind + "s"
	}
	return s.kind + "s with " + s.labels + s.field
}

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

// Workloads are those of upstreams that serve one of the groups, those without replicas too, each once.
func Workloads(ctx context.Context, client kubernetes.Interface, serve dialect.Groups) ([]Workload, error) {
	var all []Workload
	for _, s := range selections(serve) {
		found, err := s.list(ctx, client)
		if err != nil {
			return nil, fmt.Errorf("listing the controllers of upstreams: %w", err)
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

// leaseFinding says which served group the holder of a lease of an upstream serves as well.
func leaseFinding(l *coordinationv1.Lease, up dialect.ServedUpstream, now time.Time) finding {
	controller, shard, is := strings.Cut(l.Name, electionSuffix)
	group, theirs := up.Serve.ServedBy(controller)
	holder := holderOf(l, now)
	if !is || !theirs || holder == "" || shard != "" && shard[0] != '-' {
		return finding{}
	}
	return finding{up.Name, fmt.Sprintf("%s holds the lease %s/%s and serves %s", holder, l.Namespace, l.Name, group)}
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
