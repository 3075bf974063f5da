package cron

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// variables are the values that expressions of a schedule may name.
func (p *pass) variables() map[string]any { return map[string]any{"cronworkflow": p.fields()} }

func (p *pass) fields() map[string]any {
	var last any
	if at := p.cron.Status.LastScheduledTime; at != nil {
		last = at.Time
	}
	return map[string]any{
		"name": p.cron.Name, "namespace": p.cron.Namespace,
		"labels": withJSON(p.cron.Labels), "annotations": withJSON(p.cron.Annotations),
		"succeeded": int(p.cron.Status.Succeeded), "failed": int(p.cron.Status.Failed), "lastScheduledTime": last,
	}
}

// withJSON are labels or annotations, with all of them as one text besides.
func withJSON(values map[string]string) map[string]any {
	all := map[string]any{}
	for name, value := range values {
		all[name] = value
	}
	plain := maps.Clone(values)
	if plain == nil {
		plain = map[string]string{}
	}
	if data, err := json.Marshal(plain); err == nil {
		all["json"] = string(data)
	}
	return all
}

// when reports whether the condition of the schedule is met.
func (p *pass) when() (bool, error) {
	condition := p.cron.Spec.When
	if condition == "" {
		return true, nil
	}
	scope := text.NewScope(p.facts.Now)
	if tag, whole := text.Whole(condition); whole && strings.HasPrefix(tag, "=") {
		met, err := text.Bool(strings.TrimSpace(tag[1:]), scope, p.variables())
		if err != nil {
			return false, fmt.Errorf(whenError+"%w", err)
		}
		return met, nil
	}
	for name, value := range p.fields() {
		switch v := value.(type) {
		case map[string]any:
			for field, one := range v {
				scope.Set("cronworkflow."+name+"."+field, fmt.Sprint(one))
			}
		case nil:
		default:
			scope.Set("cronworkflow."+name, fmt.Sprint(v))
		}
	}
	replaced, err := text.Replace(condition, scope, text.Mode{Must: []string{"cronworkflow"}})
	if err != nil {
		return false, fmt.Errorf(whenError+"%w", err)
	}
	met, err := text.Condition(replaced)
	if err != nil {
		return false, fmt.Errorf(whenError+"%w", err)
	}
	return met, nil
}

// whenError begins the message for a condition that cannot be evaluated, which is only tried when a run is due.
const whenError = "when: "

// stopped reports whether the schedule creates no more runs, and records it once that is so.
func (p *pass) stopped() bool {
	if p.cron.Status.Phase == v1alpha1.CronStopped {
		return true
	}
	strategy := p.cron.Spec.StopStrategy
	if strategy == nil {
		return false
	}
	expression := strategy.Expression
	if expression == "" {
		expression = strategy.Condition
	}
	if expression == "" {
		return false
	}
	stop, err := text.Bool(expression, text.NewScope(p.facts.Now), p.variables())
	if err != nil {
		p.specError(fmt.Errorf("stopStrategy.expression: %w", err))
		return true
	}
	if stop {
		p.cron.Status.Phase = v1alpha1.CronStopped
		if p.cron.Labels == nil {
			p.cron.Labels = map[string]string{}
		}
		p.cron.Labels[labelStopped] = "true"
	}
	return stop
}

// specError records what keeps the schedule from creating runs.
func (p *pass) specError(err error) {
	p.condition(v1alpha1.ConditionSpecError, metav1.ConditionTrue, err.Error())
}

// schedulesFine takes back that the schedules are wrong.
func (p *pass) schedulesFine() {
	for _, c := range p.cron.Status.Conditions {
		if c.Type == v1alpha1.ConditionSpecError && !strings.HasPrefix(c.Message, whenError) {
			p.condition(v1alpha1.ConditionSpecError, metav1.ConditionFalse, "")
		}
	}
}

// condition sets a condition; one that is false is only kept if it was there.
func (p *pass) condition(kind v1alpha1.ConditionType, status metav1.ConditionStatus, message string) {
	one := v1alpha1.Condition{Type: kind, Status: status, Message: message}
	for i := range p.cron.Status.Conditions {
		if p.cron.Status.Conditions[i].Type == kind {
			p.cron.Status.Conditions[i] = one
			return
		}
	}
	if status == metav1.ConditionTrue {
		p.cron.Status.Conditions = append(p.cron.Status.Conditions, one)
	}
}
