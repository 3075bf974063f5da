package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// tooLarge is the note for an object that is applied server-side although client-side was requested.
const tooLarge = "applied server-side: too large for the annotation in which client-side apply keeps its last " +
	"configuration in"

// merge applies the object as kubectl apply does on the client: the difference between what was applied
// last, what is declared and what is there is sent as a patch. An object that does not fit into the
// annotation is applied by the server instead.
func (s *scribe) merge(ctx context.Context, dryRun []string) (*unstructured.Unstructured, error) {
	left, err := s.left(s.before)
	if err != nil {
		return nil, err
	}
	desired := keeping(s.Object, left)
	modified, err := annotated(desired)
	if err != nil {
		return nil, err
	}
	if !fits(modified, s.before) {
		s.note = tooLarge
		if dryRun != nil {
			return s.apply(ctx, desired, dryRun)
		}
		return s.applyLeaving(ctx)
	}
	if s.before == nil {
		return s.create(ctx, modified)
	}
	kind, patch, err := threeWay(s.before, modified)
	if err != nil || string(patch) == "{}" {
		return s.before, err
	}
	if len(left) > 0 || dryRun != nil {
		if patch, err = at(patch, s.before.GetResourceVersion()); err != nil {
			return nil, err
		}
	}
	return s.client().Patch(ctx, desired.GetName(), kind, patch, metav1.PatchOptions{
		FieldManager: s.applier.names.Manager, DryRun: dryRun, FieldValidation: s.validation(),
	})
}

// annotated returns an object with the annotation that holds the object.
func annotated(desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	bare := desired.DeepCopy()
	annotations := bare.GetAnnotations()
	delete(annotations, lastApplied)
	bare.SetAnnotations(annotations)
	data, err := json.Marshal(bare.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	// kubectl ends the line.
	return withAnnotation(bare, lastApplied, string(data)+"\n"), nil
}

// fits reports whether the server takes all the annotations that the object will have.
func fits(modified, live *unstructured.Unstructured) bool {
	annotations := modified.GetAnnotations()
	if live != nil {
		annotations = maps.Clone(live.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		maps.Copy(annotations, modified.GetAnnotations())
	}
	return validation.ValidateAnnotationsSize(annotations) == nil
}

// threeWay is the patch that brings a live object to what is modified: fields that were applied last and
// are declared no more are removed, those that others added stay. Types that are built in merge their
// lists by keys, others take them as a whole.
func threeWay(live, modified *unstructured.Unstructured) (types.PatchType, []byte, error) {
	original := []byte(live.GetAnnotations()[lastApplied])
	wanted, err := json.Marshal(modified.Object)
	if err != nil {
		return "", nil, fmt.Errorf("encoding: %w", err)
	}
	current, err := json.Marshal(live.Object)
	if err != nil {
		return "", nil, fmt.Errorf("encoding: %w", err)
	}
	typed, err := scheme.Scheme.New(modified.GroupVersionKind())
	if runtime.IsNotRegisteredError(err) {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, wanted, current,
			mergepatch.RequireKeyUnchanged("apiVersion"), mergepatch.RequireKeyUnchanged("kind"),
			mergepatch.RequireMetadataKeyUnchanged("name"))
		return types.MergePatchType, patch, unpatchable(err)
	}
	if err != nil {
		return "", nil, fmt.Errorf("looking up its type: %w", err)
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return "", nil, fmt.Errorf("looking up its type: %w", err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, wanted, current, meta, true)
	return types.StrategicMergePatchType, patch, unpatchable(err)
}

// unpatchable words why there is no patch. The causes quote the object, which may hold secrets, and so
// they are left out.
func unpatchable(err error) error {
	if err == nil {
		return nil
	}
	return errors.New("comparing with the annotation " + lastApplied + ", and with the live object: " +
		"one of them does not match its schema; correct the declaration, or remove the annotation from the live object")
}

// at makes a patch hold for one version of the object only.
func at(patch []byte, version string) ([]byte, error) {
	var fields map[string]any
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	meta, _ := fields["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["resourceVersion"] = version
	fields["metadata"] = meta
	return json.Marshal(fields)
}
