// Package images serves ImageRepositories, ImagePolicies and ImageUpdateAutomations: registries are scanned, an image is selected, and
// files of a repository are changed.
//
// Which image that is, and what a file becomes, is decided by internal/images.
package images

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/images"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// Keeper serves ImageRepositories, ImagePolicies and ImageUpdateAutomations.
type Keeper struct {
	toolkit.Tools
	sources *sources.Keeper
	// rules are the policies of the cluster.
	rules *policies.Effective
	// unpushed says why nothing is pushed to Git from here; empty when it is.
	unpushed string

	repositories *declared.Registry[imagev1.ImageRepository, *imagev1.ImageRepository]
	policies     *declared.Registry[imagev1.ImagePolicy, *imagev1.ImagePolicy]
	automations  *declared.Registry[autov1.ImageUpdateAutomation, *autov1.ImageUpdateAutomation]

	scanning, choosing, updating *rounds.Loop[engine.UnitID]

	mu    sync.RWMutex
	scans map[engine.UnitID]scan
	// memories are those of the passes.
	memories map[engine.UnitID]*lastPass
}

// scan is what the last scan of a repository gave.
type scan struct {
	tags    images.Tags
	known   bool
	failure string
}

// New returns what serves objects about images; it makes no request before it is started.
func New(t toolkit.Tools, sources *sources.Keeper, rules *policies.Effective) *Keeper {
	k := &Keeper{
		Tools: t, sources: sources, rules: rules,
		scans: map[engine.UnitID]scan{}, memories: map[engine.UnitID]*lastPass{},
		repositories: declared.NewRegistry[imagev1.ImageRepository](toolkit.KindIn(toolkit.Image, imagev1.ImageRepositoryKind)),
		policies:     declared.NewRegistry[imagev1.ImagePolicy](toolkit.KindIn(toolkit.Image, imagev1.ImagePolicyKind)),
		automations:  declared.NewRegistry[autov1.ImageUpdateAutomation](toolkit.KindIn(toolkit.Image, autov1.ImageUpdateAutomationKind)),
	}
	if t.Local != nil {
		k.unpushed = "the source is a working copy, so nothing is committed or pushed"
	}
	o := rounds.Options{Log: t.Log, Guard: t.Guard}
	k.scanning, k.choosing, k.updating = rounds.New(scanning{Keeper: k}, o), rounds.New(choosing{Keeper: k}, o), rounds.New(updating{Keeper: k}, o)
	return k
}

func imageID(kind string, o metav1.Object) engine.UnitID {
	return engine.UnitID{Group: toolkit.Image.Name, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// start begins with the passes; they go on until ctx ends.
func (k *Keeper) start(ctx context.Context) {
	for _, passes := range []*rounds.Loop[engine.UnitID]{k.scanning, k.choosing, k.updating} {
		passes.Start(ctx)
	}
}

// Wait waits until no pass is in progress.
func (k *Keeper) Wait() {
	for _, passes := range []*rounds.Loop[engine.UnitID]{k.scanning, k.choosing, k.updating} {
		passes.Wait()
	}
}

// scanned is what is known of the tags of a repository.
func (k *Keeper) scanned(id engine.UnitID) scan {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.scans[id]
}

// wakePolicies reconciles the policies that select from a repository.
func (k *Keeper) wakePolicies(repository engine.UnitID) {
	for _, p := range k.policies.All() {
		if scannedBy(p) == repository {
			k.choosing.Wake(imageID(imagev1.ImagePolicyKind, p))
		}
	}
}

// wakeAutomations reconciles the automations of a namespace.
func (k *Keeper) wakeAutomations(namespace string) {
	for _, a := range k.automations.All() {
		if a.Namespace == namespace {
			k.updating.Wake(imageID(autov1.ImageUpdateAutomationKind, a))
		}
	}
}

// SourceChanged reconciles the automations that change a source.
func (k *Keeper) SourceChanged(id engine.SourceID) {
	if id.Kind != toolkit.GitRepositoryKind.Kind {
		return
	}
	for _, a := range k.automations.All() {
		if automatedSource(a) == id {
			k.updating.Wake(imageID(autov1.ImageUpdateAutomationKind, a))
		}
	}
}

// WakeAll reconciles everything.
func (k *Keeper) WakeAll() {
	for _, p := range k.policies.All() {
		k.choosing.Wake(imageID(imagev1.ImagePolicyKind, p))
	}
	for _, a := range k.automations.All() {
		k.updating.Wake(imageID(autov1.ImageUpdateAutomationKind, a))
	}
}

// verdict is how a pass ended.
type verdict struct {
	ok              bool
	reason, message string
	// stalled is set when only a change of the object can help, woken when what is missing wakes it.
	stalled, woken bool
}

// guarded is a verdict on what could not be reached otherwise.
func (k *Keeper) guarded(id engine.UnitID, reach func() verdict) (v verdict) {
	err := k.Guard.Call(id.String(), func() error {
		v = reach()
		return nil
	})
	if err != nil {
		return verdict{reason: meta.FailedReason, message: err.Error()}
	}
	return v
}

func succeededWith(message string) verdict {
	return verdict{ok: true, reason: meta.SucceededReason, message: message}
}

// enter enters the end of a pass into the parts that the status of each kind has.
func (v verdict) enter(o metav1.Object, conditions *[]metav1.Condition, observed *int64, handled *string) {
	if requested := o.GetAnnotations()[toolkit.RequestedAt]; requested != "" {
		*handled = requested
	}
	if v.ok || v.stalled {
		*observed = o.GetGeneration()
	}
	*conditions = v.conclude(*conditions, o.GetGeneration())
}

// conclude enters the end of a pass into conditions.
func (v verdict) conclude(list []metav1.Condition, generation int64) []metav1.Condition {
	c := &toolkit.Conditions{List: slices.Clone(list), Generation: generation, Now: metav1.NewTime(time.Now().Truncate(time.Second))}
	status := metav1.ConditionFalse
	switch {
	case v.ok:
		status = metav1.ConditionTrue
		c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled)
	case v.stalled:
		c.Drop(toolkit.ConditionReconciling)
		c.Set(toolkit.ConditionStalled, metav1.ConditionTrue, v.reason, v.message)
	default:
		c.Drop(toolkit.ConditionStalled)
		c.Set(toolkit.ConditionReconciling, metav1.ConditionTrue, meta.ProgressingWithRetryReason, v.message)
	}
	c.Set(toolkit.ConditionReady, status, v.reason, v.message)
	return c.Sorted()
}

// news reports whether what an object says about itself is another than before.
func news(before, after []metav1.Condition) bool {
	was, is := apimeta.FindStatusCondition(before, toolkit.ConditionReady), apimeta.FindStatusCondition(after, toolkit.ConditionReady)
	return was == nil || is != nil && (was.Status != is.Status || was.Reason != is.Reason || was.Message != is.Message)
}

// tell emits an event of what an object says about itself.
func (k *Keeper) tell(o runtime.Object, v verdict, message string) {
	kind := corev1.EventTypeNormal
	if !v.ok {
		kind = corev1.EventTypeWarning
	}
	k.Events.Record(o, kind, v.reason, message, nil)
}

// let takes the finalizer off an object that is deleted.
func (k *Keeper) let(ctx context.Context, r schema.GroupVersionResource, o metav1.Object) rounds.Next {
	err := toolkit.SetFinalizer(ctx, k.Home.Dynamic.Resource(r), o, imagev1.ImageFinalizer, false)
	if err != nil && ctx.Err() == nil {
		k.Log.V(1).Info("the finalizer of a deleted object could not be removed", "object", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
		return rounds.After(toolkit.RetryDesk)
	}
	return rounds.Rest()
}

// ended records that a pass ended; one whose result could not be written is repeated.
func (k *Keeper) ended(ctx context.Context, id engine.UnitID, began time.Time, v verdict, err error) bool {
	if err != nil && ctx.Err() == nil {
		k.Log.V(1).Info("the status of an object could not be written", "object", id.String(), "error", err.Error())
	}
	k.Metrics.Pass(id.Kind, id.Namespace, id.Name, time.Since(began), v.ok)
	return err == nil
}
