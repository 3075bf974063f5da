package managed_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// secrets is a Store with a few Secrets, by namespace/name.
type secrets map[string]map[string]any

func (secrets) Annotate(context.Context, *managed.Resource, map[string]string) error {
	return errors.New("nothing is stored here")
}

func (secrets) Record(context.Context, *managed.Resource, map[string]any) error {
	return errors.New("nothing is stored here")
}

func (s secrets) Read(_ context.Context, _ *managed.Resource, of schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error) {
	data, has := s[name.String()]
	if !has || of.Kind != "Secret" {
		return nil, nil
	}
	return object("v1", "Secret", name.Namespace, name.Name, map[string]any{"data": data}), nil
}

func (s secrets) ReadBy(ctx context.Context, r *managed.Resource, _ *managed.Edges, of schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error) {
	return s.Read(ctx, r, of, name)
}

func (secrets) Emit(*managed.Resource, string, string, string) {}

func object(version, kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range fields {
		u.Object[key] = value
	}
	u.SetAPIVersion(version)
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// TestCredentials reads credentials from where the upstream permits, and from nowhere else.
func TestCredentials(t *testing.T) {
	const token = "the-token"
	store := secrets{
		"system/login": {"token": "dGhlLXRva2Vu", "broken": "%%%"},
		"team/login":   {"token": "dGVhbXM="},
	}
	ref := func(namespace, key string) map[string]any {
		return map[string]any{"source": "Secret", "secretRef": map[string]any{"namespace": namespace, "name": "login", "key": key}}
	}
	for name, tc := range map[string]struct {
		reason, namespace string
		credentials       map[string]any
		want              managed.Credentials
		fails             string
	}{
		"None":        {"nothing is needed", "", map[string]any{"source": "None"}, managed.Credentials{None: true}, ""},
		"Injected":    {"the engine acts as itself", "", map[string]any{"source": "InjectedIdentity"}, managed.Credentials{Injected: true}, ""},
		"Secret":      {"a value is decoded", "", ref("system", "token"), managed.Credentials{Data: []byte(token)}, ""},
		"Own":         {"a namespaced configuration reads its namespace, whatever it names", "team", ref("system", "token"), managed.Credentials{Data: []byte("teams")}, ""},
		"Environment": {"the environment is the engine's", "", map[string]any{"source": "Environment", "env": map[string]any{"name": "HOME"}}, managed.Credentials{}, `source "Environment" are not supported`},
		"Filesystem":  {"files are the engine's", "", map[string]any{"source": "Filesystem", "fs": map[string]any{"path": "/etc/passwd"}}, managed.Credentials{}, "not supported"},
		"Nothing":     {"no source", "", map[string]any{}, managed.Credentials{}, "not supported"},
		"Absent":      {"no such Secret", "", ref("nowhere", "token"), managed.Credentials{}, "Secret nowhere/login does not exist"},
		"Key":         {"no such key", "", ref("system", "other"), managed.Credentials{}, `has no key "other"`},
		"Incomplete":  {"no key is named", "", ref("system", ""), managed.Credentials{}, "needs a namespace, a name and a key"},
		"Broken":      {"not base64; the value is not shown", "", ref("system", "broken"), managed.Credentials{}, "decoding key"},
	} {
		t.Run(name, func(t *testing.T) {
			configuration := object("x/v1", "ProviderConfig", tc.namespace, "default", map[string]any{"spec": map[string]any{"credentials": tc.credentials}})
			r := managed.NewResource(managed.Kind{}, object("x/v1", "Thing", tc.namespace, "a", nil), configuration, store)
			got, err := r.Credentials(t.Context())
			if got.None != tc.want.None || got.Injected != tc.want.Injected || string(got.Data) != string(tc.want.Data) {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
			if (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: the error is %v, want %q", tc.reason, err, tc.fails)
			}
			if err != nil && strings.Contains(err.Error(), "%%%") {
				t.Errorf("%s: the error shows a value: %v", tc.reason, err)
			}
		})
	}
}

// TestReadStaysInTheNamespace keeps a namespaced resource from reading others' Secrets.
func TestReadStaysInTheNamespace(t *testing.T) {
	store := secrets{"system/login": {"token": "dGhlLXRva2Vu"}, "team/login": {"token": "dGVhbXM="}}
	r := managed.NewResource(managed.Kind{Namespaced: true}, object("x/v1", "Thing", "team", "a", nil), nil, store)
	if value, has, err := r.Secret(t.Context(), types.NamespacedName{Name: "login"}, "token"); err != nil || !has || string(value) != "teams" {
		t.Errorf("its own namespace: %q, %v, %v", value, has, err)
	}
	var invalid *managed.InvalidError
	if _, has, err := r.Secret(t.Context(), types.NamespacedName{Namespace: "system", Name: "login"}, "token"); has || !errors.As(err, &invalid) {
		t.Errorf("another namespace: %v, %v", has, err)
	}
}
