// Package simulate makes stand-ins as values: definitions of kinds that are not installed, the statuses that
// make custom resources healthy, charts that cannot be fetched, and the Secrets that an external store would fill.
// It takes values and returns values; who puts stand-ins where, and when, is decided elsewhere.
package simulate

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Label marks every stand-in.
const Label = "headgate.dev/simulated"

// marker begins every value that stands for a secret one, and is the reason of every condition made here.
const marker = "simulated"

// Mark is the value which stands for a secret one. The same key makes the same value, which can be part of a host
// name and needs no quotes in a URL, in YAML or in a shell. Where the key is named after an address, a range of addresses, a port or a
// quantity, it is one: a server refuses anything else.
func Mark(key string) string {
	if value := shaped(key); value != "" {
		return value
	}
	safe := strings.Trim(strings.Map(plain, key), "-.")
	if safe == "" {
		return marker
	}
	return marker + "-" + safe
}

func plain(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r - 'A' + 'a'
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
		return r
	default:
		return '-'
	}
}

// ours are the groups whose kinds are served by this engine, or by similar ones: a simulated status would be
// mistaken for the outcome of real work.
var ours = map[string][]string{
	"kustomize.toolkit.fluxcd.io":    nil,
	"source.toolkit.fluxcd.io":       nil,
	"helm.toolkit.fluxcd.io":         nil,
	"notification.toolkit.fluxcd.io": nil,
	"image.toolkit.fluxcd.io":        nil,
	"source.extensions.fluxcd.io":    nil,
	"fluxcd.controlplane.io":         nil,
	"argoproj.io":                    {"Application", "ApplicationSet", "AppProject", "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"},
	"build.headgate.dev":             nil,
	"cluster.headgate.dev":           nil,
}

// builtin are the groups that the API server serves itself, or that a metrics server serves beside it.
var builtin = map[string]bool{
	"": true, "apps": true, "batch": true, "autoscaling": true, "extensions": true, "policy": true,
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true,
	"authentication.k8s.io": true, "authorization.k8s.io": true, "certificates.k8s.io": true,
	"coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true,
	"flowcontrol.apiserver.k8s.io": true, "internal.apiserver.k8s.io": true, "networking.k8s.io": true,
	"node.k8s.io": true, "rbac.authorization.k8s.io": true, "resource.k8s.io": true, "scheduling.k8s.io": true,
	"storage.k8s.io": true, "storagemigration.k8s.io": true,
	"metrics.k8s.io": true, "custom.metrics.k8s.io": true, "external.metrics.k8s.io": true,
}

// isReal reports that the status of a kind records actions, and is never simulated.
func isReal(gk schema.GroupKind) bool {
	kinds, group := ours[gk.Group]
	if !group {
		return builtin[gk.Group]
	}
	if kinds == nil {
		return true
	}
	for _, kind := range kinds {
		if kind == gk.Kind {
			return true
		}
	}
	return false
}
