package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/similar"
)

// removal is when Kubernetes removed a kind from a version of an API, and where it is since; no successor is a kind that is gone.
type removal struct{ since, successor string }

// removed has the kinds that releases before the embedded ones served: "apiVersion kind", or "apiVersion" for all of its kinds.
var removed = map[string]removal{
	"extensions/v1beta1 DaemonSet":         {"1.16", "apps/v1"},
	"extensions/v1beta1 Deployment":        {"1.16", "apps/v1"},
	"extensions/v1beta1 ReplicaSet":        {"1.16", "apps/v1"},
	"extensions/v1beta1 NetworkPolicy":     {"1.16", "networking.k8s.io/v1"},
	"extensions/v1beta1 PodSecurityPolicy": {"1.16", ""},
	"extensions/v1beta1 Ingress":           {"1.22", "networking.k8s.io/v1"},
	"apps/v1beta1":                         {"1.16", "apps/v1"},
	"apps/v1beta2":                         {"1.16", "apps/v1"},

	"admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration":   {"1.22", "admissionregistration.k8s.io/v1"},
	"admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration": {"1.22", "admissionregistration.k8s.io/v1"},
	"apiextensions.k8s.io/v1beta1":                                        {"1.22", "apiextensions.k8s.io/v1"},
	"apiregistration.k8s.io/v1beta1":                                      {"1.22", "apiregistration.k8s.io/v1"},
	"authentication.k8s.io/v1beta1 TokenReview":                           {"1.22", "authentication.k8s.io/v1"},
	"authorization.k8s.io/v1beta1":                                        {"1.22", "authorization.k8s.io/v1"},
	"certificates.k8s.io/v1beta1 CertificateSigningRequest":               {"1.22", "certificates.k8s.io/v1"},
	"coordination.k8s.io/v1beta1 Lease":                                   {"1.22", "coordination.k8s.io/v1"},
	"networking.k8s.io/v1beta1 Ingress":                                   {"1.22", "networking.k8s.io/v1"},
	"networking.k8s.io/v1beta1 IngressClass":                              {"1.22", "networking.k8s.io/v1"},
	"rbac.authorization.k8s.io/v1alpha1":                                  {"1.22", "rbac.authorization.k8s.io/v1"},
	"rbac.authorization.k8s.io/v1beta1":                                   {"1.22", "rbac.authorization.k8s.io/v1"},
	"scheduling.k8s.io/v1beta1 PriorityClass":                             {"1.22", "scheduling.k8s.io/v1"},
	"storage.k8s.io/v1beta1 CSIDriver":                                    {"1.22", "storage.k8s.io/v1"},
	"storage.k8s.io/v1beta1 CSINode":                                      {"1.22", "storage.k8s.io/v1"},
	"storage.k8s.io/v1beta1 StorageClass":                                 {"1.22", "storage.k8s.io/v1"},
	"storage.k8s.io/v1beta1 VolumeAttachment":                             {"1.22", "storage.k8s.io/v1"},

	"batch/v1beta1 CronJob":                       {"1.25", "batch/v1"},
	"batch/v2alpha1 CronJob":                      {"1.21", "batch/v1"},
	"discovery.k8s.io/v1beta1 EndpointSlice":      {"1.25", "discovery.k8s.io/v1"},
	"events.k8s.io/v1beta1 Event":                 {"1.25", "events.k8s.io/v1"},
	"autoscaling/v2beta1 HorizontalPodAutoscaler": {"1.25", "autoscaling/v2"},
	"autoscaling/v2beta2 HorizontalPodAutoscaler": {"1.26", "autoscaling/v2"},
	"policy/v1beta1 PodDisruptionBudget":          {"1.25", "policy/v1"},
	"policy/v1beta1 PodSecurityPolicy":            {"1.25", ""},
	"node.k8s.io/v1beta1 RuntimeClass":            {"1.25", "node.k8s.io/v1"},
	"storage.k8s.io/v1beta1 CSIStorageCapacity":   {"1.27", "storage.k8s.io/v1"},
	"flowcontrol.apiserver.k8s.io/v1alpha1":       {"1.24", "flowcontrol.apiserver.k8s.io/v1"},
	"flowcontrol.apiserver.k8s.io/v1beta1":        {"1.26", "flowcontrol.apiserver.k8s.io/v1"},
	"flowcontrol.apiserver.k8s.io/v1beta2":        {"1.29", "flowcontrol.apiserver.k8s.io/v1"},
	"flowcontrol.apiserver.k8s.io/v1beta3":        {"1.32", "flowcontrol.apiserver.k8s.io/v1"},
}

// unserved reports an object whose kind has no schema in this release.
func (w *walk) unserved(apiVersion, kindName string) {
	gone, was := removed[apiVersion+" "+kindName]
	if !was && w.servedIn(w.release, kindName, nil) != "" {
		gone, was = removed[apiVersion]
	}
	group, _ := splitVersion(apiVersion)
	switch {
	case was && gone.successor != "":
		w.errorIn("apiVersion", RuleRemoved, "Kubernetes %s removed %s from %s; use %s", gone.since, kindName, apiVersion, gone.successor)
	case was:
		w.errorIn("apiVersion", RuleRemoved, "Kubernetes %s removed %s, without a successor", gone.since, kindName)
	case w.otherRelease(apiVersion, kindName):
	case w.builtin(group) || !strings.Contains(group, "."):
		w.unknownKind(apiVersion, kindName)
	case w.customGroup(group):
		w.unknownCustom(apiVersion, kindName)
	case w.misspelledGroup(apiVersion, kindName):
	default:
		w.withoutSchema(apiVersion, kindName)
	}
}

// otherRelease reports a kind that other releases of Kubernetes serve.
func (w *walk) otherRelease(apiVersion, kindName string) bool {
	var in []string
	for _, r := range w.all.each {
		if r.kinds[apiVersion+" "+kindName] != nil {
			in = append(in, r.version)
		}
	}
	if len(in) == 0 {
		return false
	}
	message := fmt.Sprintf("Kubernetes %s does not serve %s in %s, but %s", w.release.version, kindName, apiVersion, either(len(in) == 1, in[0]+" does", strings.Join(in, ", ")+" do"))
	if other := w.servedIn(w.release, kindName, func(version string) bool { return sameGroup(version, apiVersion) }); other != "" {
		message += "; use " + other
	}
	w.errorIn("apiVersion", RuleRemoved, "%s", message)
	return true
}

// unknownKind reports a kind that a group of Kubernetes has not.
func (w *walk) unknownKind(apiVersion, kindName string) {
	if others := w.servedIn(w.release, kindName, nil); others != "" {
		w.errorIn("apiVersion", RuleUnknownKind, "Kubernetes serves %s in %s, not in %s", kindName, others, apiVersion)
		return
	}
	var kinds []string
	for _, key := range slices.Sorted(maps.Keys(w.release.kinds)) {
		if k := w.release.kinds[key]; !slices.Contains(kinds, k.name) {
			kinds = append(kinds, k.name)
		}
	}
	message := fmt.Sprintf("Kubernetes %s has no kind %s in %s", w.release.version, kindName, apiVersion)
	if near := similar.Closest(kindName, kinds); near != "" {
		message += fmt.Sprintf("; did you mean %s in %s?", near, w.servedIn(w.release, near, nil))
	}
	w.errorIn("kind", RuleUnknownKind, "%s", message)
}

// misspelledGroup reports a kind of Kubernetes in a group that is almost one of its own.
func (w *walk) misspelledGroup(apiVersion, kindName string) bool {
	group, _ := splitVersion(apiVersion)
	served := w.servedIn(w.release, kindName, func(version string) bool {
		known, _ := splitVersion(version)
		limit := min(3, len(known)/4)
		return similar.Edits(group, known, limit) <= limit
	})
	if served != "" {
		w.errorIn("apiVersion", RuleUnknownKind, "Kubernetes serves %s in %s, not in %s", kindName, served, apiVersion)
	}
	return served != ""
}

func (w *walk) withoutSchema(apiVersion, kindName string) {
	severity, counts := map[Missing]chart.Severity{
		MissingInfo: chart.SeverityInfo, MissingWarning: chart.SeverityWarning, MissingError: chart.SeverityError,
	}[w.check.Missing]
	if counts {
		w.into("kind")
		w.add(severity, RuleNoSchema, fmt.Sprintf("%s of %s was not validated: no CustomResourceDefinition of it is among the objects", kindName, apiVersion))
		w.out()
	}
}

// builtin reports whether a group is Kubernetes' own, of any release.
func (w *walk) builtin(group string) bool {
	for _, r := range w.all.each {
		for _, k := range r.kinds {
			if own, _ := splitVersion(k.apiVersion); own == group {
				return true
			}
		}
	}
	return false
}

// servedIn are the apiVersions in which a release serves a kind, stable ones first, of those that count.
func (w *walk) servedIn(r *release, kindName string, counts func(apiVersion string) bool) string {
	var found []string
	for _, k := range r.kinds {
		if k.name == kindName && (counts == nil || counts(k.apiVersion)) {
			found = append(found, k.apiVersion)
		}
	}
	slices.SortFunc(found, byStability)
	return strings.Join(found, " or ")
}

// byStability puts v2 before v1, and those before betas and alphas.
func byStability(a, b string) int {
	rank := func(version string) int {
		switch {
		case strings.Contains(version, "alpha"):
			return 2
		case strings.Contains(version, "beta"):
			return 1
		}
		return 0
	}
	if rank(a) != rank(b) {
		return rank(a) - rank(b)
	}
	return strings.Compare(b, a)
}
