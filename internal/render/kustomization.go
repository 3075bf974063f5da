package render

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// ErrPathNotFound is returned when the source has no directory at the path of a unit.
var ErrPathNotFound = errors.New("kustomization path not found")

var (
	// errEmpty reports that there is nothing to render.
	errEmpty = errors.New("nothing to render")
	// errSchema reports that a kustomization brings a schema, which has to be built alone.
	errSchema = errors.New("a kustomization contains a schema")
)

// kustomizationFile finds the kustomization of a directory; two of them are an error.
func (f *treeFS) kustomizationFile(dir string) (string, error) {
	var found []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if p := path.Join(dir, name); f.Exists(p) && !f.IsDir(p) {
			found = append(found, p)
		}
	}
	if len(found) > 1 {
		return "", &Error{File: inTree(found[0]), Err: fmt.Errorf(
			"the directory also contains %q; keep one of them", path.Base(found[1]))}
	}
	if len(found) == 0 {
		return "", nil
	}
	return found[0], nil
}

// prepare lays the kustomization that is built over the tree: the one of the directory, or one
// that lists its manifests, with what the unit declares added to it.
func (f *treeFS) prepare(dir string, o Options, opener *opener) error {
	name, err := f.kustomizationFile(dir)
	if err != nil {
		return err
	}
	f.preparing = true
	defer func() { f.preparing = false }()
	k := &types.Kustomization{}
	if name == "" {
		name = path.Join(dir, konfig.DefaultKustomizationFileName())
		if k, err = f.generate(dir); err != nil {
			return err
		}
	} else if err := f.readOwn(name, k, o.Stray); err != nil {
		return err
	}
	rel := inTree(name)
	if err := f.merge(k, dir, o); err != nil {
		return &Error{File: rel, Err: err}
	}
	if k, err = f.rerouted(opener, rel, k); err != nil {
		return err
	}
	if err := f.inflater.enter(path.Dir(rel), rel, k); err != nil {
		return err
	}
	data, err := yaml.Marshal(k)
	if err != nil {
		return &Error{File: rel, Err: fmt.Errorf("encoding: %w", err)}
	}
	return f.WriteFile(name, f.sieve.pass(rel, data))
}

// rerouted is the kustomization of the unit with what was fetched by where that is.
func (f *treeFS) rerouted(o *opener, rel string, k *types.Kustomization) (*types.Kustomization, error) {
	data, err := yaml.Marshal(k)
	if err != nil {
		return nil, &Error{File: rel, Err: fmt.Errorf("encoding: %w", err)}
	}
	f.preparing = false
	moved, err := f.reroute(o, rel, data)
	if errors.Is(err, errPlugins) {
		if err := f.prebuild(o, nil); err != nil {
			return nil, err
		}
		return f.rerouted(o, rel, k)
	}
	if err != nil || string(moved) == string(data) {
		return k, err
	}
	out := &types.Kustomization{}
	if err := out.Unmarshal(moved); err != nil {
		return nil, &Error{File: rel, Err: err}
	}
	return out, nil
}

// readOwn reads the kustomization of the unit, without the fields that are unknown if these are ignored.
func (f *treeFS) readOwn(name string, into *types.Kustomization, stray func(*Error)) error {
	err := f.readKustomization(name, into)
	if wrong := (*Error)(nil); stray == nil || !errors.As(err, &wrong) || !wrong.unknown {
		return err
	}
	data, err := f.ReadFile(name)
	if err != nil {
		return err
	}
	known := &types.Kustomization{}
	if err := yaml.Unmarshal(data, known); err != nil {
		return refused(inTree(name), data, err)
	}
	for _, field := range strays(inTree(name), data) {
		stray(field)
	}
	clean, err := yaml.Marshal(known)
	if err != nil {
		return &Error{File: inTree(name), Err: fmt.Errorf("encoding: %w", err)}
	}
	if err := f.WriteFile(name, clean); err != nil {
		return err
	}
	return f.readKustomization(name, into)
}

func (f *treeFS) readKustomization(name string, into *types.Kustomization) error {
	data, err := f.ReadFile(name)
	if err != nil {
		return err
	}
	rel := inTree(name)
	if err := into.Unmarshal(data); err != nil {
		return refused(rel, data, err)
	}
	if f.inflater != nil {
		return nil
	}
	if len(into.HelmCharts) > 0 || into.HelmGlobals != nil || len(into.HelmChartInflationGenerator) > 0 {
		return &Error{File: rel, Field: "helmCharts", Err: errors.New(
			"charts in a Kustomization are not supported; use a HelmRelease")}
	}
	return nil
}

// generate lists the manifests in a directory and below; a directory with a kustomization of its
// own is listed as one.
func (f *treeFS) generate(dir string) (*types.Kustomization, error) {
	k := &types.Kustomization{TypeMeta: types.TypeMeta{
		APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind,
	}}
	resources, err := f.manifests(dir, "")
	if err != nil {
		return nil, err
	}
	k.Resources = resources
	return k, nil
}

func (f *treeFS) manifests(base, rel string) ([]string, error) {
	names, err := f.ReadDir(path.Join(base, rel))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range names {
		at := path.Join(rel, name)
		full := path.Join(base, at)
		if f.IsDir(full) {
			own, err := f.kustomizationFile(full)
			if err != nil {
				return nil, err
			}
			if own != "" {
				list = append(list, at)
				continue
			}
			below, err := f.manifests(base, at)
			if err != nil {
				return nil, err
			}
			list = append(list, below...)
			continue
		}
		if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
			list = append(list, at)
		}
	}
	return list, f.failure
}

// merge adds what the unit declares to a kustomization, each as its last step.
func (f *treeFS) merge(k *types.Kustomization, dir string, o Options) error {
	k.FixKustomization()
	if o.TargetNamespace != "" {
		k.Namespace = o.TargetNamespace
	}
	if o.NamePrefix != "" {
		k.NamePrefix = o.NamePrefix
	}
	if o.NameSuffix != "" {
		k.NameSuffix = o.NameSuffix
	}
	k.Patches = append(k.Patches, o.Patches...)
	for _, image := range o.Images {
		k.Images = mergeImage(k.Images, image)
	}
	for _, component := range o.Components {
		if path.IsAbs(component) {
			return fmt.Errorf("spec.components: %q must be relative to the path of the unit", component)
		}
		p := path.Join(dir, component)
		if !isRemote(component) && !f.IsDir(p) {
			if f.failure == nil && o.IgnoreMissingComponents {
				continue
			}
			if f.failure != nil {
				return f.failure
			}
			return fmt.Errorf("spec.components: no such directory %q: %w", component, fs.ErrNotExist)
		}
		k.Components = append(k.Components, component)
	}
	k.BuildMetadata = append(k.BuildMetadata, o.BuildMetadata...)
	if o.Edit != nil {
		if err := o.Edit(k, func(name string) bool { return f.IsDir(path.Join(dir, name)) }); err != nil {
			return err
		}
	}
	return nil
}

// mergeImage sets the fields of an image; a tag and a digest are one.
func mergeImage(images []types.Image, image types.Image) []types.Image {
	for i := range images {
		have := &images[i]
		if have.Name != image.Name {
			continue
		}
		if image.NewName != "" {
			have.NewName = image.NewName
		}
		if image.NewTag != "" || image.Digest != "" {
			have.NewTag, have.Digest = image.NewTag, image.Digest
		}
		return images
	}
	return append(images, image)
}
