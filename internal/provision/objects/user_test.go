package objects

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// TestUser is about whose rights an Object has: those of the engine only where that is its author's business.
func TestUser(t *testing.T) {
	ref := func(namespace, name string) map[string]any {
		one := map[string]any{"name": name}
		if namespace != "" {
			one["namespace"] = namespace
		}
		return one
	}
	free, isolated, account := dialect.Tenancy{}, dialect.Tenancy{Isolated: true}, dialect.Tenancy{Account: "tenant", Isolated: true}
	const injected, secret = "InjectedIdentity", "Secret"
	for name, tc := range map[string]struct {
		reason    string
		object    string // its namespace
		in        string // the namespace of the configuration
		source    string
		ref       map[string]any
		tenancy   dialect.Tenancy
		want, err string
	}{
		"Cluster":         {"a cluster-scoped Object is that of an administrator", "", "", injected, nil, account, "", ""},
		"ClusterAs":       {"who may name another account", "", "", injected, ref("system", "builder"), free, "system:serviceaccount:system:builder", ""},
		"ClusterNowhere":  {"which is in a namespace", "", "", injected, ref("", "builder"), free, "", `spec.serviceAccountRef: "builder" in namespace ""`},
		"Free":            {"without tenants a configuration of the cluster means the engine", "team", "", injected, nil, free, "", ""},
		"Isolated":        {"with tenants it may not", "team", "", injected, nil, isolated, "", "tenants are locked down: set spec.serviceAccountRef.name, or use a ProviderConfig of the namespace"},
		"Account":         {"but their account", "team", "", injected, nil, account, "system:serviceaccount:team:tenant", ""},
		"Named":           {"or the one that it names, in each namespace", "team", "", injected, ref("", "objects"), isolated, "system:serviceaccount:team:objects", ""},
		"NamedFree":       {"also without tenants", "team", "", injected, ref("", "objects"), free, "system:serviceaccount:team:objects", ""},
		"NamedElsewhere":  {"or in one", "team", "", injected, ref("system", "objects"), account, "system:serviceaccount:system:objects", ""},
		"Own":             {"a configuration of a namespace never means the engine", "team", "team", injected, nil, free, "system:serviceaccount:team:default", ""},
		"OwnNamed":        {"but an account of it", "team", "team", injected, ref("", "objects"), free, "system:serviceaccount:team:objects", ""},
		"OwnElsewhere":    {"and of no other one", "team", "team", injected, ref("system", "objects"), free, "", "a configuration of namespace team has no account of namespace system"},
		"Kubeconfig":      {"referents of another cluster's Objects are read by the engine", "team", "", secret, nil, free, "", ""},
		"KubeconfigOwn":   {"of its namespace", "team", "team", secret, nil, free, "", ""},
		"KubeconfigAs":    {"unless an account is named", "team", "team", secret, ref("", "objects"), free, "system:serviceaccount:team:objects", ""},
		"KubeconfigLocks": {"or there are tenants", "team", "team", secret, nil, isolated, "system:serviceaccount:team:default", ""},
		"KubeconfigAll":   {"also with a configuration of the cluster", "team", "", secret, nil, isolated, "system:serviceaccount:team:default", ""},
		"NoName":          {"a name is one", "team", "team", injected, ref("", "a:b"), free, "", `"a:b" in namespace "team" is not the name of a ServiceAccount`},
	} {
		t.Run(name, func(t *testing.T) {
			configuration := &unstructured.Unstructured{Object: map[string]any{"kind": "Config", "spec": map[string]any{"credentials": map[string]any{"source": tc.source}}}}
			configuration.SetName("x")
			configuration.SetNamespace(tc.in)
			if tc.ref != nil {
				_ = unstructured.SetNestedMap(configuration.Object, tc.ref, "spec", "serviceAccountRef")
			}
			o := &unstructured.Unstructured{Object: map[string]any{}}
			o.SetNamespace(tc.object)
			got, err := userOf(managed.NewResource(managed.Kind{}, o, configuration, nil), tc.tenancy)
			if got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}
