package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

func TestPermitsDecryption(t *testing.T) {
	const refused = "decryption by Secret 'argocd/sops-age' is not permitted in project 'p': annotation headgate.dev/decryption-secrets of the AppProject "
	for name, tc := range map[string]struct {
		reason           string
		asks, lists, all string
		namespace        string
		want             string
	}{
		"NotRequested": {"without the annotation nothing is decrypted", "", "", "", "", ""},
		"NoLeave":      {"no Secret by default", "sops", "", "", "", refused + "does not exist"},
		"Default":      {"", "sops", "sops-age", "", "", ""},
		"OneOfSeveral": {"", "sops/b", "a, b", "", "", ""},
		"Pattern":      {"", "sops/team-keys", "team-*", "", "", ""},
		"Another":      {"", "sops", "team-*, x", "", "", refused + "lists 'team-*', 'x'"},
		"Denied":       {"a denial wins", "sops", "*,!sops-*", "", "", refused + "lists '*', '!sops-*'"},
		"Unreadable":   {"a denial that cannot be read denies all", "sops", "*,![", "", "", refused + "lists '*', '!['"},
		"Global":       {"a global project adds its list", "sops", "x", "sops-age", "", ""},
		"Elsewhere":    {"the Secret is one of the installation, wherever the Application is", "sops", "", "", "team", refused + "does not exist"},
		"Provider":     {"", "vault/x", "*", "", "", `annotation headgate.dev/decryption: "vault/x": want sops, or sops/NAME of a Secret in the namespace of Argo CD`},
	} {
		t.Run(name, func(t *testing.T) {
			made := &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{DecryptionSecrets: tc.lists}}}
			made.Spec.SourceNamespaces = []string{"team"}
			global := &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "all", Annotations: map[string]string{DecryptionSecrets: tc.all}}}
			p, _ := Effective(made, []settings.GlobalProject{{ProjectName: "all"}}, func(string) *v1alpha1.AppProject { return global })
			app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: tc.namespace, Annotations: map[string]string{Decryption: tc.asks}}}
			if diff := cmp.Diff(tc.want, text(p.PermitsDecryption(app, "argocd"))); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			app.Spec.Project = "p"
			app.Spec.Source = &v1alpha1.ApplicationSource{RepoURL: "https://a", Path: "."}
			said := ""
			for _, c := range Validate(app, p, settings.Defaults(), "argocd") {
				if c.Message == tc.want {
					said = c.Message
				}
			}
			if said != tc.want {
				t.Errorf("%s: the Application is not invalid for it", tc.reason)
			}
		})
	}
}

func TestPermitsOperation(t *testing.T) {
	p := project(t, v1alpha1.AppProjectSpec{SourceRepos: []string{"https://a/*"}})
	for name, tc := range map[string]struct{ sync, want string }{
		"None":      {"", ""},
		"Revision":  {"revision: main", ""},
		"Permitted": {"source: {repoURL: https://a/b}", ""},
		"Source":    {"source: {repoURL: https://u:pw@b/c}", "operation.sync.source: application repo https://b/c is not permitted in project 'p'"},
		"Sources":   {"sources: [{repoURL: https://a/b}, {repoURL: https://b/c}]", "operation.sync.sources[1]: application repo https://b/c is not permitted in project 'p'"},
		"Both": {
			"source: {repoURL: https://a/b}\nsources: [{repoURL: https://b/c}]",
			"operation.sync.sources[0]: application repo https://b/c is not permitted in project 'p'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var sync *v1alpha1.SyncOperation
			if tc.sync != "" {
				sync = &v1alpha1.SyncOperation{}
				if err := yaml.Unmarshal([]byte(tc.sync), sync); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, text(PermitsOperation(sync, p))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
