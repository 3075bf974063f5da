// Package externalsecrets has ExternalSecrets for charts: Secrets that the External Secrets Operator takes out of a store.
//
// Each names its store, and how often it is read; there are no defaults of this package. What a template refers to has to be among the
// keys that are fetched, or it is an error.
package externalsecrets

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/typed"
)

// Store is a SecretStore of the namespace.
func Store(name string) v1.SecretStoreRef {
	return v1.SecretStoreRef{Name: name, Kind: v1.SecretStoreKind}
}

// ClusterStore is a ClusterSecretStore.
func ClusterStore(name string) v1.SecretStoreRef {
	return v1.SecretStoreRef{Name: name, Kind: v1.ClusterSecretStoreKind}
}

// Key is one value that is fetched.
type Key struct {
	// Name by which the Secret, or its template, knows the value.
	Name string
	// Remote is the name in the store, and Property a part of what is there.
	Remote, Property string
	// Version in the store, the latest if empty.
	Version string
}

// Props describe an ExternalSecret. What is empty is left to the operator.
type Props struct {
	// Name of the ExternalSecret; that of its path if empty.
	Name string
	// Namespace of it and of the Secret; that of its chart if empty.
	Namespace   string
	Labels      map[string]string
	Annotations map[string]string
	// Store that the values are in.
	Store v1.SecretStoreRef
	// Refresh is how often they are read, as "1h".
	Refresh string
	// Keys are what is fetched, and DataFrom whole secrets of the store, or values of generators.
	Keys     []Key
	DataFrom []v1.DataFrom
	// Secret is the name of the Secret, that of the ExternalSecret if empty.
	Secret string
	// CreationPolicy and DeletionPolicy of the Secret.
	CreationPolicy v1.CreationPolicy
	DeletionPolicy v1.DeletionPolicy
	// Template of the Secret, if it is not the values as they are fetched.
	Template *v1.Template
}

// ExternalSecret puts an ExternalSecret below scope.
func ExternalSecret(scope chart.Scope, id string, props Props) typed.Object[*v1.ExternalSecret] {
	es := &v1.ExternalSecret{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.ExternalSecretKind},
		ObjectMeta: metav1.ObjectMeta{
			Name: props.Name, Namespace: props.Namespace, Labels: maps.Clone(props.Labels), Annotations: maps.Clone(props.Annotations),
		},
		Spec: v1.ExternalSecretSpec{
			SecretStoreRef: props.Store, RefreshInterval: props.Refresh, DataFrom: slices.Clone(props.DataFrom),
			Target: v1.Target{
				Name: props.Secret, CreationPolicy: props.CreationPolicy, DeletionPolicy: props.DeletionPolicy, Template: props.Template.DeepCopy(),
			},
		},
	}
	for _, key := range props.Keys {
		es.Spec.Data = append(es.Spec.Data, v1.Data{
			SecretKey: key.Name, RemoteRef: v1.RemoteRef{Key: key.Remote, Property: key.Property, Version: key.Version},
		})
	}
	made := typed.Add(scope, id, es)
	props.verify(made.Object)
	return made
}

// verify reports what the operator would refuse, or what would make an empty Secret.
func (p Props) verify(o *chart.Object) {
	if p.Store.Name == "" && len(p.Keys) > 0 {
		o.Node().Errorf("it names no store; set Store")
	}
	seen := map[string]bool{}
	for i, key := range p.Keys {
		switch {
		case key.Name == "" || key.Remote == "":
			o.Node().Errorf("key %d needs the name that the Secret knows it under, and the one that the store does", i)
		case seen[key.Name]:
			o.Node().Errorf("the key %q is fetched twice", key.Name)
		}
		seen[key.Name] = true
	}
	if p.Template == nil || len(p.DataFrom) > 0 {
		return // what whole secrets consist of is known to the store alone
	}
	for _, entry := range slices.Sorted(maps.Keys(p.Template.Data)) {
		for _, name := range references(p.Template.Data[entry]) {
			if !seen[name] {
				o.Node().Errorf("the template of %q refers to .%s, which is not fetched; there are: %s", entry, name, list(seen))
			}
		}
	}
}
