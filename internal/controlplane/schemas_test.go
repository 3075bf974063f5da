package controlplane

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/schema"
)

// bad are objects with one mistake each, as changes to those of the file: "kind", and a JSON merge patch.
var bad = map[string]struct{ kind, patch string }{
	"unknown field":         {"Deployment", `{"spec": {"replica": 1}}`},
	"unknown in a pod":      {"StatefulSet", `{"spec": {"template": {"spec": {"nodeSelectors": {}}}}}`},
	"unknown at the root":   {"ConfigMap", `{"spec": {}}`},
	"unknown in metadata":   {"Secret", `{"metadata": {"label": {"a": "b"}}}`},
	"number for a text":     {"ConfigMap", `{"data": {"port": 80}}`},
	"text for a number":     {"Deployment", `{"spec": {"replicas": "2"}}`},
	"text for a bool":       {"ConfigMap", `{"immutable": "true"}`},
	"map for a list":        {"ClusterRole", `{"rules": {}}`},
	"fraction":              {"Deployment", `{"spec": {"replicas": 1.5}}`},
	"overflow":              {"Deployment", `{"spec": {"replicas": 5000000000}}`},
	"quantity":              {"PersistentVolumeClaim", `{"spec": {"resources": {"requests": {"storage": "1GB"}}}}`},
	"base64":                {"Secret", `{"data": {"k": "!"}}`},
	"time":                  {"Lease", `{"spec": {"renewTime": "today"}}`},
	"enum":                  {"StorageClass", `{"reclaimPolicy": "delete"}`},
	"enum in a list":        {"PersistentVolumeClaim", `{"spec": {"accessModes": ["RWO"]}}`},
	"missing selector":      {"DaemonSet", `{"spec": {"selector": null}}`},
	"missing image":         {"DaemonSet", `{"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}`},
	"missing schedule":      {"CronJob", `{"spec": {"schedule": null}}`},
	"missing reference":     {"RoleBinding", `{"roleRef": null}`},
	"missing path type":     {"Ingress", `{"spec": {"rules": [{"http": {"paths": [{"backend": {"service": {"name": "a", "port": {"number": 80}}}}]}}]}}`},
	"key twice":             {"DaemonSet", `{"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]}]}}}}`},
	"container twice":       {"DaemonSet", `{"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x"}, {"name": "c", "image": "y"}]}}}}`},
	"other pods":            {"Deployment", `{"spec": {"template": {"metadata": {"labels": {"a": "c"}}}}}`},
	"no volume":             {"DaemonSet", `{"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}}}`},
	"Job that always runs":  {"Job", `{"spec": {"template": {"spec": {"restartPolicy": "Always"}}}}`},
	"port":                  {"Service", `{"spec": {"ports": [{"port": 70000}]}}`},
	"no ports":              {"Service", `{"spec": {"ports": null}}`},
	"name":                  {"ConfigMap", `{"metadata": {"name": "A_b"}}`},
	"name with dots":        {"Namespace", `{"metadata": {"name": "a.b"}}`},
	"name that is too long": {"CronJob", `{"metadata": {"name": "` + strings.Repeat("a", 53) + `"}}`},
	"name of a definition":  {"CustomResourceDefinition", `{"metadata": {"name": "widget.example.com"}}`},
	"label":                 {"ConfigMap", `{"metadata": {"labels": {"a": "b c"}}}`},
	"label's name":          {"ConfigMap", `{"metadata": {"labels": {"a/b/c": "d"}}}`},
	"annotation's name":     {"ConfigMap", `{"metadata": {"annotations": {"a b": "c"}}}`},
	"finalizer":             {"ConfigMap", `{"metadata": {"finalizers": ["a b"]}}`},
	"label in a selector":   {"PodDisruptionBudget", `{"spec": {"selector": {"matchLabels": {"a": "-"}}}}`},
	"custom unknown":        {"Widget", `{"spec": {"sise": 1}}`},
	"custom type":           {"Widget", `{"spec": {"size": "x"}}`},
	"custom bounds":         {"Widget", `{"spec": {"size": 10}}`},
	"custom enum":           {"Widget", `{"spec": {"mode": "fast"}}`},
	"custom pattern":        {"Widget", `{"spec": {"name": "A"}}`},
	"custom format":         {"Widget", `{"spec": {"ip": "x"}}`},
	"custom set":            {"Widget", `{"spec": {"tags": ["a", "a"]}}`},
	"custom key":            {"Widget", `{"spec": {"list": [{"name": "a"}, {"name": "a"}]}}`},
	"custom required":       {"Widget", `{"spec": {"size": null}}`},
	"custom form":           {"Widget", `{"spec": {"one": {"a": "x", "b": "y"}}}`},
	"custom metadata":       {"Widget", `{"spec": {"raw": {"metadata": {"label": {}}}}}`},
	"version":               {"CronJob", `{"apiVersion": "batch/v1beta1"}`},
	"group":                 {"Deployment", `{"apiVersion": "v1"}`},
	"kind":                  {"Deployment", `{"kind": "Deploymnet"}`},
}

// TestSchemas asks the API server, by a dry run of an apply and of a creation with strict validation, about objects that the SDK accepts or
// refuses without one: both say the same.
func TestSchemas(t *testing.T) {
	r := start(t, Config{Dir: stateDir(t)})
	s := serverOf(t, r)
	data, err := os.ReadFile("../acceptance/testdata/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	check, good := schema.Kubernetes("1.36"), map[string]map[string]any{}
	for _, text := range strings.Split(string(data), "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		good[o["kind"].(string)] = o
	}
	check.Definitions = append(check.Definitions, good["CustomResourceDefinition"])
	s.prepare(t, good["CustomResourceDefinition"])
	for kind, o := range good {
		if found := errorsIn(check, o); found != "" {
			t.Errorf("the SDK refuses %s: %s", kind, found)
		}
		if err := s.dryRun(t, o); err != nil {
			t.Errorf("the server refuses %s: %v", kind, err)
		}
	}
	for name, b := range bad {
		o := merged(t, good[b.kind], b.patch)
		if found := errorsIn(check, o); found == "" {
			t.Errorf("%s: the SDK accepts it", name)
		}
		if err := s.dryRun(t, o); err == nil {
			t.Errorf("%s: the server accepts it", name)
		}
	}
}

func errorsIn(check schema.Check, o map[string]any) string {
	for _, f := range check.Validate([]map[string]any{o}) {
		if f.Severity == chart.SeverityError {
			return f.Field + ": " + f.Message
		}
	}
	return ""
}

// merged is a copy of an object with a patch.
func merged(t *testing.T, o map[string]any, patch string) map[string]any {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var copied, changes map[string]any
	if err := json.Unmarshal(data, &copied); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(patch), &changes); err != nil {
		t.Fatal(err)
	}
	merge(copied, changes)
	return copied
}

func merge(o, changes map[string]any) {
	for key, v := range changes {
		inner, isMap := v.(map[string]any)
		old, wasMap := o[key].(map[string]any)
		switch {
		case v == nil:
			delete(o, key)
		case isMap && wasMap:
			merge(old, inner)
		default:
			o[key] = v
		}
	}
}

// asked is an API server with what it serves.
type asked struct {
	config *rest.Config
	client dynamic.Interface
}

func serverOf(t *testing.T, r *Running) *asked {
	t.Helper()
	client, err := dynamic.NewForConfig(r.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return &asked{config: r.RESTConfig(), client: client}
}

// prepare creates the namespace of the objects and a definition, and waits until it is served.
func (s *asked) prepare(t *testing.T, definition map[string]any) {
	t.Helper()
	namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "b"}}
	for _, o := range []map[string]any{namespace, definition} {
		resource, u, err := s.resource(t, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resource.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the definition", func() (bool, error) {
		resource, _, err := s.resource(t, map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a", "namespace": "b"}})
		if err == nil {
			_, err = resource.List(t.Context(), metav1.ListOptions{})
		}
		return err == nil, err
	})
}

func (s *asked) resource(t *testing.T, o map[string]any) (dynamic.ResourceInterface, *unstructured.Unstructured, error) {
	t.Helper()
	u := &unstructured.Unstructured{Object: o}
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return nil, nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return nil, nil, err
	}
	gvk := u.GroupVersionKind()
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, nil, err
	}
	if namespace := u.GetNamespace(); namespace != "" {
		return s.client.Resource(mapping.Resource).Namespace(namespace), u, nil
	}
	return s.client.Resource(mapping.Resource), u, nil
}

// dryRun is why the server refuses an object, in an apply or a creation.
func (s *asked) dryRun(t *testing.T, o map[string]any) error {
	t.Helper()
	resource, u, err := s.resource(t, o)
	if err != nil {
		return err
	}
	_, err = resource.Create(t.Context(), u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	force := true
	_, err = resource.Patch(t.Context(), u.GetName(), types.ApplyPatchType, data,
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "test", Force: &force, FieldValidation: metav1.FieldValidationStrict})
	return err
}
