package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/kit"
)

// objects measures many Objects of provider-kubernetes: how long until all are ready, what one costs, what is asked of the API
// server until then and at rest, and how fast drift is corrected.
type objects struct {
	count int
	idle  time.Duration
}

var (
	objectKind       = schema.GroupVersionResource{Group: "kubernetes.crossplane.io", Version: "v1alpha2", Resource: "objects"}
	objectConfigKind = schema.GroupVersionResource{Group: "kubernetes.crossplane.io", Version: "v1alpha1", Resource: "providerconfigs"}
	configMapKind    = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

func (b objects) measure(ctx context.Context) error {
	return measured(ctx, kit.Options{}, b.run)
}

func (b objects) run(ctx context.Context, _ *kit.Kit, client dynamic.Interface, audit string) error {
	cpu, began := cpuTime(), time.Now()
	if err := b.declare(ctx, client); err != nil {
		return err
	}
	ready := func(u *unstructured.Unstructured) (bool, error) {
		conditions, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, c := range conditions {
			if one, ok := c.(map[string]any); ok && one["type"] == "Ready" && one["status"] == "True" {
				return true, nil
			}
		}
		return false, err
	}
	if err := allOf(ctx, client.Resource(objectKind), b.count, ready); err != nil {
		return err
	}
	if err := (costs{b.count, began, cpu, b.idle, audit}).print(ctx); err != nil {
		return err
	}
	took, err := b.drift(ctx, client)
	if err != nil {
		return err
	}
	fmt.Printf("drift of one is corrected after %d ms\n", took.Milliseconds())
	return nil
}

// declare declares the Objects, and the configuration that they use.
func (b objects) declare(ctx context.Context, client dynamic.Interface) error {
	err := create(ctx, client, objectConfigKind, "", `apiVersion: kubernetes.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: default}
spec: {credentials: {source: InjectedIdentity}}
`)
	if err != nil {
		return err
	}
	for i := range b.count {
		err := create(ctx, client, objectKind, "", fmt.Sprintf(`apiVersion: kubernetes.crossplane.io/v1alpha2
kind: Object
metadata: {name: o%04[1]d}
spec:
  forProvider:
    manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: o%04[1]d, namespace: default}, data: {k: declared}}
`, i))
		if err != nil {
			return err
		}
	}
	return nil
}

// drift changes what an Object has created and returns how long it takes until that is as declared again.
func (b objects) drift(ctx context.Context, client dynamic.Interface) (time.Duration, error) {
	maps := client.Resource(configMapKind).Namespace("default")
	changed, err := maps.Patch(ctx, "o0000", types.MergePatchType, []byte(`{"data":{"k":"by hand"}}`), metav1.PatchOptions{})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	watch, err := maps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=o0000", ResourceVersion: changed.GetResourceVersion()})
	if err != nil {
		return 0, err
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		if u, is := event.Object.(*unstructured.Unstructured); is {
			if value, _, _ := unstructured.NestedString(u.Object, "data", "k"); value == "declared" {
				return time.Since(began), nil
			}
		}
	}
	return 0, ctx.Err()
}
