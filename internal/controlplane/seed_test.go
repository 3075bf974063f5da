package controlplane

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/deploy"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// TestSeed has a control plane begin with what its API server and the owner of the definitions would have written: no one changes it
// again.
func TestSeed(t *testing.T) {
	const manager = "someone"
	definitions, err := deploy.CRDs()
	must(t, err)
	argo, err := deploy.ArgoCRDs()
	must(t, err)
	definitions = append(definitions, argo...)
	dir := stateDir(t)
	cfg := Config{Dir: dir, Ephemeral: true, Keep: true, Definitions: definitions, Manager: manager}
	r := start(t, cfg)
	client, err := dynamic.NewForConfig(r.RESTConfig())
	must(t, err)
	system := versionsOf(t, clientOf(t, r))
	for _, d := range definitions {
		unchangedByApply(t, client, d, manager)
	}
	for _, of := range bootstraps() {
		_, hook, err := of.PostStartHook()
		must(t, err)
		must(t, hook(genericapiserver.PostStartHookContext{Context: t.Context(), LoopbackClientConfig: r.RESTConfig()}))
	}
	if diff := cmp.Diff(system, versionsOf(t, clientOf(t, r))); diff != "" {
		t.Errorf("the API server changed what it found (-found +left):\n%s", diff)
	}
	before := uidOf(t, client, definitions[0].GetName())
	must(t, r.Stop(context.WithoutCancel(t.Context())))

	again := start(t, cfg)
	client, err = dynamic.NewForConfig(again.RESTConfig())
	must(t, err)
	if after := uidOf(t, client, definitions[0].GetName()); after != before {
		t.Errorf("a restart replaced a definition: uid %s, then %s", before, after)
	}
}

func uidOf(t *testing.T, client dynamic.Interface, name string) string {
	t.Helper()
	crd, err := client.Resource(crds).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	return string(crd.GetUID())
}

// unchangedByApply applies a definition that is there, and lists the objects that it defines.
func unchangedByApply(t *testing.T, client dynamic.Interface, d *unstructured.Unstructured, manager string) {
	t.Helper()
	group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(d.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
	version, _, _ := unstructured.NestedString(versions[0].(map[string]any), "name")
	if _, err := client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural}).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("listing %s: %v", plural, err)
	}
	before, err := client.Resource(crds).Get(t.Context(), d.GetName(), metav1.GetOptions{})
	must(t, err)
	after, err := client.Resource(crds).Apply(t.Context(), d.GetName(), d, metav1.ApplyOptions{FieldManager: manager, Force: true})
	must(t, err)
	// The encoding may be another one.
	before.SetResourceVersion("")
	after.SetResourceVersion("")
	if diff := cmp.Diff(before.Object, after.Object); diff != "" {
		t.Errorf("applying %s changed it (-before +after):\n%s", d.GetName(), diff)
	}
}

// versionsOf are the versions of the roles and priorities of Kubernetes, but for those roles whose rules a controller gathers.
func versionsOf(t *testing.T, c kubernetes.Interface) map[string]string {
	t.Helper()
	versions := map[string]string{}
	roles, err := c.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, o := range roles.Items {
		if o.AggregationRule == nil {
			versions["role "+o.Name] = o.ResourceVersion
		}
	}
	bindings, err := c.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, o := range bindings.Items {
		versions["binding "+o.Name] = o.ResourceVersion
	}
	classes, err := c.SchedulingV1().PriorityClasses().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, o := range classes.Items {
		versions["class "+o.Name] = o.ResourceVersion
	}
	if len(versions) < 100 {
		t.Errorf("%d roles, bindings and classes at the start, want all that Kubernetes has", len(versions))
	}
	return versions
}
