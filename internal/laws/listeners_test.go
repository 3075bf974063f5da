package laws

import (
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listeners are the places that open a port, by file: how many, and what keeps strangers out. Where that is loopback.Only, the file has to call it.
var listeners = map[string]struct {
	n      int
	holds  string
	behind bool
}{
	"internal/chartserver/chartserver.go":   {1, "a path that only this process knows", true},
	"internal/cloud/server.go":              {2, "a token", true},
	"internal/controlplane/controlplane.go": {3, "the API server: TLS, certificates and tokens; a name that is not in its certificate is refused by clients", false},
	"internal/gitserver/server.go":          {1, "logins and tokens; names of artifacts that cannot be guessed", true},
	"internal/server/hooks.go":              {1, "each request is verified by its hook, and forwarded under any name", false},
	"internal/server/server.go":             {1, "metrics, health, artifacts and events, which other pods read", true},
}

// TestListeners knows every place that listens, so that another one says what keeps strangers out. What etcd listens on is in its configuration, and
// tests of the control plane list everything that a process listens on.
func TestListeners(t *testing.T) {
	found, listed := map[string]int{}, map[string]int{}
	for _, f := range sources(t) {
		path := strings.TrimPrefix(f.path, "../../")
		if f.test || f.room == "internal/kit" || strings.HasPrefix(path, "test/") {
			continue
		}
		n, guarded := listens(f.ast)
		if n == 0 {
			continue
		}
		found[path] = n
		if listeners[path].behind && !guarded {
			t.Errorf("%s does not call loopback.Only", path)
		}
	}
	for path, one := range listeners {
		listed[path] = one.n
		if one.holds == "" {
			t.Errorf("%s: say what keeps strangers out", path)
		}
	}
	if diff := cmp.Diff(listed, found); diff != "" {
		t.Errorf("places that listen (-listed +found); say what keeps strangers out, and use loopback.Only for HTTP without encryption:\n%s", diff)
	}
}

// listens counts the calls that open a port or a socket, and reports whether a file guards a handler by loopback.Only.
func listens(file *ast.File) (n int, guarded bool) {
	opening := []string{"Listen", "ListenPacket", "ListenTCP", "ListenUDP", "ListenIP", "ListenUnix", "ListenUnixgram", "ListenMulticastUDP", "ListenAndServe", "ListenAndServeTLS", "FileListener"}
	ast.Inspect(file, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is {
			return true
		}
		if to, is := call.Fun.(*ast.SelectorExpr); is {
			from, _ := to.X.(*ast.Ident)
			switch {
			case slices.Contains(opening, to.Sel.Name):
				n++
			case to.Sel.Name == "Only" && from != nil && from.Name == "loopback":
				guarded = true
			}
		}
		return true
	})
	return n, guarded
}
