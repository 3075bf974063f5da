// Package argocd judges objects as Argo CD does: by its statuses, its messages, and in its order of who is asked.
//
// An object that is being deleted is Progressing. Others are judged by the first that there is of: the script of the settings for
// the kind, a script of the settings with wildcards, Argo CD's own script for the kind, one of its scripts with wildcards, its
// checks in Go. A kind without any of them has no health, and is not waited for.
//
// The scripts come from Argo CD's module, unchanged; internal/lua runs them. The checks that Argo CD has in Go are reimplemented here, from its
// behaviour in version 3.5, and tested by cases of its own. Two things are settled here that Argo CD leaves open. Of
// several patterns in the settings that match, it takes any; here it is the one with the most characters that are
// no wildcards, and of equals the first by name. And a script that returns no status makes an object Unknown, with
// the reason, not of no status.
//
// The room is one of its own, below health, since the engine's verdicts need none of it.
package argocd

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lua"
)

// Status is a health status of Argo CD.
type Status string

// The statuses, from the best to the worst.
const (
	Healthy     Status = "Healthy"
	Suspended   Status = "Suspended"
	Progressing Status = "Progressing"
	Missing     Status = "Missing"
	Degraded    Status = "Degraded"
	Unknown     Status = "Unknown"
)

// Health is a status, and why.
type Health struct {
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
}

// hookFinalizer keeps a hook that has run until its result was seen; deletion says nothing about it.
const hookFinalizer = "argocd.argoproj.io/hook-finalizer"

// Checks are the checks of one configuration. They can be asked by many at once.
type Checks struct {
	settings Settings

	mu    sync.Mutex
	kinds map[schema.GroupKind]check
}

// check judges an object. A nil check is that of a kind without health.
type check func(context.Context, *unstructured.Unstructured) (Health, error)

// New returns the checks with the overrides of settings.
func New(settings Settings) *Checks {
	return &Checks{settings: settings, kinds: map[schema.GroupKind]check{}}
}

// Health judges an object. It is false for one of a kind that has no health. An object whose check fails is Unknown, and the message
// says which check, the line, and what happened.
func (c *Checks) Health(ctx context.Context, u *unstructured.Unstructured) (Health, bool) {
	if u.GetDeletionTimestamp() != nil && !held(u) {
		return Health{Status: Progressing, Message: "Pending deletion"}, true
	}
	judge := c.check(u.GroupVersionKind().GroupKind())
	if judge == nil {
		return Health{}, false
	}
	h, err := judge(ctx, u)
	if err != nil {
		return Health{Status: Unknown, Message: err.Error()}, true
	}
	return h, true
}

func held(u *unstructured.Unstructured) bool {
	for _, finalizer := range u.GetFinalizers() {
		if finalizer == hookFinalizer {
			return true
		}
	}
	return false
}

// Assess gives the verdict of the engine over an object. What Argo CD waits for is in progress: that is so for what is
// suspended as well.
func (c *Checks) Assess(ctx context.Context, u *unstructured.Unstructured) engine.ObjectHealth {
	verdict := engine.ObjectHealth{ID: engine.IDOf(u), Verdict: engine.Current}
	h, known := c.Health(ctx, u)
	if !known {
		return verdict
	}
	verdict.Status = string(h.Status)
	verdict.Verdict, verdict.Message = verdictOf(h.Status), h.Message
	if u.GetDeletionTimestamp() != nil && !held(u) {
		verdict.Verdict = engine.Terminating
	}
	return verdict
}

func verdictOf(s Status) engine.Verdict {
	switch s {
	case Healthy:
		return engine.Current
	case Progressing, Suspended:
		return engine.InProgress
	case Degraded:
		return engine.Failed
	case Missing:
		return engine.NotFound
	default:
		return engine.Unknown
	}
}

// check finds the check of a kind, and keeps it.
func (c *Checks) check(gk schema.GroupKind) check {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, known := c.kinds[gk]
	if !known {
		found = c.find(gk)
		c.kinds[gk] = found
	}
	return found
}

func (c *Checks) find(gk schema.GroupKind) check {
	key := gk.Kind
	if gk.Group != "" {
		key = gk.Group + "/" + gk.Kind
	}
	if o, ok := c.settings.overrideFor(key); ok {
		return scripted(o.name, o.script, o.openLibs)
	}
	if name, source, ok := bundled(key); ok {
		return scripted(name, source, true)
	}
	return builtins()[gk]
}

// scripted is a check by a script. One that cannot be compiled fails each time, and for its kind only.
func scripted(name, source string, openLibs bool) check {
	script, err := lua.Compile(name, source, lua.Options{OpenLibs: openLibs})
	return func(ctx context.Context, u *unstructured.Unstructured) (Health, error) {
		if err != nil {
			return Health{}, err
		}
		value, err := script.Run(ctx, u.Object)
		if err != nil {
			return Health{}, err
		}
		return healthOf(name, value)
	}
}

// healthOf reads what a script returned.
func healthOf(name string, value lua.Value) (Health, error) {
	switch {
	case value.Type == "nil":
		return Health{}, fmt.Errorf("%s: it returned nothing", name)
	case value.Type != "table":
		return Health{}, fmt.Errorf("%s: expect table output from Lua script, not %s", name, value.Type)
	}
	status, err := text(value.Fields, "status")
	if err != nil {
		return Health{}, fmt.Errorf("%s: %w", name, err)
	}
	if status == "" {
		return Health{}, fmt.Errorf("%s: it returned a table without a status", name)
	}
	message, err := text(value.Fields, "message")
	if err != nil {
		return Health{}, fmt.Errorf("%s: %w", name, err)
	}
	switch s := Status(status); s {
	case Healthy, Suspended, Progressing, Missing, Degraded, Unknown:
		return Health{Status: s, Message: message}, nil
	}
	return Health{Status: Unknown, Message: "Lua returned an invalid health status"}, nil
}

// text is a field of what a script returned. Capitals do not count, as with Argo CD.
func text(fields map[string]any, name string) (string, error) {
	value, ok := fields[name]
	for key := range fields {
		if !ok && strings.EqualFold(key, name) {
			value = fields[key]
		}
	}
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("it returned a %s that is not a string: %v", name, v)
	}
}
