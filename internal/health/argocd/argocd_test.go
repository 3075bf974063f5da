package argocd

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/engine"
)

func settings(t testing.TB, data map[string]string) Settings {
	t.Helper()
	s, err := ParseSettings(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// says is a script that returns a message.
func says(message string) string { return `return {status = "Healthy", message = "` + message + `"}` }

const (
	certificate = "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: b}}"
	thing       = "{apiVersion: e.io/v1, kind: Thing, metadata: {name: a}}"
	claim       = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, status: {phase: Bound}}"
)

// TestOrder holds who is asked about an object.
func TestOrder(t *testing.T) {
	cases := map[string]struct {
		reason, object string
		data           map[string]string
		want           *Health
	}{
		"none":               {"a kind without a check has no health", thing, nil, nil},
		"own script":         {"Argo CD has a script for the kind", certificate, nil, &Health{Progressing, "Waiting for certificate"}},
		"settings":           {"the settings come before it", certificate, map[string]string{"resource.customizations.health.cert-manager.io_Certificate": says("mine")}, &Health{Healthy, "mine"}},
		"settings, pattern":  {"so does a pattern in them", certificate, map[string]string{"resource.customizations": "'*.io/*': {health.lua: '" + says("any") + "'}"}, &Health{Healthy, "any"}},
		"settings, before":   {"a kind comes before a pattern", certificate, map[string]string{"resource.customizations": "cert-manager.io/*: {health.lua: '" + says("any") + "'}\ncert-manager.io/Certificate: {health.lua: '" + says("one") + "'}"}, &Health{Healthy, "one"}},
		"settings, specific": {"of patterns the one with the most characters counts", certificate, map[string]string{"resource.customizations": "'*/*': {health.lua: '" + says("least") + "'}\n'*.io/*': {health.lua: '" + says("less") + "'}\n'cert-*/*': {health.lua: '" + says("most") + "'}"}, &Health{Healthy, "most"}},
		"settings, equal":    {"of equal ones the first by name", thing, map[string]string{"resource.customizations": "'e.io/T*': {health.lua: '" + says("second") + "'}\n'*.io/Th': {health.lua: '" + says("none") + "'}\n'e.io/*g': {health.lua: '" + says("first") + "'}"}, &Health{Healthy, "first"}},
		"settings, braces":   {"a pattern may name several", thing, map[string]string{"resource.customizations": "'{e,f}.io/T[gh]?ng': {health.lua: '" + says("braces") + "'}"}, &Health{Healthy, "braces"}},
		"settings, all":      {"all means every kind with a group", thing, map[string]string{"resource.customizations.health.all": says("all")}, &Health{Healthy, "all"}},
		"settings, not core": {"and so not the core group", claim, map[string]string{"resource.customizations.health.all": says("all")}, &Health{Healthy, ""}},
		"settings, core":     {"a kind of the core group has a name only", claim, map[string]string{"resource.customizations.health.PersistentVolumeClaim": says("mine")}, &Health{Healthy, "mine"}},
		"settings, split":    {"a key of its own comes before the block", thing, map[string]string{"resource.customizations": "e.io/Thing: {health.lua: '" + says("block") + "'}", "resource.customizations.health.e.io_Thing": says("key")}, &Health{Healthy, "key"}},
		"settings, actions":  {"what has no script overrides nothing", certificate, map[string]string{"resource.customizations.actions.cert-manager.io_Certificate": "x", "resource.customizations": "cert-manager.io/*: {actions: x}"}, &Health{Progressing, "Waiting for certificate"}},
		"closed":             {"a script gets no libraries", thing, map[string]string{"resource.customizations.health.e.io_Thing": "return {status = string.upper('x')}"}, &Health{Unknown, "argocd-cm e.io/Thing:1: the library string is not available to this script; set useOpenLibs"}},
		"open":               {"unless it is opened to them", thing, map[string]string{"resource.customizations.health.e.io_Thing": "return {status = 'Healthy', message = string.upper('x')}", "resource.customizations.useOpenLibs.e.io_Thing": "true"}, &Health{Healthy, "X"}},
		"open in a block":    {"which a block can do as well", thing, map[string]string{"resource.customizations": "e.io/Thing: {health.lua.useOpenLibs: true, health.lua: \"return {status = 'Healthy', message = string.upper('x')}\"}"}, &Health{Healthy, "X"}},
		"deleted":            {"what is being deleted is on its way", "{apiVersion: e.io/v1, kind: Thing, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [x]}}", nil, &Health{Progressing, "Pending deletion"}},
		"deleted hook":       {"but not a hook whose end is to be seen", "{apiVersion: batch/v1, kind: Job, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [argocd.argoproj.io/hook-finalizer]}, status: {conditions: [{type: Complete, status: 'True', message: done}]}}", nil, &Health{Healthy, "done"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got *Health
			if h, ok := New(settings(t, c.data)).Health(t.Context(), object(t, c.object)); ok {
				got = &h
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestScripts holds what a script returns against what is made of it.
func TestScripts(t *testing.T) {
	const name = "argocd-cm e.io/Thing"
	cases := map[string]struct {
		reason, script string
		want           Health
	}{
		"status":         {"a status is enough", "return {status = 'Suspended'}", Health{Suspended, ""}},
		"capitals":       {"capitals of a field do not count", "return {Status = 'Degraded', MESSAGE = 'm'}", Health{Degraded, "m"}},
		"odd status":     {"there are six statuses", "return {status = 'Fine', message = 'm'}", Health{Unknown, "Lua returned an invalid health status"}},
		"nothing":        {"who returns nothing is told so", "local hs = {}", Health{Unknown, name + ": it returned nothing"}},
		"empty":          {"also of a table without a status", "return {}", Health{Unknown, name + ": it returned a table without a status"}},
		"no table":       {"text is no health", "return 'Healthy'", Health{Unknown, name + ": expect table output from Lua script, not string"}},
		"number":         {"a status is text", "return {status = 1}", Health{Unknown, name + ": it returned a status that is not a string: 1"}},
		"number message": {"and so is a message", "return {status = 'Healthy', message = 1}", Health{Unknown, name + ": it returned a message that is not a string: 1"}},
		"error":          {"an error names the script and the line", "\nreturn obj.status.phase", Health{Unknown, name + ":2: attempt to index a non-table object(nil) with key 'phase'"}},
		"syntax":         {"also one of the syntax", "if", Health{Unknown, name + ": at the end: syntax error"}},
		"endless":        {"nobody waits for ever", "while true do end", Health{Unknown, name + ":1: it exceeded its budget of memory and steps"}},
	}
	for test, c := range cases {
		t.Run(test, func(t *testing.T) {
			checks := New(settings(t, map[string]string{"resource.customizations.health.e.io_Thing": c.script}))
			got, _ := checks.Health(t.Context(), object(t, thing))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestAssess(t *testing.T) {
	checks := New(settings(t, map[string]string{"resource.customizations.health.e.io_Thing": "return {status = obj.status, message = 'm'}"}))
	for status, want := range map[string]engine.ObjectHealth{
		"Healthy": {Verdict: engine.Current, Message: "m"}, "Suspended": {Verdict: engine.InProgress, Message: "m"}, "Progressing": {Verdict: engine.InProgress, Message: "m"},
		"Missing": {Verdict: engine.NotFound, Message: "m"}, "Degraded": {Verdict: engine.Failed, Message: "m"}, "Unknown": {Verdict: engine.Unknown, Message: "m"},
	} {
		u := object(t, thing)
		u.Object["status"] = status
		want.ID, want.Status = engine.IDOf(u), status
		if diff := cmp.Diff(want, checks.Assess(t.Context(), u)); diff != "" {
			t.Errorf("%s is judged otherwise (-want +got):\n%s", status, diff)
		}
	}
	other := object(t, "{apiVersion: e.io/v1, kind: Other, metadata: {name: a}}")
	if got := checks.Assess(t.Context(), other); got.Verdict != engine.Current {
		t.Errorf("an object without health is %s", got)
	}
	other = object(t, "{apiVersion: e.io/v1, kind: Other, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}")
	if got := checks.Assess(t.Context(), other); got.Verdict != engine.Terminating || got.Message != "Pending deletion" {
		t.Errorf("an object that is being deleted is %s", got)
	}
}

func TestChecksAreAskedByMany(t *testing.T) {
	checks := New(settings(t, map[string]string{"resource.customizations.health.e.io_Thing": says("x")}))
	objects := []string{certificate, thing, claim, deploymentText}
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			for range 20 {
				if h, ok := checks.Health(t.Context(), object(t, objects[i%len(objects)])); !ok || h.Status == Unknown {
					t.Errorf("got %v", h)
				}
			}
		})
	}
	wait.Wait()
}

func TestSettingsErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		data   map[string]string
		want   string
	}{
		"block":   {"the block is YAML", map[string]string{"resource.customizations": "a: b"}, "reading resource.customizations: "},
		"key":     {"a key has one group and one kind", map[string]string{"resource.customizations.health.a_b_c": "x"}, "reading resource.customizations.health.a_b_c: it should end in GROUP_KIND or KIND"},
		"bool":    {"libraries are open or not", map[string]string{"resource.customizations.useOpenLibs.e.io_Thing": "maybe"}, `reading resource.customizations.useOpenLibs.e.io_Thing: want true or false, not "maybe"`},
		"pattern": {"patterns are well-formed", map[string]string{"resource.customizations": "'e.io/[': {health.lua: x}"}, `reading resource.customizations: the pattern "e.io/[": `},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseSettings(c.data); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			}
		})
	}
	err := settings(t, map[string]string{"resource.customizations.health.b": "if", "resource.customizations.health.a": "x ="}).Check()
	if want := "argocd-cm a: at the end: syntax error\nargocd-cm b: at the end: syntax error"; err == nil || err.Error() != want {
		t.Errorf("checking scripts gave %v, want %s", err, want)
	}
}

func TestSettingsOf(t *testing.T) {
	cases := map[string]struct {
		reason, document string
		want             map[string]string
		found            bool
		failure          string
	}{
		"map":       {"the ConfigMap itself", "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm}, data: {a: b}}", map[string]string{"a": "b"}, true, ""},
		"empty map": {"which may have no data", "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm}}", map[string]string{}, true, ""},
		"other map": {"other ConfigMaps are passed over", "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: b}}", nil, false, ""},
		"values":    {"the values of the chart, of which some are no text", "{configs: {cm: {a: b, resource.customizations.useOpenLibs.X: true, create: null}}}", map[string]string{"a": "b", "resource.customizations.useOpenLibs.X": "true"}, true, ""},
		"dependent": {"the values of a chart that depends on it", "{other: 1, argo-cd: {configs: {cm: {a: b}}}}", map[string]string{"a": "b"}, true, ""},
		"no text":   {"a block is text", "{configs: {cm: {resource.customizations: {a: b}}}}", nil, true, "configs.cm: resource.customizations is not a string"},
		"no map":    {"the settings are a map", "{configs: {cm: x}}", nil, true, "configs.cm is not a map"},
		"none":      {"other documents are passed over", "{apiVersion: v1, kind: Secret, metadata: {name: argocd-cm}}", nil, false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, found, err := SettingsOf(object(t, c.document).Object)
			if c.failure != "" {
				if err == nil || err.Error() != c.failure {
					t.Errorf("%s: got %v, want %q", c.reason, err, c.failure)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); err != nil || found != c.found || diff != "" {
				t.Errorf("%s: found %v, error %v (-want +got):\n%s", c.reason, found, err, diff)
			}
		})
	}
}
