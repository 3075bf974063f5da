package generators

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/compose"
)

// makeOne makes one ExternalArtifact, and returns its line of the inventory.
func (g *generator) makeOne(ctx context.Context, o *swapi.ArtifactGenerator, out Output, in inputs, composer *compose.Composer) (swapi.ExternalArtifactReference, error) {
	var none swapi.ExternalArtifactReference
	tree, err := composer.Compose(CopiesOf(out.Spec))
	if err != nil {
		return none, &access.Failure{Reason: meta.BuildFailedReason, Woken: true, Err: fmt.Errorf(
			"artifact %q: spec.artifacts[%d].%w", out.Spec.Name, out.index, err)}
	}
	before, err := g.own(ctx, o, out)
	if err != nil {
		return none, err
	}
	failed := func(err error) error {
		return &access.Failure{Reason: meta.ReconciliationFailedReason, Err: fmt.Errorf("artifact %q: %w", out.Spec.Name, err)}
	}
	object, err := g.apply(ctx, o, out, before)
	if err != nil {
		return none, failed(err)
	}
	a, err := g.keep(out, object, tree, in)
	if err != nil {
		return none, failed(fmt.Errorf("storing it: %w", err))
	}
	if err := g.publish(ctx, o, object, a); err != nil {
		return none, failed(err)
	}
	return swapi.ExternalArtifactReference{
		Name: out.Key.Name, Namespace: out.Key.Namespace, Digest: a.Digest, Filename: path.Base(a.Path),
	}, nil
}

// own makes sure that an ExternalArtifact has no other owner, and returns it if it exists.
func (g *generator) own(ctx context.Context, o *swapi.ArtifactGenerator, out Output) (*sourcev1.ExternalArtifact, error) {
	refused := func(by string) error {
		return &access.Failure{Reason: reasonOwnership, Woken: true, Err: fmt.Errorf(
			"spec.artifacts[%d].name: %s %s", out.index, engine.SourceID(out.Key), by)}
	}
	before, err := g.existing(ctx, out.Key)
	if err != nil {
		return nil, err
	}
	if before != nil {
		by, made := sources.GeneratorOf(before)
		switch {
		case !made:
			return nil, refused("was not created by an ArtifactGenerator")
		case by != g.id && g.exists(ctx, by):
			return nil, refused(fmt.Sprintf("belongs to ArtifactGenerator %q", by.Name))
		}
	}
	if by, mine := g.claim(out.Key, g.id); !mine {
		return nil, refused(fmt.Sprintf("belongs to ArtifactGenerator %q", by))
	}
	return before, nil
}

// existing reads an ExternalArtifact. The watch need not know yet of one that was made or that another generator has released, of which
// it sends nothing more.
func (g *generator) existing(ctx context.Context, key source.Key) (*sourcev1.ExternalArtifact, error) {
	if o, known := g.known(key); known {
		if by, made := sources.GeneratorOf(o); made && by == g.id {
			return o, nil
		}
	}
	u, err := g.objects(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", engine.SourceID(key), err)
	}
	return declared.Read[sourcev1.ExternalArtifact](u)
}

// exists reports whether there is another generator. When that cannot be told there may be one.
func (g *generator) exists(ctx context.Context, other types.NamespacedName) bool {
	if _, held := g.get(other); held {
		return true
	}
	_, err := g.sources.Client.Resource(toolkit.ArtifactGenerators).Namespace(other.Namespace).Get(ctx, other.Name, metav1.GetOptions{})
	return !apierrors.IsNotFound(err)
}

// apply writes the object of an ExternalArtifact, unless it is as it should be.
func (g *generator) apply(ctx context.Context, o *swapi.ArtifactGenerator, out Output, before *sourcev1.ExternalArtifact) (*sourcev1.ExternalArtifact, error) {
	labels, annotations := metadataOf(o, out, g.shard)
	ref := &meta.NamespacedObjectKindReference{
		APIVersion: swapi.GroupVersion.String(), Kind: swapi.ArtifactGeneratorKind, Name: o.Name, Namespace: o.Namespace,
	}
	ready := apimeta.FindStatusCondition(o.Status.Conditions, toolkit.ConditionReady)
	// What is no more declared is taken away by the first pass over a declaration.
	settled := ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == o.Generation
	if before != nil && settled && covers(before.Labels, labels) && covers(before.Annotations, annotations) && reflect.DeepEqual(before.Spec.SourceRef, ref) {
		return before, nil
	}
	metadata := map[string]any{"name": out.Key.Name, "namespace": out.Key.Namespace, "labels": labels}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return g.patch(ctx, out.Key, map[string]any{"metadata": metadata, "spec": map[string]any{"sourceRef": ref}})
}

func covers(held, wanted map[string]string) bool {
	for key, value := range wanted {
		if have, there := held[key]; !there || have != value {
			return false
		}
	}
	return true
}

// keep stores a tree, unless the store has it already.
func (g *generator) keep(out Output, object *sourcev1.ExternalArtifact, tree *source.Tree, in inputs) (*source.Artifact, error) {
	store, metadata := g.sources.Store, originOf(out.Spec, in)
	before, stored := store.Get(out.Key)
	if last := object.Status.Artifact; !stored && last != nil {
		// What cannot be read back is stored again.
		if loaded, err := store.LoadWith(out.Key, last.Revision, last.Digest, last.Metadata); err == nil {
			before, stored = loaded, true
		}
	}
	pinned := in.observed[strings.TrimPrefix(out.Spec.Revision, "@")].Revision
	if stored && before.Tree != nil && before.Tree.Digest() == tree.Digest() {
		switch {
		case before.Revision != cmp.Or(pinned, latest(before.Digest)):
		case maps.Equal(before.Metadata, metadata):
			return before, nil
		default:
			return store.Describe(out.Key, metadata)
		}
	}
	revision := pinned
	if revision == "" {
		digest, _, err := source.Pack(tree, io.Discard)
		if err != nil {
			return nil, err
		}
		revision = latest(digest)
	}
	return store.PutTree(out.Key, revision, tree, metadata, time.Now())
}

// latest is the revision of what is known by its content only.
func latest(digest string) string { return "latest@" + digest }

// publish records where an artifact can be downloaded, and reports a new one.
func (g *generator) publish(ctx context.Context, o *swapi.ArtifactGenerator, object *sourcev1.ExternalArtifact, a *source.Artifact) error {
	after := object.DeepCopy()
	next := sources.ArtifactOf(a)
	was := object.Status.Artifact
	if was == nil || !sameArtifact(was, next) {
		after.Status.Artifact = next
	}
	c := &toolkit.Conditions{List: after.Status.Conditions, Generation: object.Generation, Now: metav1.NewTime(time.Now().Truncate(time.Second))}
	c.Set(toolkit.ConditionReady, metav1.ConditionTrue, meta.SucceededReason, "Artifact is ready")
	after.Status.Conditions = c.Sorted()
	if reflect.DeepEqual(object.Status, after.Status) {
		return nil
	}
	if _, err := g.patch(ctx, artifactKey(object.Namespace, object.Name), map[string]any{"status": after.Status}, "status"); err != nil {
		return err
	}
	if f, known := g.sources.Feed(artifactKey(object.Namespace, object.Name)); known {
		f.Nudge()
	}
	if was == nil || !was.HasRevision(a.Revision) || !was.HasDigest(a.Digest) {
		g.sources.Events.Record(o, corev1.EventTypeNormal, toolkit.ConditionReady, fmt.Sprintf(
			"%s/%s/%s reconciled with revision %s", sourcev1.ExternalArtifactKind, object.Namespace, object.Name, a.Revision), nil)
	}
	return nil
}

// sameArtifact compares all but the time.
func sameArtifact(a, b *meta.Artifact) bool {
	one, other := a.DeepCopy(), b.DeepCopy()
	one.LastUpdateTime, other.LastUpdateTime = metav1.Time{}, metav1.Time{}
	return reflect.DeepEqual(one, other)
}

// remove deletes an ExternalArtifact that has no other owner meanwhile, and what is stored of it.
func (g *generator) remove(ctx context.Context, key source.Key) error {
	o, err := g.existing(ctx, key)
	if err != nil {
		return err
	}
	if o != nil {
		if by, made := sources.GeneratorOf(o); !made || by != g.id {
			return nil
		}
		uid := o.UID
		err = g.objects(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("deleting %s: %w", engine.SourceID(key), err)
		}
	}
	err = g.sources.Store.Delete(key)
	g.release(key, g.id)
	return err
}

// patch applies a part of an ExternalArtifact and enters what came of it.
func (g *generator) patch(ctx context.Context, key source.Key, part map[string]any, subresources ...string) (*sourcev1.ExternalArtifact, error) {
	part["apiVersion"], part["kind"] = sourcev1.GroupVersion.String(), sourcev1.ExternalArtifactKind
	if part["metadata"] == nil {
		part["metadata"] = map[string]any{"name": key.Name, "namespace": key.Namespace}
	}
	data, err := json.Marshal(part)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", engine.SourceID(key), err)
	}
	force := true
	u, err := g.objects(key.Namespace).Patch(ctx, key.Name, types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: toolkit.GeneratorManager, Force: &force}, subresources...)
	if err != nil {
		return nil, fmt.Errorf("applying %s: %w", engine.SourceID(key), err)
	}
	o, err := declared.Read[sourcev1.ExternalArtifact](u)
	if err != nil {
		return nil, err
	}
	// One that is unknown yet, or no more, comes by the watch.
	if f, known := g.sources.Feed(key); known {
		f.Put(sources.ExternalArtifact{ExternalArtifact: o})
	}
	return o, nil
}
