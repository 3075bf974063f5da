package plan

import (
	"errors"
	"fmt"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// Names that a step or task has to find, and those that the template it calls finds.
var stepMode = text.Mode{Late: []string{"retries", "lastRetry", "workflow.status", "workflow.failures", "pod", "node"}, Must: []string{"inputs", "steps", "tasks", "workflow", "item"}}

// concrete is one execution of a step or task: all of it if there is no loop, else one for each item.
type concrete struct {
	// name is that of the step or task, with the item.
	name string
	// skip says why it is not executed; empty if it is.
	skip string
	// arguments have no tags left.
	arguments v1alpha1.Arguments
	// err keeps it from being executed.
	err error
	// scope is what hooks see.
	scope *text.Scope
}

// noItems is what a step or task says whose loop has no items.
const noItems = "Skipped, empty params"

// expand gives the executions of a step or task.
func expand(e *v1alpha1.Execution, scope *text.Scope) ([]concrete, error) {
	if !e.Expands() {
		return []concrete{concretize(e, e.Name, scope)}, nil
	}
	loop, err := text.Replace(e.Loop, scope, stepMode)
	var items []v1alpha1.Item
	if err == nil {
		items, err = text.Items(loop)
	}
	if err != nil {
		// What is not executed anyway needs no items.
		if one := concretize(&v1alpha1.Execution{Name: e.Name, When: e.When}, e.Name, scope); one.skip != "" {
			return []concrete{one}, nil
		}
		return nil, err
	}
	if len(items) == 0 {
		return []concrete{{name: e.Name, skip: noItems, scope: scope}}, nil
	}
	all := make([]concrete, 0, len(items))
	for i, item := range items {
		all = append(all, concretize(e, text.ItemName(e.Name, i, item), text.ItemScope(scope, item)))
	}
	return all, nil
}

// concretize evaluates the condition of one execution, and then its arguments.
func concretize(e *v1alpha1.Execution, name string, scope *text.Scope) concrete {
	one := concrete{name: name, scope: scope}
	when, err := text.Replace(e.When, scope, stepMode)
	if err != nil {
		one.err = err
		return one
	}
	proceed, err := text.When(when)
	if err != nil {
		one.err = err
		return one
	}
	if !proceed {
		one.skip = fmt.Sprintf("when '%s' evaluated false", when)
		return one
	}
	one.arguments, one.err = argue(e.Arguments, scope)
	return one
}

// argue replaces the tags of arguments, and finds the artifacts that they name.
func argue(arguments v1alpha1.Arguments, scope *text.Scope) (v1alpha1.Arguments, error) {
	kept, err := text.DropAbsent(arguments, scope, stepMode)
	if err != nil {
		return kept, err
	}
	if kept, err = text.Replace(kept, scope, stepMode); err != nil {
		return kept, err
	}
	artifacts := kept.Artifacts[:0]
	for i := range kept.Artifacts {
		artifact, err := fetch(kept.Artifacts[i], scope)
		if err != nil {
			return kept, err
		}
		if artifact != nil {
			artifacts = append(artifacts, *artifact)
		}
	}
	kept.Artifacts = artifacts
	return kept, nil
}

// errUnresolved is the error for an artifact that does not exist.
var errUnresolved = errors.New("Unable to resolve")

// fetch finds the artifact that another one is from; nil if it is optional and does not exist.
func fetch(a v1alpha1.Artifact, scope *text.Scope) (*v1alpha1.Artifact, error) {
	if a.From == "" && a.FromExpression == "" {
		return &a, nil
	}
	found, presence, named, err := source(a, scope)
	switch {
	case err != nil:
		return nil, err
	case presence == text.Present:
		found.Name, found.GlobalName, found.Optional = a.Name, a.GlobalName, a.Optional
		found.Path = a.Path
		if a.SubPath != "" {
			found.SubPath = a.SubPath
		}
		if a.Archive != nil {
			found.Archive = a.Archive
		}
		found.From, found.FromExpression = "", ""
		return &found, nil
	case a.Optional:
		return nil, nil
	default:
		return nil, fmt.Errorf("unable to resolve references: %w: %q", errUnresolved, named)
	}
}

func source(a v1alpha1.Artifact, scope *text.Scope) (v1alpha1.Artifact, text.Presence, string, error) {
	if a.FromExpression != "" {
		found, presence, err := scope.ArtifactOf(a.FromExpression)
		return found, presence, a.FromExpression, err
	}
	name, whole := text.Whole(a.From)
	if !whole {
		return v1alpha1.Artifact{}, text.Unknown, "", fmt.Errorf("artifact %q: from %q is not one tag", a.Name, a.From)
	}
	found, presence := scope.Artifact(name)
	return found, presence, name, nil
}
