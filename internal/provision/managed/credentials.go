package managed

import (
	"context"
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Credentials are what a provider configuration says of who acts.
type Credentials struct {
	// Injected is set when the configuration says that the engine acts as itself; None when nothing is needed.
	Injected, None bool
	// Data are the credentials, as they are in the Secret.
	Data []byte
}

// String says where they are from, and shows none.
func (c Credentials) String() string {
	switch {
	case c.None:
		return sourceNone
	case c.Injected:
		return sourceInjected
	}
	return sourceSecret
}

// GoString is String, so that %#v shows none either.
func (c Credentials) GoString() string { return c.String() }

// The sources of credentials.
const (
	sourceNone     = "None"
	sourceSecret   = "Secret"
	sourceInjected = "InjectedIdentity"
)

// Credentials reads the credentials of the provider configuration, those below spec.credentials when no path is given. Of the
// upstream's sources, Environment and Filesystem are refused: the environment and the files of the engine are not a provider's.
// A namespaced configuration names Secrets of its own namespace alone.
func (r *Resource) Credentials(ctx context.Context, path ...string) (Credentials, error) {
	if r.Configuration == nil {
		return Credentials{}, Invalid("no provider configuration is named")
	}
	if len(path) == 0 {
		path = []string{"spec", "credentials"}
	}
	fields, _, err := unstructured.NestedMap(r.Configuration.Object, path...)
	if err != nil {
		return Credentials{}, Invalid("%s: %w", called(r.Configuration), err)
	}
	switch source, _ := fields["source"].(string); source {
	case sourceNone:
		return Credentials{None: true}, nil
	case sourceInjected:
		return Credentials{Injected: true}, nil
	case sourceSecret:
		data, err := r.credentialsIn(ctx, fields)
		return Credentials{Data: data}, err
	default:
		return Credentials{}, Invalid("%s: credentials from source %q are not supported; use %s or %s", called(r.Configuration), source, sourceSecret, sourceInjected)
	}
}

func (r *Resource) credentialsIn(ctx context.Context, fields map[string]any) ([]byte, error) {
	ref, _, _ := unstructured.NestedStringMap(fields, "secretRef")
	name := types.NamespacedName{Namespace: ref["namespace"], Name: ref["name"]}
	if own := r.Configuration.GetNamespace(); own != "" {
		name.Namespace = own
	}
	if name.Name == "" || name.Namespace == "" || ref["key"] == "" {
		return nil, Invalid("%s: secretRef needs a namespace, a name and a key", called(r.Configuration))
	}
	secret, err := r.store.Read(ctx, r, secretKind(), name)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials of %s: %w", called(r.Configuration), err)
	}
	value, has, err := secretValue(secret, ref["key"])
	switch {
	case err != nil:
		return nil, err
	case secret == nil:
		return nil, fmt.Errorf("%s: Secret %s does not exist", called(r.Configuration), name)
	case !has:
		return nil, fmt.Errorf("%s: Secret %s has no key %q", called(r.Configuration), name, ref["key"])
	}
	return value, nil
}

// Secret returns a value of a Secret, false when there is no such Secret, or it has no such key; a pass is made when that changes. A
// namespaced resource reads its own namespace alone.
func (r *Resource) Secret(ctx context.Context, name types.NamespacedName, key string) (value []byte, has bool, err error) {
	secret, err := r.Read(ctx, secretKind(), name)
	if err != nil {
		return nil, false, err
	}
	return secretValue(secret, key)
}

// secretValue decodes a value of a Secret, which may be nil.
func secretValue(secret *unstructured.Unstructured, key string) (value []byte, has bool, err error) {
	if secret == nil {
		return nil, false, nil
	}
	text, has, _ := unstructured.NestedString(secret.Object, "data", key)
	if !has {
		return nil, false, nil
	}
	if value, err = base64.StdEncoding.DecodeString(text); err != nil {
		// The error of the decoder says where, and not what.
		return nil, false, fmt.Errorf("decoding key %q of Secret %s/%s: %w", key, secret.GetNamespace(), secret.GetName(), err)
	}
	return value, true, nil
}

func secretKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
}

// called names an object in messages.
func called(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}
