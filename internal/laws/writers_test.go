package laws

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// writers are the rooms and files that may write to a cluster with a client of their own, and what they write. Objects of
// units are written and deleted by internal/apply alone, and by the Helm SDK for releases.
var writers = map[string]string{
	"internal/apply":                  "objects of units",
	"internal/declared":               "statuses and finalizers of the objects that declare",
	"internal/helm":                   "objects of releases and the definitions of charts, as the SDK does",
	"internal/installation":           "the installation of Headgate",
	"internal/migration":              "the controllers of upstreams, and the record of what was paused",
	"internal/flux/standins":          "stand-ins, which only an embedded cluster has",
	"internal/controlplane":           "nodes and the status of pods that the embedded cluster simulates",
	"internal/provision/digitalocean": "objects of DigitalOcean, and nothing of a cluster",

	"internal/workflow/execute/here": "objects of resource templates, with the rights of the account of the template",

	"internal/workflow/carryout.go": "claims of Workflows, and Workflows that have been kept for as long as they say",
	"internal/workflow/schedule.go": "runs of CronWorkflows",

	"internal/bootstrap/bootstrap.go":      "the Secret of the root's login",
	"internal/cli/console/objects.go":      "what a person asks for: spec.suspend, requests of passes and of operations, by the changes that dialects name",
	"internal/cli/console/versions.go":     "the same, by a version that the cluster serves",
	"internal/cli/flow/write.go":           "Workflows that a person submits, and what is requested of them",
	"internal/cli/boot/forge.go":           "the Secret with what the embedded Git server keeps: a password and a key",
	"internal/cli/boot/login.go":           "the login of a simulated cloud, and configurations that use it",
	"internal/cli/inspect/diff.go":         "dry runs",
	"internal/argo/sets/write.go":          "Applications of an ApplicationSet",
	"internal/argo/sets/rollout.go":        "requests to sync them, step by step",
	"internal/flux/generators/outputs.go":  "ExternalArtifacts of an ArtifactGenerator",
	"internal/flux/release/charts.go":      "HelmCharts of HelmReleases",
	"internal/builds/write.go":             "runs, images and Secrets of a Build, as its account",
	"internal/promote/commands/promote.go": "Promotions that a person asks for, and what a person approves",
	"internal/promote/write.go":            "namespaces of Projects, Freight, Promotions, requests to sync Applications that authorize a Stage, AnalysisRuns with their Jobs and Workflows",
	"internal/secrets/write.go":            "Secrets that ExternalSecrets declare",
	"internal/secrets/spread.go":           "ExternalSecrets of ClusterExternalSecrets",
	"internal/virtual/write.go":            "Secrets with the credentials of VirtualClusters, and copies of Secrets in these",
	"internal/flux/receivers/ask.go":       "requests to reconcile, as a Receiver asks for them",

	"internal/provision/managed/connection.go":    "connection Secrets of managed resources, which belong to them",
	"internal/provision/managed/configuration.go": "records of who uses a provider configuration",
	"internal/provision/objects/external.go":      "the object in the manifest of an Object, as the account of its configuration",
	"internal/provision/objects/references.go":    "finalizers of an Object on what it refers to",

	"internal/idp/deploy/write.go":        "Applications and ApplicationSets of packages, as the person asks for it who starts the engine, and the login of the Git server",
	"internal/idp/deploy/paint.go":        "objects of idpbuilder's kinds, which show packages and are never read",
	"internal/host/install.go":            "definitions of the kinds that are served, and namespaces of the engine",
	"internal/flux/roots/accounts.go":     "accounts of an installation of Flux in an embedded cluster",
	"internal/flux/roots/roots.go":        "the root, as the person asks for it who starts the engine",
	"internal/flux/takeover/instances.go": "the source and the Kustomization of a sync, with the rights of what declares it",

	"internal/workflow/execute/pods": "pods of workflows",
}

// verbs write when they are called on a client.
var verbs = []string{"Create", "Update", "UpdateStatus", "Patch", "Delete", "DeleteCollection", "Apply", "ApplyStatus"}

// through are receivers that are no clients: what they write passes through the room of their type.
var through = []string{"applier", "writer", "installation", "apply", "external", "backing"}

func TestWriters(t *testing.T) {
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.test || !strings.HasPrefix(f.room, "internal/") {
			continue
		}
		path := strings.TrimPrefix(f.path, "../../")
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !writes(call) {
				return true
			}
			switch {
			case writers[f.room] != "":
				used[f.room] = true
			case writers[path] != "":
				used[path] = true
			default:
				t.Errorf("%s: it writes to a cluster with a client of its own; objects of units pass internal/apply, and anything else is named in this law", path)
			}
			return true
		})
	}
	for name := range writers {
		if !used[name] {
			t.Errorf("%s writes nothing any more: the law needs no line for it", name)
		}
	}
}

// writes reports whether a call is that of a client that writes.
func writes(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if ok && method.Sel.Name == "Put" && lastName(method.X) == "apply" {
		// It writes with the client that it is given.
		return true
	}
	if !ok || !slices.Contains(verbs, method.Sel.Name) || len(call.Args) < 2 {
		return false
	}
	if first, is := call.Args[0].(*ast.Ident); !is || first.Name != "ctx" {
		return false
	}
	return !slices.Contains(through, strings.ToLower(lastName(method.X)))
}

// lastName is the last name of an expression: that of a field, of a variable or of what is called.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.CallExpr:
		return lastName(e.Fun)
	default:
		return ""
	}
}
