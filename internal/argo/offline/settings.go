package offline

import (
	"bytes"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// secretType is the label of Secrets that hold settings.
const secretType = "argocd.argoproj.io/secret-type"

// FindSettings reads the settings that a repository gives an installation of Argo CD: its ConfigMaps, Secrets with
// their label, and values of the chart argo-cd. What is encrypted, or made by a template, is not seen. The error joins
// what is wrong with them; what is right beside it holds.
func FindSettings(dir string) (settings.Settings, error) {
	var objects settings.Objects
	var errs []error
	err := eachFile(dir, func(file string, data []byte) {
		if !bytes.Contains(data, []byte("argocd")) && !bytes.Contains(data, []byte("configs:")) {
			return
		}
		for _, o := range Documents(data) {
			if err := settingsOf(o, &objects); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", file, err))
			}
		}
	})
	if err != nil {
		return settings.Defaults(), fmt.Errorf("searching for settings: %w", err)
	}
	found, err := settings.Read(objects)
	return found, errors.Join(append(errs, err)...)
}

// settingsOf takes the settings of one document.
func settingsOf(o *unstructured.Unstructured, into *settings.Objects) error {
	switch {
	case o.GetAPIVersion() == "v1" && o.GetKind() == "ConfigMap":
		var m corev1.ConfigMap
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &m); err != nil {
			return fmt.Errorf("ConfigMap %s: %w", o.GetName(), err)
		}
		into.ConfigMaps = append(into.ConfigMaps, m)
	case o.GetAPIVersion() == "v1" && o.GetKind() == "Secret" && o.GetLabels()[secretType] != "" && o.Object["sops"] == nil:
		into.Secrets = append(into.Secrets, secretOf(o))
	case o.GetKind() == "" && o.Object["configs"] != nil:
		configs, _ := o.Object["configs"].(map[string]any)
		if configs["cm"] == nil && configs["params"] == nil {
			return nil
		}
		found, err := settings.FromChart(o.Object)
		into.ConfigMaps, into.Secrets = append(into.ConfigMaps, found.ConfigMaps...), append(into.Secrets, found.Secrets...)
		return err
	}
	return nil
}

// secretOf is a Secret with its values as they are read.
func secretOf(o *unstructured.Unstructured) corev1.Secret {
	var s corev1.Secret
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &s) != nil {
		return corev1.Secret{}
	}
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for key, value := range s.StringData {
		s.Data[key] = []byte(value)
	}
	return s
}
