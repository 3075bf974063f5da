package laws

import (
	"strconv"
	"strings"
	"testing"
)

// ownWords are the files of the command line that name a dialect, with the reason. All others ask the catalogue.
var ownWords = map[string]string{
	"internal/cli/inspect/health.go":          "the command evaluates objects by the health checks of Argo CD",
	"internal/cli/inspect/health_settings.go": "the settings that the command reads are those of Argo CD",
	"internal/cli/boot/migrate.go":            "the command takes over from the controllers of one upstream",
	"internal/cli/console/policyflags.go":     "flags with the names of those of Flux",
	"internal/cli/boot/serving.go":            "flags for one dialect: --insecure-kubeconfig-tls, --argo-namespace and --executor-image",
	"internal/cli/boot/localexec.go":          "the flag permits the dialect of workflows to run processes",
	"internal/cli/boot/simulation.go":         "the stand-ins of a simulation are made by the dialect of Flux",
	"internal/cli/boot/planes.go":             "the control planes beside the embedded one are those of VirtualClusters",
	"internal/cli/boot/root.go":               "what up begins with is a source and a Kustomization of Flux",
	"internal/cli/boot/remote.go":             "what up begins with is a source of Flux, of a repository that is somewhere else",
	"internal/cli/causes/causes.go":           "a message that lacks the key says so by the Secret that up stores it in",
	"internal/cli/inspect/workingcopy.go":     "the source that up makes says which directory it serves",
}

// ownRooms are the rooms of the command line whose commands are about the kinds of one dialect, with the rooms that they may name.
var ownRooms = map[string]string{
	"internal/cli/flow": "internal/workflow",
}

// TestVerbs keeps commands from knowing a dialect.
func TestVerbs(t *testing.T) {
	unused := map[string]bool{}
	for file := range ownWords {
		unused[file] = true
	}
	for _, f := range sources(t) {
		path := strings.TrimPrefix(f.path, "../../")
		if f.room != "internal/cli" && !strings.HasPrefix(f.room, "internal/cli/") || f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to := strings.TrimPrefix(name, module)
			if own := ownRooms[f.room]; !ofDialect(to) || own != "" && (to == own || strings.HasPrefix(to, own+"/") || to == "api/argoproj/workflow/v1alpha1") {
				continue
			}
			delete(unused, path)
			if ownWords[path] == "" {
				t.Errorf("%s: it imports %s; commands ask the catalogue of internal/dialect", path, name)
			}
		}
	}
	for file := range unused {
		t.Errorf("%s imports no dialect: the law needs no line for it", file)
	}
}

// ofDialect reports whether a room is one of a dialect.
func ofDialect(room string) bool {
	for _, of := range []string{"internal/flux", "internal/argo", "internal/health/argocd", "internal/workflow", "internal/builds", "internal/virtual", "api"} {
		if room == of || strings.HasPrefix(room, of+"/") {
			return true
		}
	}
	return false
}
