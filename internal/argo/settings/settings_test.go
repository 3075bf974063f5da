package settings

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func configMap(name string, pairs ...string) corev1.ConfigMap {
	return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data(pairs)}
}

func secret(name, kind string, pairs ...string) corev1.Secret {
	return corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{SecretTypeLabel: kind}}, StringData: data(pairs),
	}
}

func data(pairs []string) map[string]string {
	all := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// problemsOf are the texts of the errors that were joined.
func problemsOf(err error) []string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	var texts []string
	for _, e := range joined.Unwrap() {
		texts = append(texts, e.Error())
	}
	return texts
}

func TestRead(t *testing.T) {
	config := func(pairs ...string) Objects {
		return Objects{ConfigMaps: []corev1.ConfigMap{configMap(ConfigName, pairs...)}}
	}
	params := func(pairs ...string) Objects {
		return Objects{ConfigMaps: []corev1.ConfigMap{configMap(ParamsName, pairs...)}}
	}
	cases := map[string]struct {
		reason   string
		objects  Objects
		want     func(*Settings)
		problems []string
	}{
		"Nothing": {
			reason: "without any object the defaults of the upstream hold",
			want:   func(*Settings) {},
		},
		"Empty": {
			reason:  "an empty value is one that is not there",
			objects: config("application.resourceTrackingMethod", "", "timeout.reconciliation", " ", "kustomize.enable", "", "resource.exclusions", ""),
			want:    func(*Settings) {},
		},
		"Others": {
			reason: "objects that are none of the installation's are passed over",
			objects: Objects{
				ConfigMaps: []corev1.ConfigMap{configMap("app", "url", "x")},
				Secrets:    []corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Name: "login"}, Data: map[string][]byte{"a": []byte("b")}}},
			},
			want: func(*Settings) {},
		},
		"Tracking": {
			reason:  "how objects are known",
			objects: config("application.resourceTrackingMethod", "annotation+label", "application.instanceLabelKey", "example.com/app", "installationID", "one"),
			want:    func(s *Settings) { s.Tracking = Tracking{TrackAnnotationAndLabel, "example.com/app", "one"} },
		},
		"BadTracking": {
			reason:   "a method that does not exist is bad, and the default holds",
			objects:  config("application.resourceTrackingMethod", "labels"),
			want:     func(*Settings) {},
			problems: []string{`ConfigMap argocd-cm: application.resourceTrackingMethod: "labels" is not one of annotation, label, annotation+label`},
		},
		"Times": {
			reason:  "durations, with days as older installations have them; zero is never",
			objects: config("timeout.reconciliation", "0", "timeout.reconciliation.jitter", "30s", "timeout.hard.reconciliation", "1d12h", "webhook.refresh.jitter", "1m", "webhook.refresh.jitter.threshold", "3"),
			want: func(s *Settings) {
				s.Reconciliation = Reconciliation{Jitter: 30 * time.Second, Hard: 36 * time.Hour}
				s.Webhook.Jitter, s.Webhook.JitterThreshold = time.Minute, 3
			},
		},
		"BadTimes": {
			reason:  "each bad value is named, and does not disturb the others",
			objects: config("timeout.reconciliation", "180", "timeout.reconciliation.jitter", "-1s", "timeout.hard.reconciliation", "1h", "webhook.maxPayloadSizeMB", "many"),
			want:    func(s *Settings) { s.Reconciliation.Hard = time.Hour },
			problems: []string{
				`ConfigMap argocd-cm: timeout.reconciliation: "180" is not a duration such as "120s"`,
				`ConfigMap argocd-cm: timeout.reconciliation.jitter: "-1s" is not a duration such as "120s"`,
				`ConfigMap argocd-cm: webhook.maxPayloadSizeMB: "many" is not a number >= 0`,
			},
		},
		"Tools": {
			reason: "tools, build options, and further builds by name; those are programs and not run",
			objects: config("kustomize.enable", "false", "helm.enable", "False", "jsonnet.enable", "false", "kustomize.buildOptions", "--enable-helm",
				"kustomize.path.v5.0.0", "/tools/kustomize", "kustomize.buildOptions.v5.0.0", "--enable-helm --load-restrictor LoadRestrictionsNone", "helm.valuesFileSchemes", "s3, https,"),
			want: func(s *Settings) {
				s.Jsonnet = false
				s.Kustomize = Kustomize{BuildOptions: "--enable-helm", Versions: map[string]KustomizeVersion{
					"v5.0.0": {"/tools/kustomize", "--enable-helm --load-restrictor LoadRestrictionsNone"},
				}}
				s.Helm = Helm{ValuesFileSchemes: []string{"s3", "https"}}
				s.Unserved = []Unserved{
					{"ConfigMap argocd-cm", "kustomize.buildOptions.v5.0.0", ConcernEngine}, {"ConfigMap argocd-cm", "kustomize.path.v5.0.0", ConcernEngine},
				}
			},
		},
		"NoSchemes": {
			reason:  "an empty list of schemes permits no URL, unlike one that is not there",
			objects: config("helm.valuesFileSchemes", ""),
			want:    func(s *Settings) { s.Helm.ValuesFileSchemes = nil },
		},
		"BadFlag": {
			reason:   "a flag is true or false",
			objects:  config("kustomize.enable", "yes"),
			want:     func(*Settings) {},
			problems: []string{`ConfigMap argocd-cm: kustomize.enable: "yes" is neither true nor false`},
		},
		"Kinds": {
			reason:  "kinds that are passed over, and those that alone are not",
			objects: config("resource.exclusions", "- {apiGroups: [cilium.io], kinds: [CiliumIdentity], clusters: ['*.local']}\n", "resource.inclusions", "- apiGroups: ['*']\n"),
			want: func(s *Settings) {
				s.Resources = Filter{
					Exclusions: []Kinds{{[]string{"cilium.io"}, []string{"CiliumIdentity"}, []string{"*.local"}}}, Inclusions: []Kinds{{APIGroups: []string{"*"}}},
				}
			},
		},
		"BadKinds": {
			reason:  "a field that is misspelled, and a pattern that is none",
			objects: config("resource.exclusions", "- apiGroup: [x]", "resource.inclusions", "- apiGroups: ['[a']"),
			want:    func(*Settings) {},
			problems: []string{
				`ConfigMap argocd-cm: resource.exclusions: "- apiGroup: [x]" is invalid: error unmarshaling JSON: while decoding JSON: json: unknown field "apiGroup"`,
				`ConfigMap argocd-cm: resource.inclusions: "[a" is not a pattern: unexpected end of input`,
			},
		},
		"Compare": {
			reason:  "comparisons",
			objects: config("resource.compareoptions", "ignoreAggregatedRoles: true\nignoreResourceStatusField: crd\nignoreDifferencesOnResourceUpdates: false\n", "resource.ignoreResourceUpdatesEnabled", "false", "resource.respectRBAC", "strict"),
			want: func(s *Settings) {
				s.Compare = Compare{IgnoreAggregatedRoles: true, IgnoreStatus: IgnoreStatusOfDefinitions}
				s.IgnoreUpdates, s.RespectRBAC = false, "strict"
			},
		},
		"StatusOff": {
			reason:  "off without quotes is false to YAML",
			objects: config("resource.compareoptions", "ignoreResourceStatusField: off"),
			want:    func(s *Settings) { s.Compare.IgnoreStatus = IgnoreStatusOfNone },
		},
		"BadStatus": {
			reason:   "a word that does not exist",
			objects:  config("resource.compareoptions", "ignoreResourceStatusField: some"),
			want:     func(*Settings) {},
			problems: []string{`ConfigMap argocd-cm: resource.compareoptions: "ignoreResourceStatusField: some" has an ignoreResourceStatusField that is not one of all, crd, none`},
		},
		"Accounts": {
			reason: "the cluster of the installation, impersonation, projects that hold for all",
			objects: config("cluster.inClusterEnabled", "false", "application.sync.impersonation.enabled", "true", "application.sync.impersonation.enforced", "false",
				"globalProjects", "- projectName: base\n  labelSelector: {matchLabels: {a: b}}\n"),
			want: func(s *Settings) {
				s.InCluster, s.Impersonation = false, Impersonation{Enabled: true}
				s.GlobalProjects = []GlobalProject{{"base", metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}
			},
		},
		"Named": {
			reason:  "what is known upstream is named with whom it is for, and what nobody knows as well",
			objects: config("dex.config", "x", "accounts.alice", "login", "sourceHydrator.readmeMessageTemplate", "x", "extension.config.foo", "x", "resource.server-side-diff", "true"),
			want: func(s *Settings) {
				s.Unserved = []Unserved{
					{"ConfigMap argocd-cm", "accounts.alice", ConcernServer},
					{"ConfigMap argocd-cm", "dex.config", ConcernServer},
					{"ConfigMap argocd-cm", "extension.config.foo", ConcernServer},
					{"ConfigMap argocd-cm", "sourceHydrator.readmeMessageTemplate", ConcernEngine},
				}
				s.Unknown = []Unserved{{Object: "ConfigMap argocd-cm", Key: "resource.server-side-diff"}}
			},
		},
		"Webhooks": {
			reason:  "by what forges are verified; the rest of that Secret is for logins",
			objects: Objects{Secrets: []corev1.Secret{secret(SecretName, "", "webhook.github.secret", "hunter2\n", "admin.password", "x", "server.secretkey", "y")}},
			want: func(s *Settings) {
				s.Webhook.Secrets["github.secret"] = NewSecret("hunter2")
				s.Unserved = []Unserved{{"Secret argocd-secret", "admin.password", ConcernServer}, {"Secret argocd-secret", "server.secretkey", ConcernServer}}
			},
		},
		"Permissions": {
			reason:  "permissions of people are named alone",
			objects: Objects{ConfigMaps: []corev1.ConfigMap{configMap(RBACName, "policy.csv", "p, x", "policy.default", "role:readonly")}},
			want: func(s *Settings) {
				s.Unserved = []Unserved{{"ConfigMap argocd-rbac-cm", "policy.csv", ConcernServer}, {"ConfigMap argocd-rbac-cm", "policy.default", ConcernServer}}
			},
		},
		"Controller": {
			reason: "parameters of the controller and of the repository server",
			objects: params("application.namespaces", "web, team-*", "controller.diff.server.side", "true", "controller.sync.timeout.seconds", "600",
				"controller.self.heal.timeout.seconds", "5", "controller.self.heal.backoff.timeout.seconds", "1", "controller.self.heal.backoff.factor", "2",
				"controller.self.heal.backoff.cap.seconds", "60", "controller.resource.health.persist", "true", "controller.repo.error.grace.period.seconds", "0",
				"controller.repo.server.timeout.seconds", "300", "reposerver.enable.git.submodule", "false", "reposerver.git.request.timeout", "1m",
				"reposerver.include.hidden.directories", "true", "reposerver.allow.oob.symlinks", "true"),
			want: func(s *Settings) {
				s.Namespaces, s.Compare.ServerSide = []string{"web", "team-*"}, true
				s.Controller = Controller{
					SyncTimeout: 10 * time.Minute, SelfHeal: SelfHeal{Fixed: 5 * time.Second, Initial: time.Second, Cap: time.Minute, Factor: 2},
					PersistHealth: true, RenderTimeout: 5 * time.Minute,
				}
				s.Fetching = Fetching{GitTimeout: time.Minute, HiddenDirectories: true, OutOfBoundsSymlinks: true}
			},
		},
		"AppSets": {
			reason: "parameters of the controller of ApplicationSets",
			objects: params("applicationsetcontroller.policy", "create-only", "applicationsetcontroller.enable.policy.override", "true", "applicationsetcontroller.enable.progressive.syncs", "true",
				"applicationsetcontroller.enable.new.git.file.globbing", "true", "applicationsetcontroller.dryrun", "true", "applicationsetcontroller.requeue.after", "10m",
				"applicationsetcontroller.namespaces", "argocd,web", "applicationsetcontroller.enable.scm.providers", "false", "applicationsetcontroller.allowed.scm.providers", "https://git.example.com/",
				"applicationsetcontroller.enable.tokenref.strict.mode", "true", "applicationsetcontroller.global.preserved.annotations", "a", "applicationsetcontroller.global.preserved.labels", "b,c",
				"applicationsetcontroller.enable.git.submodule", "false", "applicationsetcontroller.status.max.resources.count", "10"),
			want: func(s *Settings) {
				s.AppSets = ApplicationSets{
					Policy: "create-only", PolicyOverride: true, Progressive: true, NewGlobbing: true, DryRun: true, Requeue: 10 * time.Minute,
					Namespaces: []string{"argocd", "web"}, AllowedSCMProviders: []string{"https://git.example.com/"}, StrictTokens: true,
					PreservedAnnotations: []string{"a"}, PreservedLabels: []string{"b", "c"}, MaxResources: 10,
				}
			},
		},
		"Processes": {
			reason:  "what tunes processes is named, the narrower name first",
			objects: params("controller.status.processors", "50", "controller.sync.wave.delay.seconds", "0", "server.insecure", "true", "reposerver.oci.layer.media.types", "x", "otlp.address", "x", "controler.status", "1"),
			want: func(s *Settings) {
				const o = "ConfigMap argocd-cmd-params-cm"
				s.Unserved = []Unserved{
					{o, "controller.status.processors", ConcernProcess},
					{o, "controller.sync.wave.delay.seconds", ConcernEngine},
					{o, "otlp.address", ConcernProcess},
					{o, "reposerver.oci.layer.media.types", ConcernEngine},
					{o, "server.insecure", ConcernServer},
				}
				s.Unknown = []Unserved{{Object: o, Key: "controler.status"}}
			},
		},
		"BadParams": {
			reason:  "bad parameters are named with their ConfigMap",
			objects: params("controller.diff.server.side", "on", "applicationsetcontroller.policy", "never", "controller.sync.timeout.seconds", "10m"),
			want:    func(*Settings) {},
			problems: []string{
				`ConfigMap argocd-cmd-params-cm: controller.diff.server.side: "on" is neither true nor false`,
				`ConfigMap argocd-cmd-params-cm: controller.sync.timeout.seconds: "10m" is not a number >= 0`,
				`ConfigMap argocd-cmd-params-cm: applicationsetcontroller.policy: "never" is not one of sync, create-only, create-update, create-delete`,
			},
		},
		"Trust": {
			reason: "keys of hosts, certificates, and keys for signatures; what is none is bad",
			objects: Objects{ConfigMaps: []corev1.ConfigMap{
				configMap(KnownHostsName, "ssh_known_hosts", "git.example.com ssh-ed25519 AAAA\n"),
				configMap(CertificatesName, "git.example.com", certificate, "other.example.com", "x"),
				configMap(KeysName, "4AEE18F83AFDEB23", key, "1", "x"),
			}},
			want: func(s *Settings) {
				s.KnownHosts = "git.example.com ssh-ed25519 AAAA"
				s.Certificates["git.example.com"], s.Keys["4AEE18F83AFDEB23"] = certificate, key
			},
			problems: []string{
				`ConfigMap argocd-tls-certs-cm: other.example.com: "x" is not a PEM certificate`,
				`ConfigMap argocd-gpg-keys-cm: 1: "x" is not an armored OpenPGP public key`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := Defaults()
			tc.want(&want)
			got, err := Read(tc.objects)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.problems, problemsOf(err)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

const certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"

const key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----"
