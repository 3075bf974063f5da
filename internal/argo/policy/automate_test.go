package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// outOfSync are the facts of an automated Application that was never synced.
func outOfSync() AutoFacts {
	return AutoFacts{
		App: &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{
			Source:     &v1alpha1.ApplicationSource{RepoURL: "https://github.com/a/b", Path: "web"},
			SyncPolicy: &v1alpha1.SyncPolicy{Automated: &v1alpha1.SyncPolicyAutomated{}, SyncOptions: []string{"CreateNamespace=true"}},
		}},
		Sync: v1alpha1.SyncStatus{Status: v1alpha1.SyncStatusCodeOutOfSync, Revision: "r2"},
		Resources: []v1alpha1.ResourceStatus{
			{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web", Status: v1alpha1.SyncStatusCodeOutOfSync},
			{Kind: "Service", Namespace: "ns", Name: "web", Status: v1alpha1.SyncStatusCodeSynced},
		},
		SelfHeal: settings.Defaults().Controller.SelfHeal, Now: noon,
	}
}

// after says how the last operation ended, so long ago.
func (f *AutoFacts) after(phase v1alpha1.OperationPhase, revision string, ago time.Duration) *v1alpha1.OperationState {
	f.App.Status.OperationState = &v1alpha1.OperationState{
		Phase: phase, Message: "it broke", FinishedAt: &metav1.Time{Time: noon.Add(-ago)},
		SyncResult: &v1alpha1.SyncOperationResult{Revision: revision, Source: f.App.Spec.Source.DeepCopy()},
	}
	return f.App.Status.OperationState
}

func (f *AutoFacts) automated() *v1alpha1.SyncPolicyAutomated { return f.App.Spec.SyncPolicy.Automated }

func TestAutomateStarts(t *testing.T) {
	f := outOfSync()
	want := AutoDecision{Operation: &v1alpha1.Operation{
		Sync: &v1alpha1.SyncOperation{
			Revision: "r2", Source: f.App.Spec.Source, SyncOptions: []string{"CreateNamespace=true"},
		},
		InitiatedBy: v1alpha1.OperationInitiator{Automated: true}, Retry: v1alpha1.RetryStrategy{Limit: 5},
	}}
	if diff := cmp.Diff(want, Automate(f)); diff != "" {
		t.Error(diff)
	}
}

func TestAutomate(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*AutoFacts)
		starts bool
		why    string
		// condition and again are what the decision says besides.
		condition string
		again     time.Duration
	}{
		"NoPolicy":       {"", func(f *AutoFacts) { f.App.Spec.SyncPolicy = nil }, false, "not automated", "", 0},
		"Manual":         {"", func(f *AutoFacts) { f.App.Spec.SyncPolicy.Automated = nil }, false, "not automated", "", 0},
		"Disabled":       {"", func(f *AutoFacts) { f.automated().Enabled = ptr.To(false) }, false, "not automated", "", 0},
		"Enabled":        {"", func(f *AutoFacts) { f.automated().Enabled = ptr.To(true) }, true, "", "", 0},
		"Operation":      {"", func(f *AutoFacts) { f.App.Operation = &v1alpha1.Operation{} }, false, "another operation is in progress", "", 0},
		"Running":        {"an operation may have begun that is no longer asked for", func(f *AutoFacts) { f.after(v1alpha1.OperationRunning, "r1", 0) }, false, "another operation is in progress", "", 0},
		"Deleting":       {"", func(f *AutoFacts) { f.App.DeletionTimestamp = &metav1.Time{Time: noon} }, false, "deletion in progress", "", 0},
		"Synced":         {"", func(f *AutoFacts) { f.Sync.Status = v1alpha1.SyncStatusCodeSynced }, false, "application status is Synced", "", 0},
		"Unknown":        {"", func(f *AutoFacts) { f.Sync.Status = v1alpha1.SyncStatusCodeUnknown }, false, "application status is Unknown", "", 0},
		"OnlyPrune":      {"", func(f *AutoFacts) { f.Resources[0].RequiresPruning = true }, false, "need to prune extra resources only but automated prune is disabled", "", 0},
		"Prune":          {"", func(f *AutoFacts) { f.Resources[0].RequiresPruning, f.automated().Prune = true, ptr.To(true) }, true, "", "", 0},
		"OnlyHook":       {"a hook that was edited is no pruning", func(f *AutoFacts) { f.Resources[0].Hook = true }, true, "", "", 0},
		"Wipe":           {"", wipe, false, "everything would be pruned", "Skipping sync attempt to [r2]: auto-sync will wipe out all resources", 0},
		"WipeBesideHook": {"hooks do not count", func(f *AutoFacts) { wipe(f); f.Resources[1] = v1alpha1.ResourceStatus{Hook: true} }, false, "everything would be pruned", "Skipping sync attempt to [r2]: auto-sync will wipe out all resources", 0},
		"AllowEmpty":     {"", func(f *AutoFacts) { wipe(f); f.automated().AllowEmpty = ptr.To(true) }, true, "", "", 0},
		"Pinned":         {"", func(f *AutoFacts) { f.Pin = Pin{"r0", noon.Add(time.Hour)} }, false, "pinned to r0", "", time.Hour},
		"PinOver":        {"", func(f *AutoFacts) { f.Pin = Pin{"r0", noon} }, true, "", "", 0},
		"Window":         {"", func(f *AutoFacts) { f.Windows = Verdict{broken: true, Why: "blocked", Next: noon.Add(time.Minute)} }, false, "blocked", "blocked", time.Minute},
		"Stopped":        {"what a window stopped", func(f *AutoFacts) { f.after(v1alpha1.OperationFailed, "r2", 0).Message = blockedByWindow + ": w" }, true, "", "", 0},
		"Moved":          {"what went to another cluster", func(f *AutoFacts) { f.after(v1alpha1.OperationFailed, "r2", 0).Message = Moved }, true, "", "", 0},
		"NewRevision":    {"what failed at another revision says nothing", func(f *AutoFacts) { f.after(v1alpha1.OperationFailed, "r1", 0) }, true, "", "", 0},
		"SameContent":    {"a commit beside the Application is none", func(f *AutoFacts) { f.after(v1alpha1.OperationSucceeded, "r1", 0); f.SameContent = true }, false, "most recent sync already to [r2]", "", 0},
		"NewSource":      {"", func(f *AutoFacts) { f.after(v1alpha1.OperationSucceeded, "r2", 0).SyncResult.Source.Path = "old" }, true, "", "", 0},
		"Attempted":      {"", func(f *AutoFacts) { f.after(v1alpha1.OperationSucceeded, "r2", 0) }, false, "most recent sync already to [r2]", "", 0},
		"DryRun": {"", func(f *AutoFacts) {
			f.after(v1alpha1.OperationSucceeded, "r2", 0).Operation.Sync = &v1alpha1.SyncOperation{DryRun: true}
		}, true, "", "", 0},
		"Partial": {"a person synced one object", func(f *AutoFacts) {
			f.after(v1alpha1.OperationSucceeded, "r2", 0).Operation.Sync = &v1alpha1.SyncOperation{Resources: []v1alpha1.SyncOperationResource{{Kind: "Service"}}}
		}, true, "", "", 0},
		"Healed": {"what the engine corrected was an attempt", func(f *AutoFacts) {
			state := f.after(v1alpha1.OperationSucceeded, "r2", 0)
			state.Operation = v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Automated: true}, Sync: &v1alpha1.SyncOperation{Resources: []v1alpha1.SyncOperationResource{{Kind: "Service"}}}}
		}, false, "most recent sync already to [r2]", "", 0},
		"Failed":           {"", func(f *AutoFacts) { f.after(v1alpha1.OperationFailed, "r2", time.Minute) }, false, "the last attempt failed", "Failed last sync attempt to [r2]: it broke", 2 * time.Minute},
		"FailedLongAgo":    {"", func(f *AutoFacts) { f.after(v1alpha1.OperationError, "r2", 3*time.Minute) }, true, "", "Failed last sync attempt to [r2]: it broke", 0},
		"FailedNewInputs":  {"", func(f *AutoFacts) { f.after(v1alpha1.OperationFailed, "r2", 0); f.Inputs, f.Attempted = "b", "a" }, true, "", "", 0},
		"FailedSameInputs": {"", func(f *AutoFacts) { f.after(v1alpha1.OperationFailed, "r2", 0); f.Inputs, f.Attempted = "a", "a" }, false, "the last attempt failed", "Failed last sync attempt to [r2]: it broke", 3 * time.Minute},
		"FailedNoResult":   {"an operation without result is as one that had the revision", func(f *AutoFacts) { f.after(v1alpha1.OperationFailed, "r1", 0).SyncResult = nil }, false, "the last attempt failed", "Failed last sync attempt to []: it broke", 3 * time.Minute},
		"Terminated": {"what a person ended stays so", func(f *AutoFacts) {
			f.after(v1alpha1.OperationFailed, "r2", time.Hour).Message = "Operation terminated"
		}, false, "the last attempt was terminated", "Failed last sync attempt to [r2]: Operation terminated", 0},
		"BadRetry": {"", func(f *AutoFacts) {
			f.after(v1alpha1.OperationFailed, "r2", time.Hour)
			f.App.Spec.SyncPolicy.Retry = &v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{MaxDuration: "soon"}}
		}, false, "the retry strategy is invalid", `spec.syncPolicy.retry.backoff.maxDuration: unable to parse "soon" as a duration; use seconds, or a duration such as 2m`, 0},
		"SeveralSources": {"", func(f *AutoFacts) {
			several(f)
			f.after(v1alpha1.OperationSucceeded, "", 0).SyncResult = &v1alpha1.SyncOperationResult{Revisions: []string{"a", "b"}, Sources: f.App.Spec.Sources}
		}, false, "most recent sync already to [a b]", "", 0},
		"OneOfSeveral": {"", func(f *AutoFacts) {
			several(f)
			f.after(v1alpha1.OperationSucceeded, "", 0).SyncResult = &v1alpha1.SyncOperationResult{Revisions: []string{"a", "x"}, Sources: f.App.Spec.Sources}
		}, true, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := outOfSync()
			tc.change(&f)
			got := Automate(f)
			if (got.Operation != nil) != tc.starts || got.Why != tc.why {
				t.Errorf("%s: starts %v, %q; want %v, %q", tc.reason, got.Operation != nil, got.Why, tc.starts, tc.why)
			}
			condition, again := "", time.Duration(0)
			if got.Condition != nil {
				condition = got.Condition.Message
			}
			if !got.Again.IsZero() {
				again = got.Again.Sub(noon)
			}
			if condition != tc.condition || again != tc.again {
				t.Errorf("%s: %q, again after %s; want %q, %s", tc.reason, condition, again, tc.condition, tc.again)
			}
		})
	}
}

func wipe(f *AutoFacts) {
	f.automated().Prune = ptr.To(true)
	for i := range f.Resources {
		f.Resources[i].Status, f.Resources[i].RequiresPruning = v1alpha1.SyncStatusCodeOutOfSync, true
	}
}

func several(f *AutoFacts) {
	f.App.Spec.Sources = []v1alpha1.ApplicationSource{{RepoURL: "https://a", Path: "."}, {RepoURL: "https://b", Ref: "values"}}
	f.Sync.Revision, f.Sync.Revisions = "", []string{"a", "b"}
}

func TestSlowRetryIsOne(t *testing.T) {
	f := outOfSync()
	f.after(v1alpha1.OperationFailed, "r2", time.Hour)
	if got := Automate(f); got.Operation == nil || got.Operation.Retry.Limit != 0 {
		t.Errorf("want an operation without retries, got %+v", got.Operation)
	}
}

func TestHeal(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		attempts int64
		ago      time.Duration
		again    time.Duration
		want     int64
	}{
		"First":    {"the first correction is at once", 0, 0, 0, 1},
		"Second":   {"", 1, time.Second, time.Second, 0},
		"Third":    {"", 2, 6 * time.Second, 0, 3},
		"Capped":   {"", 20, time.Minute, 4 * time.Minute, 0},
		"Overflow": {"", 1 << 40, time.Minute, 4 * time.Minute, 0},
		"NoFight":  {"what was long ago does not count", 20, 11 * time.Minute, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := outOfSync()
			f.automated().SelfHeal = ptr.To(true)
			f.Resources = append(f.Resources, v1alpha1.ResourceStatus{Kind: "Job", Name: "hook", Hook: true, Status: v1alpha1.SyncStatusCodeOutOfSync})
			f.after(v1alpha1.OperationSucceeded, "r2", tc.ago).Operation.Sync = &v1alpha1.SyncOperation{SelfHealAttemptsCount: tc.attempts}
			got := Automate(f)
			if got.Operation == nil {
				if again := got.Again.Sub(noon); tc.want != 0 || again != tc.again {
					t.Errorf("%s: again after %s, want %s", tc.reason, again, tc.again)
				}
				return
			}
			only := []v1alpha1.SyncOperationResource{{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web"}}
			if diff := cmp.Diff(only, got.Operation.Sync.Resources); diff != "" || got.Operation.Sync.SelfHealAttemptsCount != tc.want {
				t.Errorf("%s: attempt %d, want %d; %s", tc.reason, got.Operation.Sync.SelfHealAttemptsCount, tc.want, diff)
			}
		})
	}
}

func TestHealHooks(t *testing.T) {
	f := outOfSync()
	f.automated().SelfHeal = ptr.To(true)
	f.Resources = f.Resources[:1]
	f.Resources[0].Hook = true
	f.after(v1alpha1.OperationSucceeded, "r2", time.Hour)
	if got := Automate(f); got.Operation != nil || !strings.Contains(got.Why, "hooks") {
		t.Errorf("a correction without objects would be one of everything: %+v", got)
	}
}

func TestFixedHeal(t *testing.T) {
	f := outOfSync()
	f.automated().SelfHeal, f.SelfHeal.Fixed = ptr.To(true), time.Minute
	f.after(v1alpha1.OperationSucceeded, "r2", 20*time.Second)
	if got := Automate(f); got.Operation != nil || got.Again.Sub(noon) != 40*time.Second {
		t.Errorf("got %+v, want a wait of 40s", got)
	}
}

func TestBackoff(t *testing.T) {
	none := v1alpha1.RetryStrategy{}
	with := func(limit int64, d, most string, factor *int64) v1alpha1.RetryStrategy {
		return v1alpha1.RetryStrategy{Limit: limit, Backoff: &v1alpha1.Backoff{Duration: d, MaxDuration: most, Factor: factor}}
	}
	type result struct {
		Wait, Slow time.Duration
		Again      bool
		Err        string
	}
	for name, tc := range map[string]struct {
		reason  string
		retry   v1alpha1.RetryStrategy
		retries int64
		want    result
	}{
		"NoLimit":     {"a limit that is left out is none at all", none, 0, result{0, 3 * time.Minute, false, ""}},
		"First":       {"", Retry(nil), 0, result{5 * time.Second, 3 * time.Minute, true, ""}},
		"Third":       {"", Retry(nil), 2, result{20 * time.Second, 3 * time.Minute, true, ""}},
		"Last":        {"", Retry(nil), 5, result{0, 3 * time.Minute, false, ""}},
		"Unlimited":   {"", v1alpha1.RetryStrategy{Limit: -1}, 1000, result{3 * time.Minute, 3 * time.Minute, true, ""}},
		"Own":         {"", with(3, "10", "1m", ptr.To(int64(3))), 1, result{30 * time.Second, time.Minute, true, ""}},
		"LongCap":     {"the slow wait has a bound of its own", with(-1, "1m", "1h", nil), 20, result{time.Hour, 3 * time.Minute, true, ""}},
		"NoCap":       {"a cap of zero is none, and a wait is finite all the same", with(-1, "1s", "0", nil), 100, result{24 * time.Hour, 3 * time.Minute, true, ""}},
		"FactorZero":  {"a factor of zero would be no wait", with(3, "10s", "", ptr.To(int64(0))), 2, result{10 * time.Second, 3 * time.Minute, true, ""}},
		"TinyCap":     {"", with(3, "1ms", "1ms", nil), 2, result{time.Millisecond, time.Second, true, ""}},
		"Bad":         {"", with(3, "5 minutes", "", nil), 0, result{0, 3 * time.Minute, false, `spec.syncPolicy.retry.backoff.duration: unable to parse "5 minutes" as a duration; use seconds, or a duration such as 2m`}},
		"Negative":    {"", with(3, "-5s", "", nil), 0, result{0, 3 * time.Minute, false, `spec.syncPolicy.retry.backoff.duration: unable to parse "-5s" as a duration; use seconds, or a duration such as 2m`}},
		"BadSeconds":  {"", with(3, "99999999999", "", nil), 0, result{0, 3 * time.Minute, false, `spec.syncPolicy.retry.backoff.duration: unable to parse "99999999999" as a duration; use seconds, or a duration such as 2m`}},
		"OfPolicy":    {"", Retry(&v1alpha1.SyncPolicy{Retry: &v1alpha1.RetryStrategy{Limit: 1}}), 1, result{0, 3 * time.Minute, false, ""}},
		"OfNoRetries": {"", Retry(&v1alpha1.SyncPolicy{}), 4, result{80 * time.Second, 3 * time.Minute, true, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got result
			var err error
			got.Wait, got.Again, err = Backoff(tc.retry, tc.retries)
			got.Slow, _ = Slow(tc.retry)
			got.Err = text(err)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}
