package promote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/expressions"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

// sharedNamespace has what all Projects may use.
const sharedNamespace = "kargo-shared-resources"

// reader reads the objects that the expressions of one step name, and knows the values of Secrets among them.
type reader struct {
	part    *part
	project string
	values  []string
}

// read is the data of an object. Secrets are read that are labelled for expressions.
func (r *reader) read(ctx context.Context, kind expressions.Kind, name string) (map[string]any, error) {
	namespace := r.project
	switch kind {
	case expressions.SharedConfigMap, expressions.SharedSecret:
		namespace = sharedNamespace
	case expressions.FreightMetadata:
		if f, there := r.part.freights.Get(idOf(v1alpha1.FreightKind, r.project, name)); there {
			return metadataOf(f.Status.Metadata)
		}
		return nil, errors.New("there is none")
	case expressions.StageMetadata:
		if s, there := r.part.stages.Get(idOf(v1alpha1.StageKind, r.project, name)); there {
			return metadataOf(s.Status.Metadata)
		}
		return nil, errors.New("there is none")
	}
	data := map[string]any{}
	if kind == expressions.ConfigMap || kind == expressions.SharedConfigMap {
		found, err := r.part.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, unread(err, namespace)
		}
		for key, value := range found.Data {
			data[key] = value
		}
		return data, nil
	}
	found, err := r.part.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unread(err, namespace)
	}
	if found.Labels[v1alpha1.CredentialsLabel] != v1alpha1.GenericCredentials {
		return nil, fmt.Errorf("it is not labelled for expressions: kubectl label secret -n %s %s %s=%s", namespace, name, v1alpha1.CredentialsLabel, v1alpha1.GenericCredentials)
	}
	for key, value := range found.Data {
		data[key] = string(value)
		r.values = append(r.values, string(value))
	}
	return data, nil
}

func unread(err error, namespace string) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is none in namespace %q", namespace)
	}
	return err
}

func metadataOf(all map[string]apiextensionsv1.JSON) (map[string]any, error) {
	data := map[string]any{}
	for key, value := range all {
		var decoded any
		if err := json.Unmarshal(value.Raw, &decoded); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		data[key] = decoded
	}
	return data, nil
}

// withhold removes the values of Secrets from what a step says and puts out: both go into the status of the Promotion.
func (r *reader) withhold(result steps.Result) steps.Result {
	if len(r.values) == 0 {
		return result
	}
	var pairs []string
	for _, value := range r.values {
		if value != "" {
			pairs = append(pairs, value, "…")
		}
	}
	replace := strings.NewReplacer(pairs...)
	result.Message = replace.Replace(result.Message)
	if result.Output != nil {
		result.Output, _ = without(result.Output, replace).(map[string]any)
	}
	return result
}

func without(value any, replace *strings.Replacer) any {
	switch v := value.(type) {
	case string:
		return replace.Replace(v)
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, item := range v {
			clean[replace.Replace(key)] = without(item, replace)
		}
		return clean
	case []any:
		clean := make([]any, len(v))
		for i, item := range v {
			clean[i] = without(item, replace)
		}
		return clean
	}
	return value
}
