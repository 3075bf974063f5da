package access

import (
	"context"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Reader reads the ConfigMaps and Secrets that a Kustomization refers to.
type Reader interface {
	ConfigMap(ctx context.Context, namespace, name string) (map[string]string, error)
	Secret(ctx context.Context, namespace, name string) (map[string][]byte, error)
}

// VersionReader notes the versions of what it reads from the cluster: zero for what is not there, and nothing for what could not be read, since it
// is unknown which version that was.
type VersionReader struct {
	Client   kubernetes.Interface
	Versions map[engine.ObjectID]uint64
}

func (r VersionReader) note(kind, namespace, name string, o metav1.Object, err error) {
	if err != nil && !apierrors.IsNotFound(err) {
		return
	}
	version, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	r.Versions[engine.ObjectID{Kind: kind, Namespace: namespace, Name: name}] = version
}

// ConfigMap reads one, and notes its version.
func (r VersionReader) ConfigMap(ctx context.Context, namespace, name string) (map[string]string, error) {
	cm, err := r.Client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	r.note("ConfigMap", namespace, name, cm, err)
	if err != nil {
		return nil, err
	}
	return cm.Data, nil
}

// Secret reads one, and notes its version.
func (r VersionReader) Secret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	s, err := r.Client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	r.note("Secret", namespace, name, s, err)
	if err != nil {
		return nil, err
	}
	return s.Data, nil
}
