package settings

import "strings"

// config reads argocd-cm.
func (r *reader) config() {
	s := r.settings
	method := string(s.Tracking.Method)
	r.choice("application.resourceTrackingMethod", &method, string(TrackAnnotation), string(TrackLabel), string(TrackAnnotationAndLabel))
	s.Tracking.Method = TrackingMethod(method)
	r.text("application.instanceLabelKey", &s.Tracking.LabelKey)
	r.text("installationID", &s.Tracking.InstallationID)
	r.filter("resource.exclusions", &s.Resources.Exclusions)
	r.filter("resource.inclusions", &s.Resources.Inclusions)
	r.customizations()
	r.compare()
	r.flag("resource.ignoreResourceUpdatesEnabled", &s.IgnoreUpdates)
	r.choice("resource.respectRBAC", &s.RespectRBAC, "normal", "strict")
	r.duration("timeout.reconciliation", &s.Reconciliation.Every)
	r.duration("timeout.reconciliation.jitter", &s.Reconciliation.Jitter)
	r.duration("timeout.hard.reconciliation", &s.Reconciliation.Hard)
	r.flag("kustomize.enable", &s.Kustomize.Enabled)
	r.kustomize()
	r.flag("helm.enable", &s.Helm.Enabled)
	r.schemes()
	r.flag("jsonnet.enable", &s.Jsonnet)
	r.flag("cluster.inClusterEnabled", &s.InCluster)
	r.flag("application.sync.impersonation.enabled", &s.Impersonation.Enabled)
	r.flag("application.sync.impersonation.enforced", &s.Impersonation.Enforced)
	r.document("globalProjects", &s.GlobalProjects)
	r.duration("webhook.refresh.jitter", &s.Webhook.Jitter)
	r.number("webhook.refresh.jitter.threshold", &s.Webhook.JitterThreshold)
	r.number("webhook.maxPayloadSizeMB", &s.Webhook.MaxPayloadMB)
	r.classify(unservedConfig())
	r.unknown()
}

// compare reads the options of comparisons.
func (r *reader) compare() {
	const key = "resource.compareoptions"
	c := &r.settings.Compare
	// The field may be written off or false, without quotes.
	options := struct {
		IgnoreAggregatedRoles              *bool `json:"ignoreAggregatedRoles"`
		IgnoreResourceStatusField          any   `json:"ignoreResourceStatusField"`
		IgnoreDifferencesOnResourceUpdates *bool `json:"ignoreDifferencesOnResourceUpdates"`
	}{}
	if !r.document(key, &options) {
		return
	}
	if options.IgnoreAggregatedRoles != nil {
		c.IgnoreAggregatedRoles = *options.IgnoreAggregatedRoles
	}
	if options.IgnoreDifferencesOnResourceUpdates != nil {
		c.IgnoreDifferencesOnUpdates = *options.IgnoreDifferencesOnResourceUpdates
	}
	switch options.IgnoreResourceStatusField {
	case nil, "", "all":
		c.IgnoreStatus = IgnoreStatusOfAll
	case "crd":
		c.IgnoreStatus = IgnoreStatusOfDefinitions
	case "none", "off", "false", false:
		c.IgnoreStatus = IgnoreStatusOfNone
	default:
		r.bad(key, "has an ignoreResourceStatusField that is not one of all, crd, none")
	}
}

// schemes reads those of files of values; an empty list permits none.
func (r *reader) schemes() {
	const key = "helm.valuesFileSchemes"
	if value, there := r.data[key]; there {
		delete(r.left, key)
		r.settings.Helm.ValuesFileSchemes = split(value)
	}
}

// kustomize reads build options, and the further builds, which are programs that are not run here.
func (r *reader) kustomize() {
	k := &r.settings.Kustomize
	r.text("kustomize.buildOptions", &k.BuildOptions)
	for _, key := range r.sorted() {
		for _, prefix := range []string{"kustomize.path.", "kustomize.version.", "kustomize.buildOptions."} {
			name, ok := strings.CutPrefix(key, prefix)
			if !ok || name == "" {
				continue
			}
			version := k.Versions[name]
			if prefix == "kustomize.buildOptions." {
				version.BuildOptions, _ = r.take(key)
			} else {
				version.Path, _ = r.take(key)
			}
			k.Versions[name] = version
			r.name(key, ConcernEngine)
		}
	}
}
