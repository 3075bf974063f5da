package policy

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// AutoFacts are the facts for deciding whether a sync starts automatically.
type AutoFacts struct {
	// App has its spec, its operation and the state of the last one.
	App *v1alpha1.Application
	// Sync is what the comparison found, with the revisions that are wanted.
	Sync v1alpha1.SyncStatus
	// Resources are the objects that were compared.
	Resources []v1alpha1.ResourceStatus
	// SameContent is true where the wanted revisions hold nothing else for the Application than the attempted ones.
	SameContent bool
	// Inputs is the digest of everything that was rendered from, beside what the revisions and the spec tell;
	// Attempted is the one of the last operation. Where either is empty, they say nothing.
	Inputs, Attempted string
	// HooksFailed is set where the last sync failed for a hook: there is something to do although nothing is out of sync.
	HooksFailed bool
	// Pin is in force until its time.
	Pin Pin
	// Windows is the verdict of the sync windows.
	Windows Verdict
	// SelfHeal is how long drift stays.
	SelfHeal settings.SelfHeal
	// Now is the time.
	Now time.Time
}

// Pin holds an Application at a revision that a person went back to.
type Pin struct {
	// Revision is where it is held, for people.
	Revision string
	// Until is when that ends.
	Until time.Time
}

// AutoDecision is whether a sync starts automatically.
type AutoDecision struct {
	// Operation is what to start, nil for nothing.
	Operation *v1alpha1.Operation
	// Condition is what the Application is to say, nil for nothing.
	Condition *v1alpha1.ApplicationCondition
	// Why says why nothing starts; it is empty where something does.
	Why string
	// Again is when to ask again although nothing changed, zero for never.
	Again time.Time
}

// Automate decides whether a sync starts automatically: of an Application that is automated, out of sync, not being
// synced or deleted, and not attempted yet at these revisions and sources.
//
// What was attempted and failed is tried again after the wait of Slow, and at once when its inputs change; what was
// attempted and succeeded is corrected where the Application heals itself, with a wait that grows.
func Automate(f AutoFacts) AutoDecision {
	for _, stop := range []func(AutoFacts) (AutoDecision, bool){unwanted, needless, held} {
		if d, stopped := stop(f); stopped {
			return d
		}
	}
	d := attempt(f)
	if d.Operation != nil && wipes(f) {
		return AutoDecision{Why: "everything would be pruned", Condition: syncError(
			"Skipping sync attempt to %s: auto-sync will wipe out all resources", wanted(f))}
	}
	return d
}

// ConditionSyncHeld is the type of the condition of an Application whose automated sync a window holds. It is ours: upstream
// says nothing of it on the Application.
const ConditionSyncHeld = "SyncHeldWarning"

// Automated is true for an Application with automated syncs.
func Automated(policy *v1alpha1.SyncPolicy) bool {
	return policy != nil && policy.Automated != nil && (policy.Automated.Enabled == nil || *policy.Automated.Enabled)
}

func because(why string) (AutoDecision, bool) { return AutoDecision{Why: why}, true }

// unwanted stops where nothing may start.
func unwanted(f AutoFacts) (AutoDecision, bool) {
	state := f.App.Status.OperationState
	switch {
	case !Automated(f.App.Spec.SyncPolicy):
		return because("not automated")
	case f.App.Operation != nil, state != nil && (state.Phase == v1alpha1.OperationRunning || state.Phase == v1alpha1.OperationTerminating):
		return because("another operation is in progress")
	case f.App.DeletionTimestamp != nil:
		return because("deletion in progress")
	}
	return AutoDecision{}, false
}

// needless stops where nothing is to be done.
func needless(f AutoFacts) (AutoDecision, bool) {
	if f.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync && (!f.HooksFailed || f.Sync.Status != v1alpha1.SyncStatusCodeSynced) {
		return because("application status is " + string(f.Sync.Status))
	}
	onlyPrune := len(f.Resources) > 0
	for _, r := range f.Resources {
		if (r.Status == v1alpha1.SyncStatusCodeOutOfSync || r.Status == v1alpha1.SyncStatusCodeUnknown) && !r.RequiresPruning {
			onlyPrune = false
		}
	}
	if onlyPrune && slices.ContainsFunc(f.Resources, requiresPruning) && !prunes(f) {
		return because("need to prune extra resources only but automated prune is disabled")
	}
	return AutoDecision{}, false
}

// held stops where a person or a window holds the Application.
func held(f AutoFacts) (AutoDecision, bool) {
	switch {
	case f.Pin.Until.After(f.Now):
		return AutoDecision{Why: "pinned to " + f.Pin.Revision, Again: f.Pin.Until}, true
	case !f.Windows.CanSync(false):
		return AutoDecision{Why: f.Windows.Why, Again: f.Windows.Next, Condition: &v1alpha1.ApplicationCondition{
			Type: ConditionSyncHeld, Message: f.Windows.Why,
		}}, true
	}
	return AutoDecision{}, false
}

// attempt makes the operation, unless the last one was the same.
func attempt(f AutoFacts) AutoDecision {
	d := AutoDecision{Operation: operation(f)}
	state := f.App.Status.OperationState
	switch {
	case !attempted(f):
		return d
	case state.Phase != v1alpha1.OperationSucceeded:
		return failedBefore(f, d.Operation)
	case !heals(f):
		return AutoDecision{Why: fmt.Sprintf("most recent sync already to %s", wanted(f))}
	}
	return heal(f, d.Operation)
}

// attempted is true where the last operation had the same revisions and sources, and the same inputs. An operation
// that ended before it had a result counts as one that did. Unlike upstream, a dry run is no attempt, and neither is a
// sync of some objects that a user requested: the rest would wait for the next commit. One that a window stopped is none
// either, so that the window which opens is enough, nor is one of an Application that went to another cluster meanwhile.
func attempted(f AutoFacts) bool {
	state := f.App.Status.OperationState
	if state == nil || f.Inputs != "" && f.Attempted != "" && f.Inputs != f.Attempted {
		return false
	}
	if by := EndingOf(state); by == EndedByWindow || by == EndedByMove {
		return false
	}
	if last := state.Operation; last.Sync != nil && (last.Sync.DryRun || len(last.Sync.Resources) > 0 && !last.InitiatedBy.Automated) {
		return false
	}
	result := state.SyncResult
	if result == nil {
		return true
	}
	spec := f.App.Spec
	if len(spec.Sources) > 0 {
		return (f.SameContent || slices.Equal(result.Revisions, f.Sync.Revisions)) && reflect.DeepEqual(result.Sources, spec.Sources)
	}
	source := SourceOf(spec)
	return (f.SameContent || result.Revision == f.Sync.Revision) && source != nil && reflect.DeepEqual(result.Source, source)
}

// failedBefore waits before a revision is retried whose retries are exhausted.
func failedBefore(f AutoFacts, op *v1alpha1.Operation) AutoDecision {
	state := f.App.Status.OperationState
	d := AutoDecision{
		Why:       "the last attempt failed",
		Condition: syncError("Failed last sync attempt to %s: %s", revisionsOf(state.SyncResult), state.Message),
	}
	if EndingOf(state) == EndedByTermination {
		d.Why = "the last attempt was terminated"
		return d
	}
	wait, err := Slow(op.Retry)
	if err != nil {
		return AutoDecision{Why: "the retry strategy is invalid", Condition: syncError("%s", err.Error())}
	}
	if d.Again = ended(state).Add(wait); d.Again.After(f.Now) {
		return d
	}
	// The attempt is one alone: the next comes after the same wait. The condition stays until it has ended.
	op.Retry.Limit = 0
	return AutoDecision{Operation: op, Condition: d.Condition}
}

// heal reverts drift: of the objects that differ, and without hooks. Corrections that are further apart
// than twice the longest wait are no tug-of-war, and are counted from zero.
func heal(f AutoFacts, op *v1alpha1.Operation) AutoDecision {
	state := f.App.Status.OperationState
	attempts := int64(0)
	if last := state.Operation.Sync; last != nil && f.Now.Sub(ended(state)) <= 2*f.SelfHeal.Cap {
		attempts = last.SelfHealAttemptsCount
	}
	if again := ended(state).Add(healWait(f.SelfHeal, attempts)); again.After(f.Now) {
		return AutoDecision{Why: fmt.Sprintf("drift was reverted %d times", attempts), Again: again}
	}
	op.Sync.SelfHealAttemptsCount = attempts + 1
	for _, r := range f.Resources {
		if r.Status == v1alpha1.SyncStatusCodeOutOfSync && !r.Hook {
			op.Sync.Resources = append(op.Sync.Resources, v1alpha1.SyncOperationResource{
				Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name,
			})
		}
	}
	if len(op.Sync.Resources) == 0 {
		return AutoDecision{Why: "only hooks differ, and self-heal runs no hooks"}
	}
	return AutoDecision{Operation: op}
}

// ended is when an operation ended, or at least when it began.
func ended(state *v1alpha1.OperationState) time.Time {
	if state.FinishedAt != nil {
		return state.FinishedAt.Time
	}
	return state.StartedAt.Time
}

func operation(f AutoFacts) *v1alpha1.Operation {
	policy := f.App.Spec.SyncPolicy
	spec := f.App.Spec.DeepCopy()
	sync := &v1alpha1.SyncOperation{
		Revision: f.Sync.Revision, Revisions: slices.Clone(f.Sync.Revisions), Source: SourceOf(*spec), Sources: spec.Sources,
		Prune: prunes(f), SyncOptions: slices.Clone(policy.SyncOptions),
	}
	return &v1alpha1.Operation{Sync: sync, InitiatedBy: v1alpha1.OperationInitiator{Automated: true}, Retry: Retry(policy)}
}

// SourceOf is the one source of an Application, nil where it has several or none. Of a hydrated one it is the branch
// that is written to.
func SourceOf(spec v1alpha1.ApplicationSpec) *v1alpha1.ApplicationSource {
	if h := spec.SourceHydrator; h != nil {
		address := h.SyncSource.RepoURL
		if address == "" {
			address = h.DrySource.RepoURL
		}
		return &v1alpha1.ApplicationSource{RepoURL: address, Path: h.SyncSource.Path, TargetRevision: h.SyncSource.TargetBranch}
	}
	if len(spec.Sources) > 0 {
		return nil
	}
	return spec.Source
}

// wipes is true where a sync would delete every object, and none of them comes back. Hooks do not count.
func wipes(f AutoFacts) bool {
	automated := f.App.Spec.SyncPolicy.Automated
	if !prunes(f) || automated.AllowEmpty != nil && *automated.AllowEmpty {
		return false
	}
	stays := func(r v1alpha1.ResourceStatus) bool { return !r.Hook && !r.RequiresPruning }
	return slices.ContainsFunc(f.Resources, requiresPruning) && !slices.ContainsFunc(f.Resources, stays)
}

func requiresPruning(r v1alpha1.ResourceStatus) bool { return r.RequiresPruning }

func prunes(f AutoFacts) bool {
	prune := f.App.Spec.SyncPolicy.Automated.Prune
	return prune != nil && *prune
}

func heals(f AutoFacts) bool {
	selfHeal := f.App.Spec.SyncPolicy.Automated.SelfHeal
	return selfHeal != nil && *selfHeal
}

// wanted are the revisions as messages have them.
func wanted(f AutoFacts) []string {
	if len(f.App.Spec.Sources) > 0 {
		return f.Sync.Revisions
	}
	return []string{f.Sync.Revision}
}

func revisionsOf(result *v1alpha1.SyncOperationResult) []string {
	switch {
	case result == nil:
		return []string{}
	case len(result.Revisions) > 0:
		return result.Revisions
	}
	return []string{result.Revision}
}

func syncError(format string, args ...any) *v1alpha1.ApplicationCondition {
	return &v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionSyncError, Message: fmt.Sprintf(format, args...)}
}
