package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/simulate"
)

func TestMend(t *testing.T) {
	const marked = "metadata: {name: a, labels: {headgate.dev/simulated: 'true'}}"
	cases := map[string]struct{ reason, object, want string }{
		"container": {
			"a container that only the real chart has gets an image, and what it mounts is there",
			"{apiVersion: apps/v1, kind: Deployment, " + marked + ", spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: x, volumeMounts: [{name: v, mountPath: /v}, {name: u, mountPath: /u}]}], volumes: [{name: u, emptyDir: {}}]}}}}",
			"{apiVersion: apps/v1, kind: Deployment, " + marked + ", spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: x, image: 'simulated.invalid/placeholder:0', volumeMounts: [{name: v, mountPath: /v}, {name: u, mountPath: /u}]}], volumes: [{name: u, emptyDir: {}}, {name: v, emptyDir: {}}]}}}}",
		},
		"half a volume": {
			"a patch of a volume that only the real chart has does not say what is mounted",
			"{apiVersion: batch/v1, kind: CronJob, " + marked + ", spec: {jobTemplate: {spec: {template: {spec: {initContainers: [{name: i, image: k}], containers: [{name: x, image: y}], volumes: [{name: c, configMap: {defaultMode: 493}}, {name: s, secret: {secretName: s}}]}}}}}}",
			"{apiVersion: batch/v1, kind: CronJob, " + marked + ", spec: {jobTemplate: {spec: {template: {spec: {initContainers: [{name: i, image: k}], containers: [{name: x, image: y}], volumes: [{name: c, emptyDir: {}}, {name: s, secret: {secretName: s}}]}}}}}}",
		},
		"selector": {
			"a selector that was patched selects the pods",
			"{apiVersion: apps/v1, kind: StatefulSet, " + marked + ", spec: {selector: {matchLabels: {a: patched}}, template: {metadata: {labels: {a: b, c: d}}, spec: {containers: [{name: x, image: y}]}}}}",
			"{apiVersion: apps/v1, kind: StatefulSet, " + marked + ", spec: {selector: {matchLabels: {a: patched}}, template: {metadata: {labels: {a: patched, c: d}}, spec: {containers: [{name: x, image: y}]}}}}",
		},
		"real":      {"what is no stand-in stays as it is", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: x}]}}}}", ""},
		"another":   {"a kind of the same name elsewhere is another one", "{apiVersion: example.com/v1, kind: Deployment, " + marked + ", spec: {template: {spec: {containers: [{name: x}]}}}}", ""},
		"no pod":    {"there may be nothing to complete", "{apiVersion: apps/v1, kind: Deployment, " + marked + "}", ""},
		"ConfigMap": {"other kinds lack nothing", "{apiVersion: v1, kind: ConfigMap, " + marked + ", data: {a: b}}", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.object
			}
			before := object(t, c.object)
			if diff := cmp.Diff(object(t, c.want).Object, simulate.Mend(before).Object); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(object(t, c.object).Object, before.Object); diff != "" {
				t.Errorf("the object itself was changed:\n%s", diff)
			}
		})
	}
}
