package text

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Result is how a task ended, as an expression of dependencies sees it.
type Result struct {
	Succeeded, Failed, Errored, Skipped, Omitted, Daemoned, AnySucceeded, AllFailed bool
}

// values are the results by the names in expressions.
func (r Result) values() map[string]any {
	return map[string]any{
		"Succeeded": r.Succeeded, "Failed": r.Failed, "Errored": r.Errored, "Skipped": r.Skipped, "Omitted": r.Omitted,
		"Daemoned": r.Daemoned, "AnySucceeded": r.AnySucceeded, "AllFailed": r.AllFailed,
	}
}

// Every result that a task can have, each for itself, and all at once: what decides whether a task that waits may still run.
func outcomes() []Result {
	return []Result{
		{Succeeded: true, AnySucceeded: true},
		{Failed: true, AllFailed: true},
		{Errored: true},
		{Skipped: true},
		{Omitted: true},
		{Succeeded: true, Failed: true, Errored: true, Skipped: true, Omitted: true, Daemoned: true, AnySucceeded: true, AllFailed: true},
	}
}

// Dependencies are what one task depends on.
type Dependencies struct {
	// Tasks are the names, each once, in the order of the text.
	Tasks  []string
	logic  string
	parsed expression
}

// operand is the name of a task with what is asked of it, if that is said.
var operand = regexp.MustCompile(`[a-zA-Z0-9_][a-zA-Z0-9_-]*(\.[a-zA-Z]+)?`)

// asked are the results that an expression may name.
var asked = []string{"Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned", "AnySucceeded", "AllFailed"}

// ParseDependencies reads what a task depends on, in either spelling. The other tasks of the graph are given, since
// continueOn of a dependency widens what "dependencies" waits for.
func ParseDependencies(task *v1alpha1.DAGTask, byName map[string]*v1alpha1.DAGTask) (Dependencies, error) {
	text := task.Depends
	if text == "" {
		var parts []string
		for _, name := range task.Dependencies {
			parts = append(parts, widened(name, byName[name]))
		}
		text = strings.Join(parts, " && ")
	}
	d := Dependencies{}
	var unknown, err error
	d.logic = operand.ReplaceAllStringFunc(text, func(found string) string {
		name, result, says := strings.Cut(found, ".")
		if says && !slices.Contains(asked, result) && unknown == nil {
			unknown = fmt.Errorf("%q is not a result of a task; it is one of %s", result, strings.Join(asked, ", "))
		}
		if !slices.Contains(d.Tasks, name) {
			d.Tasks = append(d.Tasks, name)
		}
		safe := identifier(slices.Index(d.Tasks, name))
		if says {
			return safe + "." + result
		}
		return "(" + safe + ".Succeeded || " + safe + ".Skipped || " + safe + ".Daemoned)"
	})
	if unknown != nil {
		return Dependencies{}, fmt.Errorf("depends %q: %w", text, unknown)
	}
	if d.logic != "" {
		if d.parsed, err = parse(d.logic); err != nil {
			return Dependencies{}, fmt.Errorf("depends %q: %w", text, err)
		}
	}
	return d, nil
}

// widened is what "dependencies" waits for: success, or what the dependency continues on.
func widened(name string, task *v1alpha1.DAGTask) string {
	parts := []string{name + ".Succeeded", name + ".Skipped", name + ".Daemoned"}
	if task != nil && task.ContinueOn != nil {
		if task.ContinueOn.Error {
			parts = append(parts, name+".Errored")
		}
		if task.ContinueOn.Failed {
			parts = append(parts, name+".Failed")
		}
	}
	return "(" + strings.Join(parts, " || ") + ")"
}

// identifier is a name that an expression takes: those of tasks may have hyphens, and begin with digits.
func identifier(index int) string { return "task_" + strconv.Itoa(index) }

func (d Dependencies) any(result Result) map[string]Result {
	all := map[string]Result{}
	for _, name := range d.Tasks {
		all[name] = result
	}
	return all
}

// Check reports what is wrong with the expression.
func (d Dependencies) Check() error {
	_, err := d.Met(d.any(Result{}))
	return err
}

// Met reports whether the results of all dependencies are those that the task runs after.
func (d Dependencies) Met(results map[string]Result) (bool, error) {
	if d.logic == "" {
		return true, nil
	}
	env := map[string]any{}
	for i, name := range d.Tasks {
		env[identifier(i)] = results[name].values()
	}
	result, err := d.parsed.run(&Scope{}, env)
	if err != nil {
		return false, err
	}
	met, isBool := result.(bool)
	if !isBool {
		return false, fmt.Errorf("depends gives '%v', which is neither true nor false", result)
	}
	return met, nil
}

// Possible reports whether the task may still run, given the results that are known so far. It errs on the side of yes.
func (d Dependencies) Possible(known map[string]Result) bool {
	for _, outcome := range outcomes() {
		results := d.any(outcome)
		for name, result := range known {
			if _, depends := results[name]; depends {
				results[name] = result
			}
		}
		if met, err := d.Met(results); met || err != nil {
			return true
		}
	}
	return false
}
