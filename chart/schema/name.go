package schema

import (
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// identify validates the name and the namespace of an object as its kind wants them.
func (w *walk) identify(object map[string]any, namespaced bool, apiVersion, kindName string) {
	metadata, _ := object["metadata"].(map[string]any)
	w.into("metadata")
	defer w.out()
	name, _ := metadata["name"].(string)
	prefix, _ := metadata["generateName"].(string)
	switch {
	case w.nameless(kindName, apiVersion):
	case metadata["name"] == nil && prefix == "" || metadata["name"] == "" && prefix == "":
		w.errorIn("name", RuleRequired, "is missing: a string")
	case name != "" && !w.unrendered(name):
		if want := w.nameOf(apiVersion, kindName).refuses(name, object); want != "" {
			w.errorIn("name", RuleName, "%q is not valid: %s", name, want)
		}
	}
	namespace, _ := metadata["namespace"].(string)
	switch {
	case namespace == "" || w.unrendered(namespace):
	case !namespaced:
		w.into("namespace")
		w.add(chart.SeverityWarning, RuleName, kindName+" is a kind without namespaces, and the API server ignores this one: leave it out")
		w.out()
	case !isLabel(namespace):
		w.errorIn("namespace", RuleName, "%q is not valid: %s", namespace, wantLabel)
	}
}

// nameless reports whether a kind is a question to the API server, which has no name.
func (w *walk) nameless(kindName, apiVersion string) bool {
	group, _ := splitVersion(apiVersion)
	return group == "authentication.k8s.io" || group == "authorization.k8s.io" || kindName == "Binding" && apiVersion == "v1"
}

// nameRule is what the names of a kind look like.
type nameRule int

const (
	subdomain nameRule = iota
	label
	label1035
	segment
	ofDefinition
	ofService
	short52
)

const (
	wantSubdomain = "a-z, 0-9, - and ., at most 253 characters, a letter or digit at both ends and around each dot"
	wantLabel     = "a-z, 0-9 and -, at most 63 characters, a letter or digit at both ends"
	want1035      = "a-z, 0-9 and -, at most 63 characters, a letter first, a letter or digit last"
	wantSegment   = "not . or .., and without / and %"
	wantLabelText = "A-Z, a-z, 0-9, -, _ and ., at most 63 characters, a letter or digit at both ends"
)

// nameOf is the rule of a kind.
func (w *walk) nameOf(apiVersion, kindName string) nameRule {
	group, _ := splitVersion(apiVersion)
	switch group + " " + kindName {
	case " Namespace", "batch Job":
		return label
	case " Service":
		return w.serviceName()
	case "batch CronJob":
		return short52
	case "apiextensions.k8s.io CustomResourceDefinition":
		return ofDefinition
	case "apiregistration.k8s.io APIService":
		return ofService
	case "certificates.k8s.io CertificateSigningRequest", "rbac.authorization.k8s.io Role", "rbac.authorization.k8s.io RoleBinding",
		"rbac.authorization.k8s.io ClusterRole", "rbac.authorization.k8s.io ClusterRoleBinding", "storage.k8s.io VolumeAttachment",
		"networking.k8s.io IPAddress", "policy PodDisruptionBudget", "storage.k8s.io CSIStorageCapacity":
		return segment
	}
	return subdomain
}

// serviceName is the rule of Services: from 1.36 on they may begin with a digit.
func (w *walk) serviceName() nameRule {
	if slices.Contains([]string{"1.33", "1.34", "1.35"}, w.release.version) {
		return label1035
	}
	return label
}

// refuses is what a name has to be, or "" for one that is.
func (r nameRule) refuses(name string, object map[string]any) string {
	spec, _ := object["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	switch {
	case r == segment && (name == "." || name == ".." || strings.ContainsAny(name, "/%")):
		return wantSegment
	case r == subdomain && !isSubdomain(name):
		return wantSubdomain
	case r == label && !isLabel(name):
		return wantLabel
	case r == label1035 && (!isLabel(name) || name[0] <= '9'):
		return want1035
	case r == short52 && (!isSubdomain(name) || len(name) > 52):
		return "as a subdomain, and at most 52 characters, since its Jobs have a suffix"
	case r == ofDefinition:
		names, _ := spec["names"].(map[string]any)
		plural, _ := names["plural"].(string)
		return mustBe(name, plural, group)
	case r == ofService:
		version, _ := spec["version"].(string)
		return mustBe(name, version, group)
	}
	return ""
}

// mustBe refuses another name than first.group.
func mustBe(name, first, group string) string {
	if want := first + "." + group; name != want && first != "" {
		return "it must be " + want
	}
	return ""
}

// isLabel reports whether a text is a name without dots, as RFC 1123 has it.
func isLabel(text string) bool { return len(text) <= 63 && isPart(text) }

// isSubdomain reports whether a text is names with dots between them.
func isSubdomain(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if !isPart(part) {
			return false
		}
	}
	return len(text) <= 253
}

func isPart(text string) bool {
	return len(text) > 0 && lettersAndDigits(text[0], false) && lettersAndDigits(text[len(text)-1], false) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r != '-' && (r > 'z' || !lettersAndDigits(byte(r), false)) })
}

// lettersAndDigits reports whether a byte is one, in lower case or in any.
func lettersAndDigits(b byte, anyCase bool) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || anyCase && b >= 'A' && b <= 'Z'
}
