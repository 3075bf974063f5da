package installation

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/helm"
)

// made renders an installation with values, given as YAML, and returns its objects by kind and name.
func made(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	o := Options{Serve: dialects.All().All(), WithoutDefinitions: true}
	if values != "" {
		o.Values = []helm.Layer{{From: "values", Data: []byte(values)}}
	}
	objects, err := Objects(t.Context(), o)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, o := range objects {
		text, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		texts[o.GetKind()+"/"+o.GetName()] = string(text)
	}
	return texts, nil
}

// want is what a value does: the object, and what is in it then.
type want struct{ object, has string }

// effects are, for each value of the chart, another one than its default, and what comes of it.
var effects = map[string]struct {
	values string
	want   want
}{
	"image.repository":                   {"image: {repository: registry.example/headgate}", want{"Deployment/headgate", `"image":"registry.example/headgate:`}},
	"image.tag":                          {"image: {tag: v9}", want{"Deployment/headgate", `:v9"`}},
	"image.pullPolicy":                   {"image: {pullPolicy: Never}", want{"Deployment/headgate", `"imagePullPolicy":"Never"`}},
	"imagePullSecrets":                   {"imagePullSecrets: [{name: pull}]", want{"Deployment/headgate", `"imagePullSecrets":[{"name":"pull"}]`}},
	"replicas":                           {"replicas: 3", want{"Deployment/headgate", `"replicas":3`}},
	"shards":                             {"shards: [a]", want{"Deployment/headgate-a", `"--watch-label-selector=sharding.fluxcd.io/key=a"`}},
	"multitenancy.noCrossNamespaceRefs":  {"multitenancy: {noCrossNamespaceRefs: true}", want{"Deployment/headgate", `"--no-cross-namespace-refs"`}},
	"multitenancy.noRemoteBases":         {"multitenancy: {noRemoteBases: true}", want{"Deployment/headgate", `"--no-remote-bases"`}},
	"multitenancy.defaultServiceAccount": {"multitenancy: {defaultServiceAccount: tenant}", want{"Deployment/headgate", `"--default-service-account=tenant"`}},
	"ageSecret":                          {"ageSecret: keys", want{"Deployment/headgate", `"--sops-age-secret=keys"`}},
	"rbac.scope":                         {"rbac: {scope: tenants}\nmultitenancy: {defaultServiceAccount: tenant}", want{"Role/headgate", `"leases"`}},
	"rbac.tokensOf":                      {"rbac: {scope: tenants, tokensOf: [team/cloud]}\nmultitenancy: {defaultServiceAccount: tenant}", want{"Role/headgate-tokens", `"resourceNames":["cloud"]`}},
	"serviceAccount.annotations":         {"serviceAccount: {annotations: {cloud: role}}", want{"ServiceAccount/headgate", `"annotations":{"cloud":"role"}`}},
	"extraArgs":                          {"extraArgs: [--rewrite=a=b]", want{"Deployment/headgate", `"--rewrite=a=b"`}},
	"extraEnv":                           {"extraEnv: [{name: HTTPS_PROXY, value: proxy}]", want{"Deployment/headgate", `{"name":"HTTPS_PROXY","value":"proxy"}`}},
	"log.level":                          {"log: {level: debug}", want{"Deployment/headgate", `"--log-level=debug"`}},
	"log.encoding":                       {"log: {encoding: console}", want{"Deployment/headgate", `"--log-encoding=console"`}},
	"otlpEndpoint":                       {"otlpEndpoint: http://collector:4317", want{"Deployment/headgate", `"--otlp-endpoint=http://collector:4317"`}},
	"resources.requests":                 {"resources: {requests: {cpu: 7m}}", want{"Deployment/headgate", `"cpu":"7m"`}},
	"resources.limits":                   {"resources: {limits: {memory: 9Gi}}", want{"Deployment/headgate", `"memory":"9Gi"`}},
	"argocdNamespace":                    {"argocdNamespace: mine", want{"Deployment/headgate", `"--argo-namespace=mine"`}},
	"storage.existingClaim":              {"storage: {existingClaim: mine}", want{"Deployment/headgate", `"persistentVolumeClaim":{"claimName":"mine"}`}},
	"networkPolicy.create":               {"networkPolicy: {create: false}", want{"NetworkPolicy/headgate", ""}},
	"podMonitor.create":                  {"podMonitor: {create: true}", want{"PodMonitor/headgate", `"http-prom"`}},
	"podMonitor.labels":                  {"podMonitor: {create: true, labels: {release: prometheus}}", want{"PodMonitor/headgate", `"release":"prometheus"`}},
	"nodeSelector":                       {"nodeSelector: {disk: fast}", want{"Deployment/headgate", `"nodeSelector":{"disk":"fast"}`}},
	"tolerations":                        {"tolerations: [{key: infra, operator: Exists}]", want{"Deployment/headgate", `"tolerations":[{"key":"infra","operator":"Exists"}]`}},
	"affinity":                           {"affinity: {nodeAffinity: {}}", want{"Deployment/headgate", `"affinity":{"nodeAffinity":{}}`}},
	"podAnnotations":                     {"podAnnotations: {a: b}", want{"Deployment/headgate", `"annotations":{"a":"b"}`}},
	"podLabels":                          {"podLabels: {team: platform}", want{"Deployment/headgate", `"team":"platform"`}},
	"priorityClassName":                  {"priorityClassName: mine", want{"Deployment/headgate", `"priorityClassName":"mine"`}},
}

// TestValues changes each value and checks its effect, which is absent without it.
func TestValues(t *testing.T) {
	before, err := made(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for value, tc := range effects {
		t.Run(value, func(t *testing.T) {
			after, err := made(t, tc.values)
			if err != nil {
				t.Fatal(err)
			}
			has, had := after[tc.want.object], before[tc.want.object]
			if tc.want.has == "" {
				if has != "" || had == "" {
					t.Errorf("it does not take %s away", tc.want.object)
				}
				return
			}
			if !strings.Contains(has, tc.want.has) || strings.Contains(had, tc.want.has) {
				t.Errorf("%s does not get %s by it:\n%s", tc.want.object, tc.want.has, has)
			}
		})
	}
}

// TestEveryValue has a row for each value of the chart in the table above, and no other.
func TestEveryValue(t *testing.T) {
	data, err := os.ReadFile("../../deploy/chart/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(data, &values); err != nil {
		t.Fatal(err)
	}
	delete(values, "serve") // TestObjects has it
	if diff := cmp.Diff(leaves("", values), slices.Sorted(maps.Keys(effects))); diff != "" {
		t.Errorf("values of the chart, and their effects in the test:\n%s", diff)
	}
}

// leaves are the paths of values: below a map that has no entries a user enters their own.
func leaves(path string, value any) []string {
	entries, is := value.(map[string]any)
	if !is || len(entries) == 0 || strings.HasPrefix(path, "resources.") {
		return []string{path}
	}
	var all []string
	for key, below := range entries {
		all = append(all, leaves(strings.TrimPrefix(path+"."+key, "."), below)...)
	}
	slices.Sort(all)
	return all
}

func TestRefusedValues(t *testing.T) {
	cases := map[string]struct{ reason, values, names string }{
		"Unknown":    {reason: "a value that the chart does not know is named", values: "replica: 2", names: "replica"},
		"Nested":     {reason: "below others too", values: "image: {registry: x}", names: "registry"},
		"Type":       {reason: "a value has a type", values: "replicas: many", names: "replicas"},
		"Choice":     {reason: "or is one of a few", values: "rbac: {scope: none}", names: "scope"},
		"Shard":      {reason: "a shard becomes the name of an object", values: "shards: [Upper_Case]", names: "shards"},
		"Serve":      {reason: "what is served is said once", values: "serve: [flux]", names: "--serve"},
		"TokensOf":   {reason: "an account has a namespace", values: "rbac: {tokensOf: [cloud]}", names: "tokensOf"},
		"AllTokens":  {reason: "and a name", values: "rbac: {tokensOf: ['team/*']}", names: "tokensOf"},
		"NoAccount":  {reason: "tenants without an account could apply nothing", values: "rbac: {scope: tenants}", names: "multitenancy.defaultServiceAccount"},
		"TwoOfAName": {reason: "two shards of a name would be one", values: "shards: [a, a]", names: "shards"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := made(t, tc.values)
			if err == nil || !strings.Contains(err.Error(), tc.names) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// TestShards checks what serves what when there are shards.
func TestShards(t *testing.T) {
	objects, err := made(t, "shards: [a, b]\nstorage: {existingClaim: mine}")
	if err != nil {
		t.Fatal(err)
	}
	for name, has := range map[string][]string{
		"Deployment/headgate":   {`"--watch-label-selector=!sharding.fluxcd.io/key"`, "http://headgate.flux-system.svc.", `"persistentVolumeClaim"`},
		"Deployment/headgate-a": {`"--watch-label-selector=sharding.fluxcd.io/key=a"`, "http://headgate-a.flux-system.svc.", `"emptyDir"`},
		"Deployment/headgate-b": {`"--watch-label-selector=sharding.fluxcd.io/key=b"`, "http://headgate-b.flux-system.svc."},
		"Service/headgate-b":    {`"headgate.dev/instance":"headgate-b"`},
	} {
		for _, text := range has {
			if !strings.Contains(objects[name], text) {
				t.Errorf("%s lacks %s:\n%s", name, text, objects[name])
			}
		}
	}
	if strings.Contains(objects["Deployment/headgate-a"], "persistentVolumeClaim") {
		t.Error("two pods share a claim")
	}
}

// TestObjects checks what is installed, and in which order.
func TestObjects(t *testing.T) {
	groups, err := dialects.All().Parse([]string{"kustomize.toolkit.fluxcd.io"})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Objects(t.Context(), Options{Serve: groups})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range objects {
		names = append(names, o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())
		if o.GetAnnotations()["meta.helm.sh/release-name"] != "" || o.GetKind() != "Namespace" && o.GetKind() != "CustomResourceDefinition" && o.GetLabels()["app.kubernetes.io/managed-by"] != Name {
			t.Errorf("%s %s says that Helm holds it", o.GetKind(), o.GetName())
		}
	}
	if text, err := json.Marshal(objects[len(objects)-1].Object); err != nil || !strings.Contains(string(text), `"--serve=kustomize.toolkit.fluxcd.io"`) {
		t.Errorf("the controller serves something else (%v): %s", err, text)
	}
	want := []string{
		"Namespace /flux-system", "CustomResourceDefinition /kustomizations.kustomize.toolkit.fluxcd.io",
		"NetworkPolicy flux-system/headgate", "ServiceAccount flux-system/headgate",
		"ClusterRole /headgate", "ClusterRoleBinding /headgate",
		"Service flux-system/headgate", "Deployment flux-system/headgate",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// TestExecutorImage has pods of Workflows run with the image of the controller, where Workflows are served.
func TestExecutorImage(t *testing.T) {
	values := []helm.Layer{{From: "values", Data: []byte("image: {repository: mirror/headgate, tag: v1}")}}
	for serve, want := range map[string]bool{"flux": false, "workflows": true} {
		groups, err := dialects.All().Parse([]string{serve})
		if err != nil {
			t.Fatal(err)
		}
		objects, err := Objects(t.Context(), Options{Serve: groups, WithoutDefinitions: true, Values: values})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(objects[len(objects)-1].Object)
		if got := strings.Contains(string(text), `"--executor-image=mirror/headgate:v1"`); err != nil || got != want {
			t.Errorf("serve %s: --executor-image is there: %v, want %v (%v)", serve, got, want, err)
		}
	}
}

func TestPermissions(t *testing.T) {
	objects := []*unstructured.Unstructured{
		object(t, "{apiVersion: v1, kind: Service, metadata: {name: x}}"),
		object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: [get]}, {apiGroups: [''], resources: [secrets, serviceaccounts/token], verbs: [list]}]}"),
		object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: x, namespace: ns}, rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, update]}]}"),
	}
	got, err := Permissions(objects)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range got {
		texts = append(texts, p.String())
	}
	want := []string{
		"get objects of every kind", "list secrets", "list serviceaccounts/token",
		"get leases.coordination.k8s.io in namespace ns", "update leases.coordination.k8s.io in namespace ns",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Error(diff)
	}
}

func TestTrouble(t *testing.T) {
	cases := map[string]struct{ reason, status, want string }{
		"Ready":   {reason: "it says so", status: "{conditions: [{type: Ready, status: 'True'}]}"},
		"Failed":  {reason: "it says why not", status: "{conditions: [{type: Reconciling, status: 'True'}, {type: Ready, status: 'False', reason: BuildFailed, message: no file}]}", want: "BuildFailed: no file"},
		"Unknown": {reason: "it does not know yet", status: "{conditions: [{type: Ready, status: Unknown, reason: Progressing, message: wait}]}", want: "Progressing: wait"},
		"Silent":  {reason: "kinds that say nothing about themselves are well", status: "{}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Trouble(object(t, "{kind: X, apiVersion: v1, status: "+tc.status+"}"))); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestVersionsLacking(t *testing.T) {
	definition := func(versions string) *unstructured.Unstructured {
		return object(t, "{kind: CustomResourceDefinition, apiVersion: v1, spec: {versions: "+versions+"}}")
	}
	want := definition("[{name: v1, served: true}, {name: v1beta1, served: false}]")
	cases := map[string]struct{ reason, live, want string }{
		"Same":     {reason: "it serves what is wanted", live: "[{name: v1, served: true}]"},
		"Newer":    {reason: "more is not less", live: "[{name: v1, served: true}, {name: v2, served: true}]"},
		"Older":    {reason: "a version is missing", live: "[{name: v1beta1, served: true}]", want: "v1"},
		"Unserved": {reason: "one is there, but not served", live: "[{name: v1, served: false}]", want: "v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, versionsLacking(want, definition(tc.live))); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}
