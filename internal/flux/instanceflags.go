package flux

import (
	"regexp"
	"slices"
	"strings"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
)

// flag is an argument of a controller in a patch.
var flag = regexp.MustCompile(`--([a-z][a-z0-9-]*)(?:=([^\s"'\]]+))?`)

// heldByUp are flags that mean something here too, and hold when this process is started with them.
var heldByUp = []string{
	"no-cross-namespace-refs", "no-remote-bases", "default-service-account", "sops-age-secret", "watch-label-selector",
	"insecure-kubeconfig-tls",
}

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

// remarks say which parts of a declaration have no effect.
func remarks(spec fluxcdv1.FluxInstanceSpec) string {
	var held, idle, ignored []string
	add := func(list *[]string, what string) {
		if !slices.Contains(*list, what) {
			*list = append(*list, what)
		}
	}
	if spec.Kustomize != nil {
		for _, p := range spec.Kustomize.Patches {
			for _, f := range flag.FindAllStringSubmatch(p.Patch, -1) {
				name, value := f[1], f[2]
				gate, setting, _ := strings.Cut(value, "=")
				switch {
				case slices.Contains(heldByUp, name):
					add(&held, f[0])
				case name == "feature-gates" && (slices.Contains(needlessGates, gate) || setting == "false"):
					add(&idle, "gate "+gate)
				case name == "feature-gates":
					add(&ignored, "gate "+gate)
				case slices.Contains(needless, name):
					add(&idle, "--"+name)
				default:
					add(&ignored, "--"+name)
				}
			}
		}
	}
	for _, component := range spec.Components {
		if !slices.Contains(servedComponents, component) {
			add(&ignored, component)
		}
	}
	if spec.Cluster != nil && spec.Cluster.Multitenant {
		add(&held, "--no-cross-namespace-refs")
		add(&held, "--no-remote-bases")
		add(&held, "--default-service-account="+orDefault(spec.Cluster.TenantDefaultServiceAccount, "default"))
	}
	if spec.Sharding != nil {
		add(&ignored, "spec.sharding")
	}
	return listed("not in force unless headgate is started with them: ", held) + listed("not needed: ", idle) + listed("not supported: ", ignored)
}

func listed(title string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; " + title + strings.Join(names, ", ")
}
