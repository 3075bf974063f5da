package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

func TestValidate(t *testing.T) {
	s := settings.Defaults()
	s.Clusters = []settings.Cluster{{Name: "prod", Server: "https://prod"}, {Name: "twin", Server: "https://a"}, {Name: "twin", Server: "https://b"}}
	all := v1alpha1.AppProjectSpec{SourceRepos: []string{"*"}, Destinations: []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}}}
	type app = v1alpha1.Application
	for name, tc := range map[string]struct {
		reason  string
		project v1alpha1.AppProjectSpec
		change  func(*app)
		want    []string
	}{
		"Good":      {"", all, func(*app) {}, nil},
		"ByName":    {"", all, func(a *app) { a.Spec.Destination = v1alpha1.ApplicationDestination{Name: "in-cluster"} }, nil},
		"NoSource":  {"", all, func(a *app) { a.Spec.Source = nil }, []string{"spec.source.repoURL and either spec.source.path or spec.source.chart are required"}},
		"NoRepo":    {"", all, func(a *app) { a.Spec.Source.RepoURL = "" }, []string{"spec.source.repoURL and either spec.source.path or spec.source.chart are required"}},
		"NoPath":    {"", all, func(a *app) { a.Spec.Source.Path = "" }, []string{"spec.source.repoURL and either spec.source.path or spec.source.chart are required"}},
		"NoVersion": {"", all, func(a *app) { a.Spec.Source.Chart = "redis" }, []string{"spec.source.targetRevision is required if the manifest source is a helm chart"}},
		"SecondBad": {"", all, func(a *app) {
			a.Spec.Sources = []v1alpha1.ApplicationSource{{RepoURL: "https://a", Ref: "v"}, {RepoURL: "https://u:pw@b"}}
		}, []string{"spec.source.repoURL and either source.path, source.chart, or source.ref are required for source spec.sources[1] https://b"}},
		"NoPlace":   {"", all, func(a *app) { a.Spec.Destination = v1alpha1.ApplicationDestination{} }, []string{"Destination server missing from app spec: spec.destination names neither a server nor a cluster"}},
		"TwoPlaces": {"", all, func(a *app) { a.Spec.Destination.Name = "prod" }, []string{"application destination can't have both name and server defined: prod https://prod"}},
		"NoName":    {"a name that is not known is never the host", all, func(a *app) { a.Spec.Destination = v1alpha1.ApplicationDestination{Name: "prd"} }, []string{"there are no clusters with this name: prd"}},
		"TwoOfName": {"", all, func(a *app) { a.Spec.Destination = v1alpha1.ApplicationDestination{Name: "twin"} }, []string{`error getting cluster by name "twin": there are 2 clusters named "twin"`}},
		"NoServer":  {"", all, func(a *app) { a.Spec.Destination.Server = "https://gone" }, []string{`error getting cluster by server "https://gone": cluster "https://gone" not found`}},
		"Elsewhere": {"", all, func(a *app) { a.Namespace = "team" }, []string{"application 'web' in namespace 'team' is not permitted to use project 'p'"}},
		"BadRetries": {"", all, func(a *app) {
			a.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Retry: &v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "x"}}}
		}, []string{`spec.syncPolicy.retry.backoff.duration: unable to parse "x" as a duration; use seconds, or a duration such as 2m`}},
		"Forbidden": {"both are said at once", v1alpha1.AppProjectSpec{}, func(*app) {}, []string{
			"application repo https://github.com/a/b is not permitted in project 'p'",
			"application destination server 'https://prod' and namespace 'shop' do not match any of the allowed destinations in project 'p'",
		}},
		"ForbiddenName": {"a cluster is named as the Application does", v1alpha1.AppProjectSpec{SourceRepos: []string{"*"}}, func(a *app) { a.Spec.Destination = v1alpha1.ApplicationDestination{Name: "prod"} }, []string{
			"application destination server 'prod' and namespace '' do not match any of the allowed destinations in project 'p'",
		}},
		"OneOfSeveral": {"", v1alpha1.AppProjectSpec{SourceRepos: []string{"https://a"}, Destinations: all.Destinations}, func(a *app) {
			a.Spec.Sources = []v1alpha1.ApplicationSource{{RepoURL: "https://a", Ref: "v"}, {RepoURL: "https://b", Path: "."}}
		}, []string{"application repo https://b is not permitted in project 'p'"}},
		"Hydrator": {"", all, func(a *app) {
			a.Spec.SourceHydrator = &v1alpha1.SourceHydrator{HydrateTo: &v1alpha1.HydrateTo{}}
		}, []string{
			"spec.sourceHydrator.drySource.repoURL is required", "spec.sourceHydrator.syncSource.targetBranch is required",
			"when spec.sourceHydrator.hydrateTo is set, spec.sourceHydrator.hydrateTo.targetBranch is required",
		}},
		"HydratorForbidden": {"", v1alpha1.AppProjectSpec{SourceRepos: []string{"https://a"}, Destinations: all.Destinations}, func(a *app) {
			a.Spec.SourceHydrator = &v1alpha1.SourceHydrator{DrySource: v1alpha1.DrySource{RepoURL: "https://a"}, SyncSource: v1alpha1.SyncSource{RepoURL: "https://b", TargetBranch: "out"}}
		}, []string{"sync source repo https://b is not permitted in project 'p'"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "argocd"}, Spec: v1alpha1.ApplicationSpec{
				Project: "p", Source: &v1alpha1.ApplicationSource{RepoURL: "https://github.com/a/b", Path: "."},
				Destination: v1alpha1.ApplicationDestination{Server: "https://prod", Namespace: "shop"},
			}}
			tc.change(a)
			var got []string
			for _, c := range Validate(a, project(t, tc.project), s, "argocd") {
				if c.Type != v1alpha1.ApplicationConditionInvalidSpecError {
					t.Errorf("type %s", c.Type)
				}
				got = append(got, c.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestValidateNoProject(t *testing.T) {
	got := Validate(&v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Project: "gone"}}, nil, settings.Defaults(), "argocd")
	if len(got) != 1 || got[0].Message != "Application referencing project gone which does not exist" {
		t.Errorf("got %+v", got)
	}
}
