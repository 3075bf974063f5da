package promote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

const (
	argocdUpdate = "argocd-update"
	// promotionInfo and stepInfo are what an operation says of why it was requested.
	promotionInfo = "kargo.akuity.io/promotion"
	stepInfo      = "kargo.akuity.io/step"
	// refreshAnnotation has Argo CD fetch the sources of an Application again.
	refreshAnnotation = "argocd.argoproj.io/refresh"
)

// denied is an error that trying again does not change.
type denied struct{ error }

// sync has Applications synced, each once for a step, and reports whether all are.
func (p *part) sync(ctx context.Context, promotion *v1alpha1.Promotion, alias string, sync *steps.Sync) plan.Outcome {
	outcome := plan.Outcome{Status: plan.StepSucceeded}
	var checked []any
	for i, declared := range sync.Apps {
		apps, err := p.applications(ctx, declared)
		if err == nil {
			err = authorized(apps, declared, sync.Stage)
		}
		for j := 0; err == nil && j < len(apps); j++ {
			app := &apps[j]
			var waits string
			if waits, err = p.synced(ctx, promotion, alias, app, declared.Sources); err == nil && waits != "" {
				outcome.Status, outcome.Message = plan.StepRunning, fmt.Sprintf("Application %q: %s", app.GetName(), waits)
			}
			checked = append(checked, map[string]any{"name": app.GetName(), "namespace": app.GetNamespace()})
		}
		var no denied
		switch {
		case errors.As(err, &no):
			return plan.Outcome{Status: plan.StepFailed, Terminal: true, Message: fmt.Sprintf("apps[%d]: %v", i, err)}
		case apierrors.IsConflict(err):
			outcome.Status, outcome.Message = plan.StepRunning, "an Application was changed meanwhile"
		case err != nil:
			return plan.Outcome{Status: plan.StepErrored, Message: fmt.Sprintf("apps[%d]: %v", i, err)}
		}
	}
	if outcome.Status == plan.StepSucceeded {
		outcome.HealthChecks = []v1alpha1.HealthCheckStep{{Uses: argocdUpdate, Config: v1alpha1.Config{"apps": checked}}}
	}
	return outcome
}

// applications are those that a step or a check names, none where there are none.
func (p *part) applications(ctx context.Context, a steps.App) ([]unstructured.Unstructured, error) {
	p.follow()
	client := p.Home.Dynamic.Resource(applications).Namespace(a.Namespace)
	if a.Name == "" {
		list, err := client.List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(a.Selector.MatchLabels).String()})
		if err != nil {
			return nil, fmt.Errorf("reading Applications: %w", err)
		}
		return list.Items, nil
	}
	app, err := client.Get(ctx, a.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Application %q: %w", a.Name, err)
	}
	return []unstructured.Unstructured{*app}, nil
}

// authorized is why a Stage may not update, nor see, the Applications that were found. It says no more than what the step itself names: neither which
// Applications have some labels, nor whether one exists that does not authorize the Stage, which may be that of another team.
func authorized(apps []unstructured.Unstructured, named steps.App, stage string) error {
	authorizes := func(app unstructured.Unstructured) bool {
		permitted := app.GetAnnotations()[v1alpha1.AuthorizedStageAnnotation]
		return slices.Contains(strings.Split(strings.ReplaceAll(permitted, " ", ""), ","), stage)
	}
	if len(apps) > 0 && !slices.ContainsFunc(apps, func(app unstructured.Unstructured) bool { return !authorizes(app) }) {
		return nil
	}
	if named.Name != "" {
		return denied{fmt.Errorf("Application %q in namespace %q does not exist, or does not authorize Stage %s: set its annotation %s to it",
			named.Name, named.Namespace, stage, v1alpha1.AuthorizedStageAnnotation)}
	}
	return denied{fmt.Errorf("no Application in namespace %q has these labels, or one that has them does not authorize Stage %s: set the annotation %s of each to it",
		named.Namespace, stage, v1alpha1.AuthorizedStageAnnotation)}
}

// synced requests the sync of an Application, unless it was requested, and says what is awaited.
func (p *part) synced(ctx context.Context, promotion *v1alpha1.Promotion, alias string, app *unstructured.Unstructured, sources []steps.AppSource) (string, error) {
	if of(app, promotion.Name, alias, "status", "operationState", "operation", "info") {
		phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase")
		message, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "message")
		switch phase {
		case "Succeeded":
			return "", nil
		case "Failed", "Error":
			return "", denied{fmt.Errorf("the sync of Application %q ended %s: %s", app.GetName(), phase, message)}
		}
		return "its sync is in progress", nil
	}
	if _, busy, _ := unstructured.NestedMap(app.Object, "operation"); busy {
		return "an operation is in progress", nil
	}
	wanted, err := sourcesOf(app, sources)
	if err != nil {
		return "", err
	}
	options, _, _ := unstructured.NestedSlice(app.Object, "spec", "syncPolicy", "syncOptions")
	sync := map[string]any{}
	if wanted.revision != "" {
		sync["revision"] = wanted.revision
	}
	if len(wanted.revisions) > 0 {
		sync["revisions"] = wanted.revisions
	}
	if len(options) > 0 {
		sync["syncOptions"] = options
	}
	operation := map[string]any{
		"initiatedBy": map[string]any{"username": "kargo-controller", "automated": true},
		"info": []any{
			map[string]any{"name": "Reason", "value": "Promotion triggered a sync of this Application resource."},
			map[string]any{"name": promotionInfo, "value": promotion.Name},
			map[string]any{"name": stepInfo, "value": alias},
		},
		"sync": sync,
	}
	if retry, has, _ := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "retry"); has {
		operation["retry"] = retry
	}
	change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{refreshAnnotation: "hard"}}, "operation": operation}
	if wanted.change != nil {
		change["spec"] = wanted.change
	}
	return "its sync is requested", p.request(ctx, app, change)
}

// of reports whether an operation was requested by a step of a Promotion.
func of(app *unstructured.Unstructured, promotion, alias string, path ...string) bool {
	lines, _, _ := unstructured.NestedSlice(app.Object, path...)
	seen := map[string]any{}
	for _, line := range lines {
		if l, is := line.(map[string]any); is {
			seen[fmt.Sprint(l["name"])] = l["value"]
		}
	}
	return seen[promotionInfo] == promotion && seen[stepInfo] == alias
}

// healths carries out the checks of a Stage, PROJECT:STAGE.
func (p *part) healths(ctx context.Context, stage string, checks []v1alpha1.HealthCheckStep) []v1alpha1.Health {
	var all []v1alpha1.Health
	for _, check := range checks {
		if check.Uses != argocdUpdate {
			continue
		}
		var config struct {
			Apps []steps.App `json:"apps"`
		}
		data, err := json.Marshal(check.Config)
		if err == nil {
			err = json.Unmarshal(data, &config)
		}
		if err != nil {
			all = append(all, v1alpha1.Health{Status: v1alpha1.HealthUnknown, Issues: []string{"reading the check: " + err.Error()}})
			continue
		}
		for _, app := range config.Apps {
			all = append(all, p.healthOf(ctx, stage, app))
		}
	}
	return all
}

func (p *part) healthOf(ctx context.Context, stage string, a steps.App) v1alpha1.Health {
	apps, err := p.applications(ctx, a)
	if err == nil {
		err = authorized(apps, a, stage)
	}
	if err != nil {
		return v1alpha1.Health{Status: v1alpha1.HealthUnknown, Issues: []string{err.Error()}}
	}
	state, _, _ := unstructured.NestedString(apps[0].Object, "status", "health", "status")
	synced, _, _ := unstructured.NestedString(apps[0].Object, "status", "sync", "status")
	issue := []string{fmt.Sprintf("Application %q is %s and %s", a.Name, state, synced)}
	switch {
	case state == "Healthy" && synced == "Synced":
		return v1alpha1.Health{Status: v1alpha1.HealthHealthy}
	case state == "Progressing":
		return v1alpha1.Health{Status: v1alpha1.HealthProgressing, Issues: issue}
	case state == "" || state == "Unknown" || synced == "" || synced == "Unknown":
		return v1alpha1.Health{Status: v1alpha1.HealthUnknown, Issues: issue}
	}
	return v1alpha1.Health{Status: v1alpha1.HealthUnhealthy, Issues: issue}
}
