package plan

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/patterns"
)

// maxPattern bounds the patterns of policies, in bytes.
const maxPattern = 1024

// AutoPromotes reports whether the policies of a Project have a Stage promoted to without a request. The first policy that matches counts; without
// one, nothing is promoted automatically. A policy that cannot be evaluated is an error, and permits nothing: the ones after it might say
// otherwise than it does.
func AutoPromotes(policies []v1alpha1.PromotionPolicy, stage *v1alpha1.Stage) (bool, error) {
	for i, policy := range policies {
		matches, err := selects(policy, stage)
		if err != nil {
			return false, fmt.Errorf("spec.promotionPolicies[%d]: %w", i, err)
		}
		if matches {
			return policy.AutoPromotionEnabled, nil
		}
	}
	return false, nil
}

func selects(policy v1alpha1.PromotionPolicy, stage *v1alpha1.Stage) (bool, error) {
	if policy.StageSelector == nil {
		return policy.Stage == stage.Name, nil
	}
	selector := policy.StageSelector
	if selector.Name != "" {
		matches, err := matchesName(selector.Name, stage.Name)
		if err != nil || !matches {
			return false, err
		}
	}
	chosen, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: selector.MatchLabels, MatchExpressions: selector.MatchExpressions})
	if err != nil {
		return false, fmt.Errorf("reading the labels of stageSelector: %w", err)
	}
	return chosen.Matches(labels.Set(stage.Labels)), nil
}

// matchesName compares a name with a pattern, whose prefix says of what kind it is.
func matchesName(pattern, name string) (bool, error) {
	kind, text, prefixed := strings.Cut(pattern, ":")
	if !prefixed {
		return pattern == name, nil
	}
	if len(text) > maxPattern {
		return false, fmt.Errorf("the name of stageSelector is longer than %d bytes", maxPattern)
	}
	switch kind {
	case "glob":
		compiled, err := patterns.NewGlob(text)
		if err != nil {
			return false, fmt.Errorf("reading the name %q of stageSelector: %w", pattern, err)
		}
		return compiled.Match(name), nil
	case "regex", "regexp":
		compiled, err := patterns.Regexp(text)
		if err != nil {
			return false, fmt.Errorf("reading the name %q of stageSelector: %w", pattern, err)
		}
		return compiled.MatchString(name), nil
	default:
		return false, fmt.Errorf("the name %q of stageSelector has an unknown prefix: use glob: or regex:", pattern)
	}
}
