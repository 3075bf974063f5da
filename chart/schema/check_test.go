package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart"
)

// objects are the documents of a text.
func objects(t testing.TB, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, document := range strings.Split("\n"+text, "\n---") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		if o != nil {
			all = append(all, o)
		}
	}
	return all
}

// lines are findings as "rule field: message", warnings and infos marked.
func lines(findings []chart.Finding) []string {
	var out []string
	for _, f := range findings {
		mark := map[chart.Severity]string{chart.SeverityWarning: "warning: ", chart.SeverityInfo: "info: "}[f.Severity]
		out = append(out, mark+strings.TrimPrefix(f.Rule, "schema/")+" "+f.Field+": "+f.Message)
	}
	return out
}

const pod = "{containers: [{name: c, image: 'x:1'}]}"

func deployment(spec string) string {
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, " + spec + "}}"
}

func containers(list string) string {
	return deployment("template: {metadata: {labels: {a: b}}, spec: {containers: " + list + "}}")
}

const template = "template: {metadata: {labels: {a: b}}, spec: " + pod + "}"

func TestBuiltin(t *testing.T) {
	cases := map[string]struct {
		reason, object string
		want           []string
	}{
		"valid":            {"an object as it should be", deployment(template), nil},
		"null":             {"a null is a field that is not set", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, creationTimestamp: null}, data: null}", nil},
		"unknown":          {"a misspelled field", deployment("replica: 2, " + template), []string{`unknown-field spec.replica: unknown field; did you mean "replicas"?`}},
		"unknown case":     {"a field in the wrong case", containers("[{name: c, image: x, imagepullpolicy: Always}]"), []string{`unknown-field spec.template.spec.containers[0].imagepullpolicy: unknown field; did you mean "imagePullPolicy"?`}},
		"unknown few":      {"what is allowed is listed if it is short", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, spec: {}}", []string{"unknown-field spec: unknown field; there are apiVersion, binaryData, data, immutable, kind, metadata"}},
		"unknown none":     {"a type without fields", "{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: a}, spec: {schedulingPolicy: {basic: {x: 1}}}}", []string{"warning: disabled-api apiVersion: scheduling.k8s.io/v1beta1 is not served by default; it needs --runtime-config=scheduling.k8s.io/v1beta1=true of the API server", "unknown-field spec.schedulingPolicy.basic.x: unknown field; there are none here"}},
		"number for text":  {"a number that should be a string", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {port: 8080}}", []string{"type data.port: is the number 8080, must be a string: put it in quotes"}},
		"bool for text":    {"a bool that should be a string", containers("[{name: c, image: x, env: [{name: A, value: true}]}]"), []string{"type spec.template.spec.containers[0].env[0].value: is true, must be a string: put it in quotes"}},
		"text for number":  {"quotes around a number", deployment("replicas: '2', " + template), []string{`type spec.replicas: is the string "2", must be a whole number: write it without quotes`}},
		"fraction":         {"a fraction", deployment("replicas: 1.5, " + template), []string{"type spec.replicas: is the number 1.5, must be a whole number"}},
		"overflow":         {"more than the type holds", deployment("replicas: 5000000000, " + template), []string{"bounds spec.replicas: does not fit into int32"}},
		"map for list":     {"a map that should be a list", containers("{name: c}"), []string{"type spec.template.spec.containers: is a map, must be a list: begin each item with a dash"}},
		"list for map":     {"a list that should be a map", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: [a]}", []string{"type data: is a list, must be a map"}},
		"text for bool":    {"a text that should be a bool", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: 'true'}", []string{`type immutable: is the string "true", must be true or false: write it without quotes`}},
		"null item":        {"a dash without a value is an empty one to the API server", containers("[null]"), []string{"warning: type spec.template.spec.containers[0]: is null, must be a map: leave it out or give it a value", "required spec.template.spec.containers[0].image: is missing: a string", "required spec.template.spec.containers[0].name: is missing: a string"}},
		"enum":             {"a value that is not allowed", containers("[{name: c, image: x, imagePullPolicy: always}]"), []string{`enum spec.template.spec.containers[0].imagePullPolicy: is "always", must be one of Always, IfNotPresent, Never; did you mean "Always"?`}},
		"required":         {"fields that are needed", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {}}", []string{"required spec.selector: is missing: a map", "required spec.template: is missing: a map"}},
		"image":            {"the API server wants an image", containers("[{name: c, image: ''}]"), []string{"required spec.template.spec.containers[0].image: is missing: a string"}},
		"no containers":    {"and a container", containers("[]"), []string{"bounds spec.template.spec.containers: has 0 items, must have at least 1"}},
		"port":             {"a port that there is not", containers("[{name: c, image: x, ports: [{containerPort: 70000}]}]"), []string{"bounds spec.template.spec.containers[0].ports[0].containerPort: must be at most 65535"}},
		"operator":         {"an operator of a selector", "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {selector: {matchExpressions: [{key: a, operator: in, values: [b]}]}}}", []string{`enum spec.selector.matchExpressions[0].operator: is "in", must be one of DoesNotExist, Exists, In, NotIn; did you mean "In"?`}},
		"required enum":    {"a field that has allowed values", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: a, port: {number: 80}}}}]}}]}}", []string{"required spec.rules[0].http.paths[0].pathType: is missing: one of Exact, ImplementationSpecific, Prefix"}},
		"status":           {"no one declares a status", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, " + template + "}, status: {conditions: [{type: x}]}}", nil},
		"int or string":    {"a port by name, or by number", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80, targetPort: http}, {name: b, port: 81, targetPort: 81}]}}", nil},
		"neither":          {"a port that is neither", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80, targetPort: [http]}]}}", []string{"type spec.ports[0].targetPort: is a list, must be a whole number or a string"}},
		"quantity":         {"amounts", containers("[{name: c, image: x, resources: {limits: {cpu: 1, memory: 1.5Gi}, requests: {cpu: 500m, memory: 1e3}}}]"), nil},
		"bad quantity":     {"an amount with a wrong suffix", containers("[{name: c, image: x, resources: {limits: {memory: 1GB}}}]"), []string{`format spec.template.spec.containers[0].resources.limits.memory: is not a quantity such as "500m" or "1Gi"`}},
		"time":             {"a time", "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a}, spec: {renewTime: today}}", []string{"format spec.renewTime: is not a time such as 2030-01-31T12:00:00Z"}},
		"duplicate":        {"one variable twice", containers("[{name: c, image: x, env: [{name: A}, {name: B}, {name: A}]}]"), []string{`duplicate-key spec.template.spec.containers[0].env[2]: has the same name as item 0 ("A")`}},
		"duplicate key":    {"the default of a key counts", containers("[{name: c, image: x, ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}, {containerPort: 80, protocol: TCP}]}]"), []string{`duplicate-key spec.template.spec.containers[0].ports[2]: has the same containerPort and protocol as item 0 ("80 TCP")`}},
		"duplicate in set": {"a set has each once", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [a.b/c, a.b/c]}}", []string{"duplicate-key metadata.finalizers[1]: is the same as item 0; each must be there once"}},
		"secret":           {"values of Secrets are in no message", "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: 'hush!'}, stringData: {m: 4711}}", []string{"format data.k: is not base64: plain text belongs into stringData", "type stringData.m: is a number, must be a string: put it in quotes"}},
		"role":             {"the group of a role has a default", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: 'system:a'}, roleRef: {kind: Role, name: a}}", nil},

		"name":          {"a name with capitals", "{apiVersion: v1, kind: ConfigMap, metadata: {name: A_b}}", []string{`name metadata.name: "A_b" is not valid: ` + wantSubdomain}},
		"dots":          {"a Namespace has no dots", "{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}", []string{`name metadata.name: "a.b" is not valid: ` + wantLabel}},
		"digit":         {"a Service may begin with a digit", "{apiVersion: v1, kind: Service, metadata: {name: 1a}, spec: {ports: [{port: 80}]}}", nil},
		"long":          {"the name of a CronJob has room for a suffix", "{apiVersion: batch/v1, kind: CronJob, metadata: {name: " + strings.Repeat("a", 53) + "}, spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}}}", []string{`name metadata.name: "` + strings.Repeat("a", 53) + `" is not valid: as a subdomain, and at most 52 characters, since its Jobs have a suffix`}},
		"segment":       {"a slash in the name of a role", "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a/b}}", []string{`name metadata.name: "a/b" is not valid: ` + wantSegment}},
		"definition":    {"the name of a definition", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widget.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}", []string{`name metadata.name: "widget.example.com" is not valid: it must be widgets.example.com`}},
		"nameless":      {"a name is needed", "{apiVersion: v1, kind: ConfigMap, metadata: {}}", []string{"required metadata.name: is missing: a string"}},
		"generated":     {"or a part of one", "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}", nil},
		"namespace":     {"a namespace that cannot exist", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: a.b}}", []string{`name metadata.namespace: "a.b" is not valid: ` + wantLabel}},
		"no namespaces": {"a kind without namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: a}}", []string{"warning: name metadata.namespace: Namespace is a kind without namespaces, and the API server ignores this one: leave it out"}},
		"label":         {"the value of a label", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a.b/c: d e}}}", []string{`label metadata.labels["a.b/c"]: is not valid for a label ("d e"): ` + wantLabelText}},
		"label number":  {"a version that YAML takes for a number", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {version: 1.1}}}", []string{"type metadata.labels.version: is the number 1.1, must be a string: put it in quotes"}},
		"label name":    {"the name of a label", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a/b/c: d}}}", []string{`label metadata.labels["a/b/c"]: the name of a label must be a name of ` + wantLabelText + ", after an optional domain and slash"}},
		"selector":      {"labels in a selector", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: -}}, template: {metadata: {labels: {a: -}}, spec: " + pod + "}}}", []string{`label spec.selector.matchLabels.a: is not valid for a label ("-"): ` + wantLabelText, `label spec.template.metadata.labels.a: is not valid for a label ("-"): ` + wantLabelText}},
		"inner labels":  {"labels of a template", deployment("template: {metadata: {labels: {a: b, c: ' '}}, spec: " + pod + "}"), []string{`label spec.template.metadata.labels.c: is not valid for a label (" "): ` + wantLabelText}},
		"annotation":    {"the name of an annotation, in any case", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {Example.com/A: ok, a b: c}}}", []string{`label metadata.annotations["a b"]: the name of an annotation must be a name of ` + wantLabelText + ", after an optional domain and slash"}},
		"annotations":   {"too much text", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {a: " + strings.Repeat("x", annotationsLimit) + "}}}", []string{"bounds metadata.annotations: have 262145 bytes, must have at most 262144"}},
		"finalizer":     {"a finalizer", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [a b]}}", []string{"name metadata.finalizers[0]: must be a name of " + wantLabelText + ", after an optional domain and slash"}},

		"selects":  {"a selector that misses its template", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: c, d: e}}, " + template + "}}", []string{"selector spec.selector.matchLabels.a: selects other pods than those of spec.template.metadata.labels: write the same label there", "selector spec.selector.matchLabels.d: selects other pods than those of spec.template.metadata.labels: write the same label there"}},
		"mount":    {"a volume that is missing", deployment("template: {metadata: {labels: {a: b}}, spec: {volumes: [{name: w, emptyDir: {}}], initContainers: [{name: i, image: x, volumeMounts: [{name: w, mountPath: /w}]}], containers: [{name: c, image: x, volumeMounts: [{name: v, mountPath: /v}]}]}}"), []string{`reference spec.template.spec.containers[0].volumeMounts[0].name: the pod has no volume "v"; it has w`}},
		"claims":   {"claims are volumes as well", "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], resources: {}}}], template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, volumeMounts: [{name: v, mountPath: /v}]}]}}}}", nil},
		"job":      {"a Job ends", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: " + pod + "}}}", []string{`enum spec.template.spec.restartPolicy: is "", must be Never or OnFailure in this kind`}},
		"cron job": {"so do the Jobs of a CronJob", "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Always, containers: [{name: c, image: x}]}}}}}}", []string{`enum spec.jobTemplate.spec.template.spec.restartPolicy: is "Always", must be Never or OnFailure in this kind`}},
		"never":    {"a Deployment does not", deployment("template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}"), []string{`enum spec.template.spec.restartPolicy: is "Never", must be Always in this kind`}},
		"service":  {"a Service without ports", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {a: b}}}", []string{"required spec.ports: is missing: a Service has a port, unless it is headless or of type ExternalName"}},
		"headless": {"which a headless one may be", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: None}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: b}, spec: {type: ExternalName, externalName: a.b}}", nil},

		"no kind":        {"an object without a kind", "{apiVersion: v1}", []string{"required kind: is missing: a string"}},
		"no version":     {"an object without an apiVersion", "{apiVersion: 1, kind: Pod}", []string{"type apiVersion: is the number 1, must be a string"}},
		"removed":        {"a version that is gone", "{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: a}}", []string{"removed-api apiVersion: Kubernetes 1.16 removed Deployment from extensions/v1beta1; use apps/v1"}},
		"removed all":    {"a version that is gone with all of its kinds", "{apiVersion: apps/v1beta2, kind: StatefulSet, metadata: {name: a}}", []string{"removed-api apiVersion: Kubernetes 1.16 removed StatefulSet from apps/v1beta2; use apps/v1"}},
		"removed kind":   {"a kind that is gone", "{apiVersion: policy/v1beta1, kind: PodSecurityPolicy, metadata: {name: a}}", []string{"removed-api apiVersion: Kubernetes 1.25 removed PodSecurityPolicy, without a successor"}},
		"wrong group":    {"a kind in the wrong group", "{apiVersion: v1, kind: Deployment, metadata: {name: a}}", []string{"unknown-kind apiVersion: Kubernetes serves Deployment in apps/v1, not in v1"}},
		"wrong version":  {"a version that there never was", "{apiVersion: autoscaling/v3, kind: HorizontalPodAutoscaler, metadata: {name: a}}", []string{"unknown-kind apiVersion: Kubernetes serves HorizontalPodAutoscaler in autoscaling/v2 or autoscaling/v1, not in autoscaling/v3"}},
		"misspelled":     {"a misspelled kind", "{apiVersion: apps/v1, kind: Deploymnet, metadata: {name: a}}", []string{"unknown-kind kind: Kubernetes 1.37 has no kind Deploymnet in apps/v1; did you mean Deployment in apps/v1?"}},
		"plain group":    {"a group without a dot is Kubernetes' own", "{apiVersion: app/v1, kind: Deployment, metadata: {name: a}}", []string{"unknown-kind apiVersion: Kubernetes serves Deployment in apps/v1, not in app/v1"}},
		"close group":    {"a group that is almost Kubernetes' own", "{apiVersion: networking.k8s/v1, kind: Ingress, metadata: {name: a}}", []string{"unknown-kind apiVersion: Kubernetes serves Ingress in networking.k8s.io/v1, not in networking.k8s/v1"}},
		"misspelled io":  {"and one that is closer", "{apiVersion: networking.k8s.oi/v1, kind: Ingress, metadata: {name: a}}", []string{"unknown-kind apiVersion: Kubernetes serves Ingress in networking.k8s.io/v1, not in networking.k8s.oi/v1"}},
		"disabled":       {"a beta version with a stable one", "{apiVersion: certificates.k8s.io/v1beta1, kind: ClusterTrustBundle, metadata: {name: a}, spec: {trustBundle: x}}", []string{"warning: disabled-api apiVersion: certificates.k8s.io/v1beta1 is not served by default; use certificates.k8s.io/v1"}},
		"no schema":      {"a kind that nothing defines", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, any: 1}", []string{"info: no-schema kind: Widget of example.com/v1 was not validated: no CustomResourceDefinition of it is among the objects"}},
		"list":           {"objects in a list", "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}, 1, {}]}", []string{`unknown-field items[0].dat: unknown field; did you mean "data"?`, `type items[1]: is the number 1, must be an object`, "required items[2].apiVersion: is missing: a string", "required items[2].kind: is missing: a string"}},
		"other release":  {"a version of other releases", "{apiVersion: networking.k8s.io/v1beta1, kind: IPAddress, metadata: {name: 10.0.0.1}}", []string{"removed-api apiVersion: Kubernetes 1.37 does not serve IPAddress in networking.k8s.io/v1beta1, but 1.33, 1.34, 1.35, 1.36 do; use networking.k8s.io/v1"}},
		"list of a kind": {"a list of one kind", "{apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]}", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines(Check{}.Validate(objects(t, c.object)))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// flow is a YAML document as JSON.
func flow(t testing.TB, text string) string {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
