package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/builds/lint"
)

// flow is what people write: a builder, an Object that runs it, a reader, a Droplet.
const flow = `
apiVersion: pkg.crossplane.io/v1
kind: Provider
metadata: {name: provider-digitalocean}
spec: {package: x}
---
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: image-builder}
spec:
  entrypoint: all
  templates:
  - name: register
    container:
      command: [sh, -c]
      args: ["doctl compute image create disk --image-url=https://bucket/disk --region=nyc3 --name=nixos-latest"]
  - name: secret
    container:
      command: [sh, -c]
      args: ["kubectl create secret generic nixos-image --from-literal=image=nixos-latest --dry-run=client -o yaml | kubectl apply -f -"]
---
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: run-builder}
spec:
  deletionPolicy: Delete
  forProvider:
    manifest:
      apiVersion: argoproj.io/v1alpha1
      kind: Workflow
      metadata: {generateName: build-, namespace: default}
      spec: {workflowTemplateRef: {name: image-builder}, ttlStrategy: {secondsAfterCompletion: 60}}
---
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: pull-image}
spec:
  forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: nixos-image, namespace: default}}}
  connectionDetails: [{name: image, fromFieldPath: data.image}]
  writeConnectionSecretToRef: {name: nixos-connection, namespace: default}
---
apiVersion: droplet.digitalocean.crossplane.io/v1alpha1
kind: Droplet
metadata: {name: proxy}
spec: {forProvider: {region: nyc3, image: "", size: s-1vcpu-1gb}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: weekly}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: k, command: [kubectl, delete, secret, nixos-image]}]}}}}}
`

func parsed(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, doc := range strings.Split(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
	return all
}

// said are the findings, each by its object, its field, whether it is wrong here, and the beginnings of what it says.
func said(t *testing.T, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range lint.Check(parsed(t, text)) {
		mark := ""
		if f.Wrong {
			mark = "!"
		}
		if f.Upstream == "" || f.Here == "" {
			t.Errorf("%s %s says nothing", f.Object.GetName(), f.Field)
		}
		all[mark+f.Object.GetName()+" "+f.Field+": "+f.Upstream] = f.Here
	}
	return all
}

// TestFlow has a finding for each row of what the flow promises and upstream does not keep.
func TestFlow(t *testing.T) {
	got := said(t, flow)
	for name, want := range map[string]struct{ finding, here string }{
		"the first apply":       {`run-builder kind: the first apply fails with "no matches for kind"`, "served from the start"},
		"a template":            {"!run-builder workflowTemplateRef: there is no WorkflowTemplate image-builder", "change the kind"},
		"generateName":          {"run-builder generateName: generateName is ignored: the one Workflow is called run-builder", "the Build run-builder"},
		"the edge":              {"run-builder manifest: nothing runs when Secret default/nixos-image is deleted", "once more"},
		"deletionPolicy":        {"run-builder deletionPolicy: it has the Workflow deleted", "the same"},
		"ttl":                   {"run-builder ttlStrategy: the Workflow deletes itself", "remembered by the Build"},
		"a reader that creates": {"pull-image manifest: without managementPolicies", "nothing is created"},
		"fromFieldPath":         {"pull-image fromFieldPath: the field is unknown", "alias of fieldPath"},
		"name":                  {"proxy forProvider: it is rejected", "name of the resource: proxy"},
		"empty image":           {"proxy image: an image is required and nothing fills it in", "Secret default/nixos-connection key image"},
		"another image":         {"proxy image: another image is refused", "policy Recreate"},
		"async import":          {"image-builder args: the import takes up to an hour", "waits until an image"},
		"no flag":               {"!image-builder args: doctl compute image create has no flag --name", "the same"},
		"latest":                {"image-builder args: a name such as nixos-latest is no slug", "newest available image"},
		"deletion by schedule":  {"weekly args: deleting Secret default/nixos-image builds nothing", "schedule of a Build"},
	} {
		found := false
		for finding, here := range got {
			found = found || strings.HasPrefix(finding, want.finding) && strings.Contains(here, want.here)
		}
		if !found {
			t.Errorf("%s: there is no finding %q with %q", name, want.finding, want.here)
		}
	}
	if len(got) != 15 {
		t.Errorf("there are %d findings, want 15: %v", len(got), got)
	}
}

// TestOncePerObject has one finding per object, however many connection details have the same mistake.
func TestOncePerObject(t *testing.T) {
	found := lint.Check(parsed(t, `
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: reader}
spec:
  managementPolicies: [Observe]
  forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: nixos-image, namespace: default}}}
  connectionDetails: [{name: a, fromFieldPath: data.a}, {name: b, fromFieldPath: data.b}, {name: c, fieldPath: data.c}, {name: d, fieldPath: data.d}, {name: e, fieldPath: data.e}]
  writeConnectionSecretToRef: {name: nixos-connection, namespace: default}
`))
	var got []string
	for _, f := range found {
		got = append(got, f.Field+": "+f.Upstream)
	}
	want := []string{
		"fromFieldPath: the field is unknown and dropped (2 times), so that the Object is never synced and Secret default/nixos-connection stays empty",
		"connectionDetails: a reference without apiVersion and kind (3 times) fails, so that the Object is never synced",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestFine says nothing of objects that mean the same everywhere, and names what is missing.
func TestFine(t *testing.T) {
	for name, c := range map[string]struct{ object, want string }{
		"a number":          {"apiVersion: droplet.digitalocean.crossplane.io/v1alpha1\nkind: Droplet\nmetadata: {name: a}\nspec: {forProvider: {name: a, image: \"123\"}}", ""},
		"no candidate":      {"apiVersion: droplet.digitalocean.crossplane.io/v1alpha1\nkind: Droplet\nmetadata: {name: a}\nspec: {forProvider: {name: a}}", "!a image"},
		"imageFrom":         {"apiVersion: droplet.digitalocean.crossplane.io/v1alpha1\nkind: Droplet\nmetadata: {name: a}\nspec: {forProvider: {name: a, imageFrom: {secretKeyRef: {name: s, key: k}}}}", "a image, a imageFrom"},
		"a workflow":        {"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec: {entrypoint: x, ttlStrategy: {secondsAfterCompletion: 1}}", ""},
		"a named workflow":  {"apiVersion: kubernetes.crossplane.io/v1alpha1\nkind: Object\nmetadata: {name: a}\nspec: {forProvider: {manifest: {apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: x}, spec: {}}}}", ""},
		"a named one, TTL":  {"apiVersion: kubernetes.crossplane.io/v1alpha1\nkind: Object\nmetadata: {name: a}\nspec: {forProvider: {manifest: {apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: x}, spec: {ttlStrategy: {}}}}}", "!a ttlStrategy"},
		"a trigger alone":   {"apiVersion: kubernetes.crossplane.io/v1alpha1\nkind: Object\nmetadata: {name: a}\nspec: {forProvider: {manifest: {apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {generateName: x-}, spec: {}}}}", "a generateName, a manifest"},
		"an observer":       {"apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nmetadata: {name: a}\nspec: {managementPolicies: [Observe], forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: s}}}}", ""},
		"a ConfigMap":       {"apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nmetadata: {name: a}\nspec: {forProvider: {manifest: {apiVersion: v1, kind: ConfigMap, data: {a: b}}}}", ""},
		"a distribution":    {"apiVersion: custom.digitalocean.crossplane.io/v1alpha1\nkind: Image\nmetadata: {name: a}\nspec: {forProvider: {distribution: NixOS}}", "a distribution"},
		"another CronJob":   {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {x: [{command: [kubectl, delete, secret, nixos-image]}]}", ""},
		"a classic Droplet": {"apiVersion: compute.do.crossplane.io/v1alpha1\nkind: Droplet\nmetadata: {name: a}\nspec: {forProvider: {image: nixos-latest}}", "a image"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range lint.Check(parsed(t, c.object)) {
				mark := ""
				if f.Wrong {
					mark = "!"
				}
				got = append(got, mark+f.Object.GetName()+" "+f.Field)
			}
			var want []string
			if c.want != "" {
				want = strings.Split(c.want, ", ")
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
