package kustomize

import (
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/patterns"
)

// ignoreOf reads the fields that a Kustomization leaves to others. An error names the field that
// cannot be read.
func ignoreOf(ks *kustomizev1.Kustomization) ([]engine.IgnoreRule, error) {
	var rules []engine.IgnoreRule
	for i, rule := range ks.Spec.Ignore {
		one, err := ignoreRule(fmt.Sprintf("spec.ignore[%d]", i), rule.Paths, rule.Target)
		if err != nil {
			return nil, err
		}
		rules = append(rules, one)
	}
	return rules, nil
}

// IgnoredDrift reads the fields that a HelmRelease leaves to others.
func IgnoredDrift(hr *helmv2.HelmRelease) ([]engine.IgnoreRule, error) {
	var rules []engine.IgnoreRule
	for i, rule := range hr.GetDriftDetection().Ignore {
		one, err := ignoreRule(fmt.Sprintf("spec.driftDetection.ignore[%d]", i), rule.Paths, rule.Target)
		if err != nil {
			return nil, err
		}
		rules = append(rules, one)
	}
	return rules, nil
}

func ignoreRule(field string, paths []string, target *kustomize.Selector) (engine.IgnoreRule, error) {
	pointers := make([]engine.Pointer, len(paths))
	for j, text := range paths {
		pointer, err := engine.ParsePointer(text)
		if err != nil {
			return engine.IgnoreRule{}, fmt.Errorf("%s.paths[%d]: %w", field, j, err)
		}
		pointers[j] = pointer
	}
	match, err := selectorMatch(target)
	if err != nil {
		return engine.IgnoreRule{}, fmt.Errorf("%s.target.%w", field, err)
	}
	return engine.IgnoreRule{Paths: pointers, Match: match}, nil
}

// selectorMatch returns the test of a kustomize selector: names are anchored regular expressions,
// and what is left out matches everything.
func selectorMatch(s *kustomize.Selector) (func(engine.ObjectView) bool, error) {
	if s == nil {
		return func(engine.ObjectView) bool { return true }, nil
	}
	fields := []struct {
		field, text string
		of          func(engine.ObjectView) string
	}{
		{"group", s.Group, func(o engine.ObjectView) string { return o.GroupVersionKind().Group }},
		{"version", s.Version, func(o engine.ObjectView) string { return o.GroupVersionKind().Version }},
		{"kind", s.Kind, func(o engine.ObjectView) string { return o.GroupVersionKind().Kind }},
		{"name", s.Name, engine.ObjectView.GetName},
		{"namespace", s.Namespace, engine.ObjectView.GetNamespace},
	}
	var tests []func(engine.ObjectView) bool
	for _, p := range fields {
		if p.text == "" {
			continue
		}
		re, err := patterns.Regexp("^(?:" + p.text + ")$")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.field, err)
		}
		tests = append(tests, func(o engine.ObjectView) bool { return re.MatchString(p.of(o)) })
	}
	onLabels, err := labels.Parse(s.LabelSelector)
	if err != nil {
		return nil, fmt.Errorf("labelSelector: %w", err)
	}
	onAnnotations, err := labels.Parse(s.AnnotationSelector)
	if err != nil {
		return nil, fmt.Errorf("annotationSelector: %w", err)
	}
	tests = append(tests, func(o engine.ObjectView) bool {
		return onLabels.Matches(labels.Set(o.GetLabels())) && onAnnotations.Matches(labels.Set(o.GetAnnotations()))
	})
	return func(o engine.ObjectView) bool {
		for _, test := range tests {
			if !test(o) {
				return false
			}
		}
		return true
	}, nil
}
