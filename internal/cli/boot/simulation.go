package boot

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/flux/standins"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/progress"
)

// standIn is something that is not real.
type standIn = standins.StandIn

// simulation says for what there are stand-ins.
type simulation struct {
	what      []string
	overrides string
	want      *standins.Simulate
	// made is what makes them; nil where everything is real.
	made *standins.Simulation
}

// simulated are the sorts of stand-ins, in the order in which they are made.
var simulated = []string{"charts", "secrets", "crds", "health"}

func (s *simulation) bind(f *pflag.FlagSet) {
	f.StringSliceVar(&s.what, "simulate", nil,
		"create stand-ins for what the embedded cluster and the network lack: "+strings.Join(simulated, ", ")+" (all without a value)")
	f.Lookup("simulate").NoOptDefVal = strings.Join(simulated, ",")
	f.StringVar(&s.overrides, "simulate-health", "", "file with healthy statuses of kinds that --simulate does not know")
}

// check reports what is wrong with the flags.
func (s *simulation) check(g *console.Globals) error {
	if len(s.what) == 0 {
		return nil
	}
	if g.Real() {
		return errors.New("--simulate: stand-ins are only created on the embedded cluster, not on that of --kubeconfig")
	}
	for _, one := range s.what {
		if !slices.Contains(simulated, one) {
			return fmt.Errorf("--simulate: unknown sort %q; use %s", one, strings.Join(simulated, ", "))
		}
	}
	has := func(one string) bool { return slices.Contains(s.what, one) }
	s.want = &standins.Simulate{CRDs: has("crds"), Health: has("health"), Charts: has("charts"), Secrets: has("secrets")}
	if s.overrides == "" {
		return nil
	}
	data, err := os.ReadFile(s.overrides)
	if err != nil {
		return fmt.Errorf("--simulate-health: %w", err)
	}
	if s.want.Overrides, err = standins.ParseOverrides(data); err != nil {
		return fmt.Errorf("--simulate-health: %s: %w", s.overrides, err)
	}
	return nil
}

// apply enters the flags into the dialects, and into the configuration of an engine.
func (s *simulation) apply(catalogue dialect.Catalogue, c *host.Config, say *progress.Printer) error {
	if s.want == nil {
		return nil
	}
	var err error
	s.made, err = standins.NewSimulation(*s.want, func(one standIn) {
		text := "simulates " + one.Name
		if one.What == "Remote" || one.What == "Patch" {
			text = one.Name + " is skipped"
		}
		if one.For != "" {
			text += ", for which " + one.For + " waited"
		}
		say.Info("simulated "+one.What, text)
	})
	if err != nil {
		return err
	}
	c.Simulation = s.made
	for _, d := range catalogue {
		if of, is := d.(*flux.Dialect); is {
			of.Simulation = s.made
		}
	}
	return nil
}

// standIns are what is not real, as far as an engine runs.
func (s *system) standIns() []standIn {
	if made := s.options.simulation.made; made != nil && s.leader.current() != nil {
		return made.StandIns()
	}
	return nil
}

// tellStandIns says how much is not real, unless that was said last.
func (s *system) tellStandIns() {
	all := s.standIns()
	counts := map[string]int{}
	for _, one := range all {
		counts[one.What]++
	}
	if len(all) == 0 {
		return
	}
	var parts []string
	for _, what := range []string{"Chart", "Remote", "Patch", "Secret", "ConfigMap", "CustomResourceDefinition", "Status", "Object", "Expression"} {
		if counts[what] > 0 {
			parts = append(parts, console.Counted(counts[what], what))
		}
	}
	if text := strings.Join(parts, ", "); text != s.assumed {
		s.assumed = text
		s.say.Info("simulated", text)
	}
}
