package render

import (
	"errors"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

type runtimeObject = runtime.Object

// open sees every file that is read. A kustomization tells which files it refers to as data; these
// are read after it, and decrypted then.
func (o *opener) open(rel string, data []byte) ([]byte, error) {
	if slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(rel)) {
		return data, o.learn(rel, data)
	}
	format, ours := o.encrypted[rel]
	if !ours || !decrypt.IsEncrypted(data, format) {
		return data, nil
	}
	if o.keys == nil {
		return nil, errors.New("it is encrypted by SOPS, and its unit has no spec.decryption")
	}
	return o.keys.Data(data, format, format)
}

// learn notes the files that a kustomization refers to as data.
func (o *opener) learn(rel string, data []byte) error {
	k := &types.Kustomization{}
	if err := k.Unmarshal(data); err != nil {
		// Kustomize reads it next and says what is wrong with it.
		return nil
	}
	dir := path.Dir(rel)
	if o.noRemote {
		if err := refuseRemote(k); err != nil {
			return err
		}
	}
	for _, list := range [][]string{k.Resources, k.Components} {
		o.remote = o.remote || slices.ContainsFunc(list, isRemote)
	}
	for _, g := range k.SecretGenerator {
		o.sources(dir, g.KvPairSources)
	}
	for _, g := range k.ConfigMapGenerator {
		o.sources(dir, g.KvPairSources)
	}
	for _, p := range k.Patches {
		o.note(dir, p.Path, decrypt.YAML)
	}
	for _, p := range k.PatchesStrategicMerge { //nolint:staticcheck // old kustomizations still use the field
		if !strings.Contains(string(p), "\n") {
			o.note(dir, string(p), decrypt.YAML)
		}
	}
	return nil
}

func (o *opener) sources(dir string, s types.KvPairSources) {
	for _, source := range s.FileSources {
		if _, file, named := strings.Cut(source, "="); named {
			source = file
		}
		o.note(dir, source, decrypt.FormatOf(source))
	}
	for _, source := range append(slices.Clone(s.EnvSources), s.EnvSource) {
		o.note(dir, source, decrypt.Dotenv)
	}
}

func (o *opener) note(dir, file string, format decrypt.Format) {
	if file != "" {
		o.encrypted[path.Join(dir, file)] = format
	}
}
