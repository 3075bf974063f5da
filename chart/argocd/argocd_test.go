package argocd_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/argocd"
)

func Example() {
	app := chart.NewApp(chart.Settings{})
	root := chart.New(app, "root", chart.Props{Namespace: "argocd"})
	wave := 5
	policy := argocd.Automated(argocd.CreateNamespace)
	policy.Retry = argocd.Retry(3, "10s", 2, "3m")
	argocd.Application(root, "web", argocd.ApplicationProps{
		Name: "web", Wave: &wave, DependsOn: []string{"postgres"}, SyncPolicy: policy,
		Destination: v1alpha1.ApplicationDestination{Namespace: "shop"},
		Sources:     []v1alpha1.ApplicationSource{{RepoURL: "https://example.org/deploy.git", Path: "web"}},
	})
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.YAML()))
	// Output:
	// apiVersion: argoproj.io/v1alpha1
	// kind: Application
	// metadata:
	//   annotations:
	//     argocd.argoproj.io/sync-wave: "5"
	//     headgate.dev/depends-on: Application/postgres
	//   name: web
	//   namespace: argocd
	// spec:
	//   destination:
	//     namespace: shop
	//     server: https://kubernetes.default.svc
	//   project: default
	//   source:
	//     path: web
	//     repoURL: https://example.org/deploy.git
	//   syncPolicy:
	//     automated:
	//       prune: true
	//       selfHeal: true
	//     retry:
	//       backoff:
	//         duration: 10s
	//         factor: 2
	//         maxDuration: 3m
	//       limit: 3
	//     syncOptions:
	//       - CreateNamespace=true
}

func TestNewApplication(t *testing.T) {
	git := v1alpha1.ApplicationSource{RepoURL: "https://example.org/deploy.git", Path: "web"}
	ref := v1alpha1.ApplicationSource{RepoURL: "https://example.org/values.git", Ref: "values"}
	wave := 5
	props := argocd.ApplicationProps{
		Name: "web", Namespace: "team", Project: "shop", Wave: &wave, DependsOn: []string{"a", "b"}, Sources: []v1alpha1.ApplicationSource{git, ref},
		Annotations: map[string]string{v1alpha1.SyncWaveAnnotation: "7"}, Destination: v1alpha1.ApplicationDestination{Name: "remote"},
		SyncPolicy: argocd.AutomatedWith(false, true),
	}
	got := argocd.NewApplication(props)
	want := map[string]string{v1alpha1.SyncWaveAnnotation: "7", argocd.DependsOn: "Application/a, Application/b"}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Errorf("an annotation that is given wins (-want +got):\n%s", diff)
	}
	if got.Spec.Source != nil || len(got.Spec.Sources) != 2 || got.Spec.Destination.Server != "" || got.Spec.Project != "shop" {
		t.Errorf("two sources, a named cluster and a project: %+v", got.Spec)
	}
	*got.Spec.SyncPolicy.Automated.Prune = true
	got.Annotations["more"] = "x"
	if *props.SyncPolicy.Automated.Prune || len(props.Annotations) != 1 {
		t.Error("the props changed with the Application")
	}
	if alone := argocd.NewApplication(argocd.ApplicationProps{Sources: []v1alpha1.ApplicationSource{ref}}); alone.Spec.Source != nil || len(alone.Spec.Sources) != 1 {
		t.Error("a reference is not a source of its own")
	}
	if argocd.Manual(argocd.Replace).Automated != nil {
		t.Error("a manual policy is automated")
	}
}

func TestAppProject(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	project := argocd.AppProject(chart.New(app, "c", chart.Props{Namespace: "argocd"}), "project", argocd.ProjectProps{
		Name: "shop", SourceRepos: []string{"https://example.org/*"}, Destinations: []v1alpha1.ApplicationDestination{{Name: "*", Namespace: "shop-*"}},
		ClusterResources: []v1alpha1.ClusterResourceRestrictionItem{{Kind: "Namespace"}},
	})
	project.Value.Spec.Description = "changed later"
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"clusterResourceWhitelist": []any{map[string]any{"group": "", "kind": "Namespace"}}, "description": "changed later",
		"destinations": []any{map[string]any{"name": "*", "namespace": "shop-*"}}, "sourceRepos": []any{"https://example.org/*"},
	}
	if diff := cmp.Diff(want, result.Manifests()[0].Object["spec"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
