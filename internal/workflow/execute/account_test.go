package execute

import (
	"strings"
	"testing"
)

func TestUser(t *testing.T) {
	if user, err := User("ns", "builder.v1"); err != nil || user != "system:serviceaccount:ns:builder.v1" {
		t.Errorf("the user is %q, %v", user, err)
	}
	for _, name := range []string{"", "a:b", "ns:other", "a/b", "Builder", "a b", "a\n", "..", strings.Repeat("a", 300)} {
		if user, err := User("ns", name); err == nil || !strings.Contains(err.Error(), "is not the name of a ServiceAccount") {
			t.Errorf("%q is the user %q, %v", name, user, err)
		}
	}
	if user, err := User("kube:system", "a"); err == nil {
		t.Errorf("a namespace with a colon gives %q", user)
	}
}
