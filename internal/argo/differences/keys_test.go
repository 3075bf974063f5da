package differences

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// portsLive has a list of two keys, one of which has a default, and a list in it.
const portsLive = `
apiVersion: example.org/v1
kind: Ports
metadata:
  name: p
  managedFields:
  - {manager: m, operation: Apply, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:ports": {'k:{"port":53,"protocol":"UDP"}': {"f:users": {'k:{"name":"a"}': {"f:v": {}}}}}}}}
spec:
  ports:
  - {port: 80, protocol: TCP}
  - {port: 53, protocol: UDP, users: [{name: b, v: 1}, {name: a, v: 2}]}
  - {port: 80, protocol: UDP}
`

func TestKeysWithDefaults(t *testing.T) {
	live := object(t, portsLive)
	rules, err := Compile(nil, items{{Group: "*", Kind: "*", JQPathExpressions: []string{".spec.ports[].users[]?.v", ".spec.ports[].port"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason, desired string
		want, structure []string
	}{
		"Nested": {"a list within is known although the key is not whole", "{ports: [{port: 53, users: [{name: a, v: 1}]}]}", []string{
			"/spec/ports/0/users/0/v = /spec/ports/1/users/1/v map[port,protocol] map[name]", "- = /spec/ports/1/users/0/v map[port,protocol] map[name]",
			"/spec/ports/0/port = /spec/ports/1/port map[port,protocol]", "- = /spec/ports/0/port map[port,protocol]", "- = /spec/ports/2/port map[port,protocol]",
		}, []string{"/spec/ports/0/users/0/v"}},
		"Ambiguous": {"two elements have the key that is there, and neither is guessed", "{ports: [{port: 80}]}", []string{
			"- = /spec/ports/1/users/0/v map[port,protocol] map[name]", "- = /spec/ports/1/users/1/v map[port,protocol] map[name]",
			"/spec/ports/0/port = - map[port,protocol]", "- = /spec/ports/0/port map[port,protocol]",
			"- = /spec/ports/1/port map[port,protocol]", "- = /spec/ports/2/port map[port,protocol]",
		}, []string{"/spec/ports/0"}},
		"Whole": {"", "{ports: [{port: 80, protocol: UDP}]}", []string{
			"- = /spec/ports/1/users/0/v map[port,protocol] map[name]", "- = /spec/ports/1/users/1/v map[port,protocol] map[name]",
			"/spec/ports/0/port = /spec/ports/2/port map[port,protocol]", "- = /spec/ports/0/port map[port,protocol]", "- = /spec/ports/1/port map[port,protocol]",
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			desired := object(t, "{apiVersion: example.org/v1, kind: Ports, metadata: {name: p}, spec: "+tc.desired+"}")
			fields, err := rules.For(desired).Ignored(t.Context(), desired, live)
			if diff := cmp.Diff(tc.want, shown(fields)); diff != "" || err != nil {
				t.Errorf("%s: %s %v", tc.reason, diff, err)
			}
			found, err := Comparison{}.Compare(t.Context(), desired, nil, live)
			if diff := cmp.Diff(tc.structure, listed(found)); diff != "" || err != nil {
				t.Errorf("%s: %s %v", tc.reason, diff, err)
			}
		})
	}
}

func TestElementWithoutKeys(t *testing.T) {
	desired := object(t, "{apiVersion: example.org/v1, kind: Ports, metadata: {name: p}, spec: {ports: [{users: []}]}}")
	live := object(t, portsLive)
	live.Object["spec"].(map[string]any)["ports"] = []any{map[string]any{"port": int64(53), "protocol": "UDP"}}
	found, err := Comparison{}.Compare(t.Context(), desired, nil, live)
	if diff := cmp.Diff([]string{"/spec/ports/0"}, listed(found)); diff != "" || err != nil {
		t.Errorf("an element without keys is nobody's: %s %v", diff, err)
	}
}
