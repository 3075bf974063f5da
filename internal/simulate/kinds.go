package simulate

import (
	_ "embed" // The table of kinds is a file of text.
	"iter"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed kinds.txt
var table string

// known is a line of the table of kinds.
type known struct {
	plural   string
	cluster  bool
	versions []string
}

// Known tells the plural and the scope of a kind, and whether the table of well-known kinds has it. Those of
// other kinds are guessed from the name.
func Known(gk schema.GroupKind) (plural string, clusterScoped, isKnown bool) {
	if k, ok := lookup(gk); ok {
		return k.plural, k.cluster, true
	}
	return pluralOf(gk.Kind), clusterByName(gk.Kind) || managed(gk.Group), false
}

// managed reports whether a group is one of managed resources that a provider of Crossplane brings. Those in namespaces have groups
// of their own, with a label "m".
func managed(group string) bool {
	provider, is := strings.CutSuffix(group, ".crossplane.io")
	if !is {
		provider, is = strings.CutSuffix(group, ".upbound.io")
	}
	return is && !slices.Contains(strings.Split(provider, "."), "m")
}

func lookup(gk schema.GroupKind) (known, bool) {
	for fields := range kindsIn(gk.Group) {
		if fields[0] == gk.Kind {
			return known{plural: fields[1], cluster: fields[2] == "Cluster", versions: strings.Split(fields[3], ",")}, true
		}
	}
	return known{}, false
}

// kindsIn goes over the lines of the table for a group: kind, plural, scope, versions.
func kindsIn(group string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		within := false
		for line := range strings.Lines(table) {
			if !strings.HasPrefix(line, " ") {
				within = strings.TrimSpace(line) == group
				continue
			}
			if within && !yield(strings.Fields(line)) {
				return
			}
		}
	}
}

// pluralOf guesses a plural by the rules of English, as the generators of definitions do.
func pluralOf(kind string) string {
	name := strings.ToLower(kind)
	if stem, ok := strings.CutSuffix(name, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	for _, ending := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(name, ending) {
			return name + "es"
		}
	}
	return name + "s"
}

// clusterByName reports whether a name is one of the habit to put "Cluster" before the name of the same kind in
// namespaces: ClusterIssuer is, Cluster and Clustered are not.
func clusterByName(kind string) bool {
	rest, ok := strings.CutPrefix(kind, "Cluster")
	return ok && rest != "" && unicode.IsUpper(rune(rest[0]))
}
