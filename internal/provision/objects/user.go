package objects

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// usualAccount is the one that every namespace has.
const usualAccount = "default"

// userOf is the user of the home cluster as whom a resource is applied where its credentials are an InjectedIdentity, and as whom its referents are read
// everywhere; empty for the engine.
//
// A configuration of a namespace never means the engine, whose rights are not its author's. One of the cluster does for Objects of a namespace as long as
// there are no tenants; then an account of that namespace acts for them.
func userOf(r *managed.Resource, tenancy dialect.Tenancy) (string, error) {
	c, own := r.Configuration, r.Object.GetNamespace()
	ref, _, err := unstructured.NestedStringMap(c.Object, "spec", "serviceAccountRef")
	if err != nil {
		return "", managed.Invalid("%s %s: %w", c.GetKind(), c.GetName(), err)
	}
	source, _, _ := unstructured.NestedString(c.Object, "spec", "credentials", "source")
	injected := source == "InjectedIdentity"
	name, namespace := ref["name"], ref["namespace"]
	switch {
	case c.GetNamespace() != "":
		if namespace != "" && namespace != c.GetNamespace() {
			return "", managed.Invalid("%s %s: spec.serviceAccountRef: a configuration of namespace %s has no account of namespace %s", c.GetKind(), c.GetName(), c.GetNamespace(), namespace)
		}
		if name == "" && !injected && !tenancy.Locked() {
			return "", nil
		}
		name, namespace = cmp.Or(name, usualAccount), c.GetNamespace()
	case name == "" && (own == "" || !tenancy.Locked()):
		return "", nil
	case name == "" && tenancy.Account == "" && injected:
		return "", managed.Invalid("%s %s: InjectedIdentity would give namespace %s the rights of the engine, and tenants are locked down: set spec.serviceAccountRef.name, or use a ProviderConfig of the namespace",
			c.GetKind(), c.GetName(), own)
	case name == "":
		name, namespace = cmp.Or(tenancy.Account, usualAccount), own
	default:
		namespace = cmp.Or(namespace, own)
	}
	for _, part := range []string{namespace, name} {
		if problems := validation.IsDNS1123Subdomain(part); len(problems) > 0 {
			return "", managed.Invalid("%s %s: spec.serviceAccountRef: %q in namespace %q is not the name of a ServiceAccount: %s", c.GetKind(), c.GetName(), name, namespace, problems[0])
		}
	}
	return "system:serviceaccount:" + namespace + ":" + name, nil
}
