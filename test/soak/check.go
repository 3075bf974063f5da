package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var (
	namespaces     = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps     = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	kustomizations = schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}
	helmReleases   = schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"}
	applications   = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
)

func create(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource, namespace string, object map[string]any) error {
	_, err := client.Resource(r).Namespace(namespace).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// namespaceOf is where the objects of units are.
var namespaceOf = map[kind]string{kustomization: "soak-flux", application: "soak-argo", release: "soak-helm"}

// declared is what the cluster has to hold and nothing else of our own, by what it is: ConfigMaps with their value, Deployments, and
// the objects of units as ready.
func (s *state) declared() map[string]string {
	want := map[string]string{"Kustomization flux-system": "ready", "Application root": "ready"}
	for _, u := range s.units {
		objects := u.objects
		if u.kind == release {
			objects = 1
		}
		for i := range objects {
			want[fmt.Sprintf("ConfigMap %s/%s-%d", namespaceOf[u.kind], u.name, i)] = fmt.Sprint(u.value)
		}
		want["Deployment "+namespaceOf[u.kind]+"/"+u.name] = ""
		want[string(u.kind)+" "+u.name] = "ready"
	}
	return want
}

// found is what the cluster holds.
func (w *world) found(ctx context.Context) (map[string]string, error) {
	client, err := w.client()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	list := func(r schema.GroupVersionResource, namespace string, take func(o *unstructured.Unstructured)) {
		all, failed := client.Resource(r).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if failed != nil {
			err = errors.Join(err, failed)
			return
		}
		for i := range all.Items {
			take(&all.Items[i])
		}
	}
	for _, namespace := range namespaceOf {
		list(configMaps, namespace, func(o *unstructured.Unstructured) {
			if o.GetName() != "kube-root-ca.crt" {
				value, _, _ := unstructured.NestedString(o.Object, "data", "value")
				found["ConfigMap "+namespace+"/"+o.GetName()] = value
			}
		})
		list(deployments, namespace, func(o *unstructured.Unstructured) { found["Deployment "+namespace+"/"+o.GetName()] = "" })
	}
	list(kustomizations, "flux-system", func(o *unstructured.Unstructured) { found["Kustomization "+o.GetName()] = ready(o) })
	list(helmReleases, "soak-helm", func(o *unstructured.Unstructured) { found["HelmRelease "+o.GetName()] = ready(o) })
	list(applications, "argocd", func(o *unstructured.Unstructured) { found["Application "+o.GetName()] = synced(o) })
	return found, err
}

// ready is how an object of Flux stands.
func ready(o *unstructured.Unstructured) string {
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" {
			if c["status"] == "True" && observed == o.GetGeneration() {
				return "ready"
			}
			return fmt.Sprintf("%v: %v", c["reason"], c["message"])
		}
	}
	return "without a status"
}

// synced is how an Application stands.
func synced(o *unstructured.Unstructured) string {
	sync, _, _ := unstructured.NestedString(o.Object, "status", "sync", "status")
	health, _, _ := unstructured.NestedString(o.Object, "status", "health", "status")
	if sync == "Synced" && health == "Healthy" {
		return "ready"
	}
	message, _, _ := unstructured.NestedString(o.Object, "status", "operationState", "message")
	return strings.TrimSuffix(sync+", "+health+": "+message, ": ")
}

// converge waits until the cluster is what Git declares.
func (s *state) converge(ctx context.Context) error {
	want := s.declared()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	late := time.Now().Add(s.patience)
	for {
		got, err := s.world.found(ctx)
		wrong := differences(want, got)
		switch {
		case err == nil && len(wrong) == 0:
			return nil
		case time.Now().After(late):
			return errors.Join(err, fmt.Errorf("%d differences between Git and the cluster after %s:\n%s", len(wrong), s.patience, strings.Join(wrong[:min(len(wrong), 20)], "\n")))
		}
		if err := s.world.alive(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// differences names what is not as it is declared.
func differences(want, got map[string]string) []string {
	var wrong []string
	for _, what := range slices.Sorted(maps.Keys(want)) {
		value, there := got[what]
		switch {
		case !there:
			wrong = append(wrong, what+" is missing")
		case value != want[what]:
			wrong = append(wrong, fmt.Sprintf("%s is %q, want %q", what, value, want[what]))
		}
	}
	for _, what := range slices.Sorted(maps.Keys(got)) {
		if _, declared := want[what]; !declared {
			wrong = append(wrong, what+" is left over")
		}
	}
	return wrong
}
