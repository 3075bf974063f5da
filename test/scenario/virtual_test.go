package scenario

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/planes"
	"github.com/headgate-dev/headgate/internal/virtual"
)

// virtualCluster is one that has the Secrets of its namespace, and wants those of another one.
const virtualCluster = `apiVersion: cluster.headgate.dev/v1alpha1
kind: VirtualCluster
metadata: {name: %s, namespace: dev-vcluster}
spec:
  secretMappings: {"dev-vcluster/*": "backstage/*", "elsewhere/*": "stolen/*"}
  clusterSecret: {labels: {environment: dev}}
`

// virtuals is an engine that serves VirtualClusters.
type virtuals struct {
	t     *testing.T
	world *world
	host  kubernetes.Interface
	dir   string

	mu sync.Mutex
	// started are the control planes that were started last, by their names.
	started map[string]planes.Running
	// hold, when set, has starts of control planes wait until it is closed.
	hold chan struct{}
}

// start starts a control plane, and remembers it.
func (v *virtuals) start(ctx context.Context, name, dir string) (planes.Running, error) {
	v.mu.Lock()
	hold := v.hold
	v.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	plane, err := controlplane.Start(ctx, controlplane.Config{Dir: dir, Ephemeral: true, Keep: true, Light: true})
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.started[name] = plane
	return plane, nil
}

// TestVirtualClusters has a VirtualCluster come, be reached by the Secrets that scripts and Argo CD read, follow the Secrets that it maps,
// survive the end of its control plane, and go without leaving anything.
func TestVirtualClusters(t *testing.T) {
	t.Parallel()
	v := newVirtuals(t, "virtual")
	v.secret(v.host, "dev-vcluster", "app", "first")
	v.secret(v.host, "elsewhere", "root", "forbidden")
	if err := v.world.put(fmt.Sprintf(virtualCluster, "vcluster-dev-helm")); err != nil {
		t.Fatal(err)
	}
	v.condition("vcluster-dev-helm", "Ready", "True", "Running")
	v.condition("vcluster-dev-helm", "SecretsSynced", "False", "Refused")
	registered, err := v.host.CoreV1().Secrets("argocd").Get(t.Context(), "cluster-dev-vcluster", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if string(registered.Data["name"]) != "dev-vcluster" || registered.Labels["environment"] != "dev" || registered.Labels["argocd.argoproj.io/secret-type"] != "cluster" {
		t.Errorf("Argo CD knows the cluster by the name %q and the labels %v", registered.Data["name"], registered.Labels)
	}
	inside := v.inside()
	v.copied(inside, "first")
	if _, err := inside.CoreV1().Namespaces().Get(t.Context(), "stolen", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Secrets of another namespace are in the virtual cluster: %v", err)
	}
	t.Run("changes", func(t *testing.T) {
		v.secret(v.host, "dev-vcluster", "app", "second")
		v.copied(inside, "second")
		if err := inside.CoreV1().Secrets("backstage").Delete(t.Context(), "app", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		v.copied(inside, "second")
	})
	t.Run("registration", func(t *testing.T) {
		if err := v.host.CoreV1().Secrets("argocd").Delete(t.Context(), "cluster-dev-vcluster", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		v.there(v.host, "argocd", "cluster-dev-vcluster", true)
	})
	t.Run("taken", func(t *testing.T) {
		if err := v.world.put(fmt.Sprintf(virtualCluster, "other")); err != nil {
			t.Fatal(err)
		}
		v.condition("other", "Ready", "False", "NameTaken")
		v.remove("other")
		v.there(v.host, "dev-vcluster", "vc-other", false)
		v.there(v.host, "argocd", "cluster-dev-vcluster", true)
	})
	t.Run("end of the control plane", func(t *testing.T) { v.again() })
	t.Run("source gone", func(t *testing.T) {
		if err := v.host.CoreV1().Secrets("dev-vcluster").Delete(t.Context(), "app", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		v.there(v.inside(), "backstage", "app", false)
	})
	v.remove("vcluster-dev-helm")
	v.there(v.host, "dev-vcluster", "vc-vcluster-dev-helm", false)
	v.there(v.host, "argocd", "cluster-dev-vcluster", false)
	if left, err := filepath.Glob(filepath.Join(v.dir, "dev-vcluster-*")); err != nil || len(left) > 0 {
		t.Errorf("the state of the control plane is left: %v, %v", left, err)
	}
}

// again ends the control plane, and has the one that follows it serve the same cluster.
func (v *virtuals) again() {
	name, before := v.plane("dev-vcluster", "vcluster-dev-helm")
	if err := before.Stop(v.t.Context()); err != nil {
		v.t.Fatal(err)
	}
	v.secret(v.host, "dev-vcluster", "app", "third")
	eventually(v.t, "another control plane has the copy", func() (bool, string) {
		v.mu.Lock()
		other := v.started[name] != before
		v.mu.Unlock()
		if !other {
			return false, "none was started"
		}
		got, err := v.inside().CoreV1().Secrets("backstage").Get(v.t.Context(), "app", metav1.GetOptions{})
		return err == nil && string(got.Data["value"]) == "third", fmt.Sprint(err)
	})
}

// plane is the control plane of a VirtualCluster, with its name.
func (v *virtuals) plane(namespace, cluster string) (string, planes.Running) {
	v.t.Helper()
	u, err := v.world.client.Resource(virtualResource).Namespace(namespace).Get(v.t.Context(), cluster, metav1.GetOptions{})
	if err != nil {
		v.t.Fatal(err)
	}
	name, _, _ := unstructured.NestedString(u.Object, "status", "controlPlane")
	v.mu.Lock()
	defer v.mu.Unlock()
	running := v.started[name]
	if running == nil {
		v.t.Fatalf("no control plane has the name %q", name)
	}
	return name, running
}

func newVirtuals(t *testing.T, serve ...string) *virtuals {
	t.Helper()
	v := &virtuals{t: t, dir: shortDir(t), started: map[string]planes.Running{}}
	pool := planes.NewPool(t.Context(), planes.Config{Dir: v.dir, Ephemeral: true, Start: v.start, Linger: -1, Notify: func(text string) { t.Log(text) }})
	t.Cleanup(func() {
		if err := pool.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	k := startKit(t, kit.Options{Serve: serve, Dialects: dialects.With(dialects.Options{
		Argo: argo.Options{VirtualClusters: true}, Virtual: virtual.Options{Backing: pool},
	})})
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	if v.host, err = kubernetes.NewForConfig(k.Config); err != nil {
		t.Fatal(err)
	}
	v.world = &world{kit: k, client: client}
	for _, name := range []string{"argocd", "dev-vcluster", "elsewhere"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := v.host.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	return v
}

// secret writes a Secret with one value.
func (v *virtuals) secret(client kubernetes.Interface, namespace, name, value string) {
	v.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"value": []byte(value)}}
	_, err := client.CoreV1().Secrets(namespace).Create(v.t.Context(), s, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = client.CoreV1().Secrets(namespace).Update(v.t.Context(), s, metav1.UpdateOptions{})
	}
	if err != nil {
		v.t.Fatal(err)
	}
}

// inside is a client of the virtual cluster of the usual namespace.
func (v *virtuals) inside() kubernetes.Interface {
	v.t.Helper()
	return v.reach("dev-vcluster", "vcluster-dev-helm")
}

// reach is a client of a virtual cluster, by the kubeconfig that scripts read.
func (v *virtuals) reach(namespace, cluster string) kubernetes.Interface {
	v.t.Helper()
	access, err := v.host.CoreV1().Secrets(namespace).Get(v.t.Context(), "vc-"+cluster, metav1.GetOptions{})
	if err != nil {
		v.t.Fatal(err)
	}
	for _, key := range []string{"certificate-authority", "client-certificate", "client-key"} {
		if len(access.Data[key]) == 0 {
			v.t.Errorf("the Secret with the credentials has no %s", key)
		}
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(access.Data["config"])
	if err != nil {
		v.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		v.t.Fatal(err)
	}
	return client
}

// copied waits until the virtual cluster has the Secret with a value.
func (v *virtuals) copied(inside kubernetes.Interface, value string) {
	v.t.Helper()
	eventually(v.t, "the copy has the value "+value, func() (bool, string) {
		got, err := inside.CoreV1().Secrets("backstage").Get(v.t.Context(), "app", metav1.GetOptions{})
		return err == nil && string(got.Data["value"]) == value, fmt.Sprint(err)
	})
}

// there waits until a Secret exists, or until it does not.
func (v *virtuals) there(client kubernetes.Interface, namespace, name string, want bool) {
	v.t.Helper()
	eventually(v.t, fmt.Sprintf("Secret %s/%s exists: %t", namespace, name, want), func() (bool, string) {
		_, err := client.CoreV1().Secrets(namespace).Get(v.t.Context(), name, metav1.GetOptions{})
		return want && err == nil || !want && apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

var virtualResource = schemaGVR{Group: "cluster.headgate.dev", Version: "v1alpha1", Resource: "virtualclusters"}

// condition waits for a condition of a VirtualCluster of the usual namespace.
func (v *virtuals) condition(name, kind, status, reason string) {
	v.t.Helper()
	v.says("dev-vcluster", name, kind, status, reason)
}

// says waits for a condition of a VirtualCluster.
func (v *virtuals) says(namespace, name, kind, status, reason string) {
	v.t.Helper()
	eventually(v.t, fmt.Sprintf("%s of %s is %s: %s", kind, name, status, reason), func() (bool, string) {
		u, err := v.world.client.Resource(virtualResource).Namespace(namespace).Get(v.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, one := range all {
			if c, is := one.(map[string]any); is && c["type"] == kind {
				return c["status"] == status && c["reason"] == reason, fmt.Sprint(c)
			}
		}
		return false, fmt.Sprint(all)
	})
}

// remove deletes a VirtualCluster and waits until it is gone.
func (v *virtuals) remove(name string) {
	v.t.Helper()
	client := v.world.client.Resource(virtualResource).Namespace("dev-vcluster")
	if err := client.Delete(v.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		v.t.Fatal(err)
	}
	eventually(v.t, name+" is gone", func() (bool, string) {
		u, err := client.Get(v.t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(u, err)
	})
}
