package managed_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// noon is when passes of the tests are made.
func noon() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }

// ordinary are the facts of a resource that is created, with everything let.
func ordinary(change func(*managed.Facts)) managed.Facts {
	f := managed.Facts{
		Now: noon(), ExternalName: "a", Finalizers: []string{managed.Finalizer}, Connected: true,
		Actions: managed.Actions{Create: true, Update: true, Delete: true, Initialize: true},
	}
	f.Observation = &managed.Observation{Exists: true, UpToDate: true, Ready: managed.Available()}
	change(&f)
	return f
}

// open is a creation that was begun some time ago, and has no result.
func open(ago time.Duration) managed.Creation {
	began := noon().Add(-ago)
	return managed.Creation{Pending: began.Truncate(time.Second), Last: managed.Intent{Attempt: 2, Began: began}, Open: true}
}

// TestNext decides on the next step, in the order of the upstream.
func TestNext(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*managed.Facts)
		step   managed.Step
		synced string
		ready  string
		after  time.Duration
		rests  bool
	}{
		"UpToDate": {"nothing to do until the poll", func(*managed.Facts) {}, managed.StepStop, "ReconcileSuccess", "Available", 0, false},
		"Paused":   {"a pause comes before everything", func(f *managed.Facts) { f.Paused, f.Deleting, f.Invalid = true, true, errors.New("bad") }, managed.StepStop, "ReconcilePaused", "", 0, true},
		"NoPolicies": {"no policies pause too", func(f *managed.Facts) {
			f.Actions = managed.Actions{Paused: true}
			f.Deleting = true
		}, managed.StepStop, "ReconcilePaused", "", 0, true},
		"Invalid":      {"policies that are not legal stop everything", func(f *managed.Facts) { f.Invalid = errors.New("bad") }, managed.StepStop, "ReconcileError", "", 0, true},
		"Orphan":       {"what is not to be deleted is released without an observation", func(f *managed.Facts) { f.Deleting, f.Actions.Delete, f.Connected = true, false, false }, managed.StepRelease, "", "", 0, false},
		"OrphanHalted": {"also when a creation is unresolved", func(f *managed.Facts) { f.Deleting, f.Actions.Delete, f.Creation = true, false, open(time.Minute) }, managed.StepRelease, "", "", 0, false},
		"Name":         {"the name of the object is the external one", func(f *managed.Facts) { f.ExternalName = "" }, managed.StepName, "", "", 0, false},
		"Assigned":     {"a provider names it", func(f *managed.Facts) { f.ExternalName, f.Kind.Naming, f.Connected = "", managed.ByProvider, false }, managed.StepConnect, "", "", 0, false},
		"Halt":         {"a creation without a result stops a kind that cannot search", func(f *managed.Facts) { f.Creation = open(time.Hour) }, managed.StepStop, "ReconcileError", "Creating", 0, true},
		"Repeat":       {"a creation that can be repeated is", func(f *managed.Facts) { f.Creation, f.Kind.Repeatable = open(time.Hour), true }, managed.StepStop, "ReconcileSuccess", "Available", 0, false},
		"FindConnects": {"before it is searched for, it is connected", func(f *managed.Facts) { f.Creation, f.Connected = open(time.Second), false }, managed.StepConnect, "", "", 0, false},
		"Find":         {"what it made is searched for", func(f *managed.Facts) { f.Creation, f.Finds = open(time.Second), true }, managed.StepFind, "", "", 0, false},
		"Adopt": {"and adopted", func(f *managed.Facts) {
			f.Creation, f.Finds, f.Found = open(time.Second), true, &managed.Finding{Name: "7"}
		}, managed.StepAdopt, "ReconcileSuccess", "Creating", 0, false},
		"AdoptDeleting": {"also when it is to be deleted then", func(f *managed.Facts) {
			f.Creation, f.Finds, f.Found, f.Deleting = open(time.Second), true, &managed.Finding{Name: "7"}, true
		}, managed.StepAdopt, "ReconcileSuccess", "Creating", 0, false},
		"Await": {"nothing yet: it may come", func(f *managed.Facts) {
			f.Creation, f.Finds, f.Found = open(time.Second), true, &managed.Finding{Until: noon().Add(time.Minute)}
		}, managed.StepStop, "ReconcileError", "Creating", 5 * time.Second, false},
		"AwaitEnds": {"the last wait is as long as it takes", func(f *managed.Facts) {
			f.Creation, f.Finds, f.Found = open(time.Minute), true, &managed.Finding{Until: noon().Add(2 * time.Second)}
		}, managed.StepStop, "ReconcileError", "Creating", 2 * time.Second, false},
		"Forget":         {"certainly nothing", func(f *managed.Facts) { f.Creation, f.Finds, f.Found = open(time.Hour), true, &managed.Finding{} }, managed.StepForget, "", "", 0, false},
		"Observe":        {"it is observed", func(f *managed.Facts) { f.Observation = nil }, managed.StepObserve, "", "", 0, false},
		"OnlyAbsent":     {"what is only observed has to exist", func(f *managed.Facts) { f.Actions = managed.Actions{}; f.Observation.Exists = false }, managed.StepStop, "ReconcileError", "Unavailable", 0, false},
		"ReadOnlyAbsent": {"so has what is not the resource's", func(f *managed.Facts) { f.Observation.Exists, f.Observation.ReadOnly = false, true }, managed.StepStop, "ReconcileError", "Unavailable", 0, false},
		"Grace": {"what was just created may be invisible", func(f *managed.Facts) {
			f.Observation.Exists, f.Creation.Succeeded = false, noon().Add(-10*time.Second)
		}, managed.StepStop, "", "", 20 * time.Second, false},
		"GraceRepeatable": {"but not where reads are consistent", func(f *managed.Facts) {
			f.Observation.Exists, f.Creation.Succeeded, f.Kind.Repeatable = false, noon().Add(-10*time.Second), true
		}, managed.StepCreate, "ReconcileSuccess", "Creating", 0, false},
		"GraceDeleting": {"it is not forgotten either", func(f *managed.Facts) {
			f.Observation.Exists, f.Creation.Succeeded, f.Deleting = false, noon().Add(-10*time.Second), true
		}, managed.StepStop, "", "Deleting", 20 * time.Second, false},
		"Others":   {"others finish first", func(f *managed.Facts) { f.Deleting = true; f.Finalizers = append(f.Finalizers, "theirs") }, managed.StepStop, "ReconcileSuccess", "Deleting", 0, true},
		"Delete":   {"what exists is deleted", func(f *managed.Facts) { f.Deleting = true }, managed.StepDelete, "ReconcileSuccess", "Deleting", 0, false},
		"KeepRead": {"but not what is not the resource's", func(f *managed.Facts) { f.Deleting, f.Observation.ReadOnly = true, true }, managed.StepRelease, "", "", 0, false},
		"Gone":     {"what is gone is released", func(f *managed.Facts) { f.Deleting, f.Observation.Exists = true, false }, managed.StepRelease, "", "", 0, false},
		"Finalize": {"a finalizer comes before a creation", func(f *managed.Facts) { f.Finalizers, f.Observation.Exists = nil, false }, managed.StepFinalize, "", "", 0, false},
		"Imported": {"and before anything that exists is changed", func(f *managed.Facts) { f.Finalizers, f.Observation.UpToDate = nil, false }, managed.StepFinalize, "", "", 0, false},
		"Create":   {"it is created", func(f *managed.Facts) { f.Observation.Exists = false }, managed.StepCreate, "ReconcileSuccess", "Creating", 0, false},
		"Lost": {"a lost name is searched for before anything is created", func(f *managed.Facts) {
			f.Observation.Exists, f.ExternalName, f.Kind.Naming, f.Finds = false, "", managed.ByProvider, true
		}, managed.StepFind, "", "", 0, false},
		"LostFound": {"and adopted", func(f *managed.Facts) {
			f.Observation.Exists, f.ExternalName, f.Kind.Naming, f.Finds, f.Found = false, "", managed.ByProvider, true, &managed.Finding{Name: "7"}
		}, managed.StepAdopt, "ReconcileSuccess", "Creating", 0, false},
		"LostNothing": {"or created", func(f *managed.Facts) {
			f.Observation.Exists, f.ExternalName, f.Kind.Naming, f.Finds, f.Found = false, "", managed.ByProvider, true, &managed.Finding{}
		}, managed.StepCreate, "ReconcileSuccess", "Creating", 0, false},
		"Initialize":  {"values are taken over", func(f *managed.Facts) { f.Observation.Initialized = map[string]any{"a": 1} }, managed.StepInitialize, "", "", 0, false},
		"Initialized": {"once", func(f *managed.Facts) { f.Observation.Initialized, f.Initialized = map[string]any{"a": 1}, true }, managed.StepStop, "ReconcileSuccess", "Available", 0, false},
		"NoInitialize": {"unless the policies forbid it", func(f *managed.Facts) {
			f.Observation.Initialized, f.Actions.Initialize = map[string]any{"a": 1}, false
		}, managed.StepStop, "ReconcileSuccess", "Available", 0, false},
		"Update":       {"what differs is updated", func(f *managed.Facts) { f.Observation.UpToDate = false }, managed.StepUpdate, "ReconcileSuccess", "Available", 0, false},
		"NoUpdate":     {"unless the policies forbid it", func(f *managed.Facts) { f.Observation.UpToDate, f.Actions.Update = false, false }, managed.StepStop, "ReconcileSuccess", "Available", 0, false},
		"ReadNoUpdate": {"or it is not the resource's", func(f *managed.Facts) { f.Observation.UpToDate, f.Observation.ReadOnly = false, true }, managed.StepStop, "ReconcileSuccess", "Available", 0, false},
		"Restricted": {"or the provider does", func(f *managed.Facts) {
			f.Observation.UpToDate, f.Observation.Restricted = false, &managed.Cause{Reason: "ReplacementRequired"}
		}, managed.StepStop, "ReconcileSuccess", "Available", 0, false},
		"InProgress":   {"what is in progress is observed soon", func(f *managed.Facts) { f.Observation.Next, f.Observation.Ready = 5*time.Second, managed.Creating("") }, managed.StepStop, "ReconcileSuccess", "Creating", 5 * time.Second, false},
		"NothingKnown": {"what is not known changes nothing", func(f *managed.Facts) { f.Observation.Ready = managed.Readiness{} }, managed.StepStop, "ReconcileSuccess", "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := managed.Next(ordinary(tc.change))
			if d.Step != tc.step || reasonOf(d.Synced) != tc.synced || reasonOf(d.Ready) != tc.ready || d.After != tc.after || d.Rests != tc.rests {
				t.Errorf("%s: %+v, synced %+v, ready %+v", tc.reason, d, d.Synced, d.Ready)
			}
		})
	}
}

func reasonOf(v *managed.Verdict) string {
	if v == nil {
		return ""
	}
	return v.Reason
}

// TestNextShowsDifferences says whether what exists is as declared, for kinds that show it.
func TestNextShowsDifferences(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*managed.Facts)
		want   *managed.Verdict
	}{
		"Not shown": {func(f *managed.Facts) { f.Kind.ShowsDifference = false }, nil},
		"Same":      {func(*managed.Facts) {}, &managed.Verdict{True: true, Cause: managed.Cause{Reason: "ObserveMatched"}}},
		"Differs":   {func(f *managed.Facts) { f.Observation.UpToDate, f.Observation.Difference = false, "size" }, &managed.Verdict{Cause: managed.Cause{Reason: "UpdatePending", Message: "size"}}},
		"Forbidden": {func(f *managed.Facts) {
			f.Observation.UpToDate, f.Observation.Difference, f.Actions.Update = false, "size", false
		}, &managed.Verdict{Cause: managed.Cause{Reason: "UpdateRestricted", Message: "size"}}},
		"Restricted": {func(f *managed.Facts) {
			f.Observation.Restricted = &managed.Cause{Reason: "ReplacementRequired", Message: "image"}
		}, &managed.Verdict{Cause: managed.Cause{Reason: "ReplacementRequired", Message: "image"}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := managed.Next(ordinary(func(f *managed.Facts) { f.Kind.ShowsDifference = true; tc.change(f) }))
			if diff := cmp.Diff(tc.want, d.UpToDate); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestIncomplete knows a creation whose result was not stored, also one in the second of an earlier one.
func TestIncomplete(t *testing.T) {
	const second = "2026-11-22T12:00:00Z"
	for name, tc := range map[string]struct {
		reason      string
		annotations map[string]string
		want        bool
	}{
		"Nothing":      {"nothing was created", nil, false},
		"Open":         {"begun, and no result", map[string]string{pending: second, attempt: "1 2026-11-22T12:00:00.25Z open"}, true},
		"SameSecond":   {"a result of the same second is of an earlier one", map[string]string{pending: second, done: second, attempt: "2 2026-11-22T12:00:00.9Z open"}, true},
		"Ended":        {"it has a result", map[string]string{pending: second, done: second, attempt: "2 2026-11-22T12:00:00.9Z ended"}, false},
		"Removed":      {"a person says that it is safe to proceed", map[string]string{attempt: "1 2026-11-22T12:00:00.25Z open"}, false},
		"Theirs":       {"begun by another controller", map[string]string{pending: second}, true},
		"TheirsLater":  {"begun by another controller after ours", map[string]string{pending: "2026-11-22T12:00:09Z", attempt: "1 2026-11-22T12:00:00.25Z ended"}, true},
		"TheirsEnded":  {"ended by another controller", map[string]string{pending: second, done: "2026-11-22T12:00:02Z"}, false},
		"TheirsFailed": {"failed by another controller", map[string]string{pending: second, fault: "2026-11-22T12:00:02Z"}, false},
		"Unreadable":   {"a time that is none is none", map[string]string{pending: "yesterday"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := object("x/v1", "Thing", "", "a", nil)
			o.SetAnnotations(tc.annotations)
			if got := managed.CreationOf(o).Incomplete(); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

const (
	pending = "crossplane.io/external-create-pending"
	done    = "crossplane.io/external-create-succeeded"
	fault   = "crossplane.io/external-create-failed"
	attempt = "provision.headgate.dev/attempt"
)

// TestActions reads the policies in all their spellings.
func TestActions(t *testing.T) {
	full := managed.Actions{Create: true, Update: true, Delete: true, Initialize: true}
	list := func(all ...any) map[string]any { return map[string]any{"managementPolicies": all} }
	for name, tc := range map[string]struct {
		spec map[string]any
		want managed.Actions
		bad  bool
	}{
		"Nothing":       {map[string]any{}, full, false},
		"All":           {list("*"), full, false},
		"Single":        {list("Observe", "Create", "Update", "Delete", "LateInitialize"), full, false},
		"None":          {list(), managed.Actions{Paused: true}, false},
		"Observe":       {list("Observe"), managed.Actions{}, false},
		"Order":         {list("Update", "Observe", "Create"), managed.Actions{Create: true, Update: true}, false},
		"Repeated":      {list("Observe", "Observe"), managed.Actions{}, false},
		"Keep":          {list("Observe", "Create", "Update", "LateInitialize"), managed.Actions{Create: true, Update: true, Initialize: true}, false},
		"Import":        {list("Observe", "LateInitialize"), managed.Actions{Initialize: true}, false},
		"UpdateOnly":    {list("Observe", "Update"), managed.Actions{Update: true}, false},
		"Blind":         {list("Create", "Update", "Delete"), managed.Actions{}, true},
		"UpdateDelete":  {list("Observe", "Update", "Delete"), managed.Actions{}, true},
		"Mixed":         {list("*", "Observe"), managed.Actions{}, true},
		"Unknown":       {list("Observe", "Destroy"), managed.Actions{}, true},
		"Orphan":        {map[string]any{"deletionPolicy": "Orphan"}, managed.Actions{Create: true, Update: true, Initialize: true}, false},
		"OrphanAll":     {map[string]any{"deletionPolicy": "Orphan", "managementPolicies": []any{"*"}}, managed.Actions{Create: true, Update: true, Initialize: true}, false},
		"OrphanDelete":  {map[string]any{"deletionPolicy": "Orphan", "managementPolicies": []any{"Observe", "Delete"}}, managed.Actions{Delete: true}, false},
		"DeleteObserve": {map[string]any{"deletionPolicy": "Delete", "managementPolicies": []any{"Observe"}}, managed.Actions{}, false},
		"Older":         {map[string]any{"managementPolicy": "ObserveCreateUpdate"}, managed.Actions{Create: true, Update: true}, false},
		"OlderDelete":   {map[string]any{"managementPolicy": "ObserveDelete", "deletionPolicy": "Orphan"}, managed.Actions{Delete: true}, false},
		"OlderDefault":  {map[string]any{"managementPolicy": "Default"}, full, false},
		"OlderUnknown":  {map[string]any{"managementPolicy": "Destroy"}, managed.Actions{}, true},
		"Both":          {map[string]any{"managementPolicy": "Observe", "managementPolicies": []any{"Observe"}}, managed.Actions{}, false},
		"Contradiction": {map[string]any{"managementPolicy": "Observe", "managementPolicies": []any{"*"}}, managed.Actions{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			k := managed.Kind{Policies: managed.BothPolicies, Deletion: true}
			got, err := managed.ActionsOf(k, object("x/v1", "Thing", "", "a", map[string]any{"spec": tc.spec}))
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.bad {
				t.Errorf("%v: %s", err, diff)
			}
		})
	}
}

// TestActionsOfKindsWithoutPolicies ignores fields that a kind does not have.
func TestActionsOfKindsWithoutPolicies(t *testing.T) {
	o := object("x/v1", "Thing", "", "a", map[string]any{"spec": map[string]any{"managementPolicies": []any{"Observe"}, "deletionPolicy": "Orphan"}})
	got, err := managed.ActionsOf(managed.Kind{Deletion: true}, o)
	if want := (managed.Actions{Create: true, Update: true, Initialize: true}); got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
