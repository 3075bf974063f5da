package scenario

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// measuredStages are Stages whose Freight is verified by Jobs and Workflows. Format: an address.
const measuredStages = `apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: probe, namespace: shop}
spec:
  entrypoint: main
  arguments: {parameters: [{name: wait}]}
  templates: [{name: main, suspend: {duration: "{{workflow.parameters.wait}}"}}]
---
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: both, namespace: shop}
spec:
  args: [{name: image}, {name: token, valueFrom: {secretKeyRef: {name: api, key: token}}}]
  metrics:
  - name: job
    provider:
      job:
        metadata: {labels: {app: smoke}}
        spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "{{args.image}}"}]}}}
  - name: workflow
    provider:
      plugin:
        headgate.dev/workflow: {workflowTemplateRef: {name: probe}, arguments: {parameters: [{name: wait, value: 1s}]}}
---
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: late, namespace: shop}
spec:
  metrics:
  - name: never
    provider:
      job:
        spec:
          activeDeadlineSeconds: 1
          template: {spec: {restartPolicy: Never, nodeSelector: {there: "no"}, containers: [{name: c, image: "registry.example/smoke:1"}]}}
---
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: open, namespace: shop}
spec:
  args: [{name: token, valueFrom: {secretKeyRef: {name: api, key: token}}}]
  metrics:
  - name: leak
    consecutiveErrorLimit: 0
    provider: {job: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, args: ["{{args.token}}"]}]}}}}}
---
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: waits, namespace: shop}
spec:
  metrics:
  - name: waits
    provider: {plugin: {headgate.dev/workflow: {workflowTemplateRef: {name: probe}, arguments: {parameters: [{name: wait, value: 10h}]}}}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: by-both, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: http, config: {url: %[1]q}}]}}
  verification: {analysisTemplates: [{name: both}], args: [{name: image, value: "registry.example/smoke:1"}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: by-late, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: http, config: {url: %[1]q}}]}}
  verification: {analysisTemplates: [{name: late}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: by-open, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: http, config: {url: %[1]q}}]}}
  verification: {analysisTemplates: [{name: open}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: by-waits, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: http, config: {url: %[1]q}}]}}
  verification: {analysisTemplates: [{name: waits}]}
`

// measured has Freight verified by a Job and a Workflow, by a Job that fails, by one that would show a Secret, and by a Workflow that is
// aborted with the verification.
func (p *pipelined) measured(t *testing.T, freight, address string) {
	for one := range strings.SplitSeq(fmt.Sprintf(measuredStages, address), "---\n") {
		if err := p.world.put(one); err != nil {
			t.Fatal(err)
		}
	}
	for _, stage := range []string{"by-both", "by-late", "by-open", "by-waits"} {
		p.promotes(t, stage, freight)
	}
	p.stands("by-both", freight)
	says(t, p, "stages", "by-late", "Verified", `metric "never" assessed Failed`)
	says(t, p, "stages", "by-open", "Verified", `there is no argument "token"`)
	workflows := p.world.client.Resource(schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}).Namespace("shop")
	const ofWaits = ".waits.1"
	waiting := func() int {
		list, err := workflows.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, u := range list.Items {
			if strings.HasSuffix(u.GetName(), ofWaits) && u.GetDeletionTimestamp() == nil {
				found++
			}
		}
		return found
	}
	eventually(t, "the Workflow waits", func() (bool, string) { return waiting() == 1, fmt.Sprint(waiting()) })
	stage, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource("stages")).Namespace("shop").Get(t.Context(), "by-waits", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.annotate(t, "stages", "by-waits", v1alpha1.AbortAnnotation, verificationOf(stage))
	says(t, p, "stages", "by-waits", "Verified", "aborted")
	eventually(t, "its Workflow is deleted", func() (bool, string) { return waiting() == 0, fmt.Sprint(waiting()) })
}

// verificationOf is the ID of the last verification of a Stage.
func verificationOf(stage *unstructured.Unstructured) string {
	history, _, _ := unstructured.NestedSlice(stage.Object, "status", "freightHistory")
	if len(history) == 0 {
		return ""
	}
	collection, _ := history[0].(map[string]any)
	verifications, _, _ := unstructured.NestedSlice(collection, "verificationHistory")
	if len(verifications) == 0 {
		return ""
	}
	last, _ := verifications[0].(map[string]any)
	id, _ := last["id"].(string)
	return id
}
