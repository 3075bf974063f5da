package sources

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

func TestIncludeCycle(t *testing.T) {
	cases := map[string]struct {
		reason string
		edges  map[string][]string
		want   []string
	}{
		"none":    {"nothing is included", nil, nil},
		"chain":   {"a chain ends", map[string][]string{"a": {"b"}, "b": {"c"}}, nil},
		"diamond": {"two ways to one source are no cycle", map[string][]string{"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}, nil},
		"self":    {"a source includes itself", map[string][]string{"a": {"a"}}, []string{"a", "a"}},
		"long":    {"the way is spelled out", map[string][]string{"a": {"x", "b"}, "b": {"c"}, "c": {"a"}}, []string{"a", "b", "c", "a"}},
		"beside":  {"a cycle of others is theirs", map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := IncludeCycle("a", func(n string) []string { return c.edges[n] })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestSameIncludes(t *testing.T) {
	artifact := func(digest string) *source.Artifact { return &source.Artifact{Revision: "main@sha1:1", Digest: digest} }
	repo := &sourcev1.GitRepository{}
	repo.Spec.Include = []sourcev1.GitRepositoryInclude{{GitRepositoryRef: meta.LocalObjectReference{Name: "lib"}}}
	now := included{artifacts: []*source.Artifact{artifact("sha256:a")}}
	if sameIncludes(repo, now) {
		t.Error("nothing was included before")
	}
	observeIncludes(&repo.Status, repo, now)
	if !sameIncludes(repo, now) {
		t.Errorf("what was observed is not what is included: %+v", repo.Status)
	}
	before := repo.Status.IncludedArtifacts[0]
	observeIncludes(&repo.Status, repo, now)
	if repo.Status.IncludedArtifacts[0] != before {
		t.Error("an artifact that stayed the same was written anew")
	}
	if sameIncludes(repo, included{artifacts: []*source.Artifact{artifact("sha256:b")}}) {
		t.Error("another digest at the same revision is the same")
	}
	repo.Spec.Include[0].FromPath = "deploy"
	if sameIncludes(repo, now) {
		t.Error("another path is the same")
	}
	repo.Spec.Include = nil
	observeIncludes(&repo.Status, repo, included{})
	if diff := cmp.Diff(sourcev1.GitRepositoryStatus{}, repo.Status); diff != "" {
		t.Errorf("without includes the status keeps some (-want +got):\n%s", diff)
	}
}
