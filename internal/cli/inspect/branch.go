package inspect

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/progress"
)

// standing is how an object stands; the zero value is that of one of which nothing is known.
type standing struct {
	Ready     *bool `json:"ready,omitempty"`
	Suspended bool  `json:"suspended,omitempty"`
	// State is the revision of what is ready, or what is wrong.
	State string `json:"state,omitempty"`
}

func goodStanding(state string) standing {
	ready := true
	return standing{Ready: &ready, State: state}
}

func badStanding(state string) standing {
	ready := false
	return standing{Ready: &ready, State: state}
}

// standingOf is how a unit or a source of the cluster stands.
func standingOf(g *console.Globals, u *unstructured.Unstructured) standing {
	switch s := g.Catalogue.StateOf(u); {
	case s.Suspended:
		return standing{Suspended: true}
	case s.Ready == "True", s.Static != "":
		return goodStanding(progress.Short(s.Revision))
	default:
		return badStanding(s.Reason)
	}
}

func (s standing) String() string {
	switch {
	case s.Suspended:
		return "suspended"
	case s.Ready == nil:
		return s.State
	case *s.Ready:
		return strings.TrimSpace("✓ " + s.State)
	default:
		return "✗ " + s.State
	}
}

// about is what a tree says of a unit beside its objects.
type about struct {
	standing
	// Target is the cluster that it deploys to, when there are several.
	Target string `json:"target,omitempty"`
	Chart  string `json:"chart,omitempty"`
	// After are its dependencies. The text of those that do not exist says so.
	After []string `json:"after,omitempty"`
	// Note says where it is served that is not supported.
	Note string `json:"note,omitempty"`
}

// aboutUnit says where the chart of a unit comes from, and what the unit waits for.
func aboutUnit(d console.Declaration, exists func(engine.UnitID) bool) about {
	a := about{Chart: d.Chart.Text}
	for _, dependency := range d.Unit.Dependencies {
		name := dependency.String()
		if dependency.Unit != (engine.UnitID{}) && !exists(dependency.Unit) {
			name += " (missing)"
		}
		a.After = append(a.After, name)
	}
	return a
}

func (a about) String() string {
	parts := []string{a.standing.String()}
	if a.Target != "" {
		parts = append(parts, "→ "+a.Target)
	}
	if a.Chart != "" {
		parts = append(parts, "("+a.Chart+")")
	}
	if len(a.After) > 0 {
		// What is ready has waited for them.
		word := "waits for "
		if a.Ready != nil && *a.Ready {
			word = "after "
		}
		parts = append(parts, word+strings.Join(a.After, ", "))
	}
	if a.Note != "" {
		parts = append(parts, "· "+a.Note)
	}
	return spaced(parts...)
}

// branch is an object of a tree, and what is below it.
type branch struct {
	ID        string `json:"id"`
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// With are the units that own it together with the one above it.
	With []string `json:"with,omitempty"`
	// Cluster is the one that it is in, when there are several.
	Cluster string `json:"cluster,omitempty"`
	about
	Objects []*branch `json:"objects,omitempty"`
}

func branchOf(id engine.ObjectID) *branch {
	return &branch{ID: id.String(), Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// line is what the text of a tree says of an object.
func (b *branch) line() string {
	parts := []string{b.ID}
	if len(b.With) > 0 {
		parts = append(parts, "(with "+strings.Join(b.With, ", ")+")")
	}
	if b.Cluster != "" {
		parts = append(parts, "@ "+b.Cluster)
	}
	return spaced(append(parts, b.about.String())...)
}

// print writes what is below an object.
func (b *branch) print(out io.Writer, indent string) {
	for i, below := range b.Objects {
		edge, next := "├── ", indent+"│   "
		if i == len(b.Objects)-1 {
			edge, next = "└── ", indent+"    "
		}
		fmt.Fprintln(out, indent+edge+below.line())
		below.print(out, next)
	}
}

// list writes the names of an object and of those below it.
func (b *branch) list(out io.Writer) {
	fmt.Fprintln(out, b.ID)
	for _, below := range b.Objects {
		below.list(out)
	}
}

// printBranches writes trees: one that was requested by name is a document of its own, several are a list.
func printBranches(streams console.IO, output string, trees []*branch, named bool) error {
	switch output {
	case "":
		for _, b := range trees {
			fmt.Fprintln(streams.Out, b.line())
			b.print(streams.Out, "")
		}
		return nil
	case "name":
		for _, b := range trees {
			b.list(streams.Out)
		}
		return nil
	}
	if named {
		return console.PrintDocument(streams, output, trees[0])
	}
	return console.PrintDocument(streams, output, trees)
}

// spaced are texts in a line, without those that are empty.
func spaced(parts ...string) string {
	var given []string
	for _, part := range parts {
		if part != "" {
			given = append(given, part)
		}
	}
	return strings.Join(given, "  ")
}
