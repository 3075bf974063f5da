package boot

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gitea"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/idp/deploy"
	"github.com/headgate-dev/headgate/internal/memory"
	"github.com/headgate-dev/headgate/internal/meter"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/planes"
	"github.com/headgate-dev/headgate/internal/progress"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/server"
	"github.com/headgate-dev/headgate/internal/source"
)

// system is everything that up runs: a cluster, a Git server, an engine.
type system struct {
	options upOptions
	say     *progress.Printer

	plane *controlplane.Running
	// planes are further control planes, nil where there is no embedded one.
	planes *planes.Pool
	config *rest.Config
	server *gitserver.Server
	// gitea is the API of the Git server, nil without an embedded cluster.
	gitea  *gitea.Server
	store  *source.Store
	mirror *gitserver.Mirror
	// token is that of the engine for the Git server, login the password of people and their scripts.
	token, login string
	// packages is nil without --package.
	packages *deploy.Deployer
	log      *journal
	report   *report
	// installed are the definitions that are there before the engine is, later are the groups that it installs those of.
	installed []string
	later     dialect.Groups
	// seen is where the units stood when that was checked last, explained what was printed last of what is not ready.
	seen      []runner.State
	explained []string
	// assumed is what was said last of how much is not real.
	assumed string
	// hopeless is closed when it is known that not everything becomes ready, with --exit-when-ready.
	hopeless chan struct{}
	// toured is set once it was said where to look.
	toured bool
	leader leader
	// metrics and endpoints are nil unless they are requested.
	metrics   *meter.Metrics
	endpoints *server.Server
	// receivers is nil unless requests are taken.
	receivers *server.Server
	layout    offline.Layout
	// pushed finds once which directory of the working copy units read as an OCI artifact.
	pushed func() (string, bool)
	// whole is set when the root is a directory without units.
	whole bool
	// objects are those of the root that are applied as they are; without them the root is a directory.
	objects []*unstructured.Unstructured
	ageKey  []byte
	// keyFrom says where that was given; empty where it was not.
	keyFrom string
	// rewrite lets the working copy stand in for its own remotes; nil when there is none.
	rewrite func(url string) (source.Local, bool)
	// state is the directory of what lives as long as the cluster, run of what lives as long as this
	// process.
	state, run string
	unlock     func()
	sandbox    *sandbox.Pool
	// cloud is the simulated one, nil without --cloud.
	cloud    *cloud.Server
	endCloud context.CancelFunc
}

// gitUser is who fetches from the embedded Git server.
const gitUser = "headgate"

// stopTimeout bounds each part of a stop.
const stopTimeout = 3 * time.Second

// start starts the parts in the order in which they need each other.
func (s *system) start(ctx context.Context) error {
	for _, part := range []func(context.Context) error{
		s.locate, s.startSandbox, s.foresee, s.startCluster, s.startPlanes, s.startCloud, s.startServer, s.startMirror, s.startPackages, s.startCharts, s.startEndpoints, s.startReceivers, s.install, s.connectCloud, s.watch,
		s.reachOwn, s.lead,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startSandbox prepares where charts and Jsonnet are rendered.
func (s *system) startSandbox(ctx context.Context) error {
	limits, err := s.options.serving.limits.Limits(0)
	if err != nil {
		return err
	}
	dir := ""
	if !s.options.ephemeral {
		state, err := s.options.State()
		if err != nil {
			return err
		}
		dir = console.ClusterDir(state, false)
	}
	s.sandbox = s.options.IO.Sandbox(ctx, limits, dir, func(text string) { s.say.Problem("rendering", text) })
	return nil
}

func (s *system) startCluster(ctx context.Context) error {
	g := s.options.Globals
	state, err := g.State()
	if err != nil {
		return err
	}
	s.state = console.ClusterDir(state, s.options.ephemeral)
	if g.Real() {
		return s.useCluster(state)
	}
	if s.options.fresh || s.options.ephemeral {
		if err := removeCluster(s.state); err != nil {
			return err
		}
	}
	began := time.Now()
	config := controlplane.Config{
		Dir: s.state, Ephemeral: s.options.ephemeral, Port: s.options.port, AuditLog: s.options.auditLog,
		FeatureGates: s.options.gates.gates,
		Isolated:     s.options.foreign(),
		Notify:       func(text string) { s.say.Info("note", text) },
		Manager:      host.Manager,
	}
	if config.Definitions, err = host.Definitions(s.options.serving.groups); err != nil {
		return err
	}
	if s.options.serving.selector == "" {
		config.Finalizers = s.options.serving.groups.Finalizers()
	}
	if s.options.kubernetesLogs {
		config.KubernetesLogs = s.options.IO.Err
	}
	memory.Tune()
	s.say.Info("control plane", "starting")
	if s.plane, err = controlplane.Start(ctx, config); err != nil {
		return err
	}
	s.config = console.Dressed(s.plane.RESTConfig())
	s.say.Done("control plane", fmt.Sprintf("ready in %.1fs, %s", time.Since(began).Seconds(), s.config.Host))
	return nil
}

// useCluster works on a cluster that runs already. What is kept of it has a directory of its own.
func (s *system) useCluster(state string) error {
	err := s.options.serving.named()
	if err != nil {
		return err
	}
	if s.config, err = s.options.RestConfig(); err != nil {
		return err
	}
	s.state = console.EngineDir(state, s.config.Host)
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		return fmt.Errorf("creating the state directory: %w", err)
	}
	s.unlock, err = controlplane.Lock(s.state)
	return err
}

// removeCluster deletes the state of an embedded cluster that does not run.
func removeCluster(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := controlplane.Unused(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("deleting the cluster in %q: %w", dir, err)
	}
	return nil
}

func (s *system) startServer(ctx context.Context) error {
	var err error
	if s.log, err = newJournal(s.state); err != nil {
		return err
	}
	if s.run, err = os.MkdirTemp(s.state, "run-"); err != nil {
		return fmt.Errorf("creating a directory for the Git server: %w", err)
	}
	artifacts, api := &lateHandler{}, &lateHandler{}
	s.server, err = gitserver.Start(ctx, gitserver.Config{
		Dir: filepath.Join(s.run, "repositories"), Mount: map[string]http.Handler{"/artifacts/": artifacts, "/": api},
	})
	if err != nil {
		return err
	}
	if s.store, err = source.NewStore(filepath.Join(s.state, "artifacts"), s.server.Base()+"/artifacts"); err != nil {
		return err
	}
	artifacts.set(http.StripPrefix("/artifacts", s.store))
	secret := make([]byte, 24)
	if _, err := rand.Read(secret); err != nil {
		return fmt.Errorf("creating a token: %w", err)
	}
	s.token = hex.EncodeToString(secret)
	s.server.AddUser(gitUser, s.token, true)
	return s.startGitea(ctx, api)
}

// repository is the name of the mirror on the Git server.
const repository = "repository"

func (s *system) startMirror(ctx context.Context) error {
	if !s.options.served() {
		return nil
	}
	var err error
	if s.mirror, err = s.server.Mirror(ctx, repository, s.layout.Repository); err != nil {
		return err
	}
	also, err := s.standIn(ctx)
	if err != nil {
		return err
	}
	revision, _, err := s.mirror.Sync(ctx)
	if err != nil {
		return err
	}
	s.listMirror()
	if s.plane != nil {
		if err := console.RememberWorkingCopy(s.state, s.mirror.Root()); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s, branch %s at %.12s", s.mirror.Root(), s.mirror.Branch(), revision) + s.unrecorded(ctx)
	if also != "" && also != s.mirror.Branch() {
		text += fmt.Sprintf(", also served as branch %s, which the repository names", also)
	}
	s.say.Done("repository", text)
	return nil
}

// startCharts serves the charts that are here, instead of a registry.
func (s *system) startCharts(ctx context.Context) error {
	var err error
	s.options.serving.rewrites, err = s.options.charts.Start(ctx, s.options.serving.rewrites)
	for _, given := range s.options.charts.Given {
		s.say.Done("charts", strings.Replace(given, "=", " is served from ", 1))
	}
	return err
}

// startEndpoints serves the metrics, if requested.
func (s *system) startEndpoints(ctx context.Context) error {
	addr := s.options.serving.metricsAddr
	if addr == "" {
		return nil
	}
	s.metrics = meter.New(ctx, func() meter.Engine {
		if engine := s.leader.current(); engine != nil {
			return engine
		}
		return nil
	})
	mux := http.NewServeMux()
	mux.Handle("/metrics", server.Metrics(s.metrics.Handler()))
	mux.Handle("/", server.Health(func(context.Context) error { return nil }, func() error {
		if s.leader.current() == nil {
			return errors.New("this process does not serve the cluster")
		}
		return nil
	}))
	var err error
	if s.endpoints, err = server.Start(addr, mux); err != nil {
		return fmt.Errorf("--metrics-addr: %w", err)
	}
	s.say.Done("metrics", "http://"+s.endpoints.Addr()+"/metrics")
	return nil
}

func (s *system) install(ctx context.Context) error {
	if s.options.Real() {
		if err := host.RefuseUpstream(ctx, s.config, s.options.serving.groups); err != nil {
			return err
		}
	}
	first, later := s.now()
	installed, err := host.Install(ctx, s.config, first)
	s.installed, s.later = installed, later
	if err == nil && s.plane != nil {
		err = s.putAccounts(ctx)
	}
	if err != nil {
		return err
	}
	return s.installPictures(ctx)
}

// now are the groups whose definitions are needed before there is an engine, and those that it installs. On a cluster of our own,
// kinds of dialects without units come a moment later, unless objects of them are created before.
func (s *system) now() (first, later dialect.Groups) {
	groups := s.options.serving.groups
	first, later = groups.Delivering()
	early := slices.ContainsFunc(s.objects, func(o *unstructured.Unstructured) bool { return later.Knows(console.GroupKindOf(o)) })
	if s.plane == nil || s.cloud != nil || early {
		return groups, dialect.Groups{}
	}
	return first, later
}

// standIn has the mirror stand in for the repository that it is a copy of, and returns the branch under which it does so beside the one
// that is checked out.
func (s *system) standIn(ctx context.Context) (also string, err error) {
	local := source.Local{URL: s.server.URL(repository), Username: gitUser, Password: s.token}
	remotes := s.mirror.Remotes(ctx)
	place := console.Place{Layout: offline.Layout{Repository: s.mirror.Root(), Root: s.layout.Root}, Objects: s.objects}
	for _, url := range place.Adopted(s.options.Catalogue, remotes) {
		s.say.Info("repository", url+" is served from "+s.mirror.Root()+", since the root names it")
	}
	ours := place.Ours(s.options.Catalogue, remotes)
	s.rewrite = func(url string) (source.Local, bool) {
		if artifact, is := s.pushedTo(url, local); is {
			return artifact, true
		}
		if url == local.URL || ours(url) {
			return local, true
		}
		return source.Local{}, false
	}
	if also, err = place.ShownAs(s.options.Catalogue, s.mirror.References(ctx), ours); err == nil {
		s.mirror.ShowAs(ctx, also)
	}
	return also, err
}

// stop ends the parts in the reverse order; the cluster outlives what uses it.
func (s *system) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopTimeout)
	defer cancel()
	var errs []error
	s.leader.end(stopTimeout)
	if s.endpoints != nil {
		errs = append(errs, s.endpoints.Stop(ctx))
	}
	if s.receivers != nil {
		errs = append(errs, s.receivers.Stop(ctx))
	}
	if s.log != nil {
		errs = append(errs, s.log.close())
	}
	if s.server != nil {
		quick, cancel := context.WithTimeout(ctx, time.Second)
		_ = s.server.Stop(quick)
		cancel()
	}
	errs = append(errs, s.options.charts.Stop(ctx))
	if s.run != "" {
		errs = append(errs, os.RemoveAll(s.run))
	}
	errs = append(errs, s.stopCloud(ctx))
	if s.planes != nil {
		errs = append(errs, s.planes.Close(ctx))
	}
	if s.plane != nil {
		errs = append(errs, s.plane.Stop(ctx))
	}
	if s.unlock != nil {
		s.unlock()
	}
	return errors.Join(errs...)
}
