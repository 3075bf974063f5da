package deploy

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestDrop takes out what the kinds of packages do not have, and names it.
func TestDrop(t *testing.T) {
	all, err := readSchemas()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason, object, want string
		dropped              []string
	}{
		"Nothing": {
			reason: "what is known stays, values of any shape too",
			object: "{kind: Application, metadata: {name: a, labels: {x: y}}, spec: {source: {helm: {valuesObject: {any: [thing]}}}}}",
			want:   "{kind: Application, metadata: {name: a, labels: {x: y}}, spec: {source: {helm: {valuesObject: {any: [thing]}}}}}",
		},
		"Fields": {
			reason:  "in the spec, in a list, in the metadata and beside them",
			object:  "{kind: Application, colour: red, metadata: {name: a, team: shop}, spec: {size: 2, sources: [{path: x, speed: 1}]}}",
			want:    "{kind: Application, metadata: {name: a}, spec: {sources: [{path: x}]}}",
			dropped: []string{"metadata.team", "colour", "spec.size", "spec.sources[0].speed"},
		},
		"Set": {
			reason:  "in the template of an ApplicationSet",
			object:  "{kind: ApplicationSet, metadata: {name: a}, spec: {template: {spec: {size: 2, project: p}}}}",
			want:    "{kind: ApplicationSet, metadata: {name: a}, spec: {template: {spec: {project: p}}}}",
			dropped: []string{"spec.template.spec.size"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var object, want map[string]any
			if err := errors.Join(yaml.Unmarshal([]byte(tc.object), &object), yaml.Unmarshal([]byte(tc.want), &want)); err != nil {
				t.Fatal(err)
			}
			dropped := all.drop(&unstructured.Unstructured{Object: object})
			for _, diff := range []string{cmp.Diff(tc.dropped, dropped), cmp.Diff(want, object)} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}
