package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// graphStages prints pipelines.
func graphStages(ctx context.Context, g *console.Globals, namespace, format string) error {
	client, err := g.Client()
	if err != nil {
		return err
	}
	var all []dialect.Environment
	known := false
	for _, d := range g.Catalogue {
		of, can := d.(dialect.Promoting)
		if !can {
			continue
		}
		known = true
		found, err := of.Pipelines(ctx, console.NewSession(g, client), namespace)
		if err != nil {
			return console.Unreachable(console.Hint(err, "headgate up . --promotions"))
		}
		all = append(all, found...)
	}
	if !known {
		return errors.New("this binary promotes nothing")
	}
	if len(all) == 0 {
		return console.Hint(errors.New("there are no Warehouses and no Stages"), "headgate get kargoprojects")
	}
	var text string
	switch format {
	case "text":
		text = stagesText(all)
	case "dot":
		text = stagesDot(all)
	case "mermaid":
		text = stagesMermaid(all)
	case "json":
		data, err := json.MarshalIndent(stagesJSON(all), "", "  ")
		if err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
		text = string(data) + "\n"
	default:
		return console.Hint(fmt.Errorf("--output %s: want text, dot, mermaid or json", format), "headgate graph --stages")
	}
	_, err = fmt.Fprint(g.IO.Out, text)
	return err
}

// stagesText prints each place below the first that it takes from, with what it has and what it waits for.
func stagesText(all []dialect.Environment) string {
	var out strings.Builder
	under := map[engine.UnitID][]dialect.Environment{}
	var roots []dialect.Environment
	there := map[engine.UnitID]bool{}
	for _, e := range all {
		there[e.Unit] = true
		// It is printed once, below the last of those that are printed before it.
		i := slices.IndexFunc(e.From, func(id engine.UnitID) bool { return there[id] && id != e.Unit })
		if i < 0 {
			roots = append(roots, e)
			continue
		}
		under[e.From[i]] = append(under[e.From[i]], e)
	}
	var place func(e dialect.Environment, depth int)
	place = func(e dialect.Environment, depth int) {
		indent := strings.Repeat("  ", depth)
		has := strings.Join(e.Has, ", ")
		fmt.Fprintf(&out, "%s%s/%s/%s  %s", indent, strings.ToLower(e.Unit.Kind), e.Unit.Namespace, e.Unit.Name, cmp.Or(has, "nothing"))
		if e.State != "" {
			fmt.Fprintf(&out, "  %s", e.State)
		}
		if len(e.From) > 1 {
			fmt.Fprintf(&out, "  (takes from %s)", strings.Join(namesOf(e.From), ", "))
		}
		fmt.Fprintln(&out)
		for _, wait := range e.Waits {
			fmt.Fprintf(&out, "%s  · %s\n", indent, wait)
		}
		for _, next := range under[e.Unit] {
			place(next, depth+1)
		}
	}
	for _, e := range roots {
		place(e, 0)
	}
	return out.String()
}

func namesOf(ids []engine.UnitID) []string {
	var names []string
	for _, id := range ids {
		names = append(names, id.Name)
	}
	return names
}

func stagesDot(all []dialect.Environment) string {
	var out strings.Builder
	fmt.Fprintln(&out, "digraph stages {\n  rankdir=LR;")
	for _, e := range all {
		fmt.Fprintf(&out, "  %q [label=%q];\n", e.Unit.String(), labelOf(e))
		for _, from := range e.From {
			fmt.Fprintf(&out, "  %q -> %q;\n", from.String(), e.Unit.String())
		}
	}
	fmt.Fprintln(&out, "}")
	return out.String()
}

func stagesMermaid(all []dialect.Environment) string {
	var out strings.Builder
	fmt.Fprintln(&out, "flowchart LR")
	number := map[engine.UnitID]int{}
	for i, e := range all {
		number[e.Unit] = i
		fmt.Fprintf(&out, "  n%d[%q]\n", i, strings.ReplaceAll(labelOf(e), "\n", "<br>"))
	}
	for _, e := range all {
		for _, from := range e.From {
			if i, there := number[from]; there {
				fmt.Fprintf(&out, "  n%d --> n%d\n", i, number[e.Unit])
			}
		}
	}
	return out.String()
}

func labelOf(e dialect.Environment) string {
	return strings.Join(slices.Concat([]string{e.Unit.Kind + " " + e.Unit.Namespace + "/" + e.Unit.Name}, e.Has), "\n")
}

// stageJSON is a place of a pipeline in JSON.
type stageJSON struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	From      []string `json:"from,omitempty"`
	Has       []string `json:"has,omitempty"`
	Health    string   `json:"health,omitempty"`
	Waits     []string `json:"waits,omitempty"`
}

func stagesJSON(all []dialect.Environment) []stageJSON {
	printed := make([]stageJSON, 0, len(all))
	for _, e := range all {
		one := stageJSON{Kind: e.Unit.Kind, Namespace: e.Unit.Namespace, Name: e.Unit.Name, Has: e.Has, Health: e.State, Waits: e.Waits}
		for _, from := range e.From {
			one.From = append(one.From, from.Kind+"/"+from.Name)
		}
		printed = append(printed, one)
	}
	return printed
}
