package receive

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/expressions"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// Selects returns the Warehouses that a request has refreshed by the actions of a generic receiver. paths are those of the receivers of the Project.
func (r Receiver) Selects(d webhook.Delivery, all []*v1alpha1.Warehouse, paths []string, now time.Time) ([]*v1alpha1.Warehouse, error) {
	if r.declared.Generic == nil {
		return nil, nil
	}
	env, err := environment(d)
	if err != nil {
		return nil, err
	}
	var found []*v1alpha1.Warehouse
	for i, action := range r.declared.Generic.Actions {
		field := fmt.Sprintf("actions[%d]", i)
		if action.WhenExpression != "" {
			value, err := expressions.Bare(action.WhenExpression, env, now)
			if err != nil {
				return nil, fmt.Errorf("%s.whenExpression: %w", field, err)
			}
			is, isBool := value.(bool)
			if !isBool {
				return nil, fmt.Errorf("%s.whenExpression: it gives a %T, and has to give true or false", field, value)
			}
			if !is {
				continue
			}
		}
		for j, target := range action.TargetSelectionCriteria {
			selected, err := selects(target, all, paths, env, now)
			if err != nil {
				return nil, fmt.Errorf("%s.targetSelectionCriteria[%d]%w", field, j, err)
			}
			found = append(found, selected...)
		}
	}
	return found, nil
}

// selects are the Warehouses that fulfil everything that is set of a target.
func selects(target v1alpha1.GenericTarget, all []*v1alpha1.Warehouse, paths []string, env map[string]any, now time.Time) ([]*v1alpha1.Warehouse, error) {
	name, err := text(target.Name, env, now)
	if err != nil {
		return nil, fmt.Errorf(".name: %w", err)
	}
	by, err := metav1.LabelSelectorAsSelector(&target.LabelSelector)
	if err != nil {
		return nil, fmt.Errorf(".labelSelector: %w", err)
	}
	var found []*v1alpha1.Warehouse
	for _, w := range all {
		if name != "" && w.Name != name || !by.Matches(labels.Set(w.Labels)) {
			continue
		}
		fits := true
		for k, index := range target.IndexSelector.MatchIndices {
			value, err := text(index.Value, env, now)
			if err != nil {
				return nil, fmt.Errorf(".indexSelector.matchIndices[%d].value: %w", k, err)
			}
			fits = fits && matchesIndex(index, value, w, paths)
		}
		if fits {
			found = append(found, w)
		}
	}
	return found, nil
}

func matchesIndex(index v1alpha1.IndexRequirement, value string, w *v1alpha1.Warehouse, paths []string) bool {
	has := slices.Contains(paths, value)
	if index.Key == "subscribedURLs" {
		pushed := Pushed{Git: []string{value}, Images: []string{value, strings.TrimPrefix(value, "oci://")}}
		has = slices.ContainsFunc(w.Spec.Subscriptions, func(s v1alpha1.RepoSubscription) bool {
			return pushed.Matches(s) || s.Chart != nil && s.Chart.RepoURL == value
		})
	}
	return has == (index.Operator != "NotEquals")
}

// text is what a template gives.
func text(template string, env map[string]any, now time.Time) (string, error) {
	if !strings.Contains(template, "${") {
		return template, nil
	}
	value, err := expressions.Template(template, env, now)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(value), nil
}

// environment is what expressions of a generic receiver see.
func environment(d webhook.Delivery) (map[string]any, error) {
	fields, err := d.Payload()
	if err != nil {
		return nil, err
	}
	normalize := func(by func(string) string) any {
		return func(arguments ...any) (any, error) {
			if len(arguments) != 1 {
				return nil, errUnread
			}
			address, is := arguments[0].(string)
			if !is {
				return nil, errUnread
			}
			return by(address), nil
		}
	}
	header := func(arguments ...any) (any, error) {
		if len(arguments) != 1 {
			return nil, errUnread
		}
		return d.Header().Get(fmt.Sprint(arguments[0])), nil
	}
	headers := func(arguments ...any) (any, error) {
		if len(arguments) != 1 {
			return nil, errUnread
		}
		var all []any
		for _, one := range d.Header().Values(fmt.Sprint(arguments[0])) {
			all = append(all, one)
		}
		return all, nil
	}
	return map[string]any{
		"request":      map[string]any{"header": header, "headers": headers, "method": "POST", "body": fields},
		"normalizeGit": normalize(plan.NormalizeGit), "normalizeImage": normalize(plan.NormalizeImage), "normalizeChart": normalize(plan.NormalizeChart),
	}, nil
}
