package simulate

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestSuppose has expressions over simulated values hold that could with others, and no other ones.
func TestSuppose(t *testing.T) {
	object := func(spec string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("apiVersion: pki.example.dev/v1\nkind: Issuer\nmetadata: {name: a}\n"+spec), &o.Object); err != nil {
			t.Fatal(err)
		}
		return o
	}
	for name, c := range map[string]struct {
		object string
		check  Check
		want   bool
	}{
		"Address":        {"spec: {email: simulated-email}", Check{Current: "spec.email.endsWith('@example.dev')"}, true},
		"Part":           {"spec: {url: 'https://simulated-host/x'}", Check{Current: "spec.url == 'https://a.example/x'"}, true},
		"Real":           {"spec: {email: a@b.example}", Check{Current: "spec.email.endsWith('@example.dev')"}, false},
		"Real beside it": {"spec: {email: simulated-email, dnsNames: []}", Check{Current: "spec.email.endsWith('@example.dev') && size(spec.dnsNames) > 0"}, false},
		"In a list":      {"spec: {names: [simulated-name]}", Check{Current: "spec.names[0] == 'a'"}, true},
		"Status":         {"spec: {email: simulated-email}", Check{Current: "status.phase == 'Ready'"}, false},
		"Failed":         {"spec: {mode: simulated-mode}", Check{Current: "true", Failed: "spec.mode != 'strict'"}, true},
		"Missing":        {"spec: {other: simulated-x}", Check{Current: "has(spec.email)"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(c.object)
			before := o.DeepCopy()
			got, err := Suppose(o, []Check{c.check})
			if err != nil || got != c.want {
				t.Errorf("it holds: %v, %v; want %v", got, err, c.want)
			}
			if !equal(o, before) {
				t.Error("the object was changed")
			}
		})
	}
}

func equal(a, b *unstructured.Unstructured) bool {
	x, errX := a.MarshalJSON()
	y, errY := b.MarshalJSON()
	return errX == nil && errY == nil && string(x) == string(y)
}
