package main

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean/namespaced/config"
	"github.com/headgate-dev/headgate/api/crossplane/kubernetes"
	objectv1alpha1 "github.com/headgate-dev/headgate/api/crossplane/kubernetes/v1alpha1"
	objectv1alpha2 "github.com/headgate-dev/headgate/api/crossplane/kubernetes/v1alpha2"
	"github.com/headgate-dev/headgate/api/crossplane/resource"
	"github.com/headgate-dev/headgate/chart"
)

// The Secret with the login of DigitalOcean, which is not described here.
const (
	loginNamespace = "crossplane-system"
	loginSecret    = "digitalocean-credentials"
	// providerConfig is the name of the configurations, which is the default of those that refer to them.
	providerConfig = "default"
	// bucket is the name of the ConfigMap with the address and of the Secret with the login of where images are uploaded to.
	bucket = "bucket"
)

// describeCloud is how the cloud and this cluster are reached, and where images are uploaded to.
func describeCloud(c *chart.Chart) {
	chart.Add(c, "namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	chart.Add(c, "digitalocean", &config.ClusterProviderConfig{
		TypeMeta:   metav1.TypeMeta{APIVersion: "digitalocean.m.crossplane.io/v1beta1", Kind: "ClusterProviderConfig"},
		ObjectMeta: metav1.ObjectMeta{Name: providerConfig},
		Spec: resource.ProviderConfigSpec{Credentials: resource.Credentials{
			Source: "Secret", SecretRef: &resource.SecretKeySelector{Namespace: loginNamespace, Name: loginSecret, Key: "credentials"},
		}},
	})
	chart.Add(c, "objects", &objectv1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: providerConfig},
		Spec:       kubernetes.ConfigSpec{ProviderConfigSpec: resource.ProviderConfigSpec{Credentials: resource.Credentials{Source: "InjectedIdentity"}}},
	})
	address := object("nixos-bucket", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		// Workflows only take parameters from ConfigMaps with this label.
		"metadata": map[string]any{"name": bucket, "namespace": namespace, "labels": map[string]any{"workflows.argoproj.io/configmap-type": "Parameter"}},
	})
	address.Spec.References = []kubernetes.Reference{{
		PatchesFrom: &kubernetes.PatchesFrom{
			DependsOn: kubernetes.DependsOn{APIVersion: "v1", Kind: "Secret", Namespace: loginNamespace, Name: loginSecret}, FieldPath: of("data.spaces"),
		},
		ToFieldPath: of("data.url"),
	}}
	chart.Add(c, "bucket", address)
	chart.Add(c, "bucket-login", reader("nixos-bucket-login", bucket, secretRef{loginNamespace, loginSecret}, key{"username", "username"}, key{"token", "password"}))
}

// object is an Object that has another object applied in this cluster.
func object(name string, manifest map[string]any) *objectv1alpha2.Object {
	o := &objectv1alpha2.Object{ObjectMeta: metav1.ObjectMeta{Name: name}}
	data, _ := json.Marshal(manifest) // maps of strings
	o.Spec.ForProvider.Manifest = runtime.RawExtension{Raw: data}
	o.Spec.ProviderConfigReference = &resource.ConfigReference{Name: providerConfig}
	return o
}

// secretRef names a Secret.
type secretRef struct{ namespace, name string }

// key is a key of a Secret, and what it is called in another one.
type key struct{ from, to string }

// reader is an Object that takes keys of a Secret into another one of our namespace.
func reader(name, to string, from secretRef, keys ...key) *objectv1alpha2.Object {
	o := object(name, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": from.name, "namespace": from.namespace}})
	o.Spec.ManagementPolicies = []resource.ManagementAction{"Observe"}
	for _, k := range keys {
		o.Spec.ConnectionDetails = append(o.Spec.ConnectionDetails, kubernetes.ConnectionDetail{
			APIVersion: "v1", Kind: "Secret", Namespace: from.namespace, Name: from.name, FieldPath: "data." + k.from, ToConnectionSecretKey: k.to,
		})
	}
	o.Spec.WriteConnectionSecretToReference = &resource.SecretReference{Name: to, Namespace: namespace}
	return o
}
