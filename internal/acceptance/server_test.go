package acceptance

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return o
}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1alpha1
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size, mode]
            properties:
              size: {type: integer, minimum: 1}
              mode: {type: string, enum: [Fast, Slow], default: Fast}
              limit: {type: integer}
              list:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
            x-kubernetes-validations:
            - {rule: "!has(self.limit) || self.limit >= self.size", message: limit is below size}
`

const container = "containers: [{name: c, image: 'x:1'}]"

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		reason, object string
		options        Options
		// says are parts of the refusal; none means that it is accepted.
		says []string
	}{
		"config":                 {reason: "an object as it should be", object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}, data: {k: v}}"},
		"number":                 {reason: "a number is no text", object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}, data: {k: 1}}", says: []string{"data.k: expected string"}},
		"unknown":                {reason: "server-side apply refuses fields that there are not", object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}, dada: {}}", says: []string{"dada: field not declared in schema"}},
		"dropped":                {reason: "other writes lose them", object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}, dada: {}}", options: Options{DropUnknown: true}},
		"name":                   {reason: "a name has to be one", object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: A_b, namespace: b}}", says: []string{"metadata.name: Invalid value", "A_b"}},
		"generated":              {reason: "a name that the server makes", object: "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-, namespace: b}}"},
		"secret":                 {reason: "values of Secrets are not quoted", object: "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, stringData: {k: 4711}}", says: []string{"stringData.k: invalid value"}},
		"encoding":               {reason: "nor when they are no base64", object: "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, data: {k: 'hush!'}}", says: []string{"a field has a value of the wrong type"}},
		"unserved":               {reason: "a version that is gone", object: "{apiVersion: batch/v1beta1, kind: CronJob, metadata: {name: a, namespace: b}}", says: []string{"apiVersion batch/v1beta1 is not served; use batch/v1"}},
		"gone":                   {reason: "a kind that is gone", object: "{apiVersion: policy/v1beta1, kind: PodSecurityPolicy, metadata: {name: a}}", says: []string{"kind PodSecurityPolicy is not served in policy/v1beta1, and nothing defines it"}},
		"beta":                   {reason: "beta versions are not served by default", object: "{apiVersion: networking.k8s.io/v1beta1, kind: IPAddress, metadata: {name: 10.0.0.1}}", says: []string{"apiVersion networking.k8s.io/v1beta1 is not served; use networking.k8s.io/v1"}},
		"several":                {reason: "a kind with several versions", object: "{apiVersion: autoscaling/v2beta2, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: b}}", says: []string{"use autoscaling/v2 or autoscaling/v1"}},
		"deployment":             {reason: "defaults are set before values are judged", object: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + container + "}}}}"},
		"selector":               {reason: "a selector that misses its template", object: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}, spec: {selector: {matchLabels: {a: c}}, template: {metadata: {labels: {a: b}}, spec: {" + container + "}}}}", says: []string{"`selector` does not match template `labels`"}},
		"required":               {reason: "fields that are needed", object: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}, spec: {template: {metadata: {labels: {a: b}}, spec: {}}}}", says: []string{"spec.selector: Required value", "spec.template.spec.containers: Required value"}},
		"service":                {reason: "a Service needs no address", object: "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {selector: {a: b}, ports: [{port: 80}]}}"},
		"headless":               {reason: "nor when it is to have none", object: "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {clusterIP: None, selector: {a: b}, ports: [{port: 80}]}}"},
		"balancer":               {reason: "nor for a load balancer", object: "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {type: LoadBalancer, ipFamilyPolicy: PreferDualStack, ports: [{port: 80, targetPort: http}]}}"},
		"local":                  {reason: "a port for health checks is chosen", object: "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]}}"},
		"ports":                  {reason: "two ports need names", object: "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {ports: [{port: 80}, {port: 81}]}}", says: []string{"spec.ports[0].name: Required value"}},
		"twice":                  {reason: "two ports with one key", object: "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {ports: [{name: a, port: 80}, {name: b, port: 80}]}}", says: []string{"duplicate entries for key"}},
		"claim":                  {reason: "a claim needs a mode", object: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: b}, spec: {resources: {requests: {storage: 1Gi}}}}", says: []string{"spec.accessModes: Required value"}},
		"role":                   {reason: "roles that are known by their code", object: "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}"},
		"binding":                {reason: "a subject without a namespace", object: "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}, subjects: [{kind: ServiceAccount, name: a}]}", says: []string{"subjects[0].namespace: Required value"}},
		"ingress":                {reason: "a host has to be one", object: "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: b}, spec: {rules: [{host: A_B, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]}}", says: []string{"spec.rules[0].host: Invalid value"}},
		"job":                    {reason: "a Job has to say what it does at its end", object: "{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: b}, spec: {template: {spec: {" + container + "}}}}", says: []string{"spec.template.spec.restartPolicy: Required value"}},
		"policy":                 {reason: "an admission policy", object: "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}, spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}, validations: [{expression: 'object.spec.'}]}}", says: []string{"spec.validations[0].expression"}},
		"policy of parameters":   {reason: "whose parameters are read by the server itself", object: "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}, spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}, validations: [{expression: 'true'}]}}"},
		"binding of parameters":  {reason: "and so is its binding", object: "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: a}, spec: {policyName: a, paramRef: {name: x, namespace: ns, parameterNotFoundAction: Deny}, validationActions: [Deny]}}"},
		"service of another API": {reason: "the aggregator's own kind", object: "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.x.example.com}, spec: {group: x.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100}}"},
		"namespace":              {reason: "a Namespace", object: "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"},
		"pod":                    {reason: "a Pod", object: "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}, spec: {" + container + "}}"},
		"status":                 {reason: "a status is nobody's to declare, and dropped", object: "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}, spec: {" + container + "}, status: {phase: 1}}"},

		"widget":          {reason: "defaults of a definition count", object: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: b}, spec: {size: 1, free: {any: [1]}}}"},
		"widget required": {reason: "fields that a definition needs", object: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: b}}", says: []string{"spec: Required value"}},
		"widget enum":     {reason: "values of a definition", object: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: b}, spec: {size: 0, mode: fast}}", says: []string{`spec.mode: Unsupported value: "fast"`, "spec.size: Invalid value: 0"}},
		"widget rule":     {reason: "rules of a definition", object: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: b}, spec: {size: 2, limit: 1}}", says: []string{"limit is below size"}},
		"widget unknown":  {reason: "fields that a definition has not", object: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: b}, spec: {size: 2, sise: 1}}", says: []string{"spec.sise: field not declared in schema"}},
		"widget dropped":  {reason: "they are dropped from other writes", object: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: b}, spec: {size: 2, sise: 1}}", options: Options{DropUnknown: true}},
		"widget twice":    {reason: "keys of lists", object: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: b}, spec: {size: 2, list: [{name: a}, {name: a}]}}", says: []string{"duplicate entries for key"}},
		"widget version":  {reason: "a version that a definition does not serve", object: "{apiVersion: example.com/v1alpha1, kind: Widget, metadata: {name: a, namespace: b}}", says: []string{"apiVersion example.com/v1alpha1 is not served; use example.com/v1"}},
		"not defined":     {reason: "a kind that nothing defines", object: "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: b}}", says: []string{"kind Gadget is not served in example.com/v1, and nothing defines it"}},
	}
	server, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Define(t.Context(), object(t, widgets)); err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := server.Check(t.Context(), object(t, c.object), c.options)
			if len(c.says) == 0 {
				if err != nil {
					t.Errorf("%s: it is refused: %v", c.reason, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("%s: it is accepted", c.reason)
			}
			for _, text := range c.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s: %q does not say %q", c.reason, err, text)
				}
			}
			for _, never := range []string{"4711", "hush", "some validation rules", "\n", "<nil>"} {
				if strings.Contains(err.Error(), never) {
					t.Errorf("%s: %q holds %q", c.reason, err, never)
				}
			}
		})
	}
}

func TestDefine(t *testing.T) {
	server, err := New()
	if err != nil {
		t.Fatal(err)
	}
	loose := object(t, strings.Replace(widgets, "type: integer, minimum: 1", "minimum: 1", 1))
	err = server.Define(t.Context(), loose)
	if err == nil || !strings.Contains(err.Error(), "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[size].type: Required value") {
		t.Errorf("a definition without a type: %v", err)
	}
	widget := object(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: b}}")
	var unserved *UnservedError
	if err := server.Check(t.Context(), widget, Options{}); !errors.As(err, &unserved) {
		t.Errorf("a kind whose definition is refused: %v", err)
	}
	if err := server.Define(t.Context(), object(t, widgets)); err != nil {
		t.Fatal(err)
	}
	if err := server.Check(t.Context(), widget, Options{}); err == nil || errors.As(err, &unserved) {
		t.Errorf("a kind that is defined: %v", err)
	}
}

// TestStrategies finds kinds whose values would not be validated.
func TestStrategies(t *testing.T) {
	server, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if len(server.kinds) < 50 {
		t.Errorf("only %d kinds are served", len(server.kinds))
	}
	for gvk, k := range server.kinds {
		if b, ok := k.(*builtin); !ok || b.strategy == nil {
			t.Errorf("%s has no strategy", gvk)
		}
		if err := k.fields(&unstructured.Unstructured{Object: map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind}}); err != nil {
			t.Errorf("%s has no schema: %v", gvk, err)
		}
	}
}

func TestScope(t *testing.T) {
	server, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Define(t.Context(), object(t, widgets)); err != nil {
		t.Fatal(err)
	}
	for gvk, want := range map[schema.GroupVersionKind][2]bool{
		{Version: "v1", Kind: "ConfigMap"}:                                            {true, true},
		{Version: "v1", Kind: "Node"}:                                                 {false, true},
		{Group: "rbac.authorization.k8s.io", Version: "v1beta1", Kind: "ClusterRole"}: {false, true},
		{Group: "example.com", Version: "v9", Kind: "Widget"}:                         {true, true},
		{Group: "example.com", Version: "v1", Kind: "Gadget"}:                         {false, false},
	} {
		if namespaced, known := server.Scope(gvk); namespaced != want[0] || known != want[1] {
			t.Errorf("%s: namespaced %v, known %v; want %v", gvk, namespaced, known, want)
		}
	}
	for group, want := range map[string]bool{"batch": true, "": true, "networking.k8s.io": true, "extensions": true, "gateway.networking.k8s.io": false, "example.com": false} {
		if got := server.BuiltIn(group); got != want {
			t.Errorf("group %q is built in: %v, want %v", group, got, want)
		}
	}
}
