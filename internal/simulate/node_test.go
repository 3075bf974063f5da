package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/simulate"
)

func TestPlace(t *testing.T) {
	const like = "{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1, kubernetes.io/os: linux, zone: a}}, status: {capacity: {cpu: '1000'}, allocatable: {cpu: '1000'}}}"
	waits := func(message, spec string) string {
		return "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " + spec + ", status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: \"" + message + "\"}]}}"
	}
	const selects = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."
	cases := map[string]struct {
		reason, pod, name string
		want              map[string]string
	}{
		"selector":   {"a node has the labels that are selected", waits(selects, "{containers: [], nodeSelector: {role: gpu}}"), "new", map[string]string{"role": "gpu"}},
		"hostname":   {"a node that is selected by its name has it", waits(selects, "{containers: [], nodeSelector: {kubernetes.io/hostname: k8s-1}}"), "k8s-1", map[string]string{"kubernetes.io/hostname": "k8s-1"}},
		"affinity":   {"the first of several ways", waits(selects, "{containers: [], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: role, operator: In, values: [a, b]}, {key: gpu, operator: Exists}, {key: zone, operator: DoesNotExist}, {key: size, operator: Gt, values: ['4']}]}, {matchExpressions: [{key: other, operator: Exists}]}]}}}}"), "new", map[string]string{"role": "a", "gpu": "true", "zone": "", "size": "5"}},
		"field":      {"a node by its field", waits(selects, "{containers: [], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n7]}]}]}}}}"), "n7", map[string]string{"kubernetes.io/hostname": "n7"}},
		"apart":      {"one more for each that is to be apart", waits("0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.", "{containers: [], affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}}"), "new", map[string]string{"zone": "new"}},
		"no spread":  {"so it is with those that are to be spread", waits("0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints (missing required label).", "{containers: [], topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}"), "new", map[string]string{"rack": "new"}},
		"volume":     {"a volume is no matter of nodes", waits("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.", "{containers: [], nodeSelector: {role: gpu}}"), "", nil},
		"has a node": {"nor does a pod lack one that has it", "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: node-1, containers: []}}", "", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			place, lacks := simulate.PlaceOf(object(t, c.pod))
			if lacks != (c.name != "") {
				t.Fatalf("%s: it lacks a place: %v", c.reason, lacks)
			}
			if !lacks {
				return
			}
			node := place.Node(object(t, like), "new")
			want := map[string]string{"kubernetes.io/hostname": c.name, "kubernetes.io/os": "linux", "zone": "a", simulate.Label: "true"}
			for key, value := range c.want {
				want[key] = value
				if value == "" {
					delete(want, key)
				}
			}
			if diff := cmp.Diff(want, node.GetLabels()); diff != "" || node.GetName() != c.name {
				t.Errorf("%s: %s (-want +got):\n%s", c.reason, node.GetName(), diff)
			}
			if diff := cmp.Diff(object(t, like).Object["status"], node.Object["status"]); diff != "" {
				t.Errorf("its size (-want +got):\n%s", diff)
			}
			if place.Same(place) != (name != "apart" && name != "no spread") {
				t.Errorf("one node does for two of them: %v", place.Same(place))
			}
		})
	}
}
