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

// unrestricted are the ways to send a request that no rules hold for, by file: how many, and who has chosen the address. Anything that a repository
// or an object of a tenant names is reached by a transport of internal/egress, whose rules the host hands to every room.
var unrestricted = map[string]struct {
	n   int
	why string
}{
	"internal/chartserver/chartserver.go":        {1, "it pushes to its own server"},
	"internal/cloud/remote.go":                   {1, "a command of a person asks the simulated cloud of their own process"},
	"internal/cli/crds/gather.go":                {1, "a person names the address on the command line"},
	"chart/helm/fetch.go":                        {1, "a program of the person fetches what it names"},
	"internal/provision/digitalocean/api/api.go": {1, "the address is that of DigitalOcean or of the simulated cloud; others are refused by name"},
	"internal/secrets/store/azure/azure.go":      {1, "for a client without a transport, which the engine does not have"},
	"internal/secrets/store/rest/bodies.go":      {1, "the same"},
	"internal/secrets/store/rest/rest.go":        {1, "the same"},
}

// TestEgress has every request that is not on the list go by the rules.
func TestEgress(t *testing.T) {
	found := map[string]int{}
	for _, f := range sources(t) {
		inside := strings.HasPrefix(f.room, "internal/") || strings.HasPrefix(f.room, "chart") || strings.HasPrefix(f.room, "cmd/")
		if f.test || !inside || f.room == "internal/egress" || f.room == "internal/kit" || f.room == "internal/laws" {
			continue
		}
		if n := len(open(f.ast)); n > 0 {
			found[strings.TrimPrefix(f.path, "../../")] = n
		}
	}
	listed := map[string]int{}
	for path, one := range unrestricted {
		listed[path] = one.n
		if one.why == "" {
			t.Errorf("%s: say who has chosen the address", path)
		}
	}
	if diff := cmp.Diff(listed, found); diff != "" {
		t.Errorf("requests without rules (-listed +found); send them by egress.Rules of dialect.Host.Egress:\n%s", diff)
	}
}

// TestOpenRequests finds every way to send a request without rules.
func TestOpenRequests(t *testing.T) {
	for code, want := range map[string]int{
		"http.DefaultClient.Do(r)":                                1,
		"http.DefaultTransport.RoundTrip(r)":                      1,
		"http.Get(u)":                                             1,
		"http.PostForm(u, v)":                                     1,
		"_ = &http.Client{Timeout: 1}":                            1,
		"_ = http.Client{Transport: nil}":                         1,
		"_ = new(http.Client)":                                    1,
		"_ = &http.Client{Transport: rules.Transport()}":          0,
		"_ = &http.Transport{DialContext: rules.DialContext}":     1,
		"net.Dial(n, a)":                                          1,
		"(&net.Dialer{Timeout: 1}).DialContext(ctx, n, a)":        1,
		"tls.Dial(n, a, c)":                                       1,
		"var t *http.Transport":                                   0,
		"x.Get(u)":                                                0,
		"http.NewRequestWithContext(ctx, http.MethodGet, u, nil)": 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { "+code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(open(f)); got != want {
			t.Errorf("%s: found %d, want %d", code, got, want)
		}
	}
}

// openNames are what sends requests to any address.
var openNames = map[string][]string{
	"http": {"DefaultClient", "DefaultTransport", "Get", "Post", "PostForm", "Head"}, "net": {"Dial", "DialTimeout", "DialTCP"}, "tls": {"Dial", "DialWithDialer"},
}

// openTypes are what does once it is made.
var openTypes = map[string][]string{"http": {"Client", "Transport"}, "net": {"Dialer"}, "tls": {"Dialer"}}

// open are the places of a file that send requests without rules, or make what does. A client is as restricted as its transport.
func open(f *ast.File) []ast.Node {
	var found []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if named(n, openNames) {
				found = append(found, n)
			}
		case *ast.CompositeLit:
			if named(n.Type, openTypes) && !transported(n) {
				found = append(found, n)
			}
		case *ast.CallExpr:
			if made, is := n.Fun.(*ast.Ident); is && made.Name == "new" && named(n.Args[0], openTypes) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

// named reports whether an expression is one of the names of a package.
func named(e ast.Expr, names map[string][]string) bool {
	selector, is := e.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, is := selector.X.(*ast.Ident)
	return is && slices.Contains(names[of.Name], selector.Sel.Name)
}

// transported reports whether a client is made with a transport.
func transported(literal *ast.CompositeLit) bool {
	if literal.Type.(*ast.SelectorExpr).Sel.Name != "Client" {
		return false
	}
	return slices.ContainsFunc(literal.Elts, func(e ast.Expr) bool {
		pair, is := e.(*ast.KeyValueExpr)
		return is && last(pair.Key) == "Transport" && last(pair.Value) != "nil"
	})
}

// fetched are the types that say where a server may be, by their packages. Without rules it is anywhere.
var fetched = map[string][]string{
	"source":    {"Access", "GitOptions", "BucketOptions", "IndexOptions", "ChartOptions", "OCIOptions", "FileOptions", "RegistryAccess"},
	"access":    {"Reach"},
	"artifacts": {"Places"},
	"bases":     {"Anonymous"},
	"cloud":     {"Options"},
	"feeds":     {"Config"},
	"manifests": {"Request"},
	"notify":    {"Config"},
}

// byHand are the files that fetch what a person names on the command line, and those whose access comes with an access that has rules.
var byHand = map[string]string{
	"internal/bootstrap/push.go":                        "a person names the repository",
	"internal/cli/crds/chart.go":                        "a person names the repository of charts",
	"internal/argo/offline/elsewhere.go":                "a command renders a directory of the person",
	"internal/argo/offline/render.go":                   "the same",
	"internal/flux/walk/port.go":                        "the same",
	"internal/flux/walk/walk.go":                        "the same",
	"internal/workflow/execute/pods/wrapper/prepare.go": "it runs in a pod of the workflow, in the network of that",
	"internal/workflow/execute/pods/wrapper/upload.go":  "the same",
	"internal/promote/discover/git.go":                  "requests go by the client of HTTP, which has rules",
	"internal/flux/sources/helmchart.go":                "the access follows from RegistryAccess",
	"internal/flux/sources/ocirepository.go":            "the access follows from RegistryAccess",
}

// TestFetchesHaveRules has what is fetched for an engine say where servers may be.
func TestFetchesHaveRules(t *testing.T) {
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.test || !strings.HasPrefix(f.room, "internal/") || strings.HasPrefix(f.room, "internal/source") {
			continue
		}
		path := strings.TrimPrefix(f.path, "../../")
		for _, literal := range anywhere(f.ast) {
			if byHand[path] == "" {
				t.Errorf("%s: it makes a %s without Egress; servers would be anywhere", path, last(literal.Type))
			}
			used[path] = true
		}
	}
	for path := range byHand {
		if !used[path] {
			t.Errorf("%s makes nothing without rules any more: the law needs no line for it", path)
		}
	}
}

// anywhere are the values that are made without rules, and without an access that has them. An empty one beside an error is none.
func anywhere(f *ast.File) []*ast.CompositeLit {
	var found []*ast.CompositeLit
	failed := map[ast.Expr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if ends, is := n.(*ast.ReturnStmt); is && len(ends.Results) > 1 && last(ends.Results[len(ends.Results)-1]) != "nil" {
			for _, result := range ends.Results {
				failed[result] = true
			}
		}
		literal, is := n.(*ast.CompositeLit)
		if !is || !named(literal.Type, fetched) || failed[literal] && len(literal.Elts) == 0 {
			return true
		}
		if !slices.ContainsFunc(literal.Elts, func(e ast.Expr) bool {
			pair, is := e.(*ast.KeyValueExpr)
			return is && slices.Contains([]string{"Access", "Egress", "RegistryAccess"}, last(pair.Key))
		}) {
			found = append(found, literal)
		}
		return true
	})
	return found
}
