package schema

import (
	"fmt"
	"testing"
	"time"
)

// thousand are Deployments as people write them.
func thousand(t testing.TB) []map[string]any {
	t.Helper()
	all := make([]map[string]any, 1000)
	for i := range all {
		all[i] = objects(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: app-%d, namespace: shop, labels: {app.kubernetes.io/name: app, app.kubernetes.io/part-of: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app.kubernetes.io/name: app}}
  template:
    metadata: {labels: {app.kubernetes.io/name: app}}
    spec:
      serviceAccountName: app
      containers:
      - name: app
        image: registry.example.com/app:1.2.3
        imagePullPolicy: IfNotPresent
        ports: [{name: http, containerPort: 8080}]
        env: [{name: A, value: a}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: C, value: c}]
        resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
        livenessProbe: {httpGet: {path: /, port: http}}
        readinessProbe: {httpGet: {path: /, port: 8080}}
        securityContext: {runAsNonRoot: true, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      volumes: [{name: tmp, emptyDir: {}}]
`, i))[0]
	}
	return all
}

func BenchmarkThousandDeployments(b *testing.B) {
	all := thousand(b)
	for b.Loop() {
		if found := (Check{}).Validate(all); len(found) != 0 {
			b.Fatal(found)
		}
	}
}

// BenchmarkFirst is what the first validation of a process costs more.
func BenchmarkFirst(b *testing.B) {
	all := objects(b, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	for b.Loop() {
		r, err := unpack(published)
		if err != nil {
			b.Fatal(err)
		}
		w := &walk{all: r, release: r.each[0]}
		w.root(all[0])
	}
}

// TestSpeed holds the aims with room for a busy machine: the first validation below 50 ms, 1,000 Deployments well below a second.
func TestSpeed(t *testing.T) {
	all := thousand(t)
	fastest := func(f func()) time.Duration {
		best := time.Hour
		for range 5 {
			start := time.Now()
			f()
			best = min(best, time.Since(start))
		}
		return best
	}
	if took := fastest(func() { _, _ = unpack(published) }); took > 50*time.Millisecond {
		t.Errorf("reading the schemas took %s", took)
	}
	if took := fastest(func() { Check{}.Validate(all) }); took > 500*time.Millisecond {
		t.Errorf("1,000 Deployments took %s", took)
	}
}
