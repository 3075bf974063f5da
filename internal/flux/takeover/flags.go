package takeover

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// flag is an argument of a controller in a patch.
var flag = regexp.MustCompile(`--([a-z][a-z0-9-]*)(?:=([^\s"'\]}]+))?`)

// startFlags are flags that mean something here too, and hold from the start of this process only.
var startFlags = []string{"watch-label-selector", "insecure-kubeconfig-tls"}

// needless are flags about what is done otherwise here, or needs no care.
var needless = []string{
	"concurrent", "requeue-dependency", "interval-jitter-percentage", "min-retry-delay", "max-retry-delay", "helm-cache-max-size", "helm-cache-ttl",
	"helm-cache-purge-interval", "oom-watch-memory-threshold", "oom-watch-interval", "oom-watch-max-memory-path", "oom-watch-current-memory-path",
	"watch-configs-label-selector", "kube-api-qps", "kube-api-burst", "log-level", "log-encoding", "enable-leader-election", "storage-path",
	"storage-adv-addr", "events-addr", "watch-all-namespaces", "artifact-retention-ttl", "artifact-retention-records", "graceful-shutdown-timeout",
}

// needlessGates are feature gates about the same.
var needlessGates = []string{
	"OOMWatch", "DisableChartDigestTracking", "CacheSecretsAndConfigMaps", "CancelHealthCheckOnNewRevision", "AdditiveCELDependencyCheck",
	"DisableStatusPollerCache", "DisableConfigWatchers", "OptimizedGitClones", "GroupChangeLog",
}

// servedComponents are the controllers whose place is taken.
var servedComponents = []string{"source-controller", "kustomize-controller", "helm-controller", "source-watcher"}

// Wishes are what a declaration asks of the controllers.
type Wishes struct {
	// Policy is what has a meaning here, and can hold at once.
	Policy policies.Policy
	// held are the words for that, the others what else was requested.
	held, started, idle, ignored []string
}

func add(list *[]string, what string) {
	if !slices.Contains(*list, what) {
		*list = append(*list, what)
	}
}

// WishesOf reads the flags that are patched in, and the fields that stand for flags.
func WishesOf(spec fluxcdv1.FluxInstanceSpec) Wishes {
	var w Wishes
	if c := spec.Cluster; c != nil && c.Multitenant {
		w.Policy = policies.Policy{
			NoCrossNamespaceRefs: true, NoRemoteBases: true, DefaultServiceAccount: cmp.Or(c.TenantDefaultServiceAccount, "default"),
		}
		add(&w.held, "spec.cluster.multitenant")
	}
	if spec.Kustomize != nil {
		for _, p := range spec.Kustomize.Patches {
			for _, f := range flag.FindAllStringSubmatch(p.Patch, -1) {
				w.flag(f[0], f[1], f[2])
			}
		}
	}
	for _, component := range spec.Components {
		if !slices.Contains(servedComponents, component) {
			add(&w.ignored, component)
		}
	}
	if spec.Sharding != nil {
		add(&w.ignored, "spec.sharding")
	}
	return w
}

// flag takes one flag.
func (w *Wishes) flag(text, name, value string) {
	on := value == "" || value == "true"
	switch {
	case name == "no-cross-namespace-refs" && on:
		w.Policy.NoCrossNamespaceRefs = true
	case name == "no-remote-bases" && on:
		w.Policy.NoRemoteBases = true
	case name == "default-service-account" && value != "":
		w.Policy.DefaultServiceAccount = value
	case name == "sops-age-secret" && value != "":
		w.Policy.AgeSecret = value
	case name == "no-cross-namespace-refs", name == "no-remote-bases":
		add(&w.idle, text)
		return
	case name == "feature-gates":
		w.gates(value)
		return
	case slices.Contains(startFlags, name):
		add(&w.started, text)
		return
	case slices.Contains(needless, name):
		add(&w.idle, "--"+name)
		return
	default:
		add(&w.ignored, "--"+name)
		return
	}
	add(&w.held, text)
}

func (w *Wishes) gates(value string) {
	for _, gate := range strings.Split(value, ",") {
		name, setting, _ := strings.Cut(gate, "=")
		if name == "StrictPostBuildSubstitutions" && setting == "false" {
			w.Policy.LaxSubstitution = true
			add(&w.held, "gate "+name)
			continue
		}
		if slices.Contains(needlessGates, name) || setting == "false" {
			add(&w.idle, "gate "+name)
			continue
		}
		add(&w.ignored, "gate "+name)
	}
}

// words say what becomes of each; only the operator's wishes are in force.
func (w *Wishes) words(operator bool) string {
	held := "in effect: "
	if !operator {
		held = "not in effect, since the object is not in namespace " + toolkit.Namespace + ": "
	}
	return listed(held, w.held) + listed("in effect only as a flag of headgate: ", w.started) +
		listed("not needed: ", w.idle) + listed("not supported: ", w.ignored)
}

func listed(title string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; " + title + strings.Join(names, ", ")
}
