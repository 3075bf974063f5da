package execute

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// User is the user that a ServiceAccount is for the API server. Anything but a name could be that of an account in another namespace.
func User(namespace, account string) (string, error) {
	for _, part := range []string{namespace, account} {
		if problems := validation.IsDNS1123Subdomain(part); len(problems) > 0 {
			return "", fmt.Errorf("serviceAccountName %q in namespace %q is not the name of a ServiceAccount: %s", account, namespace, problems[0])
		}
	}
	return "system:serviceaccount:" + namespace + ":" + account, nil
}
