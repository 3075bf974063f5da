package builds

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// TestAccountIsAName is about a Build that would act as an account of another namespace.
func TestAccountIsAName(t *testing.T) {
	for _, name := range []string{"ns:other", "a/b", "Builder", ".."} {
		b := &v1alpha1.Build{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}}
		b.Spec.ServiceAccountName = name
		if _, err := new(part).gatherer(b); err == nil || !strings.Contains(err.Error(), "is not the name of a ServiceAccount") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
