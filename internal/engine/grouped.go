package engine

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// groups bounds how many reasons a message has, and groupNames how many objects are named for each: a unit may wait for
	// thousands, and says so each time one of them changes.
	groups     = 5
	groupNames = 3
)

// group are objects for which the same is said.
type group struct {
	reason string
	on     []Subject
}

// Grouped words what is said of several objects in one line: the same is said once, with the first few of the objects, and
// how many more there are.
func Grouped(waits []Wait) string {
	var all []*group
	known := map[string]*group{}
	for _, w := range waits {
		key := alike(w)
		if known[key] == nil {
			known[key] = &group{reason: w.Reason}
			all = append(all, known[key])
		}
		known[key].on = append(known[key].on, w.On)
	}
	var parts []string
	for _, g := range all[:min(len(all), groups)] {
		parts = append(parts, g.String())
	}
	more := 0
	for _, g := range all[min(len(all), groups):] {
		more += len(g.on)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// alike is the same for objects of which the same is said, whatever their names are.
func alike(w Wait) string { return strings.ReplaceAll(w.Reason, `"`+lastName(w.On)+`"`, `"*"`) }

func (g *group) String() string {
	switch {
	case len(g.on) == 1 && namedBy(g.on[0], g.reason):
		return g.reason
	case len(g.on) == 1:
		return g.on[0].String() + ": " + g.reason
	}
	return Named(g.on) + ": " + g.reason
}

// Named names objects in one line: one by its name, several by their number and kind and the first few names.
func Named(all []Subject) string {
	if len(all) == 1 {
		return all[0].String()
	}
	kind, what := all[0].GroupKind().Kind, "objects"
	same := !slices.ContainsFunc(all, func(on Subject) bool { return on.GroupKind().Kind != kind })
	if same {
		what = Plural(kind)
	}
	var names []string
	for _, on := range all {
		name := on.String()
		if same {
			name = nameIn(on)
		}
		names = append(names, name)
	}
	return fmt.Sprintf("%d %s (%s)", len(all), what, First(names, groupNames))
}

// namedBy reports whether a reason begins with the name of the object, as those of the API server do.
func namedBy(on Subject, reason string) bool {
	rest, begins := strings.CutPrefix(reason, on.GroupKind().Kind)
	group, _, named := strings.Cut(rest, ` "`+lastName(on)+`" `)
	return begins && named && !strings.Contains(group, " ")
}

// First are some names, the first so many of them, and how many there are besides.
func First(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// Plural is a noun, such as the name of a kind, for several of it.
func Plural(kind string) string {
	switch {
	case strings.HasSuffix(kind, "ss") || strings.HasSuffix(kind, "us") || strings.HasSuffix(kind, "x") || strings.HasSuffix(kind, "ch"):
		return kind + "es"
	case strings.HasSuffix(kind, "s"):
		return kind
	case strings.HasSuffix(kind, "y") && !strings.HasSuffix(kind, "ey") && !strings.HasSuffix(kind, "ay"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}
