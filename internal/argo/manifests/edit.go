package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// edit changes a kustomization as the command kustomize edit does for each of the fields of a source.
func (j *job) edit(k *types.Kustomization, o *v1alpha1.ApplicationSourceKustomize, exists func(dir string) bool) error {
	k.NamePrefix = cmp.Or(o.NamePrefix, k.NamePrefix)
	k.NameSuffix = cmp.Or(o.NameSuffix, k.NameSuffix)
	k.Namespace = cmp.Or(o.Namespace, k.Namespace)
	for i, text := range o.Images {
		image, err := parseImage(j.env.expand(text))
		if err != nil {
			return fieldError(fmt.Sprintf("kustomize.images[%d]", i), "%w", err)
		}
		setImage(k, image)
	}
	for i, r := range o.Replicas {
		count, err := strconv.ParseInt(r.Count.String(), 10, 64)
		if err != nil {
			return fieldError(fmt.Sprintf("kustomize.replicas[%d].count", i), "%q is not a number", r.Count.String())
		}
		k.Replicas = slices.DeleteFunc(k.Replicas, func(have types.Replica) bool { return have.Name == r.Name })
		k.Replicas = append(k.Replicas, types.Replica{Name: r.Name, Count: count})
	}
	if err := j.editLabels(k, o); err != nil {
		return err
	}
	if err := j.editAnnotations(k, o); err != nil {
		return err
	}
	for i, p := range o.Patches {
		made, err := patch(p)
		if err != nil {
			return fieldError(fmt.Sprintf("kustomize.patches[%d]", i), "%w", err)
		}
		k.Patches = append(k.Patches, made)
	}
	for i, name := range o.Components {
		if !strings.Contains(name, "://") && !exists(name) {
			if o.IgnoreMissingComponents {
				continue
			}
			return fieldError(fmt.Sprintf("kustomize.components[%d]", i), "no such directory %q; kustomize.ignoreMissingComponents skips it", name)
		}
		if !slices.Contains(k.Components, name) {
			k.Components = append(k.Components, name)
		}
	}
	return nil
}

// editLabels adds the labels, into selectors as well unless the source says otherwise.
func (j *job) editLabels(k *types.Kustomization, o *v1alpha1.ApplicationSourceKustomize) error {
	if len(o.CommonLabels) == 0 {
		return nil
	}
	labels := map[string]string{}
	for name, value := range o.CommonLabels {
		labels[name] = j.env.expand(value)
	}
	const field = "kustomize.commonLabels"
	if !o.LabelWithoutSelector {
		if o.LabelIncludeTemplates {
			return fieldError("kustomize.labelIncludeTemplates", "it requires labelWithoutSelector: true")
		}
		return addLabels(k, labels, o.ForceCommonLabels, field)
	}
	at := slices.IndexFunc(k.Labels, func(l types.Label) bool { return !l.IncludeSelectors && l.IncludeTemplates == o.LabelIncludeTemplates })
	if at < 0 {
		at = len(k.Labels)
		k.Labels = append(k.Labels, types.Label{IncludeTemplates: o.LabelIncludeTemplates})
	}
	if k.Labels[at].Pairs == nil {
		k.Labels[at].Pairs = map[string]string{}
	}
	return put(k.Labels[at].Pairs, labels, o.ForceCommonLabels, field)
}

// addLabels adds labels that go into selectors too. The command writes commonLabels, of which kustomize warns that they
// are deprecated; these are what it says to write.
func addLabels(k *types.Kustomization, labels map[string]string, force bool, field string) error {
	have := maps.Clone(k.CommonLabels) //nolint:staticcheck // kustomizations have the field
	if have == nil {
		have = map[string]string{}
	}
	if err := put(have, labels, force, field); err != nil {
		return err
	}
	for name := range labels {
		delete(k.CommonLabels, name) //nolint:staticcheck // kustomizations have the field
	}
	k.Labels = append(k.Labels, types.Label{Pairs: labels, IncludeSelectors: true})
	return nil
}

func (j *job) editAnnotations(k *types.Kustomization, o *v1alpha1.ApplicationSourceKustomize) error {
	if len(o.CommonAnnotations) == 0 {
		return nil
	}
	annotations := maps.Clone(o.CommonAnnotations)
	if o.CommonAnnotationsEnvsubst {
		for name, value := range annotations {
			annotations[name] = j.env.expand(value)
		}
	}
	if k.CommonAnnotations == nil {
		k.CommonAnnotations = map[string]string{}
	}
	return put(k.CommonAnnotations, annotations, o.ForceCommonAnnotations, "kustomize.commonAnnotations")
}

// put adds pairs to a map; one that is there is an error unless force is set.
func put(into, pairs map[string]string, force bool, field string) error {
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		if _, there := into[name]; there && !force {
			return fieldError(field, "%q is already in the kustomization; %s replaces it", name, "kustomize.forceC"+field[len("kustomize.c"):])
		}
		into[name] = pairs[name]
	}
	return nil
}

func patch(p v1alpha1.KustomizePatch) (types.Patch, error) {
	out := types.Patch{Path: p.Path, Patch: p.Patch}
	for name, on := range p.Options {
		if out.Options == nil {
			out.Options = &types.PatchArgs{}
		}
		switch name {
		case "allowNameChange":
			out.Options.AllowNameChange = on
		case "allowKindChange":
			out.Options.AllowKindChange = on
		default:
			return out, fmt.Errorf("options: %q is neither allowNameChange nor allowKindChange", name)
		}
	}
	if t := p.Target; t != nil {
		out.Target = &types.Selector{
			ResId: resid.ResId{Gvk: resid.Gvk{Group: t.Group, Version: t.Version, Kind: t.Kind}, Name: t.Name, Namespace: t.Namespace},

			AnnotationSelector: t.AnnotationSelector, LabelSelector: t.LabelSelector,
		}
	}
	return out, nil
}

// keep is what stands in an override for what the kustomization has.
const keep = "*"

// taggedPattern is an image with a tag.
var taggedPattern = regexp.MustCompile(`^(.*):([a-zA-Z0-9._-]*|\*)$`)

// parseImage reads an override: [OLD=]NEW[:TAG|@DIGEST].
func parseImage(text string) (types.Image, error) {
	old, rest, renamed := strings.Cut(text, "=")
	if !renamed {
		rest = text
	}
	name, tag, sum := rest, "", ""
	switch m := taggedPattern.FindStringSubmatch(rest); {
	case strings.Contains(rest, "@"):
		name, sum, _ = strings.Cut(rest, "@")
		if m := taggedPattern.FindStringSubmatch(name); m != nil {
			name, tag = m[1], m[2]
		}
	case m != nil:
		name, tag = m[1], m[2]
	case !renamed:
		return types.Image{}, fmt.Errorf("%q has neither a new name nor a tag nor a digest; write [OLD=]NEW[:TAG|@DIGEST]", text)
	}
	if name == "" || renamed && old == "" {
		return types.Image{}, errors.New("the name of an image is missing; write [OLD=]NEW[:TAG|@DIGEST]")
	}
	if renamed {
		return types.Image{Name: old, NewName: name, NewTag: tag, Digest: sum}, nil
	}
	return types.Image{Name: name, NewTag: tag, Digest: sum}, nil
}

// setImage replaces the override for the same image; an asterisk keeps what that one has.
func setImage(k *types.Kustomization, image types.Image) {
	var had types.Image
	at := slices.IndexFunc(k.Images, func(i types.Image) bool { return i.Name == image.Name })
	if at >= 0 {
		had = k.Images[at]
	} else {
		at = len(k.Images)
		k.Images = append(k.Images, image)
	}
	for _, f := range []struct{ to, from *string }{{&image.NewName, &had.NewName}, {&image.NewTag, &had.NewTag}, {&image.Digest, &had.Digest}} {
		if *f.to == keep {
			*f.to = *f.from
		}
	}
	k.Images[at] = image
}
