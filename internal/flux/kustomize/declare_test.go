package kustomize

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

func TestPolicy(t *testing.T) {
	strict := policies.Policy{DefaultServiceAccount: "deployer", NoCrossNamespaceRefs: true}
	cases := map[string]struct {
		reason  string
		policy  policies.Policy
		change  func(*kustomizev1.Kustomization)
		target  engine.Target
		invalid string
	}{
		"open":        {"nobody is impersonated unless told so", policies.Policy{}, nil, engine.Target{}, ""},
		"default":     {"the default account is one of the unit's namespace", strict, nil, engine.Target{User: "system:serviceaccount:team:deployer"}, ""},
		"own account": {"an account that is named counts", strict, func(ks *kustomizev1.Kustomization) { ks.Spec.ServiceAccountName = "x" }, engine.Target{User: "system:serviceaccount:team:x"}, ""},
		"the root": {"the root of the operator is not a tenant's", strict, func(ks *kustomizev1.Kustomization) {
			ks.Namespace, ks.Name, ks.Spec.SourceRef.Namespace = toolkit.Namespace, toolkit.System, ""
		}, engine.Target{}, ""},
		"remote": {"the account is one of the other cluster", strict, func(ks *kustomizev1.Kustomization) {
			ks.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "kc"}}
		}, engine.Target{Cluster: "Secret/team/kc/", User: "system:serviceaccount:team:deployer"}, ""},
		"foreign source": {"a source of another namespace is refused", strict, func(ks *kustomizev1.Kustomization) {
			ks.Spec.SourceRef.Namespace = "other"
		}, engine.Target{User: "system:serviceaccount:team:deployer"}, string(engine.ReasonAccessDenied) + ": spec.sourceRef: GitRepository/other/repo is in another namespace; references across namespaces are blocked on this cluster"},
		"foreign source, open": {"which is no matter without that rule", policies.Policy{}, func(ks *kustomizev1.Kustomization) {
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
			u := Declare(c.policy, ks)
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
