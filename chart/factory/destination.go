package factory

import (
	"maps"
	"slices"
)

// DestinationRule gives destinations to packages whose configuration has none.
type DestinationRule interface {
	// Destination of a package by the labels of its Application; ok says that the rule applies to it.
	Destination(name string, labels map[string]string) (to Destination, ok bool)
}

// EnvironmentLabel is the rule that clusters are named after environments: an Application with the label app.kubernetes.io/environment
// of one of the Environments goes to the cluster ENVIRONMENT + Suffix.
type EnvironmentLabel struct {
	// Environments that have clusters of their own: dev, staging.
	Environments []string
	// Suffix of the clusters' names: "-vcluster".
	Suffix string
}

// Destination is the cluster of the label's environment.
func (e EnvironmentLabel) Destination(_ string, labels map[string]string) (Destination, bool) {
	environment := labels["app.kubernetes.io/environment"]
	if !slices.Contains(e.Environments, environment) {
		return Destination{}, false
	}
	return Destination{Name: environment + e.Suffix}, true
}

// destination of a package: what is nearest to it counts, then the rule, then what the whole configuration has.
func (b *builder) destination(one *plan) Destination {
	for _, candidate := range []struct {
		path string
		to   Destination
	}{
		{one.at("environments." + one.environment.Name + ".destination"), one.override.Destination},
		{one.at("destination"), one.app.Destination},
		{"environments." + one.environment.Name + ".destination", one.environment.Destination},
	} {
		if candidate.to != (Destination{}) {
			return b.exclusive(candidate.path, candidate.to)
		}
	}
	if b.options.Rule != nil {
		if to, applies := b.options.Rule.Destination(one.name, one.argocd.Labels); applies {
			return to
		}
	}
	return b.exclusive("destination", b.config.Destination)
}

// exclusive reports a destination that is named twice.
func (b *builder) exclusive(path string, to Destination) Destination {
	if to.Name != "" && to.Server != "" {
		b.add(path, "a destination has a name or a server, not both: %s, %s", to.Name, to.Server)
	}
	return to
}

// keys are the names in a map, sorted.
func keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
