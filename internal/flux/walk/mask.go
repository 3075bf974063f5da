package walk

import (
	"context"
	"reflect"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// hidden stands for a secret value in the twin of a render: it needs no quotes in YAML.
const hidden = "hidden-by-headgate"

// maskedReader reads what was rendered, with marks instead of what Secrets hold.
type maskedReader struct{ *walk }

// Secret has a mark for each value.
func (r maskedReader) Secret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	data, err := r.walk.Secret(ctx, namespace, name)
	for key := range data {
		data[key] = []byte(hidden)
	}
	return data, err
}

// ConfigMap has marks for what it holds of Secrets.
func (r maskedReader) ConfigMap(ctx context.Context, namespace, name string) (map[string]string, error) {
	if twin, there := r.twins[engine.ObjectID{Kind: "ConfigMap", Namespace: namespace, Name: name}]; there {
		data, _, err := unstructured.NestedStringMap(twin.Object, "data")
		return data, err
	}
	return r.walk.ConfigMap(ctx, namespace, name)
}

// mask is what is shown of the objects of a Kustomization: they are rendered again with marks instead of
// secret values, wherever these come from, and where that makes a difference there is something secret.
func (w *walk) mask(ctx context.Context, ks *kustomizev1.Kustomization, tree *source.Tree, inputs runner.Inputs, objects []*unstructured.Unstructured) map[engine.ObjectID]*unstructured.Unstructured {
	if !w.holdsSecrets(ks) {
		return nil
	}
	twins, err := w.twinsOf(ctx, ks, tree, inputs)
	paired := err == nil && len(twins) == len(objects)
	names := map[string]string{}
	if paired {
		for i, o := range objects {
			// The name of what is generated changes with its content.
			if name := twins[i].GetName(); !strings.Contains(name, hidden) {
				names[name] = o.GetName()
			}
		}
	}
	shown := map[engine.ObjectID]*unstructured.Unstructured{}
	for i, o := range objects {
		id := engine.IDOf(o)
		if !paired {
			// A mark cannot be rendered here: it is unknown what is secret.
			shown[id] = blank(o)
			continue
		}
		text, differs := shownOf(o.Object, twins[i].Object, names)
		if fields, is := text.(map[string]any); differs && is {
			w.twins[id], shown[id] = twins[i], &unstructured.Unstructured{Object: fields}
		}
	}
	return shown
}

// holdsSecrets reports whether what a Kustomization renders may hold secret values.
func (w *walk) holdsSecrets(ks *kustomizev1.Kustomization) bool {
	if _, twin := w.twins[kustomizationObject(ks)]; twin || ks.Spec.Decryption != nil {
		return true
	}
	return ks.Spec.PostBuild != nil && slices.ContainsFunc(ks.Spec.PostBuild.SubstituteFrom, func(from kustomizev1.SubstituteReference) bool {
		_, twin := w.twins[engine.ObjectID{Kind: from.Kind, Namespace: ks.Namespace, Name: from.Name}]
		return twin || from.Kind == "Secret"
	})
}

func kustomizationObject(ks *kustomizev1.Kustomization) engine.ObjectID {
	return engine.ObjectID{Group: toolkit.KustomizationKind.Group, Kind: toolkit.KustomizationKind.Kind, Namespace: ks.Namespace, Name: ks.Name}
}

// twinsOf renders a Kustomization with marks instead of secret values.
func (w *walk) twinsOf(ctx context.Context, ks *kustomizev1.Kustomization, tree *source.Tree, inputs runner.Inputs) ([]*unstructured.Unstructured, error) {
	if twin, there := w.twins[kustomizationObject(ks)]; there {
		read, err := declared.Read[kustomizev1.Kustomization](twin)
		if err != nil {
			return nil, err
		}
		ks = read
	}
	options := kustomize.OptionsOf(ks)
	options.Path, options.NoRemoteBases, options.LeaveOut = inputs.Options.Path, inputs.Options.NoRemoteBases, inputs.Options.LeaveOut
	if inputs.Options.Decryption != nil {
		var none *decrypt.Keys
		options.Decryption = none.WithStandIn(func(string) string { return hidden }, "")
	}
	var err error
	if options.Substitute, err = kustomize.VariablesOf(ctx, ks, maskedReader{w}); err != nil {
		return nil, err
	}
	if options.Substitute != nil && inputs.Options.Substitute != nil {
		options.Substitute.Strict = inputs.Options.Substitute.Strict
	}
	result, err := w.build(ctx, ks, tree, options)
	if err != nil {
		return nil, err
	}
	return w.finished(result.Objects, inputs.Labels), nil
}

// shownOf is a value without what differs from its twin, and whether something does.
func shownOf(value, twin any, names map[string]string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		other, is := twin.(map[string]any)
		if !is {
			return dialect.Masked, true
		}
		return shownFields(v, other, names)
	case []any:
		other, is := twin.([]any)
		if !is || len(other) != len(v) {
			return dialect.Masked, true
		}
		out, differs := make([]any, len(v)), false
		for i := range v {
			shown, differ := shownOf(v[i], other[i], names)
			out[i], differs = shown, differs || differ
		}
		return out, differs
	}
	if reflect.DeepEqual(value, twin) {
		return value, false
	}
	text, is := twin.(string)
	switch {
	case is && names[text] == value:
		return value, false
	case is && strings.Contains(text, hidden):
		return strings.ReplaceAll(text, hidden, dialect.Masked), true
	}
	return dialect.Masked, true
}

func shownFields(fields, twin map[string]any, names map[string]string) (any, bool) {
	out, differs := map[string]any{}, false
	for key, value := range fields {
		other, there := twin[key]
		if !there {
			// The key itself may be secret.
			out[dialect.Masked], differs = dialect.Masked, true
			continue
		}
		shown, differ := shownOf(value, other, names)
		out[key], differs = shown, differs || differ
	}
	return out, differs
}

// blank is an object of which nothing is shown but what it is.
func blank(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	for key := range o.Object {
		out.Object[key] = dialect.Masked
	}
	out.Object["metadata"] = map[string]any{}
	out.SetGroupVersionKind(o.GroupVersionKind())
	out.SetNamespace(o.GetNamespace())
	out.SetName(o.GetName())
	return out
}

// maskRelease fills in what is shown of the objects of a release: what its values have of Secrets is masked wherever it
// appears.
func (w *walk) maskRelease(ctx context.Context, hr *helmv2.HelmRelease, unit *dialect.OfflineUnit) {
	unit.Hide(w.secretValues(ctx, hr))
}

// secretValues are the texts among the values of a release that come from Secrets, the longest first.
func (w *walk) secretValues(ctx context.Context, hr *helmv2.HelmRelease) []string {
	var found []string
	id := engine.ObjectID{Group: toolkit.HelmReleaseKind.Group, Kind: toolkit.HelmReleaseKind.Kind, Namespace: hr.Namespace, Name: hr.Name}
	if twin, there := w.twins[id]; there {
		values, _, _ := unstructured.NestedFieldNoCopy(twin.Object, "spec", "values")
		found = dialect.Differing(hr.GetValues(), values, found)
	}
	for _, from := range hr.Spec.ValuesFrom {
		data, there, err := release.ReadValues(ctx, hr.Namespace, from, w)
		if err != nil || !there {
			continue
		}
		masked, _, _ := release.ReadValues(ctx, hr.Namespace, from, maskedReader{w})
		var value, twin any
		if from.TargetPath != "" || yaml.Unmarshal(data, &value) != nil {
			value = string(data)
		}
		if from.TargetPath != "" || yaml.Unmarshal(masked, &twin) != nil {
			twin = string(masked)
		}
		found = dialect.Differing(value, twin, found)
	}
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(found)
}
