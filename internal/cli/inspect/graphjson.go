package inspect

import (
	"encoding/json"
	"fmt"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
)

// unitJSON is a unit of a graph, as a machine reads it.
type unitJSON struct {
	ID        string `json:"id"`
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Gate is how many gates stand before a unit; those that are ordered in a tree have a wave below their parent instead.
	Gate   *int   `json:"gate,omitempty"`
	Parent string `json:"parent,omitempty"`
	Wave   *int   `json:"wave,omitempty"`
	// DependsOn are the units that dependencies lead to: Missing are those of them that do not exist, and Objects the dependencies on
	// objects.
	DependsOn []string     `json:"dependsOn"`
	Missing   []string     `json:"missing,omitempty"`
	Objects   []objectJSON `json:"objects,omitempty"`
	InCycle   bool         `json:"inCycle,omitempty"`
	Cluster   string       `json:"cluster,omitempty"`
	Chart     string       `json:"chart,omitempty"`
	// ChartSource is the object that the chart comes from.
	ChartSource string `json:"chartSource,omitempty"`
}

// objectJSON is an object that a unit waits for, and the unit that declares it, where one is known.
type objectJSON struct {
	ID   string `json:"id"`
	Unit string `json:"unit,omitempty"`
}

// graphJSON is a graph as a machine reads it.
type graphJSON struct {
	Units  []unitJSON `json:"units"`
	Cycles [][]string `json:"cycles"`
}

func (g *unitGraph) printJSON(streams console.IO) error {
	out := graphJSON{Units: []unitJSON{}, Cycles: [][]string{}}
	depth := g.gates()
	for _, id := range g.gated {
		u := g.unitJSON(id)
		gate := depth[id]
		u.Gate = &gate
		if maker := g.maker(g.units[id]); maker != nil {
			u.Parent = maker.Unit.ID.String()
		}
		out.Units = append(out.Units, u)
	}
	for _, tree := range g.trees {
		u := g.unitJSON(tree.Unit.ID)
		if tree.Parent != (engine.UnitID{}) {
			wave := tree.Wave
			u.Parent, u.Wave = tree.Parent.String(), &wave
		}
		out.Units = append(out.Units, u)
	}
	for _, cycle := range g.cycles {
		out.Cycles = append(out.Cycles, names(cycle))
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the graph: %w", err)
	}
	_, err = fmt.Fprintln(streams.Out, string(data))
	return err
}

func (g *unitGraph) unitJSON(id engine.UnitID) unitJSON {
	u := unitJSON{
		ID: id.String(), Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name, DependsOn: names(g.leadsTo(id)),
		InCycle: g.inKnot(id), Cluster: g.where[id],
	}
	for _, n := range g.needs[id] {
		switch {
		case n.missing:
			u.Missing = append(u.Missing, n.unit.String())
		case n.object == (engine.ObjectID{}):
		case n.unit == (engine.UnitID{}):
			u.Objects = append(u.Objects, objectJSON{ID: n.object.String()})
		default:
			u.Objects = append(u.Objects, objectJSON{ID: n.object.String(), Unit: n.unit.String()})
		}
	}
	if chart := g.units[id].Chart; chart.Text != "" {
		u.Chart, u.ChartSource = chart.Text, chart.Source.String()
	}
	return u
}

func names(ids []engine.UnitID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}
