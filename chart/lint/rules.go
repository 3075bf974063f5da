package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/similar"
)

// Annotation excepts an object, or the pods of a template, from rules: names of rules and groups with commas between them, or "*".
const Annotation = "headgate.dev/lint-ignore"

// Prefix is before the name of a rule in a chart.Finding.
const Prefix = "lint/"

// Rule is what a Policy may say of objects.
type Rule struct {
	// Name of the rule, Group of those that belong together.
	Name, Group string
	// Severity unless a Policy says otherwise.
	Severity chart.Severity
	// Summary is one line.
	Summary string
}

// Rules are all rules.
func Rules() []Rule {
	const e, w, i = chart.SeverityError, chart.SeverityWarning, chart.SeverityInfo
	return []Rule{
		{"image-tag", "images", e, "an image has no tag and no digest"},
		{"image-latest", "images", w, "an image has the tag latest, and no digest"},
		{"pull-secret", "images", w, "an image is of a private registry of the policy, and the pod has no pull secret"},
		{"memory-request", "resources", i, "a container has no request for memory"},
		{"memory-limit", "resources", i, "a container has no limit for memory"},
		{"cpu-request", "resources", i, "a container has no request for cpu"},
		{"cpu-limit", "resources", i, "a container has no limit for cpu"},
		{"liveness-probe", "probes", i, "a container that runs for ever has no liveness probe"},
		{"readiness-probe", "probes", i, "a container with ports has no readiness probe"},
		{"run-as-non-root", "security", w, "a container may run as root"},
		{"privilege-escalation", "security", w, "a process may gain more privileges than its parent"},
		{"privileged", "security", w, "a container has all rights of its node"},
		{"host-namespaces", "security", w, "a pod shares the network, the processes or the IPC of its node"},
		{"capabilities", "security", i, "a container keeps capabilities that it does not name"},
		{"read-only-root", "security", i, "a container may write to its root file system"},
		{"labels", "metadata", i, "an object lacks labels"},
		{"replicas", "objects", i, "a workload does not say how many replicas it has"},
		{"replicas-autoscaled", "objects", w, "a workload sets the replicas that an autoscaler sets too"},
		{"service-selector", "objects", e, "a Service selects no pods, and no endpoints are declared"},
		{"ingress-host", "objects", w, "a rule of an Ingress has no host, or one that is not valid"},
		{"empty-config", "objects", w, "a ConfigMap or a Secret has no data"},
		{"unknown-rule", "policy", w, "a policy or an annotation names a rule that does not exist"},
	}
}

// settings are the rules that apply, with their severities.
type settings struct {
	severity map[string]chart.Severity
	known    map[string][]string
	problems []string
}

// settle works out which rules a policy has.
func (p Policy) settle() settings {
	s := settings{severity: map[string]chart.Severity{}, known: known()}
	all := Rules()
	for _, r := range all {
		if len(p.Rules) == 0 || r.Name == "unknown-rule" {
			s.severity[r.Name] = r.Severity
		}
	}
	for _, name := range s.named(p.Rules) {
		at := slices.IndexFunc(all, func(r Rule) bool { return r.Name == name })
		s.severity[name] = all[at].Severity
	}
	for _, name := range s.named(p.Disable) {
		delete(s.severity, name)
	}
	// A group yields to a rule that is named itself.
	for _, one := range slices.SortedFunc(maps.Keys(p.Severities), func(a, b string) int { return len(s.known[short(b)]) - len(s.known[short(a)]) }) {
		for _, name := range s.named([]string{one}) {
			if _, on := s.severity[name]; on {
				s.severity[name] = p.Severities[one]
			}
		}
	}
	for _, x := range p.Exceptions {
		s.named(x.Rules)
	}
	slices.Sort(s.problems)
	s.problems = slices.Compact(s.problems)
	return s
}

// known are the rules that a name stands for, by the name of a rule or group.
func known() map[string][]string {
	all := map[string][]string{}
	for _, r := range Rules() {
		all[r.Name] = []string{r.Name}
		all[r.Group] = append(all[r.Group], r.Name)
		all["*"] = append(all["*"], r.Name)
	}
	return all
}

func short(name string) string { return strings.TrimPrefix(strings.TrimSpace(name), Prefix) }

// named are the rules that names stand for; those that are unknown are problems.
func (s *settings) named(names []string) []string {
	var rules []string
	for _, name := range names {
		if some, ok := s.known[short(name)]; ok {
			rules = append(rules, some...)
			continue
		}
		s.problems = append(s.problems, s.unknown(name))
	}
	return rules
}

// unknown says that there is no such rule, and which is like it.
func (s *settings) unknown(name string) string {
	said := "there is no rule " + short(name)
	if near := similar.Closest(short(name), slices.Sorted(maps.Keys(s.known))); near != "" {
		return said + "; did you mean " + near + "?"
	}
	return said + "; headgate lint --help lists them"
}
