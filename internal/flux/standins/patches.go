package standins

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// standInPatcher patches what stands in for a chart: patches that were written for what only the real one has are
// left out, and what the others leave incomplete is completed.
type standInPatcher struct {
	renderer   *render.Renderer
	simulation *Simulation
	unit       engine.UnitID
}

// PatcherFor is what patches the stand-in for the chart of a release.
func (s *Simulation) PatcherFor(release engine.UnitID) release.Patcher {
	return standInPatcher{s.Parts.Runner.Renderer(), s, release}
}

// Patch patches what can be.
func (p standInPatcher) Patch(manifests []byte, patches []types.Patch, images []types.Image) ([]byte, error) {
	out, err := p.renderer.PatchWithStandIn(manifests, patches, images, func(entry string) {
		p.simulation.note(render.LeftPatch, "spec.postRenderers of "+p.unit.String()+": "+entry, p.unit)
	})
	if err != nil {
		return nil, err
	}
	return mended(out)
}

// fixed completes each of the objects in a text.
func mended(manifests []byte) ([]byte, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	var out bytes.Buffer
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading a stand-in: %w", err)
		}
		if len(o.Object) == 0 {
			continue
		}
		data, err := yaml.Marshal(simulate.Mend(o).Object)
		if err != nil {
			return nil, fmt.Errorf("writing a stand-in: %w", err)
		}
		out.WriteString("---\n")
		out.Write(data)
	}
}
