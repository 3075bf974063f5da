package lint

import (
	"cmp"
	"slices"

	"github.com/headgate-dev/headgate/chart"
)

// Policy is a chart.Check with the rules of this package. The zero value has all of them.
type Policy struct {
	// Rules are those that apply: names of rules and of groups (see Rules). All without it.
	Rules []string
	// Disable are rules and groups that do not apply.
	Disable []string
	// Severities replace those of rules and groups.
	Severities map[string]chart.Severity
	// Exceptions are objects that some rules do not apply to.
	Exceptions []Exception
	// Labels are the keys that every object must have; without it any label will do.
	Labels []string
	// PrivateRegistries are beginnings of images that need a pull secret: "registry.example.com/".
	PrivateRegistries []string
	// Workloads are kinds with pod templates beyond those of Kubernetes, such as a Rollout.
	Workloads []Workload
}

// Workload is a kind of custom resources with a pod template.
type Workload struct {
	// Group and Kind: "argoproj.io", "Rollout".
	Group, Kind string
	// Template is the field of the pod template, "spec.template" if it is empty.
	Template string
	// Ends reports whether its pods end, as those of a Job: they need no probes.
	Ends bool
}

// Rollout is the kind of Argo Rollouts.
func Rollout() Workload { return Workload{Group: "argoproj.io", Kind: "Rollout"} }

// Exception is objects that some rules do not apply to. Empty fields match everything; the others all have to match.
type Exception struct {
	// Rules are names of rules and groups; all without it.
	Rules []string
	// Kind, Namespace and Name are patterns with * and ?.
	Kind, Namespace, Name string
	// Labels that the object has, with these values.
	Labels map[string]string
	// Container is a pattern of the name of a container; findings about other things stay.
	Container string
}

// Check judges what an App is about to write.
func (p Policy) Check(manifests []chart.Manifest) []chart.Finding {
	objects := make([]map[string]any, len(manifests))
	for i, m := range manifests {
		objects[i] = m.Object
	}
	return p.Validate(objects)
}

// Validate judges objects; the Manifest of a Finding is the index of the object, and -1 if the Policy itself is wrong. Findings are in the order of the objects, and those of
// one object in the order of their fields. The items of a List are judged as if they were objects of their own.
func (p Policy) Validate(objects []map[string]any) []chart.Finding {
	r := &run{policy: p, settings: p.settle(), tree: treeOf(p, objects)}
	for _, problem := range r.problems {
		r.findings = append(r.findings, chart.Finding{Manifest: -1, Rule: Prefix + "unknown-rule", Message: problem, Severity: chart.SeverityError})
	}
	for i, object := range objects {
		r.manifest = i
		r.take(object, "")
	}
	slices.SortStableFunc(r.findings, func(a, b chart.Finding) int {
		return cmp.Or(cmp.Compare(a.Manifest, b.Manifest), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Rule, b.Rule))
	})
	return r.findings
}

// run is one judgement.
type run struct {
	policy Policy
	settings
	tree     tree
	findings []chart.Finding

	// manifest is the index of the object that is judged, at its place in a List, ignored the rules that do not apply to it.
	manifest int
	at       string
	object   object
	ignored  map[string]bool
}

// take judges an object, or the items of a List.
func (r *run) take(fields map[string]any, at string) {
	o := object(fields)
	if items := o.items(); items != nil {
		for i, item := range items {
			r.take(item, join(at, "items", index(i)))
		}
		return
	}
	if o.kind() == "" {
		return
	}
	r.object, r.at, r.ignored = o, at, map[string]bool{}
	r.ignore(o.annotations(), "metadata")
	for _, x := range r.policy.Exceptions {
		if x.Container == "" && x.matches(o) {
			r.except(x)
		}
	}
	r.metadata()
	r.workload()
	switch o.group() + "/" + o.kind() {
	case "/Service":
		r.service()
	case "networking.k8s.io/Ingress", "extensions/Ingress":
		r.ingress()
	case "/ConfigMap", "/Secret":
		r.config()
	}
}

// add is a finding, unless its rule does not apply.
func (r *run) add(rule, field, message string) {
	severity, on := r.severity[rule]
	if !on || r.ignored[rule] {
		return
	}
	r.findings = append(r.findings, chart.Finding{
		Manifest: r.manifest, Rule: Prefix + rule, Field: join(r.at, field), Message: message, Severity: severity,
	})
}
