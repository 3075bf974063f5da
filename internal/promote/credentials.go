package promote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

// maxExpression bounds a regular expression for addresses, in bytes.
const maxExpression = 1024

// login is what the Secrets of a Project say of a repository, or those that all Projects share: the first by name whose address is that one. There is
// none where no Secret matches.
func (p *part) login(ctx context.Context, project, kind, repoURL string) (steps.Login, error) {
	for _, namespace := range []string{project, sharedNamespace} {
		list, err := p.client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.CredentialsLabel + "=" + kind})
		if err != nil {
			return steps.Login{}, fmt.Errorf("reading the Secrets of namespace %q: %w", namespace, err)
		}
		slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return cmp.Compare(a.Name, b.Name) })
		for i := range list.Items {
			s := &list.Items[i]
			matches, err := forRepository(s, kind, repoURL)
			if err != nil {
				return steps.Login{}, err
			}
			if matches {
				return p.loginOf(s, repoURL)
			}
		}
	}
	return steps.Login{}, nil
}

func (p *part) loginOf(s *corev1.Secret, repoURL string) (steps.Login, error) {
	if !p.options.ClearText && p.network.inClear(repoURL) {
		return steps.Login{}, fmt.Errorf("Secret %q has credentials for an address without encryption: use https, or permit it by --allow-credentials-over-http", s.Name)
	}
	if len(s.Data["password"]) == 0 {
		return steps.Login{}, fmt.Errorf("Secret %q has no password; SSH keys are not supported", s.Name)
	}
	return steps.Login{Username: string(s.Data["username"]), Password: string(s.Data["password"])}, nil
}

// normal is an address as those of one kind are compared.
func normal(kind, address string) string {
	switch kind {
	case v1alpha1.ImageCredentials:
		return plan.NormalizeImage(address)
	case v1alpha1.HelmCredentials:
		if strings.HasPrefix(address, "oci://") {
			return plan.NormalizeChart(address)
		}
	}
	return plan.NormalizeGit(address)
}

// forRepository reports whether a Secret has the credentials for a repository.
func forRepository(s *corev1.Secret, kind, repoURL string) (bool, error) {
	of := string(s.Data["repoURL"])
	if string(s.Data["repoURLIsRegex"]) != "true" {
		return of != "" && normal(kind, of) == normal(kind, repoURL), nil
	}
	if len(of) > maxExpression {
		return false, fmt.Errorf("Secret %q: repoURL is longer than %d bytes", s.Name, maxExpression)
	}
	// It is valid on its own, so that no parenthesis in it ends the group below.
	if _, err := patterns.Regexp(of); err != nil {
		return false, fmt.Errorf("Secret %q: repoURL is not a valid regular expression", s.Name)
	}
	// It is matched against the whole address: a Project writes that, and whatever else it has in it must not bring the credentials of another host.
	pattern, err := patterns.Regexp(`\A(?:` + of + `)\z`)
	if err != nil {
		return false, fmt.Errorf("Secret %q: repoURL is not a valid regular expression", s.Name)
	}
	return pattern.MatchString(normal(kind, repoURL)), nil
}
