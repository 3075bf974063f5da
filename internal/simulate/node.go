package simulate

import (
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Place is what a pod that fits on no node asks of one.
type Place struct {
	// Labels are those that its selectors ask for; a value that is empty is of a label that must not be there.
	Labels map[string]string
	// Apart are the labels by which the pod wants to be apart from others: each of them needs a value of its own.
	Apart []string
	// Name is that of the node, when the pod asks for one by its name.
	Name string
}

// PlaceOf reports what a pod that waits lacks. It is false for one that has a node, and for one that lacks something
// else, such as a volume.
func PlaceOf(o *unstructured.Unstructured) (Place, bool) {
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, pod); err != nil || pod.Spec.NodeName != "" {
		return Place{}, false
	}
	said := ""
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			said = c.Message
		}
	}
	selected := strings.Contains(said, "node affinity/selector")
	crowded := strings.Contains(said, "anti-affinity") || strings.Contains(said, "topology spread") || strings.Contains(said, "free ports")
	if !selected && !crowded {
		return Place{}, false
	}
	p := Place{Labels: map[string]string{}}
	maps.Copy(p.Labels, pod.Spec.NodeSelector)
	if affinity := pod.Spec.Affinity; affinity != nil {
		p.near(affinity.NodeAffinity)
		p.away(affinity.PodAntiAffinity)
	}
	for _, spread := range pod.Spec.TopologySpreadConstraints {
		p.Apart = append(p.Apart, spread.TopologyKey)
	}
	if !crowded {
		p.Apart = nil
	}
	return p, true
}

// near takes the first of the ways in which a node may fit.
func (p *Place) near(affinity *corev1.NodeAffinity) {
	if affinity == nil || affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	terms := affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) == 0 {
		return
	}
	for _, r := range terms[0].MatchExpressions {
		p.Labels[r.Key] = fitting(r)
	}
	for _, r := range terms[0].MatchFields {
		if r.Key == "metadata.name" && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) > 0 {
			p.Name = r.Values[0]
		}
	}
}

// fitting is a value that fulfils a requirement.
func fitting(r corev1.NodeSelectorRequirement) string {
	first := ""
	if len(r.Values) > 0 {
		first = r.Values[0]
	}
	number, _ := strconv.Atoi(first)
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return first
	case corev1.NodeSelectorOpExists:
		return "true"
	case corev1.NodeSelectorOpGt:
		return strconv.Itoa(number + 1)
	case corev1.NodeSelectorOpLt:
		return strconv.Itoa(number - 1)
	default:
		return ""
	}
}

func (p *Place) away(affinity *corev1.PodAntiAffinity) {
	if affinity == nil {
		return
	}
	for _, term := range affinity.RequiredDuringSchedulingIgnoredDuringExecution {
		p.Apart = append(p.Apart, term.TopologyKey)
	}
}

// Node makes a node on which there is place, like another one.
func (p Place) Node(like *unstructured.Unstructured, name string) *unstructured.Unstructured {
	hostname := p.Labels[corev1.LabelHostname]
	switch {
	case p.Name != "":
		name = p.Name
	case hostname != "":
		name = hostname
	}
	labels := maps.Clone(like.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelHostname], labels[Label] = name, "true"
	for _, key := range p.Apart {
		labels[key] = name
	}
	for key, value := range p.Labels {
		labels[key] = value
		if value == "" {
			delete(labels, key)
		}
	}
	node := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node"}}
	node.SetName(name)
	node.SetLabels(labels)
	status := nested(like.Object, "status")
	node.Object["status"] = map[string]any{"capacity": status["capacity"], "allocatable": status["allocatable"]}
	return node
}

// Same reports whether a node that is made for one pod does for the other, too.
func (p Place) Same(other Place) bool {
	return len(p.Apart) == 0 && len(other.Apart) == 0 && p.Name == other.Name && maps.Equal(p.Labels, other.Labels)
}
