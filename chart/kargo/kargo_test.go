package kargo_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/kargo"
	"github.com/headgate-dev/headgate/chart/rbac"
)

func Example() {
	app := chart.NewApp(chart.Settings{})
	pipeline := chart.New(app, "pipeline", chart.Props{Namespace: "shop"})
	warehouse := kargo.Warehouse(pipeline, "warehouse", kargo.Meta{Name: "web"}, v1alpha1.WarehouseSpec{
		Subscriptions: kargo.Images(v1alpha1.ImageSubscription{RepoURL: "example.org/web", Constraint: "^1.0.0"}),
	})
	kargo.Stage(pipeline, "production", kargo.StageProps{
		Meta: kargo.Meta{Name: "production"}, Warehouse: warehouse.Name(), After: []string{"dev"},
		Steps: kargo.GitPipeline{
			RepoURL: "https://example.org/deploy.git", File: "images.json", Key: "production.web", Image: "example.org/web", Message: "promote web",
		}.Steps(),
	})
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.Manifests()[1].YAML()))
	// Output:
	// apiVersion: kargo.akuity.io/v1alpha1
	// kind: Stage
	// metadata:
	//   name: production
	//   namespace: shop
	// spec:
	//   promotionTemplate:
	//     spec:
	//       steps:
	//         - config:
	//             checkout:
	//               - branch: main
	//                 path: ./repo
	//             repoURL: https://example.org/deploy.git
	//           uses: git-clone
	//         - config:
	//             path: ./repo/images.json
	//             updates:
	//               - key: production.web
	//                 value: example.org/web:${{ imageFrom("example.org/web").Tag }}
	//           uses: json-update
	//         - config:
	//             message: promote web
	//             path: ./repo
	//           uses: git-commit
	//         - config:
	//             path: ./repo
	//             targetBranch: main
	//           uses: git-push
	//   requestedFreight:
	//     - origin:
	//         kind: Warehouse
	//         name: web
	//       sources:
	//         stages:
	//           - dev
}

func TestGitPipeline(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		pipeline kargo.GitPipeline
		want     []string
	}{
		"JSON": {"a file of JSON", kargo.GitPipeline{File: "a.json"}, []string{"git-clone", "json-update", "git-commit", "git-push"}},
		"YAML": {"a file of YAML", kargo.GitPipeline{File: "a/values.yaml"}, []string{"git-clone", "yaml-update", "git-commit", "git-push"}},
		"Sync": {"Applications are synced at the end", kargo.GitPipeline{File: "a.yml", Sync: []string{"web"}}, []string{"git-clone", "yaml-update", "git-commit", "git-push", "argocd-update"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, step := range tc.pipeline.Steps() {
				got = append(got, step.Uses)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	branch := kargo.GitPipeline{Branch: "next"}.Steps()
	if got := branch[3].Config["targetBranch"]; got != "next" {
		t.Errorf("it pushes to %v, want the branch that was cloned", got)
	}
	apps := kargo.Sync("argo", "a", "b").Config["apps"]
	want := []any{map[string]any{"name": "a", "namespace": "argo"}, map[string]any{"name": "b", "namespace": "argo"}}
	if diff := cmp.Diff(want, apps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProject(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	c := chart.New(app, "c", chart.Props{Namespace: "shop"})
	meta := kargo.Meta{Name: "shop", Labels: map[string]string{"team": "shop"}}
	namespace, project := kargo.Namespace(c, "namespace", meta), kargo.Project(c, "project", meta)
	config := kargo.ProjectConfig(c, "config", meta, v1alpha1.ProjectConfigSpec{PromotionPolicies: []v1alpha1.PromotionPolicy{kargo.Promote(true, "glob:*-dev")}})
	kargo.PromoterRole(c, "role", rbac.Props{Name: "promoter"})
	promoter := kargo.GitPromoter(c, "promoter", rbac.Props{Name: "git"}, "promoter", "git-promoter")
	if _, err := app.Synth(); err != nil {
		t.Fatal(err)
	}
	if got := namespace.Value.Labels; got["kargo.akuity.io/project"] != "true" || got["team"] != "shop" || len(meta.Labels) != 1 {
		t.Errorf("labels %v, want that by which the project adopts it, and the props unchanged", got)
	}
	if project.Namespace() != "" || config.Namespace() != "shop" {
		t.Errorf("namespaces %q and %q, want a project without one and a configuration in it", project.Namespace(), config.Namespace())
	}
	if got := promoter.Binding.Value; got.RoleRef.Name != "promoter" || got.Subjects[0].Namespace != "shop" || got.Subjects[0].Name != "git" {
		t.Errorf("the binding is %+v", got)
	}
	direct := kargo.Stage(c, "direct", kargo.StageProps{Warehouse: "w"})
	if got := direct.Value.Spec; !got.RequestedFreight[0].Sources.Direct || got.PromotionTemplate != nil {
		t.Errorf("a stage without others before it takes Freight directly, and one without steps has no template: %+v", got)
	}
}
