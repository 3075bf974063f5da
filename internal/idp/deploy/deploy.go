// Package deploy has packages in the layout of idpbuilder deployed, for as long as their files say so: a repository of the embedded Git
// server for each directory that a package names, with exactly its files, and the Applications and ApplicationSets of the packages applied to
// the cluster.
//
// A file that is saved is in its repository within a second; an Application that is edited, added or removed follows as fast. What cannot be
// read is named, and what it deployed earlier stays. The package refuses to decide what a package is, which internal/idp does, to sync
// anything, since Applications are synced by the engine that serves them, and to act on edits of the objects of idpbuilder's kinds by which it
// shows the packages.
package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/idp"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// Config is what a Deployer needs.
type Config struct {
	// Arguments are the values of --package, in their order.
	Arguments []string
	// Namespace is that of Applications that name none.
	Namespace string
	// Git serves the repositories.
	Git *gitserver.Server
	// Password is that by which the engine reads the repositories, as the account idp.Owner.
	Password string
	// Login is the password that people and their scripts have for the Git server, as the same account.
	Login string
	// Index lists the repositories for them; nil lists them nowhere.
	Index Index
	// Dir is where remote packages are checked out; it is deleted with the process.
	Dir string
	// Changed is called when repositories have new contents, with what reports whether a URL is that of one of them.
	Changed func(matches func(url string) bool)
	// Note reports what was done, Problem what could not be. Neither may block.
	Note, Problem func(subject, text string)
	Guard         guard.Guard
}

// Index lists repositories, so that people and their tools find them.
type Index interface {
	// Show lists the bare repository in a directory, or has it listed still.
	Show(name, dir string) error
	// Hide ends that.
	Hide(name string) error
	// Changed reports whether a repository has a new commit.
	Changed(ctx context.Context, name string) error
}

// Deployer deploys packages.
type Deployer struct {
	cfg    Config
	inputs []idp.Input
	// tried is when the inputs that are URLs were last fetched, by argument.
	tried map[string]time.Time
	// shown are the repositories that are served, by name.
	shown map[string]shown
	// applied are the digests of what was applied, and declared the packages that the cluster has from here, by key.
	applied  map[string]string
	declared map[string]idp.Package
	gate     gate
	client   dynamic.Interface
	// schemas are those of what packages declare.
	schemas schemas
	// last is what was read last, and started when the process began.
	last    idp.Result
	started string
	// pictured reports whether objects show the packages, painted when they were last written, and unpainted what kept them from it.
	pictured  bool
	painted   time.Time
	unpainted string

	mu sync.Mutex
	// begun is set once the cluster has what comes first, waits while later waves are held back.
	begun, waits bool
	// since is when an object was applied that may not be known to the engine yet, by key.
	since map[string]time.Time
	// problems are those that there are now.
	problems map[string]bool
	// listed are the repositories that the index has.
	listed map[string]bool
	// strays are what was said last of files that declare no package, by the directory of these.
	strays map[string]string
	// served are the names of repositories.
	served map[string]bool
}

// New finds the packages. An argument that names nothing is an error: it is hardly meant.
func New(cfg Config) (*Deployer, error) {
	d := &Deployer{
		cfg: cfg, tried: map[string]time.Time{}, shown: map[string]shown{}, applied: map[string]string{}, declared: map[string]idp.Package{},
		since: map[string]time.Time{}, problems: map[string]bool{}, served: map[string]bool{}, listed: map[string]bool{}, strays: map[string]string{}, started: time.Now().UTC().Format(time.RFC3339),
	}
	var errs []error
	for _, argument := range cfg.Arguments {
		input, err := idp.Find(argument)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		d.inputs = append(d.inputs, input)
	}
	var err error
	if d.schemas, err = readSchemas(); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	cfg.Git.AddUser(idp.Owner, cfg.Password, false)
	return d, nil
}

// base is where idpbuilder serves the repositories of packages. Applications have these URLs, and the engine of this process reads them from the
// embedded server: they stay the same from one start to the next.
const base = "https://gitea.cnoe.localtest.me:8443"

// Local reports which repository of this process stands in for a URL.
func (d *Deployer) Local(url string) (source.Local, bool) {
	name, is := d.nameIn(url)
	if !is {
		return source.Local{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.served[name] {
		return source.Local{}, false
	}
	return source.Local{URL: d.cfg.Git.URL(serverName(name)), Username: idp.Owner, Password: d.cfg.Password}, true
}

// nameIn is the name of the repository of a package in a URL: one of idpbuilder, or that of this start.
func (d *Deployer) nameIn(url string) (string, bool) {
	for _, server := range []string{base, "https://cnoe.localtest.me:8443/gitea", d.cfg.Git.Base()} {
		if rest, is := strings.CutPrefix(url, server+"/"+idp.Owner+"/"); is {
			return strings.TrimSuffix(strings.TrimSuffix(rest, "/"), ".git"), true
		}
	}
	return "", false
}

// serverName is the name of a repository on the embedded server, which takes no dots. Those of packages have no underscores.
func serverName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// Prepare serves the repositories of all packages, before there is a cluster. It returns how many packages there are in effect.
func (d *Deployer) Prepare(ctx context.Context) int {
	result := d.read(ctx)
	d.show(ctx, &result)
	d.name(&result)
	d.report(result)
	return len(result.Packages)
}

// keyOf is the key of a package by its object.
func keyOf(id engine.UnitID) string { return id.Kind + "/" + id.Namespace + "/" + id.Name }

// Pending reports whether packages are still to be applied, or to become known to the engine whose units and ApplicationSets these are.
func (d *Deployer) Pending(states []runner.State) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range states {
		delete(d.since, keyOf(s.Unit))
	}
	for key, since := range d.since {
		// What is in a namespace that is not served never becomes known.
		if time.Since(since) > unknownFor {
			delete(d.since, key)
		}
	}
	return !d.begun || d.waits || len(d.since) > 0
}

// unknownFor is how long the object of a package is waited for that the engine does not know.
const unknownFor = 20 * time.Second

// Problems are what is wrong with packages now, in order.
func (d *Deployer) Problems() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.problems))
}

// read reads all packages, and fetches first what is remote.
func (d *Deployer) read(ctx context.Context) idp.Result {
	for i := range d.inputs {
		input := &d.inputs[i]
		if input.Kind != idp.URL || input.Path != "" || time.Since(d.tried[input.Argument]) < fetchAgain {
			continue
		}
		d.tried[input.Argument] = time.Now()
		at, err := checkout(ctx, d.cfg.Dir, input.Remote)
		if err != nil {
			d.cfg.Problem("package", fmt.Sprintf("%s: %v", input.Argument, err))
			continue
		}
		input.Path = at
	}
	return idp.Read(idp.Options{Inputs: d.inputs, Namespace: d.cfg.Namespace})
}

// report names problems that are new, once each.
func (d *Deployer) report(result idp.Result) {
	now := map[string]bool{}
	var fresh []string
	d.mu.Lock()
	for _, p := range result.Problems {
		text := p.Error()
		if !d.problems[text] && !now[text] {
			fresh = append(fresh, text)
		}
		now[text] = true
	}
	d.problems = now
	d.mu.Unlock()
	for _, text := range fresh {
		d.cfg.Problem("package", text)
	}
}
