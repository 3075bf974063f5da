package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// manyPackages measures a boot of n packages of five objects, one of which is the chart of a virtual cluster in which half of the others are, and how
// long a file that is saved takes until it is applied there and on the host.
type manyPackages struct{ n int }

const (
	packageEdits  = 10
	packageLimit  = 5 * time.Minute
	packageDeploy = `apiVersion: apps/v1
kind: Deployment
metadata: {name: server-%[1]d}
spec:
  selector: {matchLabels: {app: server-%[1]d}}
  template:
    metadata: {labels: {app: server-%[1]d}}
    spec: {containers: [{name: server, image: "example.com/server:1"}]}
`
	packageSettings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings-%d}\ndata: {k: %q}\n"
	packageVirtual  = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: vcluster-dev, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: default
  source: {repoURL: https://charts.loft.sh, chart: vcluster, targetRevision: 0.26.0}
  destination: {server: https://kubernetes.default.svc, namespace: dev-vcluster}
  syncPolicy: {automated: {}, syncOptions: [CreateNamespace=true]}
`
	packageApplication = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd, annotations: {argocd.argoproj.io/sync-wave: "1"}}
spec:
  project: default
  source: {repoURL: "cnoe://%[1]s/manifests", targetRevision: HEAD, path: .}
  destination: {%[2]s, namespace: %[1]s}
  syncPolicy: {automated: {selfHeal: true}, syncOptions: [CreateNamespace=true]}
`
)

// packagesTree writes the packages. The first ones are in the virtual cluster.
func packagesTree(dir string, n int) error {
	files := map[string]string{"vcluster-dev.yaml": packageVirtual}
	for i := range n - 1 {
		name, destination := fmt.Sprintf("app-%02d", i), "server: https://kubernetes.default.svc"
		if i < n/2 {
			destination = "name: dev-vcluster"
		}
		files[name+".yaml"] = fmt.Sprintf(packageApplication, name, destination)
		files[name+"/manifests/deployment.yaml"] = fmt.Sprintf(packageDeploy, 0)
		for j := range 4 {
			files[fmt.Sprintf("%s/manifests/settings-%d.yaml", name, j)] = fmt.Sprintf(packageSettings, j, "0")
		}
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (b manyPackages) measure(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	stack := filepath.Join(dir, "packages")
	if err := packagesTree(stack, b.n); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- headgate(running, "up", "--package", stack, "--ephemeral", "--state-dir", dir) }()
	defer func() {
		stop()
		<-ended
	}()
	limit, cancel := context.WithTimeout(ctx, packageLimit)
	defer cancel()
	host, err := b.ready(limit, filepath.Join(dir, "ephemeral", "kubeconfig"))
	if err != nil {
		return err
	}
	ready := time.Since(began)
	inside, err := virtualOf(limit, host)
	if err != nil {
		return err
	}
	clusters := []struct {
		name   string
		config *rest.Config
	}{{"app-00", inside}, {fmt.Sprintf("app-%02d", b.n-2), host}}
	fmt.Printf("%8d  %7.1f  %6d", b.n, ready.Seconds(), rss())
	for _, at := range clusters {
		median, most, err := savedFiles(limit, at.config, stack, at.name)
		if err != nil {
			return err
		}
		fmt.Printf("  %10d %8d", median.Milliseconds(), most.Milliseconds())
	}
	fmt.Println()
	return nil
}

// ready waits until all Applications are synced and healthy.
func (b manyPackages) ready(ctx context.Context, kubeconfig string) (*rest.Config, error) {
	applications := schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	for {
		if pause(ctx, 20*time.Millisecond) != nil {
			return nil, errors.New("the packages did not become ready")
		}
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			continue
		}
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		list, err := client.Resource(applications).List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) < b.n {
			continue
		}
		if !slices.ContainsFunc(list.Items, func(u unstructured.Unstructured) bool {
			sync, _, _ := unstructured.NestedString(u.Object, "status", "sync", "status")
			health, _, _ := unstructured.NestedString(u.Object, "status", "health", "status")
			return sync != "Synced" || health != "Healthy"
		}) {
			return config, nil
		}
	}
}

func virtualOf(ctx context.Context, host *rest.Config) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(host)
	if err != nil {
		return nil, err
	}
	access, err := client.CoreV1().Secrets("dev-vcluster").Get(ctx, "vc-vcluster-dev", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return clientcmd.RESTConfigFromKubeConfig(access.Data["config"])
}

// savedFiles saves a file of a package again and again, and measures how long each takes until it is applied.
func savedFiles(ctx context.Context, config *rest.Config, stack, name string) (median, most time.Duration, err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, 0, err
	}
	watch, err := client.CoreV1().ConfigMaps(name).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=settings-0"})
	if err != nil {
		return 0, 0, err
	}
	defer watch.Stop()
	var took []time.Duration
	for i := range packageEdits {
		value := fmt.Sprint(i + 1)
		began := time.Now()
		file := filepath.Join(stack, name, "manifests", "settings-0.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, packageSettings, 0, value), 0o600); err != nil {
			return 0, 0, err
		}
		for applied := false; !applied; {
			select {
			case event, open := <-watch.ResultChan():
				if !open {
					return 0, 0, errors.New("the watch has ended")
				}
				settings, is := event.Object.(*corev1.ConfigMap)
				applied = is && settings.Data["k"] == value
			case <-ctx.Done():
				return 0, 0, ctx.Err()
			}
		}
		took = append(took, time.Since(began))
		if err := pause(ctx, time.Second); err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)-1], nil
}
