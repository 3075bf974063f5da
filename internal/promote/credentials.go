package promote

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

// maxExpression bounds a regular expression for addresses, in bytes.
const maxExpression = 1024

// login is what the Secrets of a Project say of a repository: the first by name whose address is that one. There is none where no Secret matches.
func (p *part) login(ctx context.Context, project, kind, repoURL string) (steps.Login, error) {
	list, err := p.client.CoreV1().Secrets(project).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.CredentialsLabel + "=" + kind})
	if err != nil {
		return steps.Login{}, fmt.Errorf("reading the Secrets of Project %q: %w", project, err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return cmp.Compare(a.Name, b.Name) })
	for i := range list.Items {
		s := &list.Items[i]
		matches, err := forRepository(s, repoURL)
		if err != nil {
			return steps.Login{}, err
		}
		if !matches {
			continue
		}
		if !p.options.ClearText && p.network.inClear(repoURL) {
			return steps.Login{}, fmt.Errorf("Secret %q has credentials for an address without encryption: use https", s.Name)
		}
		if len(s.Data["password"]) == 0 {
			return steps.Login{}, fmt.Errorf("Secret %q has no password; SSH keys are not supported", s.Name)
		}
		return steps.Login{Username: string(s.Data["username"]), Password: string(s.Data["password"])}, nil
	}
	return steps.Login{}, nil
}

func forRepository(s *corev1.Secret, repoURL string) (bool, error) {
	of := string(s.Data["repoURL"])
	if string(s.Data["repoURLIsRegex"]) != "true" {
		return of != "" && plan.NormalizeGit(of) == plan.NormalizeGit(repoURL), nil
	}
	if len(of) > maxExpression {
		return false, fmt.Errorf("Secret %q: repoURL is longer than %d bytes", s.Name, maxExpression)
	}
	pattern, err := regexp.Compile(of)
	if err != nil {
		return false, fmt.Errorf("Secret %q: repoURL is not a valid regular expression", s.Name)
	}
	return pattern.MatchString(plan.NormalizeGit(repoURL)), nil
}
