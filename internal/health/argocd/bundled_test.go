package argocd

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// minimum is how many cases came with the module when the test was written; fewer would mean that they are not found any more.
const minimum = 1100

// TestBundledCases runs the cases that come with Argo CD's scripts. Each gives the status and the message that its author wants.
func TestBundledCases(t *testing.T) {
	checks, count := New(Settings{}), 0
	err := fs.WalkDir(resource_customizations.Embedded, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "health_test.yaml" {
			return err
		}
		var index struct {
			Tests []struct {
				InputPath    string `json:"inputPath"`
				HealthStatus Health `json:"healthStatus"`
			} `json:"tests"`
		}
		if err := yaml.Unmarshal(bundledFile(t, name), &index); err != nil {
			t.Fatalf("reading %s: %v", name, err)
		}
		for _, c := range index.Tests {
			count++
			t.Run(path.Join(path.Dir(name), c.InputPath), func(t *testing.T) {
				object := bundledObject(t, path.Join(path.Dir(name), c.InputPath))
				// The check itself, since some of the objects are being deleted.
				judge := checks.check(object.GroupVersionKind().GroupKind())
				if judge == nil {
					t.Fatalf("no check was found for %s", object.GroupVersionKind())
				}
				got, err := judge(t.Context(), object)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.HealthStatus, got); diff != "" {
					t.Errorf("the health is not what the case wants (-want +got):\n%s", diff)
				}
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < minimum {
		t.Errorf("%d cases were found, want %d at least", count, minimum)
	}
}

func bundledFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := resource_customizations.Embedded.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func bundledObject(t testing.TB, name string) *unstructured.Unstructured {
	t.Helper()
	return object(t, string(bundledFile(t, name)))
}

// object reads an object as one from a cluster is read: its whole numbers are int64.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(data, &u.Object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestBundledLookup(t *testing.T) {
	cases := map[string]struct{ reason, key, want string }{
		"exact":           {"a kind has a script of its own", "argoproj.io/Rollout", "argoproj.io/Rollout/health.lua"},
		"before wildcard": {"the script of a kind comes before one of its group", "pkg.crossplane.io/Provider", "pkg.crossplane.io/Provider/health.lua"},
		"group wildcard":  {"an underscore in the group stands for anything", "s3.example.crossplane.io/Bucket", "_.crossplane.io/_/health.lua"},
		"kind wildcard":   {"an underscore stands for any kind of a group", "operator.victoriametrics.com/VMAgent", "operator.victoriametrics.com/_/health.lua"},
		"not the parent":  {"a wildcard wants something in its place, with the dot", "crossplane.io/X", ""},
		"core":            {"a kind of the core group has no directory of a group", "ConfigMap", ""},
		"none":            {"there is no script for it", "example.com/Thing", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, _, ok := bundled(c.key); got != c.want || ok != (c.want != "") {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
	if keys := strings.Count(strings.Join(wildcardKeys(t), " "), "_"); keys == 0 {
		t.Error("no wildcards were found")
	}
}

func wildcardKeys(t *testing.T) []string {
	t.Helper()
	groups, err := resource_customizations.Embedded.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	return wildcards(groups)
}

func BenchmarkHealth(b *testing.B) {
	for name, file := range map[string]string{
		"Lua": "cert-manager.io/Certificate/testdata/healthy_issued.yaml", "Go": "",
	} {
		b.Run(name, func(b *testing.B) {
			u := object(b, deploymentText)
			if file != "" {
				u = bundledObject(b, file)
			}
			checks := New(Settings{})
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := checks.Health(b.Context(), u); !ok {
					b.Fatal("it has no health")
				}
			}
		})
	}
}

const deploymentText = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, generation: 1}
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1}
`
