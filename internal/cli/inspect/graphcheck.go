package inspect

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/acceptance"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/offline"
)

// checker prints what is wrong, and counts it.
type checker struct {
	io    console.IO
	wrong int
	// catalogue holds the dialects that there are.
	catalogue dialect.Catalogue
}

// tell prints definite problems, note what is unknown.
func (c *checker) tell(format string, args ...any) {
	c.wrong++
	fmt.Fprintf(c.io.Out, "✗ "+format+"\n", args...)
}

func (c *checker) note(format string, args ...any) {
	fmt.Fprintf(c.io.Out, "· "+format+"\n", args...)
}

// end prints the good news when there is no other.
func (c *checker) end(format string, args ...any) error {
	if c.wrong > 0 {
		return console.ErrNo
	}
	fmt.Fprintf(c.io.Out, "✓ "+format+"\n", args...)
	return nil
}

// checkRepository prints what is wrong with a repository.
func checkRepository(ctx context.Context, o console.OfflineOptions, w *offline.Walk) error {
	c := &checker{io: o.IO, catalogue: o.Catalogue}
	c.units(w)
	around, err := surroundings(w)
	if err != nil {
		return err
	}
	server, survey, err := c.survey(ctx, declaredObjects(w.Units), around.Surroundings)
	if err != nil {
		return err
	}
	for _, f := range w.Findings(server) {
		switch {
		case !around.certain(f):
			c.note("%s, unless something that is not rendered here does", strings.Join(f.Steps, "; "))
		case f.Never:
			c.tell("a wait that never ends: %s", strings.Join(f.Steps, ";\n    "))
		case f.Note, f.Perhaps:
			c.note("%s", strings.Join(f.Steps, "\n    "))
		default:
			c.tell("%s", strings.Join(f.Steps, "; "))
		}
	}
	for _, refusal := range survey.Refused {
		c.tell("%s", refusal)
	}
	for _, text := range survey.Unknown {
		c.note("%s", text)
	}
	unread, err := w.Unread()
	if err != nil {
		return err
	}
	for _, text := range unread {
		c.tell("%s", text)
	}
	c.skipped(w)
	sealed, err := o.SealedFiles(w)
	if err != nil {
		return err
	}
	for _, one := range sealed {
		if one.Why != nil {
			c.tell("%s: %s", one.File, one.Why)
		}
	}
	if text := console.Unsealed(sealed); text != "" {
		c.note("%s", text)
	}
	return c.end("%d %s: every wait can end", len(w.Units), unitsWord(w))
}

// unitsWord is what the units of a repository are called: by their kind if that has a tree, and there is no other.
func unitsWord(w *offline.Walk) string {
	kinds := map[string]bool{}
	for i := range w.Units {
		if !w.Units[i].Tree {
			return "units"
		}
		kinds[w.Units[i].Unit.ID.Kind] = true
	}
	for kind := range kinds {
		if len(kinds) == 1 {
			return kind + "s"
		}
	}
	return "units"
}

// units prints what keeps units from being rendered.
func (c *checker) units(w *offline.Walk) {
	for i := range w.Units {
		switch u := &w.Units[i]; {
		case u.Err != nil:
			c.tell("%s cannot be rendered: %s", u.Unit.ID, u.Err)
		case u.Elsewhere != "" && !u.Skipped:
			c.note("%s: %s", u.Unit.ID, u.Elsewhere)
		}
	}
	for _, b := range w.Broken() {
		if b.Err != nil {
			c.tell("%s generates nothing: %s", b.ID, b.Err)
		}
		for _, problem := range b.Problems {
			c.tell("%s: %s", b.ID, problem)
		}
	}
}

// skipped says how many units of each kind were not rendered since that was not requested.
func (c *checker) skipped(w *offline.Walk) {
	charts, others := map[string]int{}, map[string]int{}
	for i := range w.Units {
		switch u := &w.Units[i]; {
		case u.Skipped && u.Elsewhere != "":
			others[u.Unit.ID.Kind]++
		case u.Skipped:
			charts[u.Unit.ID.Kind]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(charts)) {
		c.note("not rendered: %s; --charts fetches the charts", console.Counted(charts[kind], kind))
	}
	for _, kind := range slices.Sorted(maps.Keys(others)) {
		c.note("not rendered: %s; other repositories or charts are fetched by --charts", console.Counted(others[kind], kind))
	}
}

// survey holds objects against the API server, and returns that with the kinds that they define.
func (c *checker) survey(ctx context.Context, all []acceptance.Declared, around acceptance.Surroundings) (*acceptance.Server, acceptance.Survey, error) {
	server, err := acceptance.New()
	if err != nil {
		return nil, acceptance.Survey{}, err
	}
	definitions, namespaces, err := c.catalogue.All().Definitions()
	if err != nil {
		return nil, acceptance.Survey{}, err
	}
	around.Definitions = definitions
	around.Namespaces = append(append(around.Namespaces, namespaces...), host.Namespace)
	found, err := server.Survey(ctx, all, around)
	return server, found, err
}

// declaredObjects are those that units apply to this cluster, unless they are suspended.
func declaredObjects(units []dialect.OfflineUnit) []acceptance.Declared {
	var all []acceptance.Declared
	for i := range units {
		u := &units[i]
		if u.Unit.Target.Cluster != "" || u.Unit.Suspended {
			continue
		}
		for _, o := range u.Objects {
			how := u.Handled[o]
			if how.Never {
				continue
			}
			all = append(all, acceptance.Declared{
				By: u.Unit.ID, Object: o, Namespace: u.Namespace, Options: acceptance.Options{DropUnknown: how.DropUnknown}, StandIns: holdsMark(o.Object),
			})
		}
	}
	return all
}

// holdsMark reports whether a value stands in for an encrypted one, in clear or as a value of a Secret.
func holdsMark(value any) bool {
	switch value := value.(type) {
	case string:
		encoded := base64.StdEncoding.EncodeToString([]byte(dialect.Mark))
		// Three bytes make four characters; what follows changes the last ones.
		return strings.Contains(value, dialect.Mark) || strings.Contains(value, encoded[:len(dialect.Mark)/3*4])
	case []any:
		for _, item := range value {
			if holdsMark(item) {
				return true
			}
		}
	case map[string]any:
		for _, item := range value {
			if holdsMark(item) {
				return true
			}
		}
	}
	return false
}
