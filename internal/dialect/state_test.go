package dialect

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// TestCurrent says of statuses in all their forms whether they are about the object as it is.
func TestCurrent(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, status string
		want           bool
	}{
		"Status":         {"most kinds have it in the status", "{observedGeneration: 2, conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}", true},
		"Older status":   {"the spec was changed since", "{observedGeneration: 1, conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", false},
		"Not reconciled": {"sources begin with this", "{observedGeneration: -1}", false},
		"Condition":      {"ResourceSets have it in the condition alone", "{conditions: [{type: Stalled, status: 'False', observedGeneration: 1}, {type: Ready, status: 'True', observedGeneration: 2}]}", true},
		"Older":          {"which may be that of an older spec", "{conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}", false},
		"Neither":        {"ExternalSecrets say nothing about it", "{conditions: [{type: Ready, status: 'True'}]}", true},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := utilyaml.Unmarshal([]byte("{kind: Thing, apiVersion: v1, metadata: {name: a, generation: 2}, status: "+tc.status+"}"), &u.Object); err != nil {
				t.Fatal(err)
			}
			if got := Conventional(u).Current; got != tc.want {
				t.Errorf("%s: it is current: %t", tc.reason, got)
			}
		})
	}
}
