package flux

import (
	"context"
	"strconv"

	"github.com/headgate-dev/headgate/internal/engine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Reader reads the ConfigMaps and Secrets that a Kustomization refers to.
type Reader interface {
	ConfigMap(ctx context.Context, namespace, name string) (map[string]string, error)
	Secret(ctx context.Context, namespace, name string) (map[string][]byte, error)
}

// versionReader notes the versions of what it reads from the cluster.
type versionReader struct {
	client   kubernetes.Interface
	versions map[engine.ObjectID]uint64
}

func (r versionReader) note(kind, namespace, name string, o metav1.Object) {
	version, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	r.versions[engine.ObjectID{Kind: kind, Namespace: namespace, Name: name}] = version
}

func (r versionReader) ConfigMap(ctx context.Context, namespace, name string) (map[string]string, error) {
	cm, err := r.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	r.note("ConfigMap", namespace, name, cm)
	if err != nil {
		return nil, err
	}
	return cm.Data, nil
}

func (r versionReader) Secret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	s, err := r.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	r.note("Secret", namespace, name, s)
	if err != nil {
		return nil, err
	}
	return s.Data, nil
}
