package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/acceptance"
	"github.com/headgate-dev/headgate/internal/argo/offline"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
)

// checker prints what is wrong, and counts it.
type checker struct {
	io    IO
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
		return errNo
	}
	fmt.Fprintf(c.io.Out, "✓ "+format+"\n", args...)
	return nil
}

// survey holds objects against the API server, and returns that with the kinds that they define.
func (c *checker) survey(ctx context.Context, all []acceptance.Declared, around acceptance.Surroundings) (*acceptance.Server, error) {
	server, err := acceptance.New()
	if err != nil {
		return nil, err
	}
	definitions, namespaces, err := c.catalogue.All().Definitions()
	if err != nil {
		return nil, err
	}
	around.Definitions = definitions
	around.Namespaces = append(append(around.Namespaces, namespaces...), flux.Namespace)
	found, err := server.Survey(ctx, all, around)
	if err != nil {
		return nil, err
	}
	for _, text := range found.Refused {
		c.tell("%s", text)
	}
	for _, text := range found.Unknown {
		c.note("%s", text)
	}
	return server, nil
}

// checkGraph prints what is wrong with a repository.
func checkGraph(ctx context.Context, o offlineOptions, args []string) error {
	if len(args) == 0 {
		return hint(errors.New("--check requires a repository"), "headgate graph PATH --check")
	}
	o.dir = args[0]
	units, err := o.units(ctx)
	if err != nil {
		return err
	}
	c := &checker{io: o.io, catalogue: o.catalogue}
	charts := 0
	for _, u := range units {
		switch {
		case u.Err != nil:
			c.tell("%s cannot be rendered: %s", u.Unit.ID, u.Err)
		case u.Elsewhere != "":
			c.note("%s: %s", u.Unit.ID, u.Elsewhere)
		case !u.Rendered:
			charts++
		}
	}
	for _, knot := range flux.Knots(units) {
		c.tell("a wait that never ends: %s", strings.Join(knot.Steps, ";\n    "))
	}
	for _, double := range flux.Doubles(units) {
		next := "remove it from all but one"
		if len(double.Fields) > 0 {
			next += ", or declare the same in each: " + strings.Join(double.Fields, ", ")
		}
		c.tell("%s is declared by %s: %s", double.Object, joinUnits(double.Units), next)
	}
	if _, err := c.survey(ctx, fluxObjects(units), fluxSurroundings(units)); err != nil {
		return err
	}
	if charts > 0 {
		c.note("%d HelmReleases are not rendered; --charts fetches their charts", charts)
	}
	return c.end("%d units: every wait can end", len(units))
}

// fluxObjects are those that units apply to this cluster, unless they are suspended.
func fluxObjects(units []flux.OfflineUnit) []acceptance.Declared {
	var all []acceptance.Declared
	for _, u := range units {
		if u.Unit.Target.Cluster != "" || u.Unit.Suspended {
			continue
		}
		for _, o := range u.Objects {
			if !flux.LeftAlone(o) {
				all = append(all, acceptance.Declared{By: u.Unit.ID, Object: o, StandIns: holdsMark(o.Object)})
			}
		}
		for _, h := range u.Hooks {
			all = append(all, acceptance.Declared{By: u.Unit.ID, Object: h.Object, StandIns: holdsMark(h.Object.Object)})
		}
	}
	return all
}

// fluxSurroundings are what there is beside the objects of units.
func fluxSurroundings(units []flux.OfflineUnit) acceptance.Surroundings {
	var around acceptance.Surroundings
	for _, u := range units {
		around.Namespaces = append(around.Namespaces, u.Namespaces...)
		around.Blind = around.Blind || u.Err != nil || !u.Rendered
	}
	return around
}

// holdsMark tells whether a value stands in for an encrypted one, in clear or as a value of a Secret.
func holdsMark(value any) bool {
	switch value := value.(type) {
	case string:
		encoded := base64.StdEncoding.EncodeToString([]byte(flux.Mark))
		// Three bytes make four characters; what follows changes the last ones.
		return strings.Contains(value, flux.Mark) || strings.Contains(value, encoded[:len(flux.Mark)/3*4])
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

// argoObjects are those that Applications apply to this cluster, and what there is beside them.
func argoObjects(r *offline.Repository, s settings.Settings) ([]acceptance.Declared, acceptance.Surroundings) {
	var all []acceptance.Declared
	var around acceptance.Surroundings
	for i := range r.Apps {
		a := &r.Apps[i]
		around.Blind = around.Blind || a.Err != nil || a.Skipped != ""
		if a.Spec == nil {
			continue
		}
		if at, err := policy.Destination(a.Spec.Spec.Destination, s); err != nil || at.Server != settings.InClusterServer {
			continue
		}
		options := policy.OptionsOf(a.Spec, nil)
		namespace := a.Spec.Spec.Destination.Namespace
		if options.CreateNamespace && namespace != "" {
			around.Namespaces = append(around.Namespaces, namespace)
		}
		for _, o := range a.Objects {
			if operation.HookOf(o).Skip {
				continue
			}
			all = append(all, acceptance.Declared{By: a.ID, Object: o, Namespace: namespace, Options: writtenAs(options, o)})
		}
	}
	for _, set := range r.Sets {
		around.Blind = around.Blind || set.Err != nil
	}
	return all, around
}

// writtenAs tells how an object of an Application is written.
func writtenAs(options policy.Options, o *unstructured.Unstructured) acceptance.Options {
	one := options.For(o)
	return acceptance.Options{DropUnknown: one.Replace || !one.Validate || one.ServerSideSaid && !one.ServerSide}
}

func joinUnits(ids []engine.UnitID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return strings.Join(names, " and by ")
}
