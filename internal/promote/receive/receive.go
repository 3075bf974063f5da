// Package receive is about the requests by which Git servers and registries report changes to receivers of Projects: at which path each receiver listens,
// and which repositories a request is about. It is made of pure functions; who sent a request is verified before.
//
// It refuses what it cannot read, and says nothing of what was sent in an error.
package receive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// Root is what the paths of all receivers begin with.
const Root = "/webhooks/"

// Receiver is what a declared one listens for.
type Receiver struct {
	// Kind is the platform, in the word that its path has.
	Kind string
	// Sender is the type by which internal/webhook verifies requests.
	Sender string
	// Secret is the Secret of the Project, and Key where it has what is shared with the sender.
	Secret, Key string

	declared v1alpha1.WebhookReceiver
}

// Of is what is declared. It fails unless exactly one platform is set.
func Of(w v1alpha1.WebhookReceiver) (Receiver, error) {
	const secret, token = "secret", "secret-token"
	var found []Receiver
	for _, one := range []struct {
		kind, sender, key string
		set               *v1alpha1.SecretReceiver
	}{
		{"azure", "acr", secret, w.Azure},
		{"bitbucket", "bitbucket", secret, w.Bitbucket},
		{"dockerhub", "dockerhub", secret, w.DockerHub},
		// Gitea and Forgejo speak as GitHub does, and in their own words beside it.
		{"gitea", "github", secret, w.Gitea},
		{"github", "github", secret, w.GitHub},
		{"gitlab", "gitlab", token, w.GitLab},
		{"harbor", "harbor", "auth-header", w.Harbor},
		{"quay", "quay", secret, w.Quay},
	} {
		if one.set != nil {
			found = append(found, Receiver{Kind: one.kind, Sender: one.sender, Secret: one.set.SecretRef.Name, Key: one.key})
		}
	}
	if w.Artifactory != nil {
		found = append(found, Receiver{Kind: "artifactory", Sender: "artifactory", Secret: w.Artifactory.SecretRef.Name, Key: token})
	}
	if w.Generic != nil {
		found = append(found, Receiver{Kind: "generic", Sender: "generic", Secret: w.Generic.SecretRef.Name, Key: secret})
	}
	if len(found) != 1 {
		return Receiver{}, fmt.Errorf("there are %d platforms, want exactly one", len(found))
	}
	found[0].declared = w
	return found[0], nil
}

// Path is where a receiver listens. It is a secret where the platform does not sign its requests.
func (r Receiver) Path(project, token string) string {
	return fmt.Sprintf("%s%s/%x", Root, r.Kind, sha256.Sum256([]byte(project+r.declared.Name+token)))
}

// Pushed are the repositories that a request is about, as addresses of several forms.
type Pushed struct {
	// Git are the addresses of Git repositories.
	Git []string
	// Images are those of repositories of a registry, with or without a tag, which may have charts, too.
	Images []string
}

// Matches reports whether a subscription is about one of them.
func (p Pushed) Matches(s v1alpha1.RepoSubscription) bool {
	switch {
	case s.Git != nil:
		return contains(p.Git, s.Git.RepoURL, plan.NormalizeGit)
	case s.Image != nil:
		return contains(p.Images, s.Image.RepoURL, plan.NormalizeImage)
	case s.Chart != nil && strings.HasPrefix(s.Chart.RepoURL, "oci://"):
		return contains(p.Images, s.Chart.RepoURL, plan.NormalizeChart)
	}
	return false
}

func contains(all []string, wanted string, normalize func(string) string) bool {
	wanted = normalize(wanted)
	for _, one := range all {
		if one != "" && normalize(one) == wanted {
			return true
		}
	}
	return false
}

// errUnread is a request that does not have the form of its platform.
var errUnread = errors.New("the request does not have the form that the platform gives it")
