package acceptance

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// notJudged is what the server adds when a value was wrong already.
const notJudged = "some validation rules were not checked"

// shown words a refusal: what is wrong in each field, once. Of a Secret it quotes no values.
func shown(o *unstructured.Unstructured, err error) error {
	if err == nil {
		return nil
	}
	secret := o.GetKind() == "Secret" && o.GroupVersionKind().Group == ""
	var lines []string
	add := func(field, text string) {
		if secret {
			text = "invalid value"
		}
		if line := strings.Join(strings.Fields(strings.Trim(field+": "+text, ": ")), " "); !strings.Contains(text, notJudged) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	var status apierrors.APIStatus
	var fields typed.ValidationErrors
	switch {
	case errors.As(err, &fields):
		for _, f := range fields {
			add(strings.TrimPrefix(f.Path, "."), f.ErrorMessage)
		}
	case errors.As(err, &status) && status.Status().Details != nil && len(status.Status().Details.Causes) > 0:
		for _, cause := range status.Status().Details.Causes {
			add(causeField(cause), cause.Message)
		}
	case secret:
		return errors.New("a field has a value of the wrong type")
	default:
		return err
	}
	return errors.New(strings.Join(lines, "; "))
}

func causeField(cause metav1.StatusCause) string {
	if cause.Field == "<nil>" {
		return ""
	}
	return cause.Field
}
