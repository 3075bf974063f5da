package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestCustomizations(t *testing.T) {
	cases := map[string]struct {
		reason   string
		pairs    []string
		want     map[string]Customization
		problems []string
	}{
		"Kinds": {
			reason: "a key for each kind and each type",
			pairs: []string{
				"resource.customizations.health.argoproj.io_Application", "return {}", "resource.customizations.useOpenLibs.argoproj.io_Application", "true",
				"resource.customizations.health.Service", "hs = {}", "resource.customizations.actions.apps_Deployment", "discovery.lua: x",
				"resource.customizations.ignoreDifferences.all", "managedFieldsManagers: [kube-controller-manager]\njsonPointers: [/spec/replicas]\n",
				"resource.customizations.ignoreDifferences._PersistentVolumeClaim", "jqPathExpressions: [.spec.volumeName]",
				"resource.customizations.ignoreResourceUpdates.*.example.com_*", "jsonPointers: [/status]",
				"resource.customizations.knownTypeFields.example.com_Widget", "- {field: spec.template, type: core/v1/PodSpec}",
			},
			want: map[string]Customization{
				"argoproj.io/Application": {Health: "return {}", OpenLibs: true},
				"Service":                 {Health: "hs = {}"},
				"apps/Deployment":         {Actions: "discovery.lua: x"},
				"*/*":                     {IgnoreDifferences: Ignore{JSONPointers: []string{"/spec/replicas"}, ManagedFieldsManagers: []string{"kube-controller-manager"}}},
				"/PersistentVolumeClaim":  {IgnoreDifferences: Ignore{JQPathExpressions: []string{".spec.volumeName"}}},
				"*.example.com/*":         {IgnoreUpdates: Ignore{JSONPointers: []string{"/status"}}},
				"example.com/Widget":      {KnownTypeFields: []KnownTypeField{{"spec.template", "core/v1/PodSpec"}}},
			},
		},
		"Old": {
			reason: "one document with all kinds; a key wins over what it says",
			pairs: []string{
				"resource.customizations", "apps/Deployment:\n  health.lua: old\n  ignoreDifferences: |\n    jsonPointers: [/spec/replicas]\n  knownTypeFields: [{field: spec, type: core/v1/PodSpec}]\n",
				"resource.customizations.health.apps_Deployment", "new",
			},
			want: map[string]Customization{
				"apps/Deployment": {Health: "new", IgnoreDifferences: Ignore{JSONPointers: []string{"/spec/replicas"}}, KnownTypeFields: []KnownTypeField{{"spec", "core/v1/PodSpec"}}},
			},
		},
		"Bad": {
			reason: "keys of no form, types that do not exist, documents that are none",
			pairs: []string{
				"resource.customizations.health", "x", "resource.customizations.heath.apps_Deployment", "y",
				"resource.customizations.ignoreDifferences.apps_Deployment", "jsonPointer: [/a]", "resource.customizations.health.a_b_c", "z",
			},
			want: map[string]Customization{"apps/Deployment": {}},
			problems: []string{
				`ConfigMap argocd-cm: resource.customizations.health: "x" has a key that is not resource.customizations.TYPE.GROUP_KIND`,
				`ConfigMap argocd-cm: resource.customizations.health.a_b_c: "z" has a key that is not resource.customizations.TYPE.GROUP_KIND`,
				`ConfigMap argocd-cm: resource.customizations.heath.apps_Deployment: "y" customizes heath, which is unknown`,
				`ConfigMap argocd-cm: resource.customizations.ignoreDifferences.apps_Deployment: "jsonPointer: [/a]" is invalid: error unmarshaling JSON: while decoding JSON: json: unknown field "jsonPointer"`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Read(Objects{ConfigMaps: []corev1.ConfigMap{configMap(ConfigName, tc.pairs...)}})
			if diff := cmp.Diff(tc.want, got.Customizations); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			// The order is not told to matter, but it does not change either.
			texts := problemsOf(err)
			if diff := cmp.Diff(len(tc.problems), len(texts)); diff != "" {
				t.Fatalf("%s: %v", tc.reason, texts)
			}
			for _, problem := range tc.problems {
				if !strings.Contains(strings.Join(texts, "\n"), problem) {
					t.Errorf("%s: %q is not among\n%s", tc.reason, problem, strings.Join(texts, "\n"))
				}
			}
		})
	}
}
