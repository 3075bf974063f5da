package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/secrets"
)

// externalSecrets measures many ExternalSecrets of one store that is in memory, each with a template: how long until all are Secrets, what one
// costs, and what is asked of the API server at rest.
type externalSecrets struct {
	count int
	idle  time.Duration
}

var (
	externalKind = schema.GroupVersionResource{Group: "external-secrets.io", Version: "v1", Resource: "externalsecrets"}
	storeKind    = schema.GroupVersionResource{Group: "external-secrets.io", Version: "v1", Resource: "secretstores"}
)

func (b externalSecrets) measure(ctx context.Context) error {
	options := kit.Options{Serve: []string{"external-secrets"}, Dialects: dialects.With(dialects.Options{Secrets: secrets.Options{Told: true}})}
	return measured(ctx, options, b.run)
}

func (b externalSecrets) run(ctx context.Context, _ *kit.Kit, client dynamic.Interface, audit string) error {
	err := create(ctx, client, storeKind, "default", `apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: memory}
spec: {provider: {fake: {data: [{key: login, value: '{"user":"ada","password":"not-a-password"}'}]}}}
`)
	if err != nil {
		return err
	}
	cpu, began := cpuTime(), time.Now()
	for i := range b.count {
		err := create(ctx, client, externalKind, "default", fmt.Sprintf(`apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: e%04d}
spec:
  secretStoreRef: {name: memory}
  target: {template: {data: {url: "postgres://{{ .user }}:{{ .password }}@db"}}}
  dataFrom: [{extract: {key: login}}]
`, i))
		if err != nil {
			return err
		}
	}
	synced := func(u *unstructured.Unstructured) (bool, error) {
		version, _, _ := unstructured.NestedString(u.Object, "status", "syncedResourceVersion")
		return version != "", nil
	}
	if err := allOf(ctx, client.Resource(externalKind), b.count, synced); err != nil {
		return err
	}
	return costs{b.count, began, cpu, b.idle, audit}.print(ctx)
}
