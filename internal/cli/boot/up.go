// Package boot has the commands that bring a cluster to serve a repository, and end that: up, cluster, install, bootstrap, migrate,
// check, controller, logs. It wires the parts of the house together, and decides nothing.
package boot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/causes"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/progress"
	"github.com/headgate-dev/headgate/internal/runner"
)

type upOptions struct {
	*console.Globals
	path, root, branch     string
	packages               []string
	ephemeral, fresh, exit bool
	kubernetesLogs         bool
	verbose                bool
	timeout                time.Duration
	leaseDuration          time.Duration
	ageKeyFile, auditLog   string
	port                   int
	charts                 *console.LocalCharts
	simulation             simulation
	gates                  planeGates
	report                 string
	serving                serving
	// cloud is empty for the real API.
	cloud     string
	localExec localExec
	ssh       sshFiles
	secretStores
	promotions promotions
	// harmless says what is served without a flag, and why.
	harmless []string
}

// served reports whether there is a directory to serve: without one, packages are all that is deployed.
func (o upOptions) served() bool { return o.path != "" && !o.remote() }

// remote reports whether the repository is somewhere else.
func (o upOptions) remote() bool { return strings.Contains(o.path, "://") }

// NewUp is the command that boots a repository.
func NewUp(g *console.Globals) *cobra.Command {
	o := upOptions{Globals: g, charts: &console.LocalCharts{}}
	cmd := &cobra.Command{
		Use:   "up [PATH|URL]",
		Short: "Boot a repository and keep it running",
		Long: `Boot a repository, in these steps:

  1. start a control plane inside this process (or take the cluster of --kubeconfig)
  2. serve PATH as a Git repository, including uncommitted changes
  3. create a source and a root Kustomization, both flux-system/flux-system, for --path; if that is a file, or a
     directory with Applications of Argo CD at its top, apply those objects instead
  4. apply everything in the order of its dependencies, and print what waits for what
  5. keep running, and apply every file that is saved, until Ctrl-C

Without --path, the root is a directory of Flux Kustomizations, or the Application of Argo CD that leads to all
others. In a directory without either, a chart at its top is installed, and a kustomization or the files at its top are
applied. The repository that such a root names is served from PATH itself, wherever it was cloned from. An address
such as cnoe://shop/manifests in an Application at the top of PATH is a directory beside it, as for idpbuilder.

With --package, the Applications of packages of idpbuilder are deployed, beside PATH or without one. Each directory that
they name is served as a repository of its own.`,
		Example: `  headgate up                                   find the root of the current directory, boot it, keep running
  headgate up . --path clusters/staging         name the root
  headgate up . --path argocd/root.yaml         the root Application of an Argo CD
  headgate up . --secrets ~/.config/lab.sops.yaml   External Secrets from a file instead of a vault
  headgate up . --cloud simulated               Droplets and images of an account that costs nothing
  headgate up . --ephemeral --exit-when-ready   for CI: exit code 0 if all is ready, 1 if not
  headgate up https://example.com/fleet.git --branch main --path clusters/prod
  headgate up --package platform --package https://github.com/cnoe-io/stacks//basic`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.path = addressOf(args[0])
			} else if len(o.packages) == 0 {
				o.path = "."
			}
			if err := errors.Join(o.secretStores.check(&o), o.promotions.check(&o)); err != nil {
				return err
			}
			o.serveHarmless()
			if err := o.serving.check(o.Catalogue); err != nil {
				return err
			}
			if err := errors.Join(o.simulation.check(o.Globals), o.gates.check(o.Globals), o.checkCloud(), o.checkRemote(), o.promotions.permitted(&o), o.localExec.check(cmd.Context(), &o, unable)); err != nil {
				return err
			}
			if err := o.decideEgress(); err != nil {
				return err
			}
			return runUp(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.root, "path", "", "directory of the root, or a file of root objects (default: search for it)")
	f.StringArrayVarP(&o.packages, "package", "p", nil, "directory, file or URL of packages in the layout of idpbuilder; repeat it for several, of which the last has priority")
	f.StringVar(&o.branch, "branch", "main", "branch, if PATH is a URL")
	o.ssh.bind(f)
	f.BoolVar(&o.ephemeral, "ephemeral", false, "use a new cluster, and delete it at the end")
	f.BoolVar(&o.fresh, "fresh", false, "delete the previous cluster first")
	f.BoolVar(&o.exit, "exit-when-ready", false, "exit with 0 when all is ready, with 1 when nothing can progress any more")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long --exit-when-ready waits")
	f.DurationVar(&o.leaseDuration, "lease-duration", 15*time.Second, "how long the lease of a killed process blocks the next one on the cluster of --kubeconfig")
	f.StringVar(&o.ageKeyFile, "age-key-file", "", "file with age identities to decrypt with; stored in the Secret flux-system/sops-age (default: SOPS_AGE_KEY, or the file of SOPS_AGE_KEY_FILE)")
	f.IntVar(&o.port, "port", 0, "port of the API server (default: the previous one, or a free one)")
	f.StringVar(&o.auditLog, "audit-log", "", "write the API server's audit log to this file")
	o.charts.Bind(f)
	o.simulation.bind(f)
	o.secretStores.bind(f)
	o.promotions.bind(f)
	f.StringVar(&o.cloud, "cloud", "", "serve a simulated DigitalOcean, and manage its resources instead of real ones: simulated")
	f.StringVar(&o.report, "report", "", "write what waited for what, and how long, to this file as JSON, and a Markdown table beside it")
	o.serving.bind(f)
	o.gates.bind(f)
	o.localExec.bind(f)
	f.BoolVar(&o.verbose, "verbose", false, "print every wait, each time it changes, with all that is waited for")
	f.BoolVar(&o.kubernetesLogs, "kubernetes-logs", false, "print the logs of the Kubernetes components")
	return cmd
}

func runUp(ctx context.Context, o upOptions) error {
	s := &system{options: o, say: progress.New(o.IO.Err), report: newReport(), hopeless: make(chan struct{})}
	if o.verbose {
		s.say.Verbose()
	}
	// What reads the repository ends before the repository is removed.
	running, end := context.WithCancel(ctx)
	err := s.start(running)
	if err == nil {
		err = s.stay(running)
	}
	end()
	s.say.Clear()
	if errors.Is(err, errUnanswered) {
		return context.Cause(ctx)
	}
	if ctx.Err() != nil {
		if judge(s.seen).failed {
			s.explain(context.WithoutCancel(ctx), s.seen)
		}
		s.say.Info("stopping", "")
		err = nil
		if o.exit {
			// Whether everything becomes ready is not answered.
			err = context.Cause(ctx)
		}
	}
	// However it ended: what is not real is most useful when searching for the reason.
	s.report.standIns(s.standIns())
	if written := s.report.write(o.report); written != nil && err == nil {
		err = written
	}
	if stopped := s.stop(ctx); stopped != nil && err == nil {
		err = stopped
	}
	return err
}

// look is how often the state is polled without events, at least; quiet is how long nothing has to move before that is a failure: what
// was written reaches those who wait for it by a watch, which takes a moment.
const (
	look  = 100 * time.Millisecond
	quiet = 2 * time.Second
	// stuck and stuckFailed are how long nothing changes until it is said why not everything is ready, although something may still move: while
	// units wait, and once one has failed.
	stuck       = 10 * time.Second
	stuckFailed = 5 * time.Second
)

// stay prints when all is ready, or nothing moves any more, and ends as the options say.
func (s *system) stay(ctx context.Context) error {
	var failures <-chan error
	if s.plane != nil {
		failures = s.plane.Done()
	}
	deadline := make(<-chan time.Time)
	if s.options.exit {
		timer := time.NewTimer(s.options.timeout)
		defer timer.Stop()
		deadline = timer.C
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	told, seen, since := verdict{}, verdict{}, time.Now()
	said := verdict{}
	for cost := time.Duration(0); ; {
		breathe(ctx, cost)
		if ended, err := s.news(ctx, tick.C, deadline, failures); ended {
			return err
		}
		began := time.Now()
		states, providing := s.standing(ctx)
		s.seen = states
		s.say.Live(states)
		cost = time.Since(began)
		v, pending := s.withPackages(judge(states), states)
		providing = providing || pending
		// It does not rest while stand-ins may yet be made, or packages are yet to be applied.
		v.rest = v.rest && !providing
		if v != seen {
			seen, since = v, time.Now()
		}
		if v != said && v.stuck(time.Since(since)) {
			s.explain(ctx, states)
			said = v
		}
		if v == told || v.rest && (!v.ready || v.units == 0) && time.Since(since) < quiet {
			continue
		}
		if end, err := s.conclude(ctx, v, states); end {
			return err
		}
		told = v
	}
}

// news waits until there is something to evaluate, or reports that there will be nothing more, and how that ends the command.
func (s *system) news(ctx context.Context, tick, deadline <-chan time.Time, failures <-chan error) (ended bool, err error) {
	select {
	case <-ctx.Done():
		return true, nil
	case err := <-failures:
		return true, fmt.Errorf("the control plane failed: %w", err)
	case err := <-s.leader.failed:
		return true, err
	case <-s.hopeless:
		return true, console.ErrNo
	case <-deadline:
		return true, s.giveUp(ctx)
	case <-s.say.Changed():
	case <-tick:
	}
	return false, nil
}

// giveUp says why not everything is ready when the time for it is over.
func (s *system) giveUp(ctx context.Context) error {
	states, _ := s.standing(ctx)
	s.say.Problem("timeout", fmt.Sprintf("not ready after %s", s.options.timeout))
	s.explained = nil
	s.explain(ctx, states)
	s.tellStandIns()
	return console.ErrNo
}

// breathe waits after a look in proportion to what it cost, so that looking takes a small part of the time however many units
// there are.
func breathe(ctx context.Context, cost time.Duration) {
	rest := time.NewTimer(20 * cost)
	defer rest.Stop()
	select {
	case <-ctx.Done():
	case <-rest.C:
	}
}

// explain prints why not everything is ready, unless that was printed last.
func (s *system) explain(ctx context.Context, states []runner.State) {
	lines := causes.Lines(states)
	if slices.Equal(lines, s.explained) {
		return
	}
	s.explained = lines
	if last := len(lines) - 1; last > 0 {
		// The last line is the next command.
		lines = slices.Insert(slices.Clone(lines), last, s.because(ctx, states)...)
	}
	for _, line := range lines {
		s.say.Plain("             " + line)
	}
}

// verdict is where the whole stands.
type verdict struct {
	rest, ready bool
	units       int
	revisions   string
	failures    string
	// failed is set when a unit has failed.
	failed bool
}

// stuck reports whether it is time to say why not everything is ready, when nothing has changed for a while.
func (v verdict) stuck(unchanged time.Duration) bool {
	return v.units > 0 && !v.ready && (unchanged >= stuck || v.failed && unchanged >= stuckFailed)
}

// judge reports whether everything is ready, or at rest without being so.
func judge(states []runner.State) verdict {
	if len(states) == 0 {
		return verdict{}
	}
	v := verdict{rest: true, ready: true, units: len(states)}
	revisions := map[string]bool{}
	var failures []string
	for _, s := range states {
		v.rest = v.rest && s.Settled
		v.ready = v.ready && (s.Ready || s.Suspended)
		revisions[s.Source.String()+s.Revision] = true
		if !s.Ready && !s.Suspended {
			failures = append(failures, s.Unit.String()+s.Message)
			v.failed = v.failed || s.Phase == engine.PhaseFailed
		}
	}
	for r := range revisions {
		v.revisions = max(v.revisions, r)
	}
	v.failures = strings.Join(failures, "\n")
	return v
}

// with is the verdict with problems of packages. Without any unit, it is they that say what there is.
func (v verdict) with(problems []string) verdict {
	if v.units == 0 {
		v.rest, v.ready = true, true
	}
	v.ready = v.ready && len(problems) == 0
	v.failures = strings.Join(append([]string{v.failures}, problems...), "\n")
	return v
}

// conclude prints a summary when the whole has come to rest, and reports whether the process ends with that.
func (s *system) conclude(ctx context.Context, v verdict, states []runner.State) (end bool, err error) {
	if !v.rest {
		return false, nil
	}
	if v.ready {
		s.summary(states)
		return s.options.exit, nil
	}
	s.explain(ctx, states)
	s.tellStandIns()
	if s.options.exit {
		return true, console.ErrNo
	}
	return false, nil
}

func (s *system) summary(states []runner.State) {
	objects, suspended := 0, []string{}
	for _, st := range states {
		objects += st.Objects
		if st.Suspended {
			suspended = append(suspended, st.Unit.Namespace+"/"+st.Unit.Name)
		}
	}
	s.say.Done("ready", console.Counted(len(states), "unit")+", "+console.Counted(objects, "object"))
	if slowest := s.report.slowest(); slowest != "" && !s.toured {
		// What took long in the boot is no news after a change.
		s.say.Info("slowest", slowest)
	}
	s.tellStandIns()
	if len(suspended) > 0 {
		s.say.Info("suspended", strings.Join(suspended, ", "))
	}
	s.tellIdle(states)
	if s.options.exit || s.toured {
		return
	}
	s.toured = true
	if s.plane != nil {
		s.say.Info("look around", "headgate get, headgate tree, headgate why NAME")
		s.say.Info("with kubectl", "kubectl --kubeconfig "+s.plane.Kubeconfig()+" get "+s.kindsOf(states)+",pods -A")
	}
	if s.mirror != nil {
		s.say.Info("change something", "save a file in "+s.mirror.Root()+"; Ctrl-C ends")
	}
}

// kindsOf are the short names of the units that a person would list: of each dialect among them the first kind.
func (s *system) kindsOf(states []runner.State) string {
	var names []string
	for _, d := range s.options.Catalogue {
		own := dialect.Catalogue{d}
		if slices.ContainsFunc(states, func(st runner.State) bool { return own.IsUnit(st.Unit.Object()) }) {
			names = append(names, own.Default().Plural())
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
