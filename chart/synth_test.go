package chart_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
)

// widget is a type that knows its kind.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              map[string]any `json:"spec,omitempty"`
}

func (*widget) KubernetesKind() (apiVersion, kind string, namespaced bool) {
	return "example.com/v1", "Widget", false
}

// stranger is a type that does not.
type stranger struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

func TestConversion(t *testing.T) {
	zero := int32(0)
	for name, tc := range map[string]struct {
		reason string
		object any
		want   string
	}{
		"Zeros": {
			"structs that say nothing are dropped, pointers to them are kept, as is an explicit zero",
			&appsv1.Deployment{Spec: appsv1.DeploymentSpec{
				Replicas: &zero, Selector: &metav1.LabelSelector{},
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: "a", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}},
					Volumes:    []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
				}},
			}},
			"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: c-o\n  namespace: ns\nspec:\n  replicas: 0\n  selector: {}\n  template:\n    spec:\n      containers:\n        - name: a\n          ports:\n            - containerPort: 80\n      volumes:\n        - emptyDir: {}\n          name: tmp\n",
		},
		"Required": {
			"a struct that is always written means something when it is empty",
			&networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Ingress"}}},
			"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: c-o\n  namespace: ns\nspec:\n  podSelector: {}\n  policyTypes:\n    - Ingress\n",
		},
		"Special": {
			"quantities, ports and times are written as they say",
			&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "p"},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:          "a",
					Resources:     corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("500m")}},
					LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")}}},
				}}},
			},
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: ns\nspec:\n  containers:\n    - livenessProbe:\n        httpGet:\n          port: http\n      name: a\n      resources:\n        limits:\n          cpu: 500m\n",
		},
		"Bytes": {
			"bytes are base64, names of a namespace stay",
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "other"}, Data: map[string][]byte{"k": []byte("v")}},
			"apiVersion: v1\nkind: Secret\nmetadata:\n  name: c-o\n  namespace: other\ndata:\n  k: dg==\n",
		},
		"Cluster": {
			"a kind without a namespace gets none", &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}}}},
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: c-o\nrules:\n  - verbs:\n      - get\n",
		},
		"Kinded": {
			"a type with a method", &widget{Spec: map[string]any{"n": 1, "none": nil, "empty": map[string]any{}, "list": []string{}, "f": 1.5, "typed": corev1.LocalObjectReference{Name: "x"}}},
			"apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: c-o\nspec:\n  empty: {}\n  f: 1.5\n  list: []\n  \"n\": 1\n  typed:\n    name: x\n",
		},
		"Map": {
			"a map, with values that are computed late",
			map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"labels": map[string]string{}, "finalizers": []any{}}, "data": chart.Lazy(func() any { return map[string]int{"x": 1} })},
			"apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: c-o\n  namespace: ns\ndata:\n  x: 1\n",
		},
		"Unstructured": {
			"an unstructured object", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"generateName": "g-"}}},
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: g-\n  namespace: ns\n",
		},
		"Definition": {
			"a kind of a version", &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "@daily"}},
			"apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: c-o\n  namespace: ns\nspec:\n  jobTemplate: {}\n  schedule: \"@daily\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			o := chart.Add(chart.New(app, "c", chart.Props{Namespace: "ns"}), "o", tc.object)
			result, err := app.Synth()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(result.YAML())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			m := result.Manifests()[0]
			got := []string{o.APIVersion(), o.Kind(), o.Name(), o.Namespace()}
			if diff := cmp.Diff([]string{m.APIVersion(), m.Kind(), m.Name(), m.Namespace()}, got); diff != "" {
				t.Errorf("the object says something other than what is written (-written +object):\n%s", diff)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	thing := func() map[string]any { return map[string]any{"apiVersion": "v1", "kind": "ConfigMap"} }
	for name, tc := range map[string]struct {
		reason   string
		describe func(c *chart.Chart)
		want     []string
	}{
		"Kind":    {"a type of which nothing is known", func(c *chart.Chart) { chart.Add(c, "o", &stranger{}) }, []string{"synth_test.go:", "c/o: ", "*chart_test.stranger", "TypeMeta", "KubernetesKind"}},
		"Nothing": {"no object", func(c *chart.Chart) { chart.Add(c, "o", nil) }, []string{"c/o: a <nil> is not an object"}},
		"Nil":     {"a nil pointer", func(c *chart.Chart) { chart.Add(c, "o", (*corev1.Pod)(nil)) }, []string{"c/o: a *v1.Pod is not an object"}},
		"Text":    {"something that is not an object", func(c *chart.Chart) { chart.Add(c, "o", "text") }, []string{"c/o: a string is not an object"}},
		"Bytes":   {"a string that YAML cannot hold", func(c *chart.Chart) { chart.Add(c, "o", &corev1.ConfigMap{Data: map[string]string{"k": "\xff"}}) }, []string{"c/o: data.k: the string is not valid UTF-8", "binaryData"}},
		"Func": {"a value that is none, in a list", func(c *chart.Chart) {
			chart.Add(c, "o", map[string]any{"apiVersion": "v1", "kind": "X", "a": []any{1, func() {}}})
		}, []string{"c/o: a[1]: a func() is not a value"}},
		"Twice": {"a name of two siblings", func(c *chart.Chart) { chart.Add(c, "o", thing()); chart.Add(c, "o", thing()) }, []string{`c: "o" is there already, made at`, "synth_test.go:"}},
		"Collision": {"one name for two objects", func(c *chart.Chart) {
			chart.Add(c, "a", &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
			chart.Add(c, "b", &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
			chart.Add(c, "c", &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "elsewhere"}})
		}, []string{`c/b: Service "web" in namespace "ns" is described twice: first by c/a (`, "synth_test.go:"}},
		"Name": {"a path without a character for a name", func(c *chart.Chart) { chart.Add(chart.New(c, "é", chart.Props{}), "-", thing()); _ = c }, []string{"set metadata.name"}},
		"Self": {"an object that holds itself", func(c *chart.Chart) { m := thing(); m["m"] = m; chart.Add(c, "o", m) }, []string{"nest too deep"}},
		"Labels": {"metadata of another shape", func(c *chart.Chart) {
			m := thing()
			m["metadata"] = map[string]any{"labels": "x"}
			chart.Add(c, "o", m).Label("a", "b")
		}, []string{"metadata.labels is not a mapping"}},
		"Stray": {"an object outside charts", func(c *chart.Chart) { chart.Add(c.Node().App(), "o", thing()) }, []string{"o: it is in no chart"}},
		"Said":  {"an error of the description", func(c *chart.Chart) { c.Node().Errorf("no image for %q", "web") }, []string{`c: no image for "web"`, "synth_test.go:"}},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			tc.describe(chart.New(app, map[bool]string{true: "-", false: "c"}[name == "Name"], chart.Props{Namespace: "ns"}))
			_, err := app.Synth()
			if err == nil {
				t.Fatalf("%s: no error", tc.reason)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: the error does not say %q:\n%v", tc.reason, part, err)
				}
			}
		})
	}
}
