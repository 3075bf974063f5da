package configuration

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// InstallationChart is the chart that installs Argo CD.
const InstallationChart = "argo-cd"

// DeclaredSettings are the ConfigMaps of settings among what was rendered. Where the chart of Argo CD did not make them,
// since something stands in for it, what it would have made of its values counts. The error is about these values.
//
// Secrets are none of it: a login or a cluster counts once the API server has taken it.
func DeclaredSettings(result *manifests.Result, namespace, destination string) (settings.Objects, error) {
	var found settings.Objects
	for _, u := range result.Objects {
		if cmp.Or(u.GetNamespace(), destination) != namespace || u.GroupVersionKind().Group != "" {
			continue
		}
		if u.GetKind() == "ConfigMap" && settingsName(u.GetName()) {
			found.ConfigMaps = append(found.ConfigMaps, settingsMap(u))
		}
	}
	return found, addChart(&found, result, namespace)
}

// addChart adds what the chart of Argo CD would have made and did not.
func addChart(found *settings.Objects, result *manifests.Result, namespace string) error {
	at := slices.IndexFunc(result.Charts, func(c manifests.Chart) bool { return c.Name == InstallationChart && c.Namespace == namespace })
	if at < 0 {
		return nil
	}
	made, err := settings.FromChart(result.Charts[at].Values)
	for _, m := range made.ConfigMaps {
		if !slices.ContainsFunc(found.ConfigMaps, func(other corev1.ConfigMap) bool { return other.Name == m.Name }) {
			found.ConfigMaps = append(found.ConfigMaps, m)
		}
	}
	found.Unserved = made.Unserved
	return err
}

// settingsName reports whether a ConfigMap holds settings.
func settingsName(name string) bool {
	return slices.Contains([]string{settings.ConfigName, settings.ParamsName, settings.KnownHostsName, settings.CertificatesName, settings.KeysName}, name)
}

func settingsMap(u *unstructured.Unstructured) corev1.ConfigMap {
	var m corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &m); err != nil {
		return corev1.ConfigMap{}
	}
	return m
}
