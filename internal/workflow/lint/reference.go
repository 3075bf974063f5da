package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// scopeOf is what tags in one place may name.
type scopeOf struct {
	// inputs is the template whose inputs they are.
	inputs *v1alpha1.Template
	// kind is steps or tasks, before are the names of those that have ended, self is the one that the tag is in.
	kind   string
	before map[string]bool
	self   string
	// item is set in a loop.
	item bool
}

// references checks the tags of a template, but for those of its steps and tasks.
func (c *checker) references(path string, t *v1alpha1.Template) {
	rest := t.DeepCopy()
	s := scopeOf{inputs: t}
	if t.Steps == nil && t.DAG == nil {
		c.tags(path, rest, s)
		return
	}
	c.tags(path+".inputs", rest.Inputs, s)
	s.kind, s.before = "steps", map[string]bool{}
	for _, group := range t.Steps {
		for i := range group {
			s.before[group[i].Name] = true
		}
	}
	if t.DAG != nil {
		s.kind = "tasks"
		for i := range t.DAG.Tasks {
			s.before[t.DAG.Tasks[i].Name] = true
		}
	}
	c.tags(path+".outputs", rest.Outputs, s)
	for i, parameter := range t.Outputs.Parameters {
		if parameter.ValueFrom != nil && parameter.ValueFrom.Expression != "" {
			c.namesIn(fmt.Sprintf("%s.outputs.parameters[%d].valueFrom.expression", path, i), parameter.ValueFrom.Expression, s)
		}
	}
}

// tags checks every tag in the strings of a value.
func (c *checker) tags(path string, value any, s scopeOf) {
	data, err := json.Marshal(value)
	if err != nil {
		c.err(path, err)
		return
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		c.err(path, err)
		return
	}
	c.walk(path, plain, s)
}

func (c *checker) walk(path string, value any, s scopeOf) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.walk(path+"."+key, v[key], s)
		}
	case []any:
		for i, one := range v {
			c.walk(fmt.Sprintf("%s[%d]", path, i), one, s)
		}
	case string:
		names, expressions := text.Tags(v)
		for _, name := range names {
			c.name(path, name, s)
		}
		for _, expression := range expressions {
			c.namesIn(path, expression, s)
		}
	}
}

// namesIn checks the names in an expression.
func (c *checker) namesIn(path, expression string, s scopeOf) {
	names, err := text.Names(expression)
	c.err(path, err)
	for _, name := range names {
		c.name(path, name, s)
	}
}

// name checks one name. What begins with another word than those of workflows may mean something to a program of the user.
func (c *checker) name(path, name string, s scopeOf) {
	parts := strings.Split(name, ".")
	fine := true
	switch parts[0] {
	case "inputs":
		fine = s.inputs == nil || hasInput(s.inputs, parts[1:])
	case "workflow":
		fine = len(parts) < 3 || parts[1] != "parameters" || c.arguments == nil || parts[2] == "json" || c.arguments[strings.Join(parts[2:], ".")]
	case "item":
		fine = s.item
	case "steps", "tasks":
		fine = len(parts) < 2 || parts[1] == "name" && len(parts) == 2 || s.kind == parts[0] && (s.before[parts[1]] || s.self == parts[1])
	}
	if !fine {
		c.add(path, "failed to resolve {{%s}}", name)
	}
}

// hasInput reports whether a template has the input that the rest of a name means.
func hasInput(t *v1alpha1.Template, parts []string) bool {
	if len(parts) < 2 {
		return true
	}
	rest := strings.Join(parts[1:], ".")
	switch parts[0] {
	case "parameters":
		return slices.ContainsFunc(t.Inputs.Parameters, func(p v1alpha1.Parameter) bool { return p.Name == rest })
	case "artifacts":
		return slices.ContainsFunc(t.Inputs.Artifacts, func(a v1alpha1.Artifact) bool { return a.Name == rest || a.Name+".path" == rest })
	default:
		return false
	}
}
