package render

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Patch applies patches and images to rendered objects, both in YAML: the post-renderers of a Helm
// release. Patches are given in line; a file that one names is not found.
func (r *Renderer) Patch(manifests []byte, patches []types.Patch, images []types.Image) (out []byte, err error) {
	const input = "rendered.yaml"
	kustomization, err := yaml.Marshal(types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources: []string{input}, Patches: patches, Images: images,
	})
	if err != nil {
		return nil, fmt.Errorf("writing the kustomization of a post-renderer: %w", err)
	}
	files := filesys.MakeFsInMemory()
	for name, data := range map[string][]byte{input: manifests, "kustomization.yaml": kustomization} {
		if err := expandable(data); err != nil {
			return nil, fmt.Errorf("patching rendered objects: %w", err)
		}
		if err := files.WriteFile(name, data); err != nil {
			return nil, err
		}
	}
	defer func() {
		// The library panics on some malformed input; that is the input's fault, not the process's.
		if p := recover(); p != nil {
			out, err = nil, errors.New("patching rendered objects: kustomize panicked")
		}
	}()
	r.schema.RLock()
	defer r.schema.RUnlock()
	built, err := krusty.MakeKustomizer(&krusty.Options{PluginConfig: types.DisabledPluginConfig()}).Run(files, ".")
	if err != nil {
		return nil, fmt.Errorf("patching rendered objects: %w", err)
	}
	return built.AsYaml()
}
