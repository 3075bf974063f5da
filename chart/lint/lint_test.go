package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/lint"
)

func read(t testing.TB, stream string) []map[string]any {
	t.Helper()
	var objects []map[string]any
	for document := range strings.SplitSeq(stream, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	return objects
}

// said is the findings as "severity rule field".
func said(findings []chart.Finding) []string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, strings.TrimSpace(f.Severity.String()+" "+strings.TrimPrefix(f.Rule, lint.Prefix)+" "+f.Field))
	}
	return lines
}

// workload is a workload with nothing to complain of but what replaces a part of it.
func workload(kind string, replace ...string) string {
	head, indent := "apiVersion: apps/v1\nkind: "+kind+"\nmetadata: {name: web, namespace: shop, labels: {app: web}}\nspec:\n  replicas: 2\n  template:\n", "    "
	switch kind {
	case "Job":
		head = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: web, namespace: shop, labels: {app: web}}\nspec:\n  template:\n"
	case "CronJob":
		head = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web, namespace: shop, labels: {app: web}}\nspec:\n  jobTemplate:\n    spec:\n      template:\n"
		indent = "        "
	case "Rollout":
		head = strings.Replace(head, "apps/v1", "argoproj.io/v1alpha1", 1)
	}
	body := `metadata: {labels: {app: web}}
spec:
  containers:
  - name: web
    image: web:1
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}
    livenessProbe: {tcpSocket: {port: 80}}
    readinessProbe: {tcpSocket: {port: 80}}
    securityContext: {runAsNonRoot: true, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`
	all := head + indent + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n"+indent) + "\n"
	return strings.NewReplacer(replace...).Replace(all)
}

func TestRules(t *testing.T) {
	const at = "spec.template.spec.containers[0]."
	limits := ", limits: {cpu: 1, memory: 1Gi}"
	requests := "requests: {cpu: 1, memory: 1Gi}"
	service := func(spec string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: web, labels: {app: web}}\nspec: " + spec
	}
	ingress := func(spec string) string {
		return "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, labels: {app: web}}\nspec: " + spec
	}
	config := func(kind, rest string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: web, labels: {app: web}}\n" + rest
	}
	cases := map[string]struct {
		yaml   string
		policy lint.Policy
		want   []string
	}{
		"nothing":            {yaml: workload("Deployment")},
		"a tag is missing":   {yaml: workload("Deployment", "image: web:1", "image: registry:5000/web"), want: []string{"error image-tag " + at + "image"}},
		"latest":             {yaml: workload("StatefulSet", "image: web:1", "image: registry:5000/web:latest"), want: []string{"warning image-latest " + at + "image"}},
		"a digest":           {yaml: workload("Deployment", "image: web:1", "image: web@sha256:"+strings.Repeat("0", 64))},
		"latest at a digest": {yaml: workload("Deployment", "image: web:1", "image: web:latest@sha256:"+strings.Repeat("0", 64))},
		"a variable":         {yaml: workload("Deployment", "image: web:1", "image: ${IMAGE}")},
		"no resources": {yaml: workload("DaemonSet", requests+limits, ""), want: []string{
			"info cpu-limit " + at + "resources.limits.cpu", "info memory-limit " + at + "resources.limits.memory",
			"info cpu-request " + at + "resources.requests.cpu", "info memory-request " + at + "resources.requests.memory",
		}},
		"a limit is a request":       {yaml: workload("Deployment", requests+", ", "")},
		"a request is no limit":      {yaml: workload("Deployment", limits, ""), want: []string{"info cpu-limit " + at + "resources.limits.cpu", "info memory-limit " + at + "resources.limits.memory"}},
		"resources of the pod":       {yaml: workload("Deployment", requests+limits, "", "  containers:", "  resources: {limits: {cpu: 1, memory: 1Gi}}\n      containers:")},
		"a range of limits":          {yaml: workload("Deployment", requests+limits, "") + "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: all, namespace: shop, labels: {a: b}}\nspec: {limits: [{type: Container, default: {cpu: 1, memory: 1Gi}}]}"},
		"a range elsewhere":          {yaml: workload("Deployment", limits, "") + "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: all, namespace: other, labels: {a: b}}\nspec: {limits: [{type: Container, default: {cpu: 1, memory: 1Gi}}]}", policy: lint.Policy{Rules: []string{"cpu-limit"}}, want: []string{"info cpu-limit " + at + "resources.limits.cpu"}},
		"no probes":                  {yaml: workload("Deployment", "livenessProbe: {tcpSocket: {port: 80}}", "", "readinessProbe: {tcpSocket: {port: 80}}", ""), want: []string{"info liveness-probe " + at + "livenessProbe", "info readiness-probe " + at + "readinessProbe"}},
		"no ports":                   {yaml: workload("Deployment", "ports: [{containerPort: 80}]", "", "readinessProbe: {tcpSocket: {port: 80}}", "")},
		"Jobs need no probes":        {yaml: workload("Job", "livenessProbe: {tcpSocket: {port: 80}}", "", "readinessProbe: {tcpSocket: {port: 80}}", "")},
		"CronJobs":                   {yaml: workload("CronJob", "image: web:1", "image: web", "livenessProbe: {tcpSocket: {port: 80}}", ""), want: []string{"error image-tag spec.jobTemplate.spec.template.spec.containers[0].image"}},
		"containers that come first": {yaml: workload("Deployment", "  containers:", "  initContainers:\n      - {name: first, image: first}\n      containers:"), policy: lint.Policy{Rules: []string{"images", "probes"}}, want: []string{"error image-tag spec.template.spec.initContainers[0].image"}},
		"custom resources":           {yaml: workload("Rollout", "image: web:1", "image: web")},
		"custom resources on request": {
			yaml: workload("Rollout", "image: web:1", "image: web", "replicas: 2", "paused: true"), policy: lint.Policy{Workloads: []lint.Workload{lint.Rollout()}},
			want: []string{"info replicas spec.replicas", "error image-tag " + at + "image"},
		},
		"no security context": {yaml: workload("Deployment", "securityContext: {runAsNonRoot: true, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}", ""), want: []string{
			"warning privilege-escalation " + at + "securityContext.allowPrivilegeEscalation", "info capabilities " + at + "securityContext.capabilities.drop",
			"info read-only-root " + at + "securityContext.readOnlyRootFilesystem", "warning run-as-non-root " + at + "securityContext.runAsNonRoot",
		}},
		"the pod says it":            {yaml: workload("Deployment", "runAsNonRoot: true, ", "", "  containers:", "  securityContext: {runAsUser: 1000}\n      containers:")},
		"the container takes back":   {yaml: workload("Deployment", "runAsNonRoot: true", "runAsUser: 0", "  containers:", "  securityContext: {runAsUser: 1000}\n      containers:"), want: []string{"warning run-as-non-root " + at + "securityContext.runAsNonRoot"}},
		"privileged":                 {yaml: workload("Deployment", "runAsNonRoot: true", "privileged: true"), want: []string{"warning privileged " + at + "securityContext.privileged"}},
		"the network of the node":    {yaml: workload("DaemonSet", "  containers:", "  hostNetwork: true\n      containers:"), want: []string{"warning host-namespaces spec.template.spec.hostNetwork"}},
		"replicas":                   {yaml: workload("Deployment", "replicas: 2", "paused: true"), want: []string{"info replicas spec.replicas"}},
		"no replicas of a DaemonSet": {yaml: workload("DaemonSet", "replicas: 2", "minReadySeconds: 1")},
		"replicas by an autoscaler": {
			yaml: workload("Deployment", "replicas: 2", "paused: true") + "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop, labels: {a: b}}\nspec: {scaleTargetRef: {kind: Deployment, name: web}}",
		},
		"replicas twice": {
			yaml: workload("Deployment") + "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web, namespace: shop, labels: {a: b}}\nspec: {scaleTargetRef: {name: web}}",
			want: []string{"warning replicas-autoscaled spec.replicas"},
		},
		"a private registry":  {yaml: workload("Deployment"), policy: lint.Policy{PrivateRegistries: []string{"web"}}, want: []string{"warning pull-secret " + at + "image"}},
		"with a pull secret":  {yaml: workload("Deployment", "  containers:", "  imagePullSecrets: [{name: x}]\n      containers:"), policy: lint.Policy{PrivateRegistries: []string{"web"}}},
		"with one by account": {yaml: workload("Deployment") + "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: shop, labels: {a: b}}\nimagePullSecrets: [{name: x}]", policy: lint.Policy{PrivateRegistries: []string{"web"}}},
		"no labels":           {yaml: strings.Replace(workload("Deployment"), ", labels: {app: web}", "", 1), want: []string{"info labels metadata.labels"}},
		"labels of a policy":  {yaml: workload("Deployment"), policy: lint.Policy{Labels: []string{"app", "team"}}, want: []string{"info labels metadata.labels"}},

		"a Service without selector": {yaml: service("{ports: [{port: 80}]}"), want: []string{"error service-selector spec.selector"}},
		"an empty selector":          {yaml: service("{selector: {}}"), want: []string{"error service-selector spec.selector"}},
		"a selector":                 {yaml: service("{selector: {app: web}}")},
		"another name":               {yaml: service("{type: ExternalName, externalName: db.example.com}")},
		"headless with endpoints":    {yaml: service("{clusterIP: None}") + "\n---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-1, labels: {kubernetes.io/service-name: web}}"},
		"with old endpoints":         {yaml: service("{}") + "\n---\napiVersion: v1\nkind: Endpoints\nmetadata: {name: web, labels: {a: b}}"},
		"headless without endpoints": {yaml: service("{clusterIP: None}"), want: []string{"error service-selector spec.selector"}},
		"a Service of Knative":       {yaml: strings.Replace(service("{}"), "apiVersion: v1", "apiVersion: serving.knative.dev/v1", 1)},

		"hosts":             {yaml: ingress("{rules: [{host: shop.example.com}, {host: '*.example.com'}, {host: '${HOST}'}]}")},
		"a host is missing": {yaml: ingress("{rules: [{host: a.b}, {http: {}}]}"), want: []string{"warning ingress-host spec.rules[1].host"}},
		"no hosts":          {yaml: ingress("{rules: [{host: 'https://a.b'}, {host: 'a.b:80'}, {host: A.b}, {host: 10.0.0.1}, {host: a..b}]}"), want: []string{"warning ingress-host spec.rules[0].host", "warning ingress-host spec.rules[1].host", "warning ingress-host spec.rules[2].host", "warning ingress-host spec.rules[3].host", "warning ingress-host spec.rules[4].host"}},
		"no rules":          {yaml: ingress("{tls: []}"), want: []string{"warning ingress-host spec.rules"}},
		"a default only":    {yaml: ingress("{defaultBackend: {service: {name: web}}}")},

		"an empty ConfigMap":    {yaml: config("ConfigMap", "data: {}"), want: []string{"warning empty-config data"}},
		"binary data":           {yaml: config("ConfigMap", "binaryData: {a: AA==}")},
		"text of a Secret":      {yaml: config("Secret", "stringData: {a: b}")},
		"an empty Secret":       {yaml: config("Secret", "type: Opaque"), want: []string{"warning empty-config data"}},
		"a token":               {yaml: config("Secret", "type: kubernetes.io/service-account-token")},
		"a Secret of a replica": {yaml: strings.Replace(config("Secret", ""), "name: web", "name: web, annotations: {replicator.v1.mittwald.de/replicate-from: a/b}", 1)},
		"a List": {
			yaml: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}\n- {apiVersion: v1, kind: Secret, metadata: {name: a, labels: {a: b}}}",
			want: []string{"info labels items[0].metadata.labels", "warning empty-config items[1].data"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, said(c.policy.Validate(read(t, c.yaml)))); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, c.yaml)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	broken := workload("Deployment", "image: web:1", "image: web", "replicas: 2", "paused: true")
	const image, replicas = "error image-tag spec.template.spec.containers[0].image", "info replicas spec.replicas"
	annotated := func(rules string) string {
		return strings.Replace(broken, "name: web, namespace: shop", `name: web, namespace: shop, annotations: {headgate.dev/lint-ignore: "`+rules+`"}`, 1)
	}
	cases := map[string]struct {
		yaml   string
		policy lint.Policy
		want   []string
	}{
		"all":           {yaml: broken, want: []string{replicas, image}},
		"one rule":      {yaml: broken, policy: lint.Policy{Rules: []string{"replicas"}}, want: []string{replicas}},
		"with a prefix": {yaml: broken, policy: lint.Policy{Rules: []string{"lint/replicas"}}, want: []string{replicas}},
		"a group":       {yaml: broken, policy: lint.Policy{Rules: []string{"images"}}, want: []string{image}},
		"off":           {yaml: broken, policy: lint.Policy{Disable: []string{"objects"}}, want: []string{image}},
		"severities": {
			yaml: broken, policy: lint.Policy{Severities: map[string]chart.Severity{"*": chart.SeverityWarning, "images": chart.SeverityInfo, "image-tag": chart.SeverityError}},
			want: []string{"warning replicas spec.replicas", image},
		},
		"a severity is not on": {yaml: broken, policy: lint.Policy{Rules: []string{"replicas"}, Severities: map[string]chart.Severity{"image-tag": chart.SeverityError}}, want: []string{replicas}},
		"an annotation":        {yaml: annotated("image-tag, probes"), want: []string{replicas}},
		"all rules":            {yaml: annotated("*")},
		"an annotation of the template": {
			yaml: strings.Replace(broken, "    metadata: {labels", "    metadata: {annotations: {headgate.dev/lint-ignore: images}, labels", 1), want: []string{replicas},
		},
		"a misspelled annotation": {yaml: annotated("image-tags"), want: []string{`warning unknown-rule metadata.annotations["headgate.dev/lint-ignore"]`, replicas, image}},
		"an exception":            {yaml: broken, policy: lint.Policy{Exceptions: []lint.Exception{{Rules: []string{"images"}, Kind: "Deploy*", Namespace: "shop", Labels: map[string]string{"app": "web"}}}}, want: []string{replicas}},
		"another's exception":     {yaml: broken, policy: lint.Policy{Exceptions: []lint.Exception{{Kind: "Deployment", Name: "other"}, {Labels: map[string]string{"app": "x"}}}}, want: []string{replicas, image}},
		"one of a container":      {yaml: broken, policy: lint.Policy{Exceptions: []lint.Exception{{Container: "w?b"}}}, want: []string{replicas}},
		"another container":       {yaml: broken, policy: lint.Policy{Exceptions: []lint.Exception{{Container: "sidecar"}}}, want: []string{replicas, image}},
		"an unknown rule":         {yaml: broken, policy: lint.Policy{Rules: []string{"replicas"}, Disable: []string{"image-tags"}}, want: []string{"error unknown-rule", replicas}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, said(c.policy.Validate(read(t, c.yaml)))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMessages holds that a finding says what to write, and that a misspelled rule is suggested.
func TestMessages(t *testing.T) {
	found := lint.Policy{Rules: []string{"imagetag"}}.Validate(read(t, workload("Deployment")))
	if len(found) != 1 || found[0].Manifest != -1 || !strings.Contains(found[0].Message, "did you mean image-tag?") {
		t.Errorf("%v", found)
	}
	found = lint.Policy{}.Validate(read(t, workload("Deployment", "image: web:1", "image: web")))
	if len(found) != 1 || !strings.Contains(found[0].Message, "web:VERSION") {
		t.Errorf("%v", found)
	}
}

// TestCheckOfAnApp has an error keep an App from being written, and a warning not.
func TestCheckOfAnApp(t *testing.T) {
	describe := func(policy lint.Policy) (*chart.Result, error) {
		app := chart.NewApp(chart.Settings{Checks: []chart.Check{policy}})
		web := chart.New(app, "web", chart.Props{Labels: map[string]string{"app": "web"}})
		chart.Add(web, "service", &corev1.Service{})
		chart.Add(web, "config", &corev1.ConfigMap{})
		return app.Synth()
	}
	_, err := describe(lint.Policy{})
	if err == nil || !strings.Contains(err.Error(), "web/service") || !strings.Contains(err.Error(), "lint_test.go:") || strings.Contains(err.Error(), "web/config") {
		t.Errorf("%v", err)
	}
	result, err := describe(lint.Policy{Severities: map[string]chart.Severity{"service-selector": chart.SeverityWarning}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"warning service-selector spec.selector", "warning empty-config data"}, said(result.Findings)); diff != "" {
		t.Error(diff)
	}
}

// FuzzValidate feeds objects whose fields are of any type.
func FuzzValidate(f *testing.F) {
	f.Add(workload("Deployment"))
	f.Add("apiVersion: v1\nkind: Service\nmetadata: 3\nspec: [1]")
	f.Add("apiVersion: v1\nkind: List\nitems: [1, {kind: [a]}]")
	f.Add("apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: [1, {name: 3, image: :, resources: x}]}}}")
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if yaml.Unmarshal([]byte(text), &object) != nil {
			return
		}
		for _, found := range (lint.Policy{PrivateRegistries: []string{""}}).Validate([]map[string]any{object}) {
			if found.Rule == "" || found.Message == "" || found.Manifest != 0 {
				t.Errorf("%+v", found)
			}
		}
	})
}
