package plan

import (
	"strings"
	"testing"
)

// The hashes are those that the upstream gives the same names, so that its commands and dashboards find nodes and pods.
func TestNames(t *testing.T) {
	for name, tc := range map[string]struct{ reason, got, want string }{
		"Root":      {"the root has the name of the workflow", NodeID("wf", "wf"), "wf"},
		"Node":      {"others have a hash of theirs", NodeID("hello-world-9tql2", "hello-world-9tql2[0].a"), "hello-world-9tql2-" + hash("hello-world-9tql2[0].a")},
		"Hash":      {"32 bits of FNV-1a", hash("a"), "3826002220"},
		"Pod":       {"a pod has the template in its name", PodName("wf", "say", "wf[0].a"), "wf-say-3986212215"},
		"RootPod":   {"that of the root has not", PodName("wf", "say", "wf"), "wf"},
		"Inline":    {"neither has that of an inline template", PodName("wf", "", "wf.a"), "wf-" + hash("wf.a")},
		"Generated": {"a generated name follows from workflow and node", GeneratedName("job-", "uid", "wf-1"), "job-" + hash("uid/wf-1")},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %s: %q, want %q", name, tc.reason, tc.got, tc.want)
		}
	}
	if GeneratedName("job-", "uid-1", "wf-1") == GeneratedName("job-", "uid-2", "wf-1") {
		t.Error("a workflow that is created again under its name generates other names")
	}
	long := PodName(strings.Repeat("w", 200), strings.Repeat("t", 200), "node")
	if len(long) > longest || !strings.HasSuffix(long, "-"+hash("node")) {
		t.Errorf("a long name keeps its hash and fits: %d characters, %q", len(long), long)
	}
}

func TestDisplayName(t *testing.T) {
	for name, want := range map[string]string{"wf[0].a": "a", "wf[1].b(0:x)": "b(0:x)", "wf.task": "task", "wf[2]": "[2]", "wf(1)": "(1)", "wf.a.onExit": "a.onExit"} {
		if got := displayName("wf", name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
