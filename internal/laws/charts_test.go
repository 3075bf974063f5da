package laws

import (
	"os/exec"
	"strings"
	"testing"
)

// server is what a module of a user who describes charts must not need: k8s.io/kubernetes cannot be required by other modules.
const server = "k8s.io/kubernetes/"

// heavy makes every edit of such a module slow to link.
var heavy = []string{server, "sigs.k8s.io/controller-runtime/", "helm.sh/", module + "internal/"}

// TestChartsStaySmall keeps the SDK of charts and the types that it is used with, tests included, from Kubernetes' server code, and all
// but chart/helm from client-go.
func TestChartsStaySmall(t *testing.T) {
	for _, one := range []struct {
		pattern string
		tests   bool
		refused []string
	}{
		{"./chart", false, []string{"k8s.io/", "github.com/"}},
		{"./chart/...", false, heavy},
		{"./chart/...", true, []string{server}},
		{"./api/...", true, []string{server}},
	} {
		for _, found := range reached(t, one.pattern, one.tests) {
			by, path, _ := strings.Cut(found, "\t")
			by, _, _ = strings.Cut(strings.TrimSuffix(by, ".test"), " ")
			by = strings.TrimSuffix(by, "_test")
			for _, prefix := range one.refused {
				if strings.HasPrefix(path, prefix) && !strings.HasPrefix(path, module+"chart") && !helm(by, prefix) {
					t.Errorf("%s reaches %s", by, path)
				}
			}
			if strings.HasPrefix(path, "k8s.io/client-go/") && strings.HasPrefix(by, module+"chart") && !helm(by, "helm.sh/") {
				t.Errorf("%s reaches %s", by, path)
			}
		}
	}
}

// helm reports whether a room may reach the code of Helm, and of clients with it.
func helm(room, prefix string) bool {
	return prefix != server && (room == module+"chart/helm" || strings.HasPrefix(room, module+"chart/helm/"))
}

// reached is a room and a package, with a tab between them, for every package that the rooms of a pattern are linked with.
func reached(t *testing.T, pattern string, tests bool) []string {
	t.Helper()
	args := []string{"list", "-f", `{{$room := .ImportPath}}{{range .Deps}}{{$room}}{{"\t"}}{{.}}{{"\n"}}{{end}}`}
	if tests {
		args = append(args, "-test")
	}
	command := exec.Command("go", append(args, pattern)...)
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatalf("listing what %s imports: %v", pattern, err)
	}
	found := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(found) < 20 {
		t.Fatalf("%s reaches only %d packages", pattern, len(found))
	}
	return found
}
