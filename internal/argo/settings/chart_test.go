package settings

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const chartValues = `
global: {domain: argocd.example.com}
configs:
  cm:
    create: true
    annotations: {a: b}
    admin.enabled: true
    application.resourceTrackingMethod: annotation+label
    timeout.reconciliation: 180s
    webhook.maxPayloadSizeMB: 1000000
    kustomize.buildOptions: --enable-helm
    installationID: null
    resource.customizations.health.argoproj.io_Application: |
      return {}
  params:
    create: true
    controller.diff.server.side: true
    controller.sync.timeout.seconds: 600
  rbac: {create: true, policy.default: role:readonly}
  ssh:
    create: true
    knownHosts: git.example.com ssh-ed25519 AAAA
    extraHosts: other.example.com ssh-ed25519 BBBB
  tls: {create: true, certificates: {}}
  gpg: {keys: {}}
  repositories:
    private: {url: "https://git.example.com/web/app.git", username: bot, password: hunter2, insecure: true, githubAppID: 123456789}
  credentialTemplates:
    all: {url: "https://git.example.com", password: hunter2}
  clusterCredentials:
    one:
      server: https://one.example.com
      labels: {stage: production}
      annotations: {x: z}
      namespaces: a,b
      clusterResources: true
      config: {bearerToken: hunter2, tlsClientConfig: {insecure: false, caData: Y2E=}}
  secret:
    createSecret: true
    githubSecret: hunter2
    azureDevops: {username: bot, password: hunter3}
    argocdServerAdminPassword: hunter4
    extra: {dex.secret: hunter5, webhook.gogs.secret: hunter6}
  cmp: {create: false}
  styles: ""
`

func TestFromChart(t *testing.T) {
	cases := map[string]struct {
		reason   string
		values   string
		want     func(*Settings)
		problems []string
	}{
		"Nothing": {reason: "values without configs say nothing", values: "controller: {replicas: 2}", want: func(*Settings) {}},
		"Full": {
			reason: "the values are read as the objects are that the chart makes of them", values: chartValues,
			want: func(s *Settings) {
				s.Tracking.Method = TrackAnnotationAndLabel
				s.Reconciliation.Every = 3 * time.Minute
				s.Webhook.MaxPayloadMB = 1000000
				s.Webhook.Secrets = map[string]Secret{
					"github.secret": NewSecret("hunter2"), "gogs.secret": NewSecret("hunter6"), "azuredevops.username": NewSecret("bot"), "azuredevops.password": NewSecret("hunter3"),
				}
				s.Kustomize.BuildOptions = "--enable-helm"
				s.Customizations["argoproj.io/Application"] = Customization{Health: "return {}"}
				s.Compare.ServerSide, s.Controller.SyncTimeout = true, 10*time.Minute
				s.KnownHosts = "git.example.com ssh-ed25519 AAAA\nother.example.com ssh-ed25519 BBBB"
				s.Credentials = Credentials{
					Repositories: []Repository{{
						Secret: "argocd-repo-private", URL: "https://git.example.com/web/app.git", Insecure: true,
						Login: Login{Username: NewSecret("bot"), Password: NewSecret("hunter2"), GitHubApp: GitHubApp{ID: 123456789}},
					}},
					Templates: []Repository{{Secret: "argocd-repo-creds-all", URL: "https://git.example.com", Login: Login{Password: NewSecret("hunter2")}}},
				}
				s.Clusters = []Cluster{{
					Secret: "argocd-cluster-one", Name: "one", Server: "https://one.example.com", Namespaces: []string{"a", "b"}, ClusterResources: true,
					Labels: map[string]string{SecretTypeLabel: "cluster", "stage": "production"}, Annotations: map[string]string{"x": "z"},
					Connection: Connection{BearerToken: NewSecret("hunter2"), Authorities: []byte("ca")},
				}}
				s.Unserved = []Unserved{
					{"values", "configs.cmp", ConcernEngine},
					{"values", "configs.secret.argocdServerAdminPassword", ConcernServer},
					{"values", "configs.styles", ConcernServer},
					{"ConfigMap argocd-cm", "admin.enabled", ConcernServer},
					{"ConfigMap argocd-rbac-cm", "policy.default", ConcernServer},
					{"Secret argocd-secret", "dex.secret", ConcernServer},
				}
			},
		},
		"OldClusters": {
			reason: "clusters were a list once",
			values: "configs: {clusterCredentials: [{name: one, server: 'https://one', config: {}}, {server: 'https://two'}]}",
			want: func(s *Settings) {
				s.Clusters = []Cluster{{Secret: "argocd-cluster-one", Name: "one", Server: "https://one", Labels: map[string]string{SecretTypeLabel: "cluster"}, Annotations: map[string]string{}}}
			},
			problems: []string{"values: configs.clusterCredentials.1: has no name"},
		},
		"Bad": {
			reason: "what has another form is named, and nothing of it quoted",
			values: "configs: {cm: [hunter2], repositories: {a: hunter2, b: {url: 'https://b', password: {x: hunter2}}}, confs: {}, params: {log.level: [hunter2]}}",
			want: func(s *Settings) {
				s.Credentials.Repositories = []Repository{{Secret: "argocd-repo-b", URL: "https://b"}}
			},
			problems: []string{
				"values: configs.cm: is not a map", "values: configs.confs: is unknown", "values: configs.params.log.level: is not a string",
				"values: configs.repositories.a: is not a map", "values: configs.repositories.b.password: is not a string",
				"Secret argocd-repo-a: url: is missing",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var values map[string]any
			if err := yaml.Unmarshal([]byte(tc.values), &values); err != nil {
				t.Fatal(err)
			}
			objects, err := FromChart(values)
			got, readErr := Read(objects)
			want := Defaults()
			tc.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.problems, append(problemsOf(err), problemsOf(readErr)...)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
