package discover

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// TestStrategies searches a repository with hundreds of tags.
func TestStrategies(t *testing.T) {
	s := serve(t, httptest.NewServer)
	for day := range 3 {
		var tags []string
		for i := range 100 {
			tags = append(tags, fmt.Sprintf("1.%d.%d", day, i))
		}
		s.push(t, built(t, day, amd64(), nil), tags...)
	}
	s.push(t, built(t, 9, amd64(), nil), "v2.0.0-rc.1", "latest", "2", "build-9")
	s.push(t, built(t, 5, amd64(), map[string]string{"org.opencontainers.image.created": "2027-01-01T00:00:00Z"}), "v2.0.0", "build-5")
	repo := s.host + "/team/app"
	for name, tc := range map[string]struct {
		reason string
		spec   v1alpha1.ImageSubscription
		want   []string
	}{
		"SemVer":       {"without a constraint, pre-releases count too", v1alpha1.ImageSubscription{DiscoveryLimit: 3}, []string{"v2.0.0", "v2.0.0-rc.1", "1.2.99"}},
		"Constraint":   {"a constraint excludes them", v1alpha1.ImageSubscription{DiscoveryLimit: 2, Constraint: "<3"}, []string{"v2.0.0", "1.2.99"}},
		"OldName":      {"the constraint has another name in old versions", v1alpha1.ImageSubscription{DiscoveryLimit: 2, SemverConstraint: "~1.1"}, []string{"1.1.99", "1.1.98"}},
		"Lax":          {"2 is 2.0.0, and after it by its letters", v1alpha1.ImageSubscription{DiscoveryLimit: 2, Constraint: "^2", StrictSemvers: ptr.To(false)}, []string{"v2.0.0", "2"}},
		"Allow":        {"an expression is not anchored", v1alpha1.ImageSubscription{DiscoveryLimit: 2, AllowTags: `1\.0\.`}, []string{"1.0.99", "1.0.98"}},
		"AllowRegexes": {"one of several has to match", v1alpha1.ImageSubscription{DiscoveryLimit: 5, AllowTagsRegexes: []string{`^1\.0\.7$`, `^1\.1\.7$`}}, []string{"1.1.7", "1.0.7"}},
		"Ignore": {
			"tags are ignored as a whole, and by expressions",
			v1alpha1.ImageSubscription{DiscoveryLimit: 1, IgnoreTags: []string{"v2.0.0"}, IgnoreTagsRegexes: []string{"rc", `^1\.2`}},
			[]string{"1.1.99"},
		},
		"Lexical":     {"the last one by its letters", v1alpha1.ImageSubscription{DiscoveryLimit: 3, ImageSelectionStrategy: v1alpha1.ImageLexical}, []string{"v2.0.0-rc.1", "v2.0.0", "latest"}},
		"NewestBuild": {"a label goes before the configuration, and of one image the last tag comes first", v1alpha1.ImageSubscription{DiscoveryLimit: 4, ImageSelectionStrategy: v1alpha1.ImageNewestBuild}, []string{"v2.0.0", "build-5", "v2.0.0-rc.1", "latest"}},
		"Digest":      {"one tag is followed", v1alpha1.ImageSubscription{ImageSelectionStrategy: v1alpha1.ImageDigest, Constraint: "latest"}, []string{"latest"}},
		"NoDigest":    {"it may not be there yet", v1alpha1.ImageSubscription{ImageSelectionStrategy: v1alpha1.ImageDigest, Constraint: "soon"}, nil},
		"None":        {"nothing matches", v1alpha1.ImageSubscription{Constraint: ">5"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tc.spec.RepoURL = repo
			found := find(t, New(anywhere()), ofImage(tc.spec), nil)
			if diff := cmp.Diff(tc.want, tagsOf(found)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if found.Images[0].References == nil {
				t.Error("the list is nil, which the API does not store")
			}
		})
	}
	if found := find(t, New(anywhere()), ofImage(v1alpha1.ImageSubscription{RepoURL: repo}), nil); len(found.Images[0].References) != 20 {
		t.Errorf("without a limit there are %d", len(found.Images[0].References))
	}
}

// TestNothingIsFetchedTwice counts requests.
func TestNothingIsFetchedTwice(t *testing.T) {
	s := serve(t, httptest.NewServer)
	for i := range 30 {
		s.push(t, built(t, i, amd64(), nil), fmt.Sprintf("1.0.%d", i))
	}
	f := New(anywhere())
	spec := v1alpha1.ImageSubscription{RepoURL: s.host + "/team/app", DiscoveryLimit: 10}
	first := find(t, f, ofImage(spec), nil)
	if diff := cmp.Diff(map[string]int{"GET tags": 1, "GET manifests": 10, "GET blobs": 10}, s.methods()); diff != "" {
		t.Errorf("the first search: %s", diff)
	}
	second := find(t, f, ofImage(spec), first)
	if diff := cmp.Diff(map[string]int{"GET tags": 1, "HEAD manifests": 10}, s.methods()); diff != "" {
		t.Errorf("another one: %s", diff)
	}
	if diff := cmp.Diff(first.Images, second.Images); diff != "" {
		t.Errorf("it found something else: %s", diff)
	}
	// The status has been stored since, and another process reads it.
	data, err := json.Marshal(second)
	if err != nil {
		t.Fatal(err)
	}
	var stored v1alpha1.DiscoveredArtifacts
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	restarted := find(t, New(anywhere()), ofImage(spec), &stored)
	if diff := cmp.Diff(map[string]int{"GET tags": 1, "HEAD manifests": 10}, s.methods()); diff != "" {
		t.Errorf("after a restart: %s", diff)
	}
	if diff := cmp.Diff(stored.Images, restarted.Images); diff != "" {
		t.Errorf("after a restart, it found something else: %s", diff)
	}
	s.push(t, built(t, 100, amd64(), nil), "1.0.29")
	moved := find(t, f, ofImage(spec), second)
	if diff := cmp.Diff(map[string]int{"GET tags": 1, "HEAD manifests": 10, "GET manifests": 1, "GET blobs": 1}, s.methods()); diff != "" {
		t.Errorf("one tag moved: %s", diff)
	}
	if got := moved.Images[0].References[0]; !got.CreatedAt.Equal(stamp(onDay(100))) || got.Digest == first.Images[0].References[0].Digest {
		t.Errorf("the tag that moved is %+v", got)
	}
	spec.CacheByTag = true
	if cached := find(t, f, ofImage(spec), moved); !cmp.Equal(moved.Images, cached.Images) {
		t.Errorf("by tag: %s", cmp.Diff(moved.Images, cached.Images))
	}
	if diff := cmp.Diff(map[string]int{"GET tags": 1}, s.methods()); diff != "" {
		t.Errorf("by tag: %s", diff)
	}
	other := ofImage(spec)
	other.Namespace = "other"
	find(t, f, other, nil)
	if got := s.methods()["GET manifests"]; got != 10 {
		t.Errorf("another Project was given what this one fetched: %d requests", got)
	}
}

func TestIndexes(t *testing.T) {
	s := serve(t, httptest.NewServer)
	arm := v1.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}
	var index v1.ImageIndex = empty.Index
	for i, p := range []v1.Platform{amd64(), arm, {OS: "unknown", Architecture: "unknown"}} {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: built(t, 10+i, p, nil), Descriptor: v1.Descriptor{Platform: &p, Annotations: map[string]string{"of": p.Architecture, "both": "platform"}},
		})
	}
	index, is := mutate.Annotations(index, map[string]string{"both": "index", "revision": "abc"}).(v1.ImageIndex)
	if !is {
		t.Fatal("not an index")
	}
	if err := remote.WriteIndex(s.reference(t, "1.0.0"), index); err != nil {
		t.Fatal(err)
	}
	s.push(t, annotated(t, built(t, 1, amd64(), nil), map[string]string{"org.label-schema.build-date": "2026-03-01T00:00:00Z"}), "0.9.0")
	for name, tc := range map[string]struct {
		platform    string
		tags        []string
		annotations map[string]string
	}{
		"All":     {"", []string{"1.0.0", "0.9.0"}, map[string]string{"both": "index", "revision": "abc"}},
		"Amd64":   {"linux/amd64", []string{"1.0.0", "0.9.0"}, map[string]string{"both": "platform", "of": "amd64", "revision": "abc"}},
		"Variant": {"linux/arm/v7", []string{"1.0.0"}, map[string]string{"both": "platform", "of": "arm", "revision": "abc"}},
		"Absent":  {"linux/arm64", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := find(t, New(anywhere()), ofImage(v1alpha1.ImageSubscription{RepoURL: s.host + "/team/app", Platform: tc.platform}), nil)
			if diff := cmp.Diff(tc.tags, tagsOf(found)); diff != "" {
				t.Fatal(diff)
			}
			if found.Images[0].Platform != tc.platform {
				t.Errorf("the platform is %q", found.Images[0].Platform)
			}
			if len(tc.tags) == 0 {
				return
			}
			if diff := cmp.Diff(tc.annotations, found.Images[0].References[0].Annotations); diff != "" {
				t.Error(diff)
			}
			if got := found.Images[0].References[0].CreatedAt; !got.Equal(stamp(onDay(11))) {
				t.Errorf("the index is of %s, and its newest image of day 11", got)
			}
			if last := found.Images[0].References[len(tc.tags)-1]; len(tc.tags) > 1 && last.CreatedAt.UTC().Month() != 3 {
				t.Errorf("the annotation does not count: %s", last.CreatedAt)
			}
		})
	}
}

func TestBadImages(t *testing.T) {
	s := serve(t, httptest.NewServer)
	s.push(t, annotated(t, built(t, 1, amd64(), nil), map[string]string{"x": strings.Repeat("x", maxAnnotations)}), "1.0.0")
	for name, tc := range map[string]struct {
		spec v1alpha1.ImageSubscription
		want []string
	}{
		"Platform":   {v1alpha1.ImageSubscription{Platform: "linux"}, []string{"platform", `"linux"`}},
		"Strategy":   {v1alpha1.ImageSubscription{ImageSelectionStrategy: "Best"}, []string{"imageSelectionStrategy", `"Best"`}},
		"Constraint": {v1alpha1.ImageSubscription{Constraint: "one"}, []string{"constraint", `"one"`}},
		"OldName":    {v1alpha1.ImageSubscription{SemverConstraint: "one"}, []string{"semverConstraint", `"one"`}},
		"NoTag":      {v1alpha1.ImageSubscription{ImageSelectionStrategy: v1alpha1.ImageDigest}, []string{"constraint", "one tag"}},
		"Allow":      {v1alpha1.ImageSubscription{AllowTags: "("}, []string{"allowTags:", "regular expression"}},
		"Regexes":    {v1alpha1.ImageSubscription{IgnoreTagsRegexes: []string{"x", "("}}, []string{"ignoreTagsRegexes[1]"}},
		"Long":       {v1alpha1.ImageSubscription{AllowTagsRegexes: []string{strings.Repeat("x", maxPattern+1)}}, []string{"allowTagsRegexes[0]", "more than"}},
		"Name":       {v1alpha1.ImageSubscription{RepoURL: "https://ghcr.io/team/app:1"}, []string{"repoURL", "not a repository"}},
		"Absent":     {v1alpha1.ImageSubscription{RepoURL: s.host + "/team/other"}, []string{"repoURL", "does not have it", s.host}},
		"Large":      {v1alpha1.ImageSubscription{}, []string{"repoURL", `"1.0.0"`, "annotations"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.spec.RepoURL == "" {
				tc.spec.RepoURL = s.host + "/team/app"
			}
			refused(t, New(anywhere()), ofImage(tc.spec), append(tc.want, "spec.subscriptions[0].image.")...)
		})
	}
	s.answers(func(w http.ResponseWriter, q *http.Request) {
		_, _ = w.Write([]byte(`{"tags": ["` + strings.Repeat("x", maxResponse) + `"]}`))
	})
	refused(t, New(anywhere()), ofImage(v1alpha1.ImageSubscription{RepoURL: s.host + "/team/app"}), "image.repoURL", "more than", s.host)
}
