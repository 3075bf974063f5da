// Package scenario does what users do, as scripts that run against the real parts: every *.txtar
// file below testdata is one.
package scenario

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/kit"
)

// patience is how long a script waits for one condition.
const patience = slowness * 60 * time.Second

// alone is the directory of scripts that run before those of the others: what they print is about everything in the cluster.
const alone = "cli"

func TestScenarios(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.login(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range scriptDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if filepath.Base(dir) != alone {
				t.Parallel()
			}
			testscript.Run(t, testscript.Params{
				Dir: dir, Setup: w.setup, Cmds: w.commands(), RequireUniqueNames: true,
			})
		})
	}
}

// inTurn runs scripts one after the other, each in its turn of the parent: the world of the parent lasts no longer than they take.
func (w *world) inTurn(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scripts at %s: %v", pattern, err)
	}
	for _, file := range files {
		testscript.RunT(serial{t}, testscript.Params{Files: []string{file}, Setup: w.setup, Cmds: w.commands(), RequireUniqueNames: true})
	}
}

// serial is a test whose scripts do not step aside for others.
type serial struct{ *testing.T }

func (serial) Parallel()     {}
func (serial) Verbose() bool { return testing.Verbose() }

func (s serial) Run(name string, script func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { script(serial{t}) })
}

// newWorld starts what scripts share, which ends with the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, kit.Options{})
}

func newWorldOf(t *testing.T, o kit.Options) *world {
	t.Helper()
	account := startCloud(t)
	if o.Dialects == nil {
		o.Dialects = cloudDialects(account)
	}
	k := startKit(t, o)
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{kit: k, client: client, cloud: account, disks: serveDisks(t)}
	if w.registry, err = kit.StartRegistry(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.registry.Stop(context.WithoutCancel(t.Context())) })
	if w.buckets, err = kit.StartBuckets(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.buckets.Stop(context.WithoutCancel(t.Context())) })
	if w.charts, err = kit.StartCharts(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.charts.Stop(context.WithoutCancel(t.Context())) })
	hooks := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { k.Engine.Hooks().ServeHTTP(rw, r) }))
	t.Cleanup(hooks.Close)
	w.hooks = hooks.URL
	return w
}

// scriptDirs finds every directory that holds scripts: none is listed by hand.
func scriptDirs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, f := range files {
		if dir := filepath.Dir(f); len(dirs) == 0 || dirs[len(dirs)-1] != dir {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		t.Fatal("there are no scripts")
	}
	return dirs
}

// world is what the scripts share.
type world struct {
	kit      *kit.Kit
	client   dynamic.Interface
	registry *kit.Registry
	buckets  *kit.Buckets
	charts   *kit.Charts
	// cloud is an account of DigitalOcean that all share, disks the URL of images to import.
	cloud *cloud.Server
	disks string
	count atomic.Int64
	// kinds are those that were found, by how scripts call them.
	kinds sync.Map
	// hooks is the URL of the hooks of receivers.
	hooks string
	// sinks are the receivers of notifications, by the namespace of the script.
	sinks sync.Map
}

// setup gives a script a namespace and a repository of its own.
func (w *world) setup(env *testscript.Env) error {
	name := fmt.Sprintf("s%d", w.count.Add(1))
	env.Values[stayingKey] = &staying{}
	env.Setenv("NS", name)
	env.Setenv("URL", w.kit.Git.URL(name))
	// The same repository under another address, of which no push tells.
	env.Setenv("LATE", strings.Replace(w.kit.Git.URL(name), "http://", "http://"+kit.LateUser+"@", 1))
	env.Setenv("KUBECONFIG", w.kit.Plane.Kubeconfig())
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("REGISTRY", w.registry.Host)
	env.Setenv("S3", w.buckets.Host)
	env.Setenv("CHARTS", w.charts.Host)
	env.Setenv("DISKS", w.disks)
	if w.cloud != nil {
		env.Setenv("CLOUD", w.cloud.URL)
		env.Setenv("CLOUDTOKEN", w.cloud.Token())
	}
	tree, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	env.Setenv("TREE", tree)
	// The commands of others that a script may run are beside our own.
	env.Setenv("PATH", filepath.Join(tree, "bin")+string(filepath.ListSeparator)+env.Getenv("PATH"))
	ctx := context.Background()
	if err := w.kit.Git.CreateRepo(ctx, name); err != nil {
		return err
	}
	env.Defer(func() { w.tearDown(name) })
	return w.namespace(ctx, name)
}

func (w *world) commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"commit": w.commit, "root": w.root, "kwait": w.kwait, "kget": w.kget, "kcan": w.kcan, "kgone": w.kgone,
		"kmerge": w.kmerge, "kdelete": w.kdelete, "kapply": w.kapply, "headgate": w.headgate, "begin": w.begin, "end": w.end, "agekey": w.agekey, "pgpkey": w.pgpkey, "signed": w.signed,
		"expand": w.expand, "ocipush": w.ocipush, "chartpush": w.chartpush, "s3put": w.s3put, "external": w.external,
		"chartrepo": w.chartrepo, "registry": w.service, "late": w.late, "transfers": w.transfers, "helm": w.helmCommand, "pull": w.pull, "undo": w.undo,
		"hook": w.hook, "until-hook": w.untilHook, "flood": w.flood, "event-of": w.eventOf,
		"silent": w.silent, "sink": w.sink, "kevent": w.kevent, "kpost": w.kpost, "app": w.app, "cloud": w.cloudVerb,
	}
}

func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

// noNeg refuses a "!" before a command for which it means nothing.
func noNeg(ts *testscript.TestScript, neg bool) {
	if neg {
		ts.Fatalf("the command cannot be negated")
	}
}
