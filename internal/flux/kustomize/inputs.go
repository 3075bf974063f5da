package kustomize

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/substitute"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// InputsOf gathers what the render of a Kustomization needs beside its source. Beside an error, they have what the Kustomization itself
// says.
func InputsOf(ctx context.Context, t policies.Policy, ks *kustomizev1.Kustomization, reader access.Reader) (runner.Inputs, error) {
	options := OptionsOf(ks)
	options.NoRemoteBases = t.NoRemoteBases
	if t.Content != nil {
		options.LeaveOut = t.Content.LeaveOut(toolkit.KustomizationID(ks.Namespace, ks.Name))
		if t.Content.Variables != nil {
			options.Lacking = t.Content.Variables.Lacking(toolkit.KustomizationID(ks.Namespace, ks.Name))
		}
	}
	keys, err := KeysOf(ctx, t, ks, reader)
	if err != nil {
		return runner.Inputs{Options: options}, err
	}
	options.Decryption = keys
	options.Substitute, err = VariablesOf(ctx, ks, reader)
	if err != nil {
		return runner.Inputs{Options: options}, err
	}
	if options.Substitute != nil {
		options.Substitute.Strict = !t.LaxSubstitution
	}
	digest, err := digestOf(ks, options)
	if err != nil {
		return runner.Inputs{Options: options}, err
	}
	return runner.Inputs{
		Options: options, Digest: digest,
		Labels: map[string]string{toolkit.NameLabel: ks.Name, toolkit.NamespaceLabel: ks.Namespace},
	}, nil
}

// OptionsOf reads what needs nothing but the Kustomization itself.
func OptionsOf(ks *kustomizev1.Kustomization) render.Options {
	o := render.Options{
		Path: ks.Spec.Path, TargetNamespace: ks.Spec.TargetNamespace,
		NamePrefix: ks.Spec.NamePrefix, NameSuffix: ks.Spec.NameSuffix,
		Components: ks.Spec.Components, IgnoreMissingComponents: ks.Spec.IgnoreMissingComponents,
	}
	if m := ks.Spec.CommonMetadata; m != nil {
		o.CommonLabels, o.CommonAnnotations = m.Labels, m.Annotations
	}
	for _, b := range ks.Spec.BuildMetadata {
		o.BuildMetadata = append(o.BuildMetadata, string(b))
	}
	o.Patches, o.Images = PatchesOf(ks.Spec.Patches), ImagesOf(ks.Spec.Images)
	return o
}

// PatchesOf are patches as kustomize has them.
func PatchesOf(declared []kustomize.Patch) []types.Patch {
	var patches []types.Patch
	for _, p := range declared {
		patch := types.Patch{Patch: p.Patch}
		if t := p.Target; t != nil {
			patch.Target = &types.Selector{
				ResId: resid.ResId{
					Gvk: resid.Gvk{Group: t.Group, Version: t.Version, Kind: t.Kind}, Name: t.Name, Namespace: t.Namespace,
				},
				AnnotationSelector: t.AnnotationSelector, LabelSelector: t.LabelSelector,
			}
		}
		patches = append(patches, patch)
	}
	return patches
}

// ImagesOf are replacements of images as kustomize has them.
func ImagesOf(declared []kustomize.Image) []types.Image {
	var images []types.Image
	for _, i := range declared {
		images = append(images, types.Image{Name: i.Name, NewName: i.NewName, NewTag: i.NewTag, Digest: i.Digest})
	}
	return images
}

// KeysOf reads the keys by which the unit decrypts.
func KeysOf(ctx context.Context, t policies.Policy, ks *kustomizev1.Kustomization, reader access.Reader) (*decrypt.Keys, error) {
	d := ks.Spec.Decryption
	if d == nil {
		return nil, nil
	}
	if mark := marks(t, ks); mark != nil {
		keys, err := realKeys(ctx, t, ks, reader)
		if err != nil {
			keys = nil
		}
		return keys.WithStandIn(mark, simulate.Label), nil
	}
	return realKeys(ctx, t, ks, reader)
}

// marks returns what makes the stand-ins of what the unit cannot decrypt, nil when there are none.
func marks(t policies.Policy, ks *kustomizev1.Kustomization) func(key string) string {
	if t.Content == nil {
		return nil
	}
	return t.Content.Marks(toolkit.KustomizationID(ks.Namespace, ks.Name))
}

// realKeys are the keys of the unit and those that serve every unit. That the latter cannot be read concerns only
// what the former do not open.
func realKeys(ctx context.Context, t policies.Policy, ks *kustomizev1.Kustomization, reader access.Reader) (*decrypt.Keys, error) {
	d := ks.Spec.Decryption
	if d.Provider != "sops" {
		return nil, fmt.Errorf("spec.decryption.provider: unknown provider %q; use \"sops\"", d.Provider)
	}
	var own *decrypt.Keys
	if d.SecretRef != nil {
		data, err := reader.Secret(ctx, ks.Namespace, d.SecretRef.Name)
		if err != nil {
			return nil, fmt.Errorf("spec.decryption.secretRef: reading Secret %q: %w", ks.Namespace+"/"+d.SecretRef.Name, err)
		}
		if own, err = decrypt.NewKeys(data); err != nil {
			return nil, fmt.Errorf("spec.decryption.secretRef: Secret %q: %w", ks.Namespace+"/"+d.SecretRef.Name, err)
		}
	}
	common, err := commonKeys(ctx, t, reader)
	switch {
	case err != nil && own == nil:
		return nil, fmt.Errorf("spec.decryption has no secretRef, and %w", err)
	case err != nil:
		return own.Lacking(err.Error()), nil
	case own == nil && common == nil:
		return (&decrypt.Keys{}).Lacking("spec.decryption has no secretRef, and --sops-age-secret names no Secret"), nil
	}
	return decrypt.Merge(own, common), nil
}

// commonKeys are those that serve every unit, nil when no Secret is named.
func commonKeys(ctx context.Context, t policies.Policy, reader access.Reader) (*decrypt.Keys, error) {
	if t.AgeSecret == "" {
		return nil, nil
	}
	data, err := reader.Secret(ctx, toolkit.Namespace, t.AgeSecret)
	var keys *decrypt.Keys
	if err == nil {
		keys, err = decrypt.NewAgeKeys(data)
	}
	if err != nil {
		return nil, fmt.Errorf("the Secret of --sops-age-secret, %q, has no usable key: %w", toolkit.Namespace+"/"+t.AgeSecret, err)
	}
	return keys, nil
}

// VariablesOf reads the variables of postBuild: those of substituteFrom in their order, a later one
// over an earlier, those of substitute last.
func VariablesOf(ctx context.Context, ks *kustomizev1.Kustomization, reader access.Reader) (*substitute.Options, error) {
	pb := ks.Spec.PostBuild
	if pb == nil {
		return nil, nil
	}
	variables := map[string]string{}
	for i, from := range pb.SubstituteFrom {
		got, err := readVariables(ctx, ks.Namespace, from, reader)
		if apierrors.IsNotFound(err) && from.Optional {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("spec.postBuild.substituteFrom[%d]: reading %s %q: %w",
				i, from.Kind, ks.Namespace+"/"+from.Name, err)
		}
		maps.Copy(variables, got)
	}
	maps.Copy(variables, pb.Substitute)
	return &substitute.Options{
		Variables: variables,
		Always:    ks.GetSubstituteStrategy() == kustomizev1.SubstituteStrategyAlways,
	}, nil
}

func readVariables(ctx context.Context, namespace string, from kustomizev1.SubstituteReference, reader access.Reader) (map[string]string, error) {
	switch from.Kind {
	case "ConfigMap":
		return reader.ConfigMap(ctx, namespace, from.Name)
	case "Secret":
		data, err := reader.Secret(ctx, namespace, from.Name)
		if err != nil {
			return nil, err
		}
		values := make(map[string]string, len(data))
		for k, v := range data {
			values[k] = string(v)
		}
		return values, nil
	default:
		return nil, fmt.Errorf("unknown kind %q; use ConfigMap or Secret", from.Kind)
	}
}

// digestOf tells two sets of inputs apart. It is a one-way digest, since variables may be secret.
func digestOf(ks *kustomizev1.Kustomization, o render.Options) (string, error) {
	keys := ""
	if o.Decryption != nil {
		keys = o.Decryption.Digest()
	}
	parts := []any{ks.UID, ks.Spec, keys, o.Substitute, o.NoRemoteBases}
	if o.Lacking != nil {
		parts = append(parts, "undefined variables are empty")
	}
	data, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("encoding the inputs of %s/%s: %w", ks.Namespace, ks.Name, err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
