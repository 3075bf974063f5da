package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

func TestOptionsOf(t *testing.T) {
	defaults := func(change func(*Options)) Options {
		o := Options{Migrate: true, Propagation: metav1.DeletePropagationForeground, Objects: ObjectOptions{Validate: true}}
		change(&o)
		return o
	}
	for name, tc := range map[string]struct {
		reason    string
		app       []string
		operation *v1alpha1.SyncOperation
		want      Options
	}{
		"None": {"", nil, nil, defaults(func(*Options) {})},
		"All": {"", []string{
			"Prune=confirm", "Delete=false", "Validate=false", "SkipDryRunOnMissingResource=true", "ApplyOutOfSyncOnly=true",
			"PrunePropagationPolicy=orphan", "PruneLast=true", "Replace=true", "Force=true", "ServerSideApply=true",
			"ClientSideApplyMigration=false", "FailOnSharedResource=true", "RespectIgnoreDifferences=true", "CreateNamespace=true",
		}, nil, Options{
			Objects: ObjectOptions{
				Prune: GuardConfirm, Delete: GuardForbid, SkipDryRunOnMissing: true, Replace: true, Force: true,
				ServerSide: true, ServerSideSaid: true, PruneLast: true,
			},
			OutOfSyncOnly: true, CreateNamespace: true, FailOnShared: true, RespectIgnored: true, Propagation: metav1.DeletePropagationOrphan,
		}},
		"Off":  {"", []string{"ServerSideApply=false", "Replace=false"}, nil, defaults(func(o *Options) { o.Objects.ServerSideSaid = true })},
		"Last": {"", []string{"Replace=true", " Replace=false "}, nil, defaults(func(*Options) {})},
		"Unknown": {"", []string{"Replace=yes", "ServerSideDiff=true", "PrunePropagationPolicy=slow", "Prune", "", "createNamespace=true"}, nil, defaults(func(o *Options) {
			o.Unknown = []string{"Replace=yes", "ServerSideDiff=true", "PrunePropagationPolicy=slow", "Prune", "createNamespace=true"}
		})},
		"Operat.":  {"what a person lists takes the place of the rest", []string{"Replace=true"}, &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true"}}, defaults(func(o *Options) { o.CreateNamespace = true })},
		"NoneOfOp": {"", []string{"CreateNamespace=true"}, &v1alpha1.SyncOperation{}, defaults(func(o *Options) { o.CreateNamespace = true })},
		"Forced":   {"", nil, &v1alpha1.SyncOperation{SyncStrategy: &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{Force: true}}}, defaults(func(o *Options) { o.Objects.Force = true })},
		"NoHooks":  {"", nil, &v1alpha1.SyncOperation{SyncStrategy: &v1alpha1.SyncStrategy{Apply: &v1alpha1.SyncStrategyApply{Force: true}}}, defaults(func(o *Options) { o.Objects.Force = true })},
	} {
		t.Run(name, func(t *testing.T) {
			app := &v1alpha1.Application{}
			if tc.app != nil {
				app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{SyncOptions: tc.app}
			}
			if diff := cmp.Diff(tc.want, OptionsOf(app, tc.operation)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestOptionsFor(t *testing.T) {
	for name, tc := range map[string]struct {
		reason      string
		app         []string
		annotations map[string]string
		want        ObjectOptions
	}{
		"None":       {"", []string{"Prune=false"}, nil, ObjectOptions{Validate: true, Prune: GuardForbid}},
		"Over":       {"what the object says comes first", []string{"Prune=false", "ServerSideApply=true", "Replace=true"}, map[string]string{v1alpha1.SyncOptionsAnnotation: "Prune=true, ServerSideApply=false,Replace=false"}, ObjectOptions{Validate: true, ServerSideSaid: true}},
		"Own":        {"", nil, map[string]string{v1alpha1.SyncOptionsAnnotation: "Force=true,Replace=true , ,Delete=confirm"}, ObjectOptions{Validate: true, Force: true, Replace: true, Delete: GuardConfirm}},
		"Keep":       {"Helm's word is that nothing deletes it", nil, map[string]string{"helm.sh/resource-policy": "keep"}, ObjectOptions{Validate: true, Delete: GuardForbid}},
		"KeepButNot": {"", nil, map[string]string{"helm.sh/resource-policy": "keep", v1alpha1.SyncOptionsAnnotation: "Delete=true"}, ObjectOptions{Validate: true}},
		"OfApps":     {"options of Applications are none of objects", nil, map[string]string{v1alpha1.SyncOptionsAnnotation: "CreateNamespace=true"}, ObjectOptions{Validate: true, Unknown: []string{"CreateNamespace=true"}}},
	} {
		t.Run(name, func(t *testing.T) {
			o := OptionsOf(&v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{SyncPolicy: &v1alpha1.SyncPolicy{SyncOptions: tc.app}}}, nil)
			if diff := cmp.Diff(tc.want, o.For(&metav1.ObjectMeta{Annotations: tc.annotations})); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestCompareOptionsOf(t *testing.T) {
	for name, tc := range map[string]struct {
		annotation string
		settings   bool
		want       CompareOptions
	}{
		"Settings":   {"", true, CompareOptions{ServerSide: true}},
		"Off":        {"ServerSideDiff=false", true, CompareOptions{ServerSideSaid: true}},
		"On":         {"ServerSideDiff=true, IncludeMutationWebhook=true", false, CompareOptions{ServerSide: true, ServerSideSaid: true, IncludeWebhooks: true}},
		"Extraneous": {"IgnoreExtraneous", false, CompareOptions{IgnoreExtraneous: true}},
		"NotExtra":   {"IgnoreExtraneous=false", false, CompareOptions{}},
		"Unknown":    {"ServerSideDiff,IgnoreExtra", false, CompareOptions{Unknown: []string{"ServerSideDiff", "IgnoreExtra"}}},
	} {
		t.Run(name, func(t *testing.T) {
			object := &metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.CompareOptionsAnnotation: tc.annotation}}
			if diff := cmp.Diff(tc.want, CompareOptionsOf(object, tc.settings)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
