package takeover

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/flux/policies"
)

func TestFlagsOfAnInstance(t *testing.T) {
	patch := func(args ...string) fluxcdv1.FluxInstanceSpec {
		return fluxcdv1.FluxInstanceSpec{Kustomize: &fluxcdv1.Kustomize{Patches: []kustomize.Patch{{Patch: strings.Join(args, "\n")}}}}
	}
	cases := map[string]struct {
		spec   fluxcdv1.FluxInstanceSpec
		policy policies.Policy
		says   string
	}{
		"nothing": {},
		"policy": {
			patch("value: --no-cross-namespace-refs=true", `- "--sops-age-secret=sops-age"`, "value: --no-remote-bases"),
			policies.Policy{NoCrossNamespaceRefs: true, NoRemoteBases: true, AgeSecret: "sops-age"},
			"; in effect: --no-cross-namespace-refs=true, --sops-age-secret=sops-age, --no-remote-bases",
		},
		"switched off": {patch("--no-cross-namespace-refs=false"), policies.Policy{}, "; not needed: --no-cross-namespace-refs=false"},
		"idle": {
			patch("--concurrent=10", "--concurrent=20", "--feature-gates=OOMWatch=true,DisableChartDigestTracking=true"),
			policies.Policy{},
			"; not needed: --concurrent, gate OOMWatch, gate DisableChartDigestTracking",
		},
		"started with": {patch("--watch-label-selector=a=b"), policies.Policy{}, "; in effect only as a flag of headgate: --watch-label-selector=a=b"},
		"lax": {
			patch("--feature-gates=StrictPostBuildSubstitutions=false"),
			policies.Policy{LaxSubstitution: true},
			"; in effect: gate StrictPostBuildSubstitutions",
		},
		"unknown": {patch("--nope", "--feature-gates=Nope=true"), policies.Policy{}, "; not supported: --nope, gate Nope"},
		"tenants": {
			fluxcdv1.FluxInstanceSpec{Cluster: &fluxcdv1.Cluster{Multitenant: true}},
			policies.Policy{NoCrossNamespaceRefs: true, NoRemoteBases: true, DefaultServiceAccount: "default"},
			"; in effect: spec.cluster.multitenant",
		},
		"components": {fluxcdv1.FluxInstanceSpec{Components: []string{"source-controller", "image-reflector-controller"}}, policies.Policy{}, "; not supported: image-reflector-controller"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := WishesOf(tc.spec)
			if diff := cmp.Diff(tc.policy, got.Policy, cmpopts.EquateComparable(policies.Policy{})); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.says, got.words(true)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
