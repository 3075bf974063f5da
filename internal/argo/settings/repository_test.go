package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNormalURL(t *testing.T) {
	cases := map[string]struct {
		reason, a, b string
		same         bool
	}{
		"Case":        {"case makes no difference", "https://GIT.example.com/Web/App", "https://git.example.com/web/app", true},
		"Git":         {"nor does .git at the end", "https://git.example.com/web/app.git", "https://git.example.com/web/app", true},
		"Spaces":      {"nor do spaces around it", "\thttps://git.example.com/web/app\n", " https://git.example.com/web/app ", true},
		"SSH":         {"nor does how SSH is written", "git@git.example.com:web/app.git", "ssh://git@git.example.com/web/app", true},
		"Port":        {"a port does", "https://git.example.com:8443/web/app", "https://git.example.com/web/app", false},
		"User":        {"a user does", "https://bot@git.example.com/web/app", "https://git.example.com/web/app", false},
		"Scheme":      {"a scheme does", "http://git.example.com/web/app", "https://git.example.com/web/app", false},
		"Slash":       {"a slash at the end does", "https://git.example.com/web/app/", "https://git.example.com/web/app", false},
		"Registry":    {"registries are addresses as well", "oci://Registry.example.com/a", "oci://registry.example.com/a", true},
		"NoAddress":   {"what is no address is the same as nothing", "https://[::1", "https://[::1", false},
		"NothingElse": {"nor is nothing", "", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := SameURL(tc.a, tc.b); got != tc.same {
				t.Errorf("%s: SameURL(%q, %q) = %v: %q and %q", tc.reason, tc.a, tc.b, got, NormalURL(tc.a), NormalURL(tc.b))
			}
		})
	}
}

func TestRepositories(t *testing.T) {
	cases := map[string]struct {
		reason   string
		secrets  []corev1.Secret
		want     Credentials
		unserved []Unserved
		unknown  []Unserved
		problems []string
	}{
		"Git": {
			reason: "everything that is said of a repository",
			secrets: []corev1.Secret{secret("one", "repository", "url", "https://git.example.com/web/app.git", "type", "git", "name", "app", "project", "web",
				"username", "bot", "password", "p1", "bearerToken", "p2", "sshPrivateKey", "p3\n", "tlsClientCertData", "p4", "tlsClientCertKey", "p5",
				"insecure", "true", "enableLfs", "true", "enableOCI", "true", "insecureOCIForceHttp", "true", "proxy", "http://u:p@proxy", "noProxy", "a,b", "depth", "1",
				"forceHttpBasicAuth", "true", "githubAppID", "1", "githubAppInstallationID", "2", "githubAppPrivateKey", "p6", "githubAppEnterpriseBaseUrl", "https://ghe",
				"gcpServiceAccountKey", "p7", "useAzureWorkloadIdentity", "true", "azureServicePrincipalClientId", "c", "azureServicePrincipalTenantId", "t",
				"azureServicePrincipalClientSecret", "p8", "azureActiveDirectoryEndpoint", "e", "webhookManifestCacheWarmDisabled", "true", "usrname", "x")},
			want: Credentials{Repositories: []Repository{{
				Secret: "one", URL: "https://git.example.com/web/app.git", Type: "git", Name: "app", Project: "web", Insecure: true, LFS: true, OCI: true, PlainHTTP: true,
				Proxy: NewSecret("http://u:p@proxy"), NoProxy: "a,b", Depth: 1,
				Login: Login{
					Username: NewSecret("bot"), Password: NewSecret("p1"), BearerToken: NewSecret("p2"), SSHPrivateKey: NewSecret("p3\n"),
					ClientCertificate: NewSecret("p4"), ClientKey: NewSecret("p5"), GitHubApp: GitHubApp{1, 2, NewSecret("p6"), "https://ghe"},
					GCPServiceAccountKey: NewSecret("p7"), Azure: Azure{true, "c", "t", "e", NewSecret("p8")}, ForceBasic: true,
				},
			}}},
			unserved: []Unserved{{"Secret one", "webhookManifestCacheWarmDisabled", ConcernProcess}},
			unknown:  []Unserved{{Object: "Secret one", Key: "usrname"}},
		},
		"Types": {
			reason: "the label says what a Secret is; bytes and texts are the same",
			secrets: []corev1.Secret{
				secret("a", "repo-creds", "url", "https://a", "azureServicePrincipalClientID", "c"), secret("b", "repository-write", "url", "https://b"),
				secret("c", "repo-write-creds", "url", "https://c"), secret("d", "scm-creds", "token", "x"), secret("e", "else", "url", "https://e"),
				{ObjectMeta: metav1.ObjectMeta{Name: "f", Labels: map[string]string{SecretTypeLabel: "repository"}}, Data: map[string][]byte{"url": []byte("https://f"), "insecureIgnoreHostKey": []byte("true")}},
			},
			want: Credentials{
				Templates:           []Repository{{Secret: "a", URL: "https://a", Login: Login{Azure: Azure{ClientID: "c"}}}},
				WritingRepositories: []Repository{{Secret: "b", URL: "https://b"}}, WritingTemplates: []Repository{{Secret: "c", URL: "https://c"}},
				Forges: []string{"d"}, Repositories: []Repository{{Secret: "f", URL: "https://f", Insecure: true}},
			},
		},
		"Bad": {
			reason: "no error quotes what a Secret says",
			secrets: []corev1.Secret{
				secret("a", "repository", "username", "hunter2"), secret("b", "repository", "url", "https://b", "insecure", "hunter2", "depth", "hunter2", "type", "hunter2"),
			},
			want: Credentials{Repositories: []Repository{{Secret: "b", URL: "https://b"}}},
			problems: []string{
				"Secret a: url: is missing", "Secret b: type: is not one of git, helm, oci", "Secret b: insecure: is neither true nor false", "Secret b: depth: is not a number >= 0",
			},
		},
		"Twice": {
			reason:  "of two Secrets for the same repository and project the first by its name is used",
			secrets: []corev1.Secret{secret("b", "repository", "url", "https://a/b.git"), secret("a", "repository", "url", "https://a/B"), secret("c", "repository", "url", "https://a/b", "project", "x")},
			want: Credentials{Repositories: []Repository{
				{Secret: "a", URL: "https://a/B"}, {Secret: "b", URL: "https://a/b.git"}, {Secret: "c", URL: "https://a/b", Project: "x"},
			}},
			problems: []string{"Secret b: url: is also used by Secret a, which takes precedence"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Read(Objects{Secrets: tc.secrets})
			if diff := cmp.Diff(tc.want, got.Credentials); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([][]Unserved{tc.unserved, tc.unknown}, [][]Unserved{got.Unserved, got.Unknown}); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.problems, problemsOf(err)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCredentialsFor(t *testing.T) {
	const address = "https://git.example.com/web/app.git"
	template := func(name, url, password string) Repository {
		return Repository{Secret: name, URL: url, Login: Login{Password: NewSecret(password)}, NoProxy: "t"}
	}
	cases := map[string]struct {
		reason           string
		credentials      Credentials
		address, project string
		want             Repository
	}{
		"Nothing": {
			reason: "a repository that nobody declared is read without a login", address: address, want: Repository{URL: address},
		},
		"Exact": {
			reason: "a declared one with a login takes nothing from templates", address: "https://GIT.example.com/web/app",
			credentials: Credentials{
				Repositories: []Repository{{Secret: "a", URL: address, Login: Login{Username: NewSecret("u")}}}, Templates: []Repository{template("t", "https://git.example.com", "p")},
			},
			want: Repository{Secret: "a", URL: address, Login: Login{Username: NewSecret("u")}},
		},
		"Longest": {
			reason: "without a login, the template with the longest address wins", address: address,
			credentials: Credentials{
				Repositories: []Repository{{Secret: "a", URL: address, Insecure: true, NoProxy: "own", Login: Login{ForceBasic: true}}},
				Templates: []Repository{
					template("short", "https://git.example.com", "1"), template("long", "https://GIT.example.com/web", "2"), template("other", "https://git.example.com/webs", "3"),
				},
			},
			want: Repository{Secret: "a", Template: "long", URL: address, Insecure: true, NoProxy: "own", Login: Login{Password: NewSecret("2")}},
		},
		"TemplateAlone": {
			reason: "a template serves what nobody declared", address: "git@git.example.com:web/app.git",
			credentials: Credentials{Templates: []Repository{template("ssh", "ssh://git@git.example.com/web", "1")}},
			want:        Repository{Template: "ssh", URL: "git@git.example.com:web/app.git", NoProxy: "t", Login: Login{Password: NewSecret("1")}},
		},
		"Project": {
			reason: "the one of the project wins over the one of none, wherever it stands", address: address, project: "web",
			credentials: Credentials{Repositories: []Repository{
				{Secret: "all", URL: address, Login: Login{Username: NewSecret("all")}}, {Secret: "web", URL: address, Project: "web", Login: Login{Username: NewSecret("web")}},
			}},
			want: Repository{Secret: "web", URL: address, Project: "web", Login: Login{Username: NewSecret("web")}},
		},
		"Foreign": {
			reason: "the one of another project is nobody else's", address: address, project: "web",
			credentials: Credentials{Repositories: []Repository{
				{Secret: "ops", URL: address, Project: "ops", Login: Login{Username: NewSecret("ops")}}, {Secret: "all", URL: address, Login: Login{Username: NewSecret("all")}},
			}},
			want: Repository{Secret: "all", URL: address, Login: Login{Username: NewSecret("all")}},
		},
		"ForeignAlone": {
			reason: "not even when it is the only one", address: address,
			credentials: Credentials{Repositories: []Repository{{Secret: "ops", URL: address, Project: "ops", Login: Login{Username: NewSecret("ops")}}}},
			want:        Repository{URL: address},
		},
		"Writing": {
			reason: "logins for pushes are not used to read", address: address,
			credentials: Credentials{WritingTemplates: []Repository{template("w", "https://git.example.com", "1")}},
			want:        Repository{URL: address},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.credentials.For(tc.address, tc.project)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
	writing := Credentials{WritingTemplates: []Repository{template("w", "https://git.example.com", "1")}}
	if got := writing.ForWriting(address, ""); got.Template != "w" {
		t.Errorf("a push signs in as %+v", got)
	}
}

// TestTemplateOfAHost has a template that names a host serve addresses of that host, and none that only begins with its name.
func TestTemplateOfAHost(t *testing.T) {
	for name, tc := range map[string]struct {
		template, address string
		want              bool
	}{
		"Host":            {"https://git.example.com", "https://git.example.com/web/app.git", true},
		"Slash":           {"https://git.example.com/", "https://git.example.com/web/app.git", true},
		"Port":            {"https://git.example.com", "https://git.example.com:8443/web/app", true},
		"Path":            {"https://git.example.com/web", "https://git.example.com/web-tools/app", true},
		"SSH":             {"ssh://git@git.example.com", "git@git.example.com:web/app.git", true},
		"Registry":        {"registry.example.com", "registry.example.com/charts", true},
		"Longer host":     {"https://git.example.com", "https://git.example.com.evil.example/a", false},
		"Longer name":     {"https://git.example", "https://git.example-evil.com/a", false},
		"User":            {"https://git.example.com", "https://git.example.com@evil.example/a", false},
		"User and port":   {"https://git.example.com", "https://git.example.com:8443@evil.example/a", false},
		"Longer SSH host": {"ssh://git@git.example.com", "git@git.example.com.evil.example:a", false},
		"Longer registry": {"registry.example.com", "registry.example.com.evil.example/charts", false},
		"Longer port":     {"https://git.example.com:84", "https://git.example.com:8443/a", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := Credentials{Templates: []Repository{{Secret: "t", URL: tc.template, Login: Login{Password: NewSecret("p")}}}}
			if got := c.For(tc.address, "").Template == "t"; got != tc.want {
				t.Errorf("the template %s serves %s: %v, want %v", tc.template, tc.address, got, tc.want)
			}
		})
	}
}
