package flux

import (
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/engine"
)

func TestKubeconfigRefersToNothingOutside(t *testing.T) {
	const file = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://k.example"CLUSTER}}]
users: [{name: u, user: {USER}}]
`
	cases := map[string]struct{ reason, cluster, user, want string }{
		"token":        {"a token is all it takes", "", "token: t", ""},
		"certificates": {"so are certificates", ", certificate-authority-data: eA==", "client-certificate-data: eA==, client-key-data: eA==", ""},
		"ca file":      {"a file would be the engine's", ", certificate-authority: /etc/ca", "token: t", "certificate-authority names a file"},
		"cert file":    {"a file would be the engine's", "", "client-certificate: /c", "client-certificate names a file"},
		"key file":     {"a file would be the engine's", "", "client-certificate-data: eA==, client-key: /k", "client-key names a file"},
		"token file":   {"a file would be the engine's", "", "tokenFile: /var/run/secrets/token", "tokenFile names a file"},
		"program":      {"a program would run as the engine", "", "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}", "exec runs a program"},
		"plugin":       {"plugins are gone", "", "auth-provider: {name: gcp}", "auth-provider is not supported"},
		"no TLS check": {"nobody would know who answers", ", insecure-skip-tls-verify: true", "token: t", "insecure-skip-tls-verify is not allowed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("CLUSTER", c.cluster, "USER", c.user).Replace(file)
			config, err := kubeconfig([]byte(text), false)
			switch {
			case c.want == "" && (err != nil || config.Host != "https://k.example"):
				t.Errorf("%s: got %v, error %v", c.reason, config, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: error %v, want %q", c.reason, err, c.want)
			}
		})
	}
	for name, text := range map[string]string{
		"no YAML": "a: b: c", "no context": "apiVersion: v1\nkind: Config\n", "empty": "",
		"no cluster": "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n",
	} {
		if _, err := kubeconfig([]byte(text), false); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := kubeconfig([]byte(strings.NewReplacer("CLUSTER", ", insecure-skip-tls-verify: true", "USER", "token: t").Replace(file)), true); err != nil {
		t.Errorf("what the operator permits is refused: %v", err)
	}
}

func TestPolicy(t *testing.T) {
	strict := Policy{DefaultServiceAccount: "deployer", NoCrossNamespaceRefs: true}
	cases := map[string]struct {
		reason  string
		policy  Policy
		change  func(*kustomizev1.Kustomization)
		target  engine.Target
		invalid string
	}{
		"open":        {"nobody is impersonated unless told so", Policy{}, nil, engine.Target{}, ""},
		"default":     {"the default account is one of the unit's namespace", strict, nil, engine.Target{User: "system:serviceaccount:team:deployer"}, ""},
		"own account": {"an account that is named counts", strict, func(ks *kustomizev1.Kustomization) { ks.Spec.ServiceAccountName = "x" }, engine.Target{User: "system:serviceaccount:team:x"}, ""},
		"the root": {"the root of the operator is not a tenant's", strict, func(ks *kustomizev1.Kustomization) {
			ks.Namespace, ks.Name, ks.Spec.SourceRef.Namespace = Namespace, System, ""
		}, engine.Target{}, ""},
		"remote": {"the account is one of the other cluster", strict, func(ks *kustomizev1.Kustomization) {
			ks.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "kc"}}
		}, engine.Target{Cluster: "Secret/team/kc/", User: "system:serviceaccount:team:deployer"}, ""},
		"foreign source": {"a source of another namespace is refused", strict, func(ks *kustomizev1.Kustomization) {
			ks.Spec.SourceRef.Namespace = "other"
		}, engine.Target{User: "system:serviceaccount:team:deployer"}, string(engine.ReasonAccessDenied + ": spec.sourceRef: GitRepository/other/repo is in another namespace; references across namespaces are blocked on this cluster")},
		"foreign source, open": {"which is no matter without that rule", Policy{}, func(ks *kustomizev1.Kustomization) {
			ks.Spec.SourceRef.Namespace = "other"
		}, engine.Target{}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ks := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "app"}}
			ks.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: "repo"}
			if c.change != nil {
				c.change(ks)
			}
			u := declare(c.policy, ks)
			invalid := ""
			if u.Invalid != (engine.Invalid{}) {
				invalid = string(u.Invalid.Reason) + ": " + u.Invalid.Message
			}
			if diff := cmp.Diff(c.target, u.Target); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if invalid != c.invalid {
				t.Errorf("%s: invalid is %q, want %q", c.reason, invalid, c.invalid)
			}
		})
	}
}
