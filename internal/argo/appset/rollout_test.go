package appset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

const steps = `strategy: {type: RollingSync, deletionOrder: reverse, rollingSync: {steps: [
  {matchExpressions: [{key: env, operator: In, values: [dev]}]},
  {matchExpressions: [{key: env, operator: NotIn, values: [dev, none]}, {key: env, operator: In, values: [qa, prod]}], maxUpdate: %s}]}},`

func rolloutSet(t *testing.T, limit string, before ...v1alpha1.ApplicationSetApplicationStatus) *Set {
	set := setOf(t, planSpec(fmt.Sprintf(steps, limit), "one"))
	set.Status.ApplicationStatus = before
	return set
}

// app is one as it is, by a short text: name, environment, sync status and health.
func app(text string) AppState {
	parts := strings.Fields(text)
	return AppState{
		Name: parts[0], Labels: map[string]string{"env": parts[1]}, Exists: true, Revisions: []string{"r1"},
		Sync: v1alpha1.SyncStatusCode(parts[2]), Health: v1alpha1.HealthStatusCode(parts[3]),
	}
}

func was(name, state, message string) v1alpha1.ApplicationSetApplicationStatus {
	at := metav1.NewTime(now.Add(-time.Minute))
	return v1alpha1.ApplicationSetApplicationStatus{Application: name, Status: state, Message: message, LastTransitionTime: &at, TargetRevisions: []string{"r1"}}
}

func shortStatus(r Rollout) string {
	var all []string
	for _, s := range r.Statuses {
		all = append(all, s.Application+" "+s.Step+" "+s.Status)
	}
	return strings.Join(all, ", ")
}

func TestRollout(t *testing.T) {
	with := func(a AppState, change func(*AppState)) AppState {
		change(&a)
		return a
	}
	cases := map[string]struct {
		reason, limit string
		before        []v1alpha1.ApplicationSetApplicationStatus
		apps          []AppState
		want, sync    string
		step          int
	}{
		"New": {
			reason: "the first step begins; what no step chooses is left alone",
			apps:   []AppState{app("a dev OutOfSync Missing"), app("b dev OutOfSync Missing"), app("c prod OutOfSync Missing"), app("d none OutOfSync Missing")},
			want:   "a 1 Pending, b 1 Pending, c 2 Waiting, d -1 Waiting", sync: "a b", step: 1,
		},
		"Behind": {
			reason: "of a commit that changes both, the later one is compared first, and waits all the same",
			before: []v1alpha1.ApplicationSetApplicationStatus{was("a", RolloutHealthy, ""), was("c", RolloutHealthy, "")},
			apps: []AppState{
				with(app("a dev Synced Healthy"), func(a *AppState) { a.Behind = true }),
				with(app("c prod OutOfSync Healthy"), func(a *AppState) { a.Revisions = []string{"r2"} }),
			},
			want: "a 1 Healthy, c 2 Waiting", step: 1,
		},
		"Missing": {
			reason: "a step waits for Applications that are not there yet",
			apps:   []AppState{app("a dev Synced Healthy"), {Name: "b", Labels: map[string]string{"env": "dev"}}, app("c prod OutOfSync Healthy")},
			want:   "a 1 Healthy, c 2 Waiting", step: 1,
		},
		"Second": {
			reason: "the second begins when the first is healthy, a few at a time", limit: "50%",
			apps: []AppState{app("a dev Synced Healthy"), app("c qa OutOfSync Healthy"), app("d prod OutOfSync Healthy"), app("e prod OutOfSync Healthy")},
			want: "a 1 Healthy, c 2 Pending, d 2 Waiting, e 2 Waiting", sync: "c", step: 2,
		},
		"Busy": {
			reason: "those on their way count", limit: "2", before: []v1alpha1.ApplicationSetApplicationStatus{was("c", RolloutProgressing, "")},
			apps: []AppState{app("c qa OutOfSync Degraded"), app("d prod OutOfSync Healthy"), app("e prod OutOfSync Healthy")},
			want: "c 2 Progressing, d 2 Pending, e 2 Waiting", sync: "d", step: 2,
		},
		"None":    {reason: "none at a time", limit: "0", apps: []AppState{app("c qa OutOfSync Healthy")}, want: "c 2 Waiting", step: 2},
		"Zero":    {reason: "nor none of a hundred", limit: "0%", apps: []AppState{app("c qa OutOfSync Healthy")}, want: "c 2 Waiting", step: 2},
		"Little":  {reason: "a small share is one", limit: "1%", apps: []AppState{app("c qa OutOfSync Healthy")}, want: "c 2 Pending", sync: "c", step: 2},
		"NoLimit": {reason: "what is no limit is one", limit: "some", apps: []AppState{app("c qa OutOfSync Healthy"), app("d qa OutOfSync Healthy")}, want: "c 2 Pending, d 2 Waiting", sync: "c", step: 2},
		"Done":    {reason: "all have ended", apps: []AppState{app("a dev Synced Healthy"), app("c qa Synced Healthy")}, want: "a 1 Healthy, c 2 Healthy"},
		"Synced":  {reason: "what is synced and not yet healthy is on its way", apps: []AppState{app("a dev Synced Progressing")}, want: "a 1 Progressing", step: 1},
		"Begun": {
			reason: "an operation that began, in the same second too", before: []v1alpha1.ApplicationSetApplicationStatus{was("a", RolloutPending, ""), was("b", RolloutPending, "")},
			apps: []AppState{
				with(app("a dev OutOfSync Healthy"), func(s *AppState) { s.OperationStarted = now.Add(-time.Minute) }),
				with(app("b dev OutOfSync Healthy"), func(s *AppState) { s.OperationStarted = now.Add(-time.Hour) }),
			},
			want: "a 1 Progressing, b 1 Pending", sync: "b", step: 1,
		},
		"Former": {
			reason: "one of the same second that had another revision is an older one", before: []v1alpha1.ApplicationSetApplicationStatus{was("a", RolloutPending, "")},
			apps: []AppState{with(app("a dev OutOfSync Healthy"), func(s *AppState) { s.OperationStarted, s.Operated = now.Add(-time.Minute), []string{"r0"} })},
			want: "a 1 Pending", sync: "a", step: 1,
		},
		"Asked": {
			reason: "nobody is asked twice", before: []v1alpha1.ApplicationSetApplicationStatus{was("a", RolloutPending, "")},
			apps: []AppState{with(app("a dev OutOfSync Healthy"), func(s *AppState) { s.Operating = true })}, want: "a 1 Pending", step: 1,
		},
		"Broken": {
			reason: "what cannot be synced is on its way, and stays there", before: []v1alpha1.ApplicationSetApplicationStatus{was("a", RolloutPending, "")},
			apps: []AppState{with(app("a dev Unknown Healthy"), func(s *AppState) { s.Broken = true })}, want: "a 1 Progressing", step: 1,
		},
		"Healthy": {
			reason: "and healthy in the end", before: []v1alpha1.ApplicationSetApplicationStatus{was("a", RolloutProgressing, "")},
			apps: []AppState{app("a dev Synced Healthy")}, want: "a 1 Healthy",
		},
		"Revision": {
			reason: "another revision begins again", before: []v1alpha1.ApplicationSetApplicationStatus{was("a", RolloutHealthy, ""), was("c", RolloutHealthy, "")},
			apps: []AppState{app("a dev Synced Healthy"), with(app("c prod OutOfSync Healthy"), func(s *AppState) { s.Revisions = []string{"r2"} })},
			want: "a 1 Healthy, c 2 Pending", sync: "c", step: 2,
		},
		"Changed": {
			reason: "a spec that changes in this pass is not what was synced", before: []v1alpha1.ApplicationSetApplicationStatus{was("a", RolloutHealthy, ""), was("c", RolloutHealthy, "")},
			apps: []AppState{app("a dev OutOfSync Healthy"), with(app("c prod Synced Healthy"), func(s *AppState) { s.Changed = true })},
			want: "a 1 Healthy, c 2 Pending", sync: "c", step: 2,
		},
		"Stale": {
			reason: "nor what was compared before it changed", before: []v1alpha1.ApplicationSetApplicationStatus{was("c", RolloutWaiting, specDiffers), was("d", RolloutWaiting, specDiffers)}, limit: "0",
			apps: []AppState{
				with(app("c prod Synced Healthy"), func(s *AppState) { s.Reconciled = now.Add(-time.Hour) }),
				with(app("d prod Synced Healthy"), func(s *AppState) { s.Reconciled = now }),
			},
			want: "c 2 Waiting, d 2 Healthy", step: 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.limit == "" {
				c.limit = "null"
			}
			set := rolloutSet(t, c.limit, c.before...)
			got := MakeRollout(set, c.apps, now)
			if shortStatus(got) != c.want || strings.Join(got.Sync, " ") != c.sync || got.Step != c.step {
				t.Errorf("%s: got %q, sync %v, step %d; want %q, sync %q, step %d", c.reason, shortStatus(got), got.Sync, got.Step, c.want, c.sync, c.step)
			}
			// A pass in which nothing changed says the same.
			set.Status.ApplicationStatus = got.Statuses
			for i := range c.apps {
				c.apps[i].Changed, c.apps[i].Operating = false, c.apps[i].Operating || slices.Contains(got.Sync, c.apps[i].Name)
			}
			again := MakeRollout(set, c.apps, now.Add(time.Minute))
			if diff := cmp.Diff(got.Statuses, again.Statuses); diff != "" || len(again.Sync) != 0 {
				t.Errorf("%s: once more: %s %v", c.reason, diff, again.Sync)
			}
		})
	}
}

func TestRolloutOdd(t *testing.T) {
	set := setOf(t, planSpec(`strategy: {type: RollingSync, rollingSync: {steps: [{}, {matchExpressions: [{key: env, operator: Like, values: [x]}]}, {maxUpdate: 1}]}},`, "one"))
	got := MakeRollout(set, []AppState{app("a dev OutOfSync Healthy")}, now)
	want := []string{`steps 1 and 3 both select Application "a"; the first one is used`, `step 2 selects nothing: operator "Like" is neither In nor NotIn`}
	if diff := cmp.Diff(want, got.Warnings); diff != "" {
		t.Error(diff)
	}
	if none := MakeRollout(setOf(t, planSpec("", "one")), nil, now); none.Active || none.Statuses != nil {
		t.Errorf("a set without steps has no rollout: %+v", none)
	}
}

func TestStates(t *testing.T) {
	set := setOf(t, planSpec("", "one", "two", "three"))
	made, _, _ := generated(t, set, known{}, Options{})
	live := []*unstructured.Unstructured{
		liveApp(t, "one", `spec: {project: q}, status: {sync: {status: Synced, revision: r1}, health: {status: Degraded}, reconciledAt: '2026-11-21T12:00:00Z', operationState: {startedAt: '2026-11-21T11:00:00Z'}}, operation: {sync: {}}`),
		liveApp(t, "two", `status: {sync: {revisions: [a, b]}, conditions: [{type: UnknownError}]}`),
	}
	plan := planOf(t, set, live, everything())
	got, err := States(made, plan, live)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"l": "new"}
	for i := range got {
		got[i].Reconciled, got[i].OperationStarted = got[i].Reconciled.UTC(), got[i].OperationStarted.UTC()
	}
	want := []AppState{
		{Name: "one", Labels: labels, Exists: true, Health: "Degraded", Sync: "Synced", Revisions: []string{"r1"}, Reconciled: now, OperationStarted: now.Add(-time.Hour), Operating: true, Changed: true},
		{Name: "two", Labels: labels, Exists: true, Health: "Healthy", Revisions: []string{"a", "b"}, Broken: true},
		{Name: "three", Labels: labels},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSyncOperation(t *testing.T) {
	cases := map[string]struct{ reason, policy, want string }{
		"None":   {"an Application without a policy is synced as well", "null", `{limit: 5} false []`},
		"All":    {"options, retries and pruning are those of the Application", `{automated: {prune: true}, syncOptions: [A=b], retry: {limit: 2}}`, `{limit: 2} true [A=b]`},
		"Paused": {"pruning is that of automation, which is switched off here", `{automated: {prune: true, enabled: false}}`, `{limit: 5} false []`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			operation, err := SyncOperation(objectOf(t, "{spec: {syncPolicy: "+c.policy+"}}"))
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("{limit: %d} %v %v", operation.Retry.Limit, operation.Sync.Prune, operation.Sync.SyncOptions)
			if got != c.want || operation.InitiatedBy.Username != "applicationset-controller" || !operation.InitiatedBy.Automated {
				t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
			}
		})
	}
}

func TestDeletions(t *testing.T) {
	of := func(name, env, more string) *unstructured.Unstructured {
		o := liveApp(t, name, more)
		o.SetLabels(map[string]string{"env": env})
		return o
	}
	short := func(next []*unstructured.Unstructured, waiting []string) string {
		var names []string
		for _, o := range next {
			names = append(names, o.GetName())
		}
		return strings.Join(names, " ") + "; " + strings.Join(waiting, " ")
	}
	set := rolloutSet(t, "null")
	dev, qa, prod, other := of("a", "dev", ""), of("b", "qa", ""), of("c", "prod", ""), of("d", "none", "")
	leaving := of("c", "prod", "metadata: {deletionTimestamp: '2026-11-21T12:00:00Z'}")
	cases := map[string]struct {
		reason   string
		set      *Set
		existing []*unstructured.Unstructured
		want     string
	}{
		"Last":    {"the last step goes first", set, []*unstructured.Unstructured{other, prod, dev, qa}, "b c; a d"},
		"Leaving": {"the one before it waits until that is gone", set, []*unstructured.Unstructured{dev, leaving, other}, "; a c d"},
		"First":   {"then the first", set, []*unstructured.Unstructured{dev, other}, "a; d"},
		"Others":  {"those that no step chooses come last", set, []*unstructured.Unstructured{other}, "d; "},
		"None":    {"none is left", set, []*unstructured.Unstructured{of("x", "dev", "metadata: {ownerReferences: null}")}, "; "},
		"AtOnce":  {"without an order, all go at once", setOf(t, planSpec("", "one")), []*unstructured.Unstructured{dev, prod, other}, "a c d; "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := short(Deletions(c.set, c.existing)); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

func TestTells(t *testing.T) {
	found := v1alpha1.SyncStatus{Status: v1alpha1.SyncStatusCodeOutOfSync, Revision: "r1"}
	several := v1alpha1.SyncStatus{Status: v1alpha1.SyncStatusCodeSynced, Revisions: []string{"r1", "r2"}}
	read := func(sync v1alpha1.SyncStatusCode, revisions ...string) AppState {
		return AppState{Sync: sync, Revisions: revisions}
	}
	for name, c := range map[string]struct {
		reason string
		read   AppState
		found  v1alpha1.SyncStatus
		want   bool
	}{
		"same":           {"the status has been written", read("OutOfSync", "r1"), found, true},
		"before":         {"it tells of the commit before", read("Synced", "r0"), found, false},
		"synced":         {"it tells of the operation before", read("Synced", "r1"), found, false},
		"not compared":   {"what could not be compared stays as it is", read("Unknown", "r1"), found, true},
		"nothing":        {"nothing has been written", read(""), found, false},
		"several":        {"every source counts", read("Synced", "r1", "r2"), several, true},
		"one of several": {"every source counts", read("Synced", "r1", "r1"), several, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.read.Tells(c.found); got != c.want {
				t.Errorf("%s: got %v", c.reason, got)
			}
		})
	}
}
