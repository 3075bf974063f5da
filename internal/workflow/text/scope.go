// Package text gives meaning to the strings of workflows: tags that name values, expressions, conditions of steps, dependencies of
// tasks, loops and arguments.
//
// It takes values and returns values. It knows no nodes and no pods: what names exist in which scope is decided by the caller. An
// expression sees only the scope that it is given, calls nothing that leaves the process or that gives something else each time, and
// is bounded in time and memory, because anyone who can commit a workflow writes expressions.
package text

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Scope are the values that tags and expressions may name. A scope inside another one sees what that has.
type Scope struct {
	outer  *Scope
	values map[string]string
	// tags have values as well, but not in expressions.
	tags map[string]string
	// finished are steps and tasks of which everything is known: a name below one that has no value has none for good.
	finished  []string
	artifacts map[string]v1alpha1.Artifact
	now       time.Time
}

// NewScope makes a scope without values. The time is what expressions get for the current one.
func NewScope(now time.Time) *Scope {
	return &Scope{values: map[string]string{}, tags: map[string]string{}, artifacts: map[string]v1alpha1.Artifact{}, now: now}
}

// Inside makes a scope that sees this one.
func (s *Scope) Inside() *Scope {
	inner := NewScope(s.now)
	inner.outer = s
	return inner
}

// Set gives a name a value.
func (s *Scope) Set(name, value string) { s.values[name] = value }

// SetTag gives a name a value for tags alone. In an expression, the beginning of the name may have a value of its own.
func (s *Scope) SetTag(name, value string) { s.tags[name] = value }

// SetArtifact gives a name an artifact.
func (s *Scope) SetArtifact(name string, artifact v1alpha1.Artifact) { s.artifacts[name] = artifact }

// Finish says that nothing below the name of a step or task gets a value anymore: the outputs of one that was skipped are absent.
func (s *Scope) Finish(name string) { s.finished = append(s.finished, name) }

// Presence is whether a name has a value.
type Presence int

// A name is unknown when a later scope may have it, and absent when nothing ever will.
const (
	Unknown Presence = iota
	Absent
	Present
)

// Lookup finds the value of a name.
func (s *Scope) Lookup(name string) (string, Presence) {
	absent := Unknown
	for at := s; at != nil; at = at.outer {
		if value, found := at.values[name]; found {
			return value, Present
		}
		if value, found := at.tags[name]; found {
			return value, Present
		}
		if at.isFinished(name) {
			absent = Absent
		}
	}
	return "", absent
}

// Artifact finds an artifact by its name.
func (s *Scope) Artifact(name string) (v1alpha1.Artifact, Presence) {
	absent := Unknown
	for at := s; at != nil; at = at.outer {
		if artifact, found := at.artifacts[name]; found {
			return artifact, Present
		}
		if at.isFinished(name) {
			absent = Absent
		}
	}
	return v1alpha1.Artifact{}, absent
}

func (s *Scope) isFinished(name string) bool {
	return slices.ContainsFunc(s.finished, func(owner string) bool { return strings.HasPrefix(name, owner+".") })
}

// knows reports whether there is anything at or below a name.
func (s *Scope) knows(name string) bool {
	if _, presence := s.Lookup(name); presence != Unknown {
		return true
	}
	prefix := name + "."
	for at := s; at != nil; at = at.outer {
		for known := range at.values {
			if strings.HasPrefix(known, prefix) {
				return true
			}
		}
		if slices.ContainsFunc(at.finished, func(owner string) bool { return owner == name || strings.HasPrefix(owner, prefix) }) {
			return true
		}
	}
	return false
}

// nested are all values as expressions see them: a.b.c is a field c of a field b of a.
func (s *Scope) nested() map[string]any {
	flat := map[string]string{}
	s.flatten(flat)
	env := map[string]any{}
	for name, value := range flat {
		place(env, strings.Split(name, "."), value)
	}
	for at := s; at != nil; at = at.outer {
		for _, owner := range at.finished {
			place(env, strings.Split(owner+".outputs.parameters", "."), nil)
		}
	}
	return env
}

func (s *Scope) flatten(flat map[string]string) {
	if s.outer != nil {
		s.outer.flatten(flat)
	}
	maps.Copy(flat, s.values)
}

// place puts a value at a path, nil for a map without fields. Where one name has a value and is the beginning of others, the others count: the
// value can still be named by a tag.
func place(env map[string]any, path []string, value any) {
	for _, part := range path[:len(path)-1] {
		inner, isMap := env[part].(map[string]any)
		if !isMap {
			inner = map[string]any{}
			env[part] = inner
		}
		env = inner
	}
	last := path[len(path)-1]
	if _, isMap := env[last].(map[string]any); isMap {
		return
	}
	if value == nil {
		value = map[string]any{}
		if _, taken := env[last]; taken {
			return
		}
	}
	env[last] = value
}
