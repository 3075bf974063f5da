// Command bench measures a whole system: how long a repository of many units takes from its root to
// ready, what that costs, how fast a change arrives, and what is asked of the API server at rest.
//
// It prints a table and checks nothing: a measurement is no test.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/memory"
	"github.com/headgate-dev/headgate/internal/runner"
)

func main() {
	if code, is := cli.Child(); is {
		os.Exit(code)
	}
	idle := flag.Duration("idle", 5*time.Minute, "how long to count requests at rest; 0 does not")
	cold := flag.Bool("cold", false, "measure a build with an empty cache, too")
	profile := flag.String("profile", "", "write a CPU profile of all runs to this file")
	large := flag.Int("large", 1000, "units of the large run; 0 leaves it out")
	helm := flag.Int("releases", 120, "HelmReleases of the run of releases; 0 leaves it out")
	machines := flag.Int("droplets", 200, "Droplets of the run of a simulated cloud; 0 leaves it out")
	onlyMachines := flag.Bool("only-droplets", false, "leave out everything but the run of a simulated cloud")
	graphs := flag.Int("workflows", 100, "Workflows of the run of workflows; 0 leaves it out")
	onlyGraphs := flag.Bool("only-workflows", false, "leave out everything but the run of workflows")
	provisioned := flag.Int("objects", 1000, "Objects of the run of provisioned objects; 0 leaves it out")
	onlyObjects := flag.Bool("only-objects", false, "leave out everything but the run of provisioned objects")
	beside := flag.Int("planes", 3, "further control planes of the run of control planes; 0 leaves it out")
	onlyPlanes := flag.Bool("only-planes", false, "leave out everything but the run of control planes")
	stacked := flag.Int("packages", 32, "packages of the run of packages, at least 4; 0 leaves it out")
	onlyPackages := flag.Bool("only-packages", false, "leave out everything but the run of packages")
	fetched := flag.Int("secrets", 500, "ExternalSecrets of the run of external secrets; 0 leaves it out")
	onlyFetched := flag.Bool("only-secrets", false, "leave out everything but the run of external secrets")
	followed := flag.Int("warehouses", 50, "Warehouses of the run of pipelines, of 200 tags each; 0 leaves it out")
	onlyFollowed := flag.Bool("only-pipelines", false, "leave out everything but the run of pipelines")
	onlyCharts := flag.Bool("only-charts", false, "leave out everything but the run of typed charts")
	modules := flag.String("cdk8s", "", "directory with node_modules/cdk8s, to measure the same work there")
	dialects := flag.String("dialect", "", "flux or argo; both by default")
	verbose := flag.Bool("v", false, "tell what was asked of the API server until all was ready")
	grown := flag.String("growth", "120,1000,5000", "numbers of units of the table of growth, each measured in a process of its own; empty leaves it out")
	onlyGrowth := flag.Bool("only-growth", false, "leave out everything but the table of growth")
	single := flag.Int("units", 0, "measure this many units of -dialect alone, and print the figures as JSON")
	spread := flag.Bool("spread", false, "have the objects of each hundred units in a namespace of their own, in the table of growth and with -units")
	heap := flag.String("heap", "", "write a profile of the heap to this file when all is ready, with -units")
	only := flag.Bool("only-releases", false, "leave out everything but the run of releases")
	flag.Parse()
	memory.Tune()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *cold {
		if err := coldBuild(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	end, err := profiled(*profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	defer end()
	short := min(*idle, 2*time.Minute)
	if *single > 0 {
		err = measureOne(ctx, dialect(*dialects), *single, *spread, *heap)
		end()
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	all, err := measureParts(ctx, []part{
		{"charts                                  synth s  written s  cdk8s s", 1, *onlyCharts, charts{*modules}},
		{"planes  how      ready s  s/one  MB/one  resident/one", *beside, *onlyPlanes, manyPlanes{*beside}},
		{"packages  ready s  rss MB  saved→applied in a virtual cluster ms, most  on the host ms, most", *stacked, *onlyPackages, manyPackages{*stacked}},
		{"workflows  all s  cpu s/one  rss MB  requests at rest", *graphs, *onlyGraphs, workflows{*graphs, short}},
		{"secrets    all s  cpu s/one  rss MB  requests at rest", *fetched, *onlyFetched, externalSecrets{*fetched, short}},
		{"warehouses  all s  cpu s/one  rss MB  requests at rest", *followed, *onlyFollowed, pipelines{*followed, 200, short}},
		{"  objects  all s  cpu s/one  rss MB  requests at rest", *provisioned, *onlyObjects, objects{*provisioned, short}},
		{"droplets  ready s  requests by then  of these creations  requests/min at rest  refused", *machines, *onlyMachines, droplets{*machines, short}},
		{growthHeading, len(*grown), *onlyGrowth, growth{*grown, *dialects, *spread}},
		{"releases  cold s  cpu s/release  changed s  rss MB  requests at rest", *helm, *only, releases{*helm, *idle}},
	})
	if err == nil && all {
		err = measureRuns(ctx, dialectRuns(*dialects, *large, *idle), *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measureParts measures the parts that were selected; all says that no selection was made, so that the units come too.
func measureParts(ctx context.Context, parts []part) (all bool, err error) {
	all = !slices.ContainsFunc(parts, func(p part) bool { return p.only })
	for _, p := range parts {
		if p.count == 0 || !all && !p.only {
			continue
		}
		fmt.Println(p.heading)
		if err := p.of.measure(ctx); err != nil {
			return all, err
		}
	}
	return all, nil
}

// measureRuns measures units.
func measureRuns(ctx context.Context, runs []run, verbose bool) error {
	fmt.Println("dialect units depth  ready s  cpu s/unit  rss MB  push→applied ms  renders for one change  requests at rest")
	for _, r := range runs {
		r.verbose = verbose
		if err := r.measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// dialectRuns are the measurements of units of a dialect, of both if none is named.
func dialectRuns(named string, large int, idle time.Duration) []run {
	var runs []run
	for _, d := range []dialect{ofFlux, ofArgo} {
		if named != "" && named != string(d) {
			continue
		}
		runs = append(runs, run{dialect: d, units: 120, depth: 1, idle: idle}, run{dialect: d, units: 120, depth: 6})
		if large > 0 {
			runs = append(runs, run{dialect: d, units: large, depth: 1})
		}
	}
	return runs
}

// profiled writes a CPU profile to a file, if one is named, until it is ended.
func profiled(name string) (end func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(f)
}

// part is a measurement with a table of its own.
type part struct {
	heading string
	count   int
	// only is set when a person wants no other.
	only bool
	of   interface{ measure(context.Context) error }
}

// run is one measurement.
type run struct {
	dialect      dialect
	units, depth int
	idle         time.Duration
	verbose      bool
	// spread has the objects of units in several namespaces; heap is a file for a profile of the heap, if one is wanted.
	spread bool
	heap   string

	dir string
	kit *kit.Kit
}

// figures are what a run gave.
type figures struct {
	Ready time.Duration
	// CPU is the time of the processor for each unit, Latency how long a pushed change takes until it is applied.
	CPU, Latency time.Duration
	// Memory is what was resident at the end, Peak the most that ever was, in MB.
	Memory, Peak int
	// Renders counts those that one change led to.
	Renders uint64
	// Rest reports the requests at rest.
	Rest string
}

func (r *run) measure(ctx context.Context) error {
	f, err := r.figures(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%7s %5d %5d  %7.2f  %10.3f  %6d  %15d  %22d  %s\n", r.dialect, r.units, r.depth, f.Ready.Seconds(), f.CPU.Seconds(),
		f.Memory, f.Latency.Milliseconds(), f.Renders, f.Rest)
	return nil
}

// writeHeap writes a profile of what is kept.
func (r *run) writeHeap() error {
	if r.heap == "" {
		return nil
	}
	f, err := os.Create(r.heap)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

// figures measures.
func (r *run) figures(ctx context.Context) (figures, error) {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return figures{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r.dir = filepath.Join(dir, "repo")
	audit := ""
	if r.verbose || r.idle > 0 {
		// Writing it costs something: it is written where requests are counted.
		audit = filepath.Join(dir, "audit.log")
	}
	if r.kit, err = kit.Start(ctx, filepath.Join(dir, "kit"), kit.Options{AuditLog: audit}); err != nil {
		return figures{}, err
	}
	defer func() { _ = r.kit.Stop(ctx) }()
	if err := r.kit.Git.CreateRepo(ctx, "bench"); err != nil {
		return figures{}, err
	}
	if err := errors.Join(r.write(), r.push(ctx)); err != nil {
		return figures{}, err
	}
	cpu, began := cpuTime(), time.Now()
	if err := r.putRoot(ctx); err != nil {
		return figures{}, err
	}
	stats, err := r.ready(ctx)
	if err != nil {
		return figures{}, err
	}
	f := figures{Ready: time.Since(began), CPU: (cpuTime() - cpu) / time.Duration(r.units), Rest: "not counted"}
	if err := r.writeHeap(); err != nil {
		return figures{}, err
	}
	if r.verbose {
		asked, watches, err := requests(audit, began)
		if err != nil {
			return figures{}, err
		}
		fmt.Printf("requests until ready, beside %d watches: %s\n", watches, most(asked))
	}
	if f.Latency, err = r.change(ctx); err != nil {
		return figures{}, err
	}
	after, err := r.ready(ctx)
	if err != nil {
		return figures{}, err
	}
	f.Renders = after.Renders - stats.Renders
	if r.idle > 0 {
		if f.Rest, err = r.atRest(ctx, audit); err != nil {
			return figures{}, err
		}
	}
	f.Memory, f.Peak = resident("VmRSS"), resident("VmHWM")
	return f, nil
}

// putRoot makes the root, from which everything follows.
func (r *run) putRoot(ctx context.Context) error {
	root := roots.Root{
		URL: r.kit.Git.URL("bench"), Branch: "main", Path: "flux", Credentials: map[string][]byte{"username": []byte(kit.User), "password": []byte(kit.Token)}, For: "bench",
	}
	if r.dialect == ofArgo {
		root = roots.Root{Objects: r.applications(), For: "bench"}
	}
	return roots.PutRoot(ctx, r.kit.Config, root)
}

// ready waits until every unit is.
func (r *run) ready(ctx context.Context) (runner.Stats, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	stuck := time.Now().Add(r.patience())
	for {
		began := time.Now()
		states, stats := r.kit.Engine.Runner().States(ctx)
		// What asking costs is not to be measured.
		tick.Reset(max(20*time.Millisecond, 20*time.Since(began)))
		ready := 0
		for _, s := range states {
			if s.Ready && s.Settled {
				ready++
			}
		}
		if ready == r.units+1 {
			return stats, nil
		}
		if time.Now().After(stuck) {
			return stats, fmt.Errorf("%d of %d units are ready after %s: %s", ready, r.units+1, r.patience(), unready(states))
		}
		select {
		case <-ctx.Done():
			return stats, ctx.Err()
		case <-tick.C:
		}
	}
}

// patience is when a run is given up.
const patience = 3 * time.Minute

// patience is that, and more for many units.
func (r *run) patience() time.Duration { return patience + time.Duration(r.units)*200*time.Millisecond }

// unready names some units that are not ready.
func unready(states []runner.State) string {
	var texts []string
	for _, s := range states {
		if !s.Ready && len(texts) < 5 {
			texts = append(texts, fmt.Sprintf("%s is %s: %s", s.Unit, s.Phase, s.Message))
		}
	}
	return strings.Join(texts, "; ")
}

// change pushes a change of one object and returns how long it takes to arrive in the cluster.
func (r *run) change(ctx context.Context) (time.Duration, error) {
	client, err := kubernetes.NewForConfig(r.kit.Config)
	if err != nil {
		return 0, err
	}
	watch, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=app-0000-0"})
	if err != nil {
		return 0, err
	}
	defer watch.Stop()
	file := filepath.Join(r.dir, "apps", "app-0000", "app.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), `k: "0-0"`, `k: changed`, 1)), 0o644); err != nil {
		return 0, err
	}
	if err := r.push(ctx); err != nil {
		return 0, err
	}
	pushed := time.Now()
	for event := range watch.ResultChan() {
		if data, err := json.Marshal(event.Object); err == nil && strings.Contains(string(data), `"k":"changed"`) {
			return time.Since(pushed), nil
		}
	}
	return 0, ctx.Err()
}

// push commits everything and pushes it.
func (r *run) push(ctx context.Context) error {
	url := strings.Replace(r.kit.Git.URL("bench"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
	cmd := exec.CommandContext(ctx, "sh", "-c", `git init -q -b main . && git add -A &&
git -c user.name=bench -c user.email=bench@example.invalid commit -q -m change && git push -q "$0" HEAD:main`, url)
	cmd.Dir = r.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pushing: %w: %s", err, out)
	}
	return nil
}
