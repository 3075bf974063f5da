package here

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// secretResource is that of Secrets.
var secretResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// secret reads a value of a Secret as the account of an execution. No error shows it.
func (e *Executor) secret(ctx context.Context, x *execution, ref *corev1.SecretKeySelector) (string, error) {
	client, err := e.client(x)
	if err != nil {
		return "", err
	}
	optional := ref.Optional != nil && *ref.Optional
	u, err := client.Resource(secretResource).Namespace(x.of.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && optional:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading Secret %s/%s: %s", x.of.Namespace, ref.Name, answered(err))
	}
	encoded, found, err := unstructured.NestedString(u.Object, "data", ref.Key)
	if err != nil || !found {
		if optional {
			return "", nil
		}
		return "", fmt.Errorf("Secret %s/%s has no key %q", x.of.Namespace, ref.Name, ref.Key)
	}
	value, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("key %q of Secret %s/%s is not base64", ref.Key, x.of.Namespace, ref.Name)
	}
	return string(value), nil
}

// answered is what may be said of a Secret that could not be read: what the API server says, or why it does not answer. A response that cannot be decoded
// is quoted by the error.
func answered(err error) string {
	var status apierrors.APIStatus
	var network net.Error
	if errors.As(err, &status) || errors.As(err, &network) {
		return err.Error()
	}
	return "the response cannot be read"
}
