package promote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/expressions"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/steps"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// sharedNamespace has what all Projects may use.
const sharedNamespace = "kargo-shared-resources"

// reader reads the objects that the expressions of one step name, and knows the values of Secrets among them.
type reader struct {
	part    *part
	project string
	values  map[string]bool
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
		return nil, expressions.ErrNone
	case expressions.StageMetadata:
		if s, there := r.part.stages.Get(idOf(v1alpha1.StageKind, r.project, name)); there {
			return metadataOf(s.Status.Metadata)
		}
		return nil, expressions.ErrNone
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
		if len(value) > 0 {
			r.values[string(value)] = true
		}
	}
	return data, nil
}

func unread(err error, namespace string) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w in namespace %q", expressions.ErrNone, namespace)
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

// errKept is why a step fails whose result later steps need, and which would be shown.
var errKept = errors.New("what later steps need of this one (address, branch, author) has a value of a Secret in it, which the status would show: take that from a ConfigMap")

// withhold removes the values of Secrets from what a step says and puts out: both go into the status of the Promotion.
func (r *reader) withhold(result steps.Result) steps.Result {
	if len(r.values) == 0 {
		return result
	}
	if r.keeps(result.State) {
		return steps.Result{Outcome: plan.Outcome{Status: plan.StepErrored, Terminal: true, Message: errKept.Error()}}
	}
	values := redaction.NewValues(slices.Collect(maps.Keys(r.values))...)
	result.Message = values.Text(result.Message)
	if result.Output != nil {
		result.Output, _ = values.JSON(result.Output).(map[string]any)
	}
	for i := range result.HealthChecks {
		config, _ := values.JSON(map[string]any(result.HealthChecks[i].Config)).(map[string]any)
		result.HealthChecks[i].Config = config
	}
	return result
}

// leastKept is how long a value has to be, in bytes, to be searched for in what is kept: commits and names have any letter in them.
const leastKept = 4

// keeps reports whether what is kept of the files for later steps has a value of a Secret in it.
func (r *reader) keeps(state steps.State) bool {
	for at, checkout := range state.Checkouts {
		for _, text := range []string{at, checkout.URL, checkout.Branch, checkout.AuthorName, checkout.AuthorEmail} {
			for value := range r.values {
				if len(value) >= leastKept && strings.Contains(text, value) {
					return true
				}
			}
		}
	}
	return false
}
