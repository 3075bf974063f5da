package settings

import "strings"

// known is a key, or with a dot at its end the beginning of keys, that is known upstream.
type known struct {
	key     string
	concern Concern
}

// classify says of keys that are known that they are not acted on. The first that fits holds.
func (r *reader) classify(all []known) {
	for _, key := range r.sorted() {
		for _, k := range all {
			if key == k.key || strings.HasSuffix(k.key, ".") && strings.HasPrefix(key, k.key) {
				r.name(key, k.concern)
				break
			}
		}
	}
}

// unservedConfig are the keys of argocd-cm that are not acted on.
func unservedConfig() []known {
	return []known{
		{"resource.customLabels", ConcernServer},
		{"resource.includeEventLabelKeys", ConcernEngine},
		{"resource.excludeEventLabelKeys", ConcernEngine},
		{"resource.sensitive.mask.annotations", ConcernServer},
		{"resource.links", ConcernServer},
		{"sourceHydrator.", ConcernEngine},
		{"commit.author.", ConcernEngine},
		{"application.sync.requireOverridePrivilegeForRevisionSync", ConcernServer},
		{"application.allowedNodeLabels", ConcernServer},
		{"application.links", ConcernServer},
		{"project.links", ConcernServer},
		{"url", ConcernServer},
		{"additionalUrls", ConcernServer},
		{"dex.config", ConcernServer},
		{"oidc.", ConcernServer},
		{"accounts.", ConcernServer},
		{"admin.enabled", ConcernServer},
		{"users.", ConcernServer},
		{"passwordPattern", ConcernServer},
		{"statusbadge.", ConcernServer},
		{"ga.", ConcernServer},
		{"help.", ConcernServer},
		{"ui.", ConcernServer},
		{"exec.", ConcernServer},
		{"server.", ConcernServer},
		{"extension.config", ConcernServer},
		{"extension.config.", ConcernServer},
	}
}

// unservedParams are the keys of argocd-cmd-params-cm that are not acted on: most of them tune processes.
func unservedParams() []known {
	return []known{
		{"hydrator.enabled", ConcernEngine},
		{"controller.sync.wave.delay.seconds", ConcernEngine},
		{"reposerver.max.combined.directory.manifests.size", ConcernEngine},
		{"reposerver.oci.", ConcernEngine},
		{"reposerver.plugin.", ConcernEngine},
		{"reposerver.", ConcernProcess},
		{"controller.", ConcernProcess},
		{"applicationsetcontroller.", ConcernProcess},
		{"notificationscontroller.", ConcernServer},
		{"server.", ConcernServer},
		{"dexserver.", ConcernServer},
		{"commitserver.", ConcernProcess},
		{"commit.server", ConcernProcess},
		{"repo.server", ConcernProcess},
		{"redis.", ConcernProcess},
		{"otlp.", ConcernProcess},
		{"log.", ConcernProcess},
	}
}
