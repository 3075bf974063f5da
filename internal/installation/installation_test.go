package installation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/helm"
)

func TestObjects(t *testing.T) {
	cases := map[string]struct {
		reason   string
		serve    []string
		shards   string
		services []string
		// shard are the selectors of the Deployments.
		shard []string
	}{
		"all": {
			reason: "the names that routes and other controllers expect lead here", serve: []string{"flux"},
			services: []string{"headgate", "notification-controller", "webhook-receiver"}, shard: []string{""},
		},
		"some": {
			reason: "the Services of a notification-controller that stays are its own", serve: []string{"kustomize.toolkit.fluxcd.io"},
			services: []string{"headgate"}, shard: []string{""},
		},
		"shards": {
			reason: "each shard has a Deployment, and the first one serves the rest", serve: []string{"kustomize.toolkit.fluxcd.io"}, shards: "{a}",
			services: []string{"headgate", "headgate-a"}, shard: []string{"!sharding.fluxcd.io/key", "sharding.fluxcd.io/key=a"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			groups, err := flux.ParseGroups(c.serve)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Serve: groups}
			if c.shards != "" {
				o.Values = append(o.Values, helm.Layer{From: "--set shards", TargetPath: "shards", Data: []byte(c.shards)})
			}
			objects, err := Objects(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			var services, shards []string
			for _, object := range objects {
				switch object.GetKind() {
				case "Service":
					services = append(services, object.GetName())
				case "Deployment":
					var d appsv1.Deployment
					if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &d); err != nil {
						t.Fatal(err)
					}
					shards = append(shards, selectorOf(&d))
				}
			}
			slices.Sort(services)
			slices.Sort(shards)
			if diff := cmp.Diff(c.services, services); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.shard, shards); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
