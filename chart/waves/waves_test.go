package waves_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/waves"
)

func Example() {
	app := chart.NewApp(chart.Settings{Resolvers: []chart.Resolver{waves.ByKind(waves.Table{"CronJob": 30})}})
	shop := chart.New(app, "shop", chart.Props{})
	chart.Add(shop, "namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.YAML()))
	// Output:
	// apiVersion: v1
	// kind: Namespace
	// metadata:
	//   annotations:
	//     argocd.argoproj.io/sync-wave: "-100"
	//   name: shop
}

func TestByKind(t *testing.T) {
	set := metav1.ObjectMeta{Annotations: map[string]string{waves.Annotation: "7", "other": "kept"}}
	for name, tc := range map[string]struct {
		reason   string
		resolver chart.Resolver
		object   any
		want     any
	}{
		"Default":   {"a kind of the table", waves.ByKind(), &corev1.Service{}, "10"},
		"Zero":      {"wave 0 is written too", waves.ByKind(), &appsv1.Deployment{}, "0"},
		"Unknown":   {"a kind that is in no table", waves.ByKind(), &corev1.Pod{}, nil},
		"Set":       {"a wave that is set stays", waves.ByKind(), &corev1.Secret{ObjectMeta: set}, "7"},
		"Overlaid":  {"a table over the defaults", waves.ByKind(waves.Table{"Secret": -5}), &corev1.Secret{}, "-5"},
		"Exact":     {"a table alone has no defaults", waves.Table{"Pod": 1}, &corev1.Service{}, nil},
		"Group":     {"a kind with its group wins", waves.ByKind(waves.Table{"Ingress": 1, "Ingress.networking.k8s.io": 2}), ingress("networking.k8s.io/v1"), "2"},
		"OtherKind": {"a kind of another group does not", waves.ByKind(waves.Table{"Ingress.networking.k8s.io": 2}), ingress("example.org/v1"), "20"},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{Resolvers: []chart.Resolver{tc.resolver}})
			chart.Add(chart.New(app, "c", chart.Props{Namespace: "x"}), "o", tc.object)
			result, err := app.Synth()
			if err != nil {
				t.Fatal(err)
			}
			metadata := result.Manifests()[0].Object["metadata"].(map[string]any)
			annotations, _ := metadata["annotations"].(map[string]any)
			if diff := cmp.Diff(tc.want, annotations[waves.Annotation]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if name == "Set" && annotations["other"] != "kept" {
				t.Error("another annotation is gone")
			}
		})
	}
}

func ingress(apiVersion string) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": "Ingress"}
}

func TestDefaultsAreNotShared(t *testing.T) {
	waves.Defaults()["Namespace"] = 5
	if got := waves.Defaults()["Namespace"]; got != -100 {
		t.Errorf("the wave of namespaces is %d for everyone, want -100", got)
	}
}
