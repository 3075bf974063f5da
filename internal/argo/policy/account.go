package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/patterns"
)

// Account is the user as whom the objects of an Application are applied, "" for the engine itself. The first item of
// spec.destinationServiceAccounts whose patterns match the destination names it. Where none does and accounts are
// enforced, nothing may be applied, which is an error.
func (p *Project) Account(app *v1alpha1.Application, cluster settings.Cluster, impersonation settings.Impersonation) (string, error) {
	if !impersonation.Enabled {
		return "", nil
	}
	namespace := app.Spec.Destination.Namespace
	for i, item := range p.Spec.DestinationServiceAccounts {
		field := fmt.Sprintf("project '%s': spec.destinationServiceAccounts[%d]", p.Name, i)
		matched, err := matchesBoth(item, cluster.Server, namespace)
		if err != nil {
			return "", fmt.Errorf("%s: %w", field, err)
		}
		if !matched {
			continue
		}
		account, err := userOf(item.DefaultServiceAccount, namespace, app.Namespace)
		if err != nil {
			return "", fmt.Errorf("%s.defaultServiceAccount: %w", field, err)
		}
		return account, nil
	}
	if impersonation.Enforced {
		return "", fmt.Errorf("no matching service account found for destination server %s and namespace %s", cluster.Server, namespace)
	}
	return "", nil
}

func matchesBoth(item v1alpha1.ApplicationDestinationServiceAccount, server, namespace string) (bool, error) {
	ofServer, err := patterns.NewGlob(item.Server)
	if err != nil {
		return false, fmt.Errorf("server: %q is not a pattern: %w", item.Server, err)
	}
	ofNamespace, err := patterns.NewGlob(item.Namespace)
	if err != nil {
		return false, fmt.Errorf("namespace: %q is not a pattern: %w", item.Namespace, err)
	}
	return ofServer.Match(server) && ofNamespace.Match(namespace), nil
}

// userOf is the user of a service account, named alone or with its namespace before a colon. Alone it is in the
// namespace of the destination, or in that of the Application where there is none.
func userOf(account, namespace, app string) (string, error) {
	if strings.TrimSpace(account) == "" || strings.ContainsAny(account, "!*[]{}\\/ ") {
		return "", fmt.Errorf("default service account contains invalid chars '%s'", account)
	}
	switch strings.Count(account, ":") {
	case 1:
		return "system:serviceaccount:" + account, nil
	case 0:
		if namespace == "" {
			namespace = app
		}
		return "system:serviceaccount:" + namespace + ":" + account, nil
	}
	return "", errors.New("has more than one colon; want NAME or NAMESPACE:NAME")
}
