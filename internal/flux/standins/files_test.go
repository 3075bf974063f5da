package standins

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render/substitute"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// simulating is a simulation over Kustomizations, which notes what it has made: "WHAT NAME".
func simulating(t *testing.T, want Simulate, kustomizations ...string) (s *Simulation, made *[]string) {
	t.Helper()
	made = &[]string{}
	s, err := NewSimulation(want, func(one StandIn) { *made = append(*made, one.What+" "+one.Name) })
	if err != nil {
		t.Fatal(err)
	}
	s.Parts = Simulated{Host: &dialect.Host{Runner: runner.New(runner.Config{})}, Kustomizations: kustomize.NewRegistry()}
	for _, text := range kustomizations {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Parts.Kustomizations.Put(u); err != nil {
			t.Fatal(err)
		}
	}
	return s, made
}

// TestSimulatedFiles has a source that cannot be fetched have a file for each path that Kustomizations read from it.
func TestSimulatedFiles(t *testing.T) {
	ks := func(name, kind, from, path, target string) string {
		return fmt.Sprintf("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: apps}\n"+
			"spec: {path: %q, targetNamespace: %q, sourceRef: {kind: %s, name: %s}}\n", name, path, target, kind, from)
	}
	s, made := simulating(t, Simulate{Charts: true},
		ks("root", "GitRepository", "repo", "", ""), ks("a", "GitRepository", "repo", "./a/b", "team"), ks("again", "GitRepository", "repo", "a/b/", "other"),
		ks("up", "GitRepository", "repo", "../../etc", ""), ks("other", "GitRepository", "other", "./c", ""), ks("kind", "Bucket", "repo", "./d", ""))
	id := toolkit.SourceID(sourcev1.GitRepositoryKind, "apps", "repo")
	got, provided := s.files(id, errors.New("no such host"))
	if !provided {
		t.Fatal("a source that Kustomizations read has nothing")
	}
	store, err := source.NewStore(t.TempDir(), "http://localhost")
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Store(store, source.Key(id)); err != nil {
		t.Fatal(err)
	}
	artifact, _ := store.Get(source.Key(id))
	files := map[string]string{}
	for _, name := range artifact.Tree.Paths() {
		f, _ := artifact.Tree.File(name)
		data, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &u.Object); err != nil {
			t.Fatal(err)
		}
		files[name] = u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
	}
	// Two Kustomizations read a/b: the file is of one of them. A path stays within the tree.
	files["a/b/simulated.yaml"] = strings.Replace(files["a/b/simulated.yaml"], "other/", "team/", 1)
	want := map[string]string{
		"simulated.yaml": "ConfigMap apps/simulated-repo", "a/b/simulated.yaml": "ConfigMap team/simulated-repo", "etc/simulated.yaml": "ConfigMap apps/simulated-repo",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files, -want +got:\n%s", diff)
	}
	if !strings.HasPrefix(artifact.Revision, "simulated@sha256:") {
		t.Errorf("the revision is %s", artifact.Revision)
	}
	if reason, message := got.Ready(artifact); reason != reasonSimulated || !strings.Contains(message, "no such host") {
		t.Errorf("it is ready with %s: %s", reason, message)
	}
	if diff := cmp.Diff([]string{"Files those of " + id.String() + ", which cannot be fetched"}, *made); diff != "" {
		t.Errorf("stand-ins, -want +got:\n%s", diff)
	}
	if _, provided := s.files(toolkit.SourceID(sourcev1.GitRepositoryKind, "apps", "unread"), errors.New("no such host")); provided {
		t.Error("a source that nothing reads has files")
	}
}

// TestSimulatedVariables lets a unit that failed for variables without a value go without these, once.
func TestSimulatedVariables(t *testing.T) {
	undefined := fmt.Errorf("building: %w", &substitute.UndefinedError{Names: []string{"DOMAIN", "ZONE"}})
	a, b := toolkit.KustomizationID("apps", "a"), toolkit.KustomizationID("apps", "b")
	for name, tc := range map[string]struct {
		reason string
		want   Simulate
		failed runner.State
		lax    bool
	}{
		"undefined": {"nothing else has them", Simulate{Secrets: true}, runner.State{Unit: a, Cause: undefined}, true},
		"otherwise": {"it failed for something else", Simulate{Secrets: true}, runner.State{Unit: a, Cause: errors.New("no such file")}, false},
		"text":      {"what a file says is no cause", Simulate{Secrets: true}, runner.State{Unit: a, Message: undefined.Error()}, false},
		"off":       {"values are not simulated", Simulate{Charts: true}, runner.State{Unit: a, Cause: undefined}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, made := simulating(t, tc.want)
			demands := runner.Demands{Failed: []runner.State{tc.failed}}
			if got := s.provideVariables(t.Context(), demands); got != tc.lax {
				t.Errorf("%s: it provides %v", tc.reason, got)
			}
			if s.provideVariables(t.Context(), demands) {
				t.Error("the same is provided again, and the unit is retried without end")
			}
			if s.Lacking(b) != nil {
				t.Error("another unit goes without its variables")
			}
			lacking := s.Lacking(a)
			if tc.lax != (lacking != nil) {
				t.Fatalf("%s: variables may be empty: %v", tc.reason, lacking != nil)
			}
			if !tc.lax {
				return
			}
			if label := lacking.Undefined([]string{"DOMAIN", "ZONE"}); label == "" {
				t.Error("an object with an empty variable has no label")
			}
			lacking.Undefined([]string{"DOMAIN"})
			want := []string{
				"Variable DOMAIN of " + a.String() + ", which is undefined: it is empty", "Variable ZONE of " + a.String() + ", which is undefined: it is empty",
			}
			if diff := cmp.Diff(want, slices.Sorted(slices.Values(*made))); diff != "" {
				t.Errorf("stand-ins, -want +got:\n%s", diff)
			}
		})
	}
}
