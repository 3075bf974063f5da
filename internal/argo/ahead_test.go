package argo

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// TestAhead asks which settings count before they are applied.
func TestAhead(t *testing.T) {
	// asked is an Application that may write the settings, and what it was rendered from.
	type asked struct {
		app     *v1alpha1.Application
		project *v1alpha1.AppProject
		now     settings.Settings
		of      *foreseen
	}
	const repo = "https://git.example/repo"
	for name, tc := range map[string]struct {
		reason string
		change func(*asked)
		want   bool
	}{
		"Permitted": {"its project permits all of it", func(*asked) {}, true},
		"Namespace": {"an Application of another namespace is none of the installation", func(a *asked) { a.app.Namespace = "team" }, false},
		"Deleted":   {"its objects are about to go", func(a *asked) { a.app.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, false},
		"Source":    {"the project does not permit the repository", func(a *asked) { a.project.Spec.SourceRepos = []string{"https://other.example/*"} }, false},
		"OtherSource": {"it was rendered from a repository that the project does not permit", func(a *asked) {
			a.project.Spec.SourceRepos, a.of.repos = []string{repo}, []string{"https://other.example/repo"}
		}, false},
		"Destination": {"the project does not permit the namespace of the destination", func(a *asked) { a.project.Spec.Destinations[0].Namespace = "team" }, false},
		"Target": {"the objects are not in the namespace of the destination, and the project does not permit theirs", func(a *asked) {
			a.project.Spec.Destinations[0].Namespace, a.app.Spec.Destination.Namespace, a.of.destination.Namespace = "team", "team", "team"
		}, false},
		"Kind": {"the project does not permit ConfigMaps", func(a *asked) {
			a.project.Spec.NamespaceResourceBlacklist = []metav1.GroupKind{{Kind: "ConfigMap"}}
		}, false},
		"Excluded": {"the settings exclude ConfigMaps", func(a *asked) {
			a.now.Resources.Exclusions = []settings.Kinds{{APIGroups: []string{""}, Kinds: []string{"ConfigMap"}, Clusters: []string{"*"}}}
		}, false},
		"Cluster": {"another cluster has settings of its own", func(a *asked) {
			a.now.Clusters = []settings.Cluster{{Name: "far", Server: "https://far.example"}}
			a.app.Spec.Destination.Server, a.of.destination.Server = "https://far.example", "https://far.example"
		}, false},
		"Account": {"the API server has yet to say what its account may", func(a *asked) {
			a.now.Impersonation = settings.Impersonation{Enabled: true}
			a.project.Spec.DestinationServiceAccounts = []v1alpha1.ApplicationDestinationServiceAccount{{Server: "*", Namespace: "*", DefaultServiceAccount: "syncer"}}
		}, false},
		"Signature": {"the project requires a signature by now that the commit does not have", func(a *asked) {
			a.project.Spec.SignatureKeys = []v1alpha1.SignatureKey{{KeyID: "4AEE18F83AFDEB23"}}
		}, false},
		"Project":   {"its project does not exist", func(a *asked) { a.project = nil }, false},
		"Moved":     {"it was rendered for another project", func(a *asked) { a.of.project = "other" }, false},
		"Elsewhere": {"it was rendered for another destination", func(a *asked) { a.of.destination.Namespace = "other" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := &asked{app: application("1"), project: configuration.Permissive(), now: settings.Defaults()}
			a.app.Spec.Destination.Namespace = "argocd"
			a.of = &foreseen{project: "p", destination: a.app.Spec.Destination, repos: []string{repo}}
			a.of.objects.ConfigMaps = []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: settings.ConfigName}}}
			tc.change(a)
			var project *policy.Project
			if a.project != nil {
				effective, err := policy.Effective(a.project, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				project = effective
			}
			got := declaration{obj: a.app, foreseen: *a.of, origins: []origin{{address: repo}}}.ahead(project, a.now, "argocd")
			if has := len(got.ConfigMaps) == 1; has != tc.want {
				t.Errorf("%s: settings count: %v", tc.reason, has)
			}
		})
	}
}
