package standins

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/source"
)

// files lets a source that cannot be fetched have files after all, if Kustomizations read it: one for each path that they read,
// with a ConfigMap that says what it is.
func (s *Simulation) files(id engine.SourceID, failure error) (*sources.Fetched, bool) {
	tree, err := source.NewTree(s.filesOf(id))
	if err != nil || tree.Len() == 0 {
		return nil, false
	}
	s.note("Files", "those of "+id.String()+", which cannot be fetched", engine.UnitID{})
	text := fmt.Sprintf("a ConfigMap instead of its files, which cannot be fetched: %s", failure)
	stub := stubOf(text, "", "", nil)
	stub.Store = func(store *source.Store, key source.Key) error {
		_, err := store.PutTree(key, "simulated@sha256:"+tree.Digest(), tree, nil, time.Now())
		return err
	}
	return stub, true
}

// filesOf are the stand-ins of the files of a source.
func (s *Simulation) filesOf(id engine.SourceID) []*source.File {
	var files []*source.File
	for _, ks := range s.Parts.Kustomizations.All() {
		if kustomize.SourceOf(ks) != id {
			continue
		}
		name := path.Join(path.Clean("/"+ks.Spec.Path), "simulated.yaml")[1:]
		if slices.ContainsFunc(files, func(f *source.File) bool { return f.Path == name }) {
			continue
		}
		o := simulate.Object(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, cmp.Or(ks.Spec.TargetNamespace, ks.Namespace), "simulated-"+id.Name)
		if data, err := yaml.Marshal(o.Object); err == nil {
			files = append(files, source.NewFile(name, 0o644, data))
		}
	}
	return files
}
