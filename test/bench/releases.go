package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/kit"
)

// releases measures HelmReleases of one small chart from a registry: how long it takes until all are
// ready, how long after one value of each changed, and what they ask of the API server at rest.
type releases struct {
	count int
	idle  time.Duration
}

var helmReleases = schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"}

func (b releases) measure(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	audit := filepath.Join(dir, "audit.log")
	k, err := kit.Start(ctx, filepath.Join(dir, "kit"), kit.Options{AuditLog: audit})
	if err != nil {
		return err
	}
	defer func() { _ = k.Stop(ctx) }()
	registry, err := kit.StartRegistry()
	if err != nil {
		return err
	}
	defer func() { _ = registry.Stop(ctx) }()
	if err := registry.PushChart(ctx, "bench/small:1.0.0", smallChart()); err != nil {
		return err
	}
	if err := k.Git.CreateRepo(ctx, "bench"); err != nil {
		return err
	}
	r := run{units: b.count, depth: 1, idle: b.idle, dir: filepath.Join(dir, "repo"), kit: k}
	if err := b.write(ctx, &r, registry.Host, "first"); err != nil {
		return err
	}
	cpu, began := cpuTime(), time.Now()
	err = roots.PutRoot(ctx, k.Config, roots.Root{
		URL: k.Git.URL("bench"), Branch: "main", Path: "flux", Credentials: map[string][]byte{"username": []byte(kit.User), "password": []byte(kit.Token)}, For: "bench",
	})
	if err != nil {
		return err
	}
	if _, err := r.ready(ctx); err != nil {
		return err
	}
	cold, spent := time.Since(began), cpuTime()-cpu
	asked, _, err := requests(audit, began)
	if err != nil {
		return err
	}
	if err := b.write(ctx, &r, registry.Host, "second"); err != nil {
		return err
	}
	began = time.Now()
	if err := b.deployed(ctx, k, 2); err != nil {
		return err
	}
	changed := time.Since(began)
	rest := "not counted"
	if b.idle > 0 {
		if rest, err = r.atRest(ctx, audit); err != nil {
			return err
		}
	}
	fmt.Printf("%8d  %6.2f  %13.3f  %9.2f  %6d  %s\n", b.count, cold.Seconds(), spent.Seconds()/float64(b.count), changed.Seconds(), rss(), rest)
	fmt.Println("requests of the cold run:", most(asked))
	return nil
}

// deployed waits until every release is ready at a revision.
func (b releases) deployed(ctx context.Context, k *kit.Kit, version int) error {
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		return err
	}
	want := fmt.Sprintf(".v%d with chart", version)
	for {
		list, err := client.Resource(helmReleases).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			status, err := list.Items[i].MarshalJSON()
			if err == nil && strings.Contains(string(status), want) && strings.Contains(string(status), `"status":"True","type":"Ready"`) {
				ready++
			}
		}
		if ready == b.count {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// write commits the releases with a value.
func (b releases) write(ctx context.Context, r *run, host, value string) error {
	var text strings.Builder
	fmt.Fprintf(&text, `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: small, namespace: default}
spec:
  url: "oci://%s/bench/small"
  interval: 1m
  insecure: true
  ref: {tag: 1.0.0}
  layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
`, host)
	for i := range b.count {
		fmt.Fprintf(&text, `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app-%04d, namespace: default}
spec:
  interval: 10s
  chartRef: {kind: OCIRepository, name: small}
  values: {value: %s}
`, i, value)
	}
	file := filepath.Join(r.dir, "flux", "releases.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		return err
	}
	return r.push(ctx)
}

// smallChart is a chart of a Deployment without replicas, a Service and a ConfigMap.
func smallChart() map[string][]byte {
	return map[string][]byte{
		"small/Chart.yaml":  []byte("apiVersion: v2\nname: small\nversion: 1.0.0\n"),
		"small/values.yaml": []byte("value: none\n"),
		"small/templates/all.yaml": []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {value: "{{ .Values.value }}"}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}"}
spec: {selector: {app: "{{ .Release.Name }}"}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: 0
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec: {containers: [{name: web, image: web}]}
`),
	}
}
