package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unguarded are the goroutines that begin without a guard, by file: how many, and why a panic of a tenant's making cannot
// happen there. A panic anywhere else ends the process, and with it the units of all tenants.
var unguarded = map[string]struct {
	n   int
	why string
}{
	"internal/argo/argo.go":                       {3, "it waits for the first lists, which the watches hand over"},
	"internal/argo/configuration/settings.go":     {3, "it waits for the first lists"},
	"internal/argo/feeds/charts.go":               {1, "fetches in a guard, and takes what it gave"},
	"internal/argo/orphans.go":                    {1, "a timer that posts to the loop"},
	"internal/chartserver/chartserver.go":         {1, "net/http recovers panics of handlers"},
	"internal/cloud/cloud.go":                     {1, "begins transfers, each in a guard"},
	"internal/cloud/server.go":                    {2, "net/http recovers panics of handlers; the end of the server"},
	"internal/cluster/watch.go":                   {1, "the watch hands objects over in a guard"},
	"internal/cluster/within.go":                  {1, "it waits for the first lists"},
	"internal/controller/lead.go":                 {2, "leases and engines as a whole, no content"},
	"internal/controlplane/controlplane.go":       {3, "the embedded control plane, of the one user of this process"},
	"internal/controlplane/etcd.go":               {2, "the same"},
	"internal/controlplane/kubelet.go":            {1, "the same"},
	"internal/controlplane/seed.go":               {1, "the same"},
	"internal/controlplane/simulate.go":           {2, "the same"},
	"internal/feed/feed.go":                       {1, "deletes a directory"},
	"internal/flux/engine.go":                     {9, "it waits for the first lists"},
	"internal/flux/receivers/throttle.go":         {2, "timers; what they do is in a guard"},
	"internal/tokens/tokens.go":                   {1, "waits for a watch, which hands the Secret over in a guard"},
	"internal/flux/sinks.go":                      {1, "it waits for the first list"},
	"internal/flux/sources/feed.go":               {2, "timers that wake readers"},
	"internal/flux/sources/keeper.go":             {1, "waits for passes, and ends what they followed"},
	"internal/gitserver/server.go":                {1, "net/http recovers panics of handlers"},
	"internal/expression/expression.go":           {1, "evaluates an expression in a guard, so that it can be left behind"},
	"internal/helm/connection.go":                 {1, "cancels a context"},
	"internal/helm/ledger.go":                     {1, "keeps metadata of Secrets, by typed accessors"},
	"internal/host/host.go":                       {1, "the loop of units, which has guards for each of them, and the end of all"},
	"internal/host/install.go":                    {1, "applies our own definitions"},
	"internal/host/lease.go":                      {2, "cancels contexts"},
	"internal/host/watch.go":                      {3, "Deployments of upstream controllers, decoded by client-go"},
	"internal/notify/notifier.go":                 {1, "routes events, each in a guard"},
	"internal/notify/queue.go":                    {1, "delivers messages, each in a guard"},
	"internal/rounds/rounds.go":                   {2, "makes passes, each in a guard; a timer that wakes a key"},
	"internal/runner/pace.go":                     {1, "a timer that posts to the loop"},
	"internal/runner/panics.go":                   {1, "the guard of workers"},
	"internal/runner/report.go":                   {1, "a timer that posts to the loop"},
	"internal/runner/steps.go":                    {1, "a timer that posts to the loop"},
	"internal/runner/target.go":                   {1, "closes a connection"},
	"internal/sandbox/child.go":                   {2, "kills a process"},
	"internal/sandbox/here.go":                    {1, "a job recovers from its own panics"},
	"internal/sandbox/pool.go":                    {4, "ends and starts processes, and waits for a job that recovers from its own panics"},
	"internal/sandbox/quarantine.go":              {1, "writes a record of our own"},
	"internal/sandbox/serve.go":                   {1, "the child, where a panic is the end of its job alone"},
	"internal/server/hooks.go":                    {1, "net/http recovers panics of handlers, and those of hooks have a guard"},
	"internal/server/server.go":                   {1, "the same"},
	"internal/synth/watch.go":                     {1, "builds the program of the one user of this process, in no engine"},
	"internal/workflow/execute/process/bring.go":  {1, "closes a file"},
	"internal/workflow/execute/process/inside.go": {1, "forwards signals, in a process of its own"},
	"internal/provision/managed/edges.go":         {1, "waits for a first list, in a guard that the cluster has"},
	"internal/provision/managed/reconciler.go":    {2, "waits for the first lists; the end of events"},
	"internal/provision/managed/usages.go":        {2, "waits for the first lists"},
	"internal/workflow/part.go":                   {2, "it waits for the first lists, which the watches hand over; the end of events"},
}

// TestGoroutinesAreGuarded has every goroutine of the engine begin in the room guard, or on the list. Commands are
// processes of one user, and the test kit serves nothing else.
func TestGoroutinesAreGuarded(t *testing.T) {
	found := map[string]int{}
	for _, f := range sources(t) {
		if f.test || f.room == "internal/guard" || f.room == "internal/kit" || !strings.HasPrefix(f.room, "internal/") || strings.HasPrefix(f.room, "internal/cli") {
			continue
		}
		if n := len(bare(f.ast)); n > 0 {
			found[strings.TrimPrefix(f.path, "../../")] = n
		}
	}
	listed := map[string]int{}
	for path, one := range unguarded {
		listed[path] = one.n
		if one.why == "" {
			t.Errorf("%s: say why no panic can happen there", path)
		}
	}
	if diff := cmp.Diff(listed, found); diff != "" {
		t.Errorf("goroutines without a guard (-listed +found); begin them by guard.Guard, guard.Each or guard.Catch:\n%s", diff)
	}
}

// TestBareGoroutines finds every way to begin a goroutine.
func TestBareGoroutines(t *testing.T) {
	cases := map[string]struct {
		body string
		want int
	}{
		"Statement": {"go work()", 1},
		"Literal":   {"go func() { work() }()", 1},
		"Group":     {"wg.Go(func() { work() })", 1},
		"Method":    {"wg.Go(one.end)", 1},
		"Timer":     {"time.AfterFunc(1, work)", 1},
		"Context":   {"context.AfterFunc(ctx, work)", 1},
		"Nested":    {"go func() { go work() }()", 2},
		"Run":       {"go func() { h.Guard.Run(of, work) }()", 0},
		"Call":      {"wg.Go(func() { _ = r.cfg.Guard.Call(of, work) })", 0},
		"Catch":     {"group.Go(func() error { return guard.Catch(work) })", 0},
		"Late":      {"go func() { prepare(); g.Guard.Run(of, work) }()", 1},
		"Go":        {"s.Guard.Go(of, work)", 0},
		"Returns":   {"all.Go(func() error { if err := guard.Catch(work); err != nil { note(err) }; return nil })", 0},
		"Wait":      {"wg.Go(one.Wait)", 0},
		"None":      {"work()", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { "+c.body+" }", 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(bare(f)); got != c.want {
				t.Errorf("%s: found %d goroutines without a guard, want %d", c.body, got, c.want)
			}
		})
	}
}

// bare are the goroutines that begin in a file without a guard.
func bare(f *ast.File) []ast.Node {
	var found []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if !guardedBody(n.Call.Fun) {
				found = append(found, n)
			}
		case *ast.CallExpr:
			begins, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) == 0 {
				break
			}
			goes := begins.Sel.Name == "Go" && last(begins.X) != "Guard" || begins.Sel.Name == "AfterFunc"
			if goes && !guardedBody(n.Args[len(n.Args)-1]) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

// guardedBody reports whether a function does nothing outside a guard but wait, or return.
func guardedBody(f ast.Expr) bool {
	literal, ok := f.(*ast.FuncLit)
	if !ok {
		return last(f) == "Wait"
	}
	statements := slices.DeleteFunc(slices.Clone(literal.Body.List), func(s ast.Stmt) bool {
		_, deferred := s.(*ast.DeferStmt)
		ends, returns := s.(*ast.ReturnStmt)
		return deferred || returns && !slices.ContainsFunc(ends.Results, func(e ast.Expr) bool { return last(e) != "nil" })
	})
	return len(statements) == 1 && callsGuard(statements[0])
}

// callsGuard reports whether a statement is a call of a guard.
func callsGuard(s ast.Stmt) bool {
	guarded := false
	ast.Inspect(s, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if of, ok := call.Fun.(*ast.SelectorExpr); ok {
			name := last(of.X)
			guarded = guarded || strings.EqualFold(name, "guard") && slices.Contains([]string{"Run", "Call", "Catch"}, of.Sel.Name)
		}
		return true
	})
	return guarded
}

// last is the last name of an expression such as r.cfg.Guard.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
