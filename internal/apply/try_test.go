package apply

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDenied(t *testing.T) {
	status := func(code int32, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
	}
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"webhook":     {"a webhook said no", status(http.StatusBadRequest, `admission webhook "policy.example.dev" denied the request: no`), true},
		"policy":      {"a policy said no", status(http.StatusUnprocessableEntity, `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), true},
		"wrapped":     {"it is the cause", fmt.Errorf("applying it: %w", status(http.StatusForbidden, `admission webhook "a" denied the request: no`)), true},
		"unreachable": {"the webhook has not said anything", status(http.StatusInternalServerError, `failed calling webhook "policy.example.dev": no endpoints`), false},
		"invalid":     {"it may be written otherwise", status(http.StatusUnprocessableEntity, `ConfigMap "x" is invalid: data: Required value`), false},
		"other":       {"the server has not said anything", errors.New(`admission webhook "a" denied the request`), false},
		"none":        {"it was taken", nil, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Denied(c.err); got != c.want {
				t.Errorf("%s: denied is %v", c.reason, got)
			}
		})
	}
}
