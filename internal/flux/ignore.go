package flux

import (
	"regexp"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/internal/engine"
)

// ignoreOf reads the rules by which a Kustomization leaves fields to others.
func ignoreOf(ks *kustomizev1.Kustomization) []engine.IgnoreRule {
	var rules []engine.IgnoreRule
	for _, rule := range ks.Spec.Ignore {
		rules = append(rules, engine.IgnoreRule{Paths: rule.Paths, Match: selectorMatch(rule.Target)})
	}
	return rules
}

// selectorMatch returns the test of a kustomize selector: names are anchored regular expressions,
// and what is left out matches everything.
func selectorMatch(s *kustomize.Selector) func(engine.ObjectView) bool {
	if s == nil {
		return func(engine.ObjectView) bool { return true }
	}
	labelsMatch, annotationsMatch := labelMatch(s.LabelSelector), labelMatch(s.AnnotationSelector)
	kind, name, namespace := anchored(s.Kind), anchored(s.Name), anchored(s.Namespace)
	return func(o engine.ObjectView) bool {
		return kind(o.GetKind()) && name(o.GetName()) && namespace(o.GetNamespace()) &&
			labelsMatch(o.GetLabels()) && annotationsMatch(o.GetAnnotations())
	}
}

func anchored(pattern string) func(string) bool {
	if pattern == "" {
		return func(string) bool { return true }
	}
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return func(s string) bool { return s == pattern }
	}
	return re.MatchString
}

func labelMatch(selector string) func(map[string]string) bool {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return func(map[string]string) bool { return false }
	}
	return func(m map[string]string) bool { return parsed.Matches(labels.Set(m)) }
}
