package generators

import (
	"strings"
	"testing"

	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/compose"
)

func generatorFor(change func(*swapi.ArtifactGeneratorSpec)) *swapi.ArtifactGenerator {
	o := &swapi.ArtifactGenerator{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "parts", UID: "u"}}
	o.Spec.Sources = []swapi.SourceReference{{Alias: "repo", Kind: "GitRepository", Name: "repo"}}
	o.Spec.OutputArtifacts = []swapi.OutputArtifact{{Name: "a", Copy: []swapi.CopyOperation{{From: "@repo/**", To: "@artifact/"}}}}
	change(&o.Spec)
	return o
}

func TestCheckGenerator(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*swapi.ArtifactGeneratorSpec)
		want   string
	}{
		"fine": {"nothing is wrong", func(*swapi.ArtifactGeneratorSpec) {}, ""},
		"pattern": {"captures are filled later", func(s *swapi.ArtifactGeneratorSpec) {
			s.PathPattern = "@repo/{app}"
			s.OutputArtifacts[0].Name = "{app}"
		}, ""},
		"alias twice": {
			"an alias names one source", func(s *swapi.ArtifactGeneratorSpec) { s.Sources = append(s.Sources, s.Sources[0]) },
			`ValidationFailed: spec.sources[1].alias: "repo" is already used`,
		},
		"alias of the artifact": {
			"@artifact is what is made", func(s *swapi.ArtifactGeneratorSpec) { s.Sources[0].Alias = "artifact" },
			`ValidationFailed: spec.sources[0].alias: "artifact" is already used`,
		},
		"another namespace": {
			"tenants stay in theirs", func(s *swapi.ArtifactGeneratorSpec) { s.Sources[0].Namespace = "other" },
			"AccessDenied: spec.sources[0]: GitRepository/other/repo is in another namespace; references across namespaces are blocked on this cluster",
		},
		"a kind that is not served": {
			"it is never ignored", func(s *swapi.ArtifactGeneratorSpec) { s.Sources[0].Kind = "Nothing" },
			`UnsupportedField: spec.sources[0].kind is not supported: sources of kind "Nothing" are not supported`,
		},
		"name twice": {
			"a name is one artifact", func(s *swapi.ArtifactGeneratorSpec) {
				s.OutputArtifacts = append(s.OutputArtifacts, s.OutputArtifacts[0])
			},
			`ValidationFailed: spec.artifacts[1].name: "a" is already used`,
		},
		"revision": {
			"it names a source", func(s *swapi.ArtifactGeneratorSpec) { s.OutputArtifacts[0].Revision = "@other" },
			`ValidationFailed: spec.artifacts[0].revision: no source has the alias "other"`,
		},
		"origin revision": {
			"it names a source as well", func(s *swapi.ArtifactGeneratorSpec) { s.OutputArtifacts[0].OriginRevision = "@other" },
			`ValidationFailed: spec.artifacts[0].originRevision: no source has the alias "other"`,
		},
		"copy": {
			"operations are read before there are sources", func(s *swapi.ArtifactGeneratorSpec) { s.OutputArtifacts[0].Copy[0].Exclude = []string{"["} },
			`ValidationFailed: spec.artifacts[0].copy[0].exclude[0]: pattern "[" is invalid: it is malformed`,
		},
		"pattern in nothing": {
			"a pattern names a source", func(s *swapi.ArtifactGeneratorSpec) { s.PathPattern = "@other/{app}" },
			`ValidationFailed: spec.pathPattern: no source has the alias "other"`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckGenerator((policies.Policy{NoCrossNamespaceRefs: true}), generatorFor(tt.change)); err != nil {
				failure := access.FailureOf(err, "")
				if got = failure.Reason + ": " + err.Error(); !failure.Terminal {
					t.Errorf("%s: it is tried again", tt.reason)
				}
			}
			if got != tt.want {
				t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}

func TestOutputs(t *testing.T) {
	tests := map[string]struct {
		reason string
		name   string
		files  []string
		want   map[string]string
		err    string
	}{
		"found": {
			"names are lower case, paths are as they are", "{app}-{env}",
			[]string{"apps/Auth/dev/x", "apps/pay/prod/x"},
			map[string]string{"auth-dev": "@repo/apps/Auth/dev/**", "pay-prod": "@repo/apps/pay/prod/**"},
			"",
		},
		"none":      {"no directory is no failure", "{app}", []string{"x"}, map[string]string{}, ""},
		"collision": {"two directories may not be one artifact", "{app}", []string{"apps/a/dev/x", "apps/A/dev/x"}, nil, `directory "apps/a/dev": spec.artifacts[0].name: "a" is already used by directory "apps/A/dev"`},
		"label":     {"captures are labels", "{app}", []string{"apps/.hidden/dev/x"}, nil, `directory "apps/.hidden/dev": spec.pathPattern: {app}: ".hidden" cannot be a label`},
		"name":      {"and names of objects", "{app}", []string{"apps/a_b/dev/x"}, nil, `spec.artifacts[0].name: "a_b":`},
		"unknown":   {"a placeholder is a capture", "{other}", []string{"apps/a/dev/x"}, nil, `spec.artifacts[0].name: "{other}": {other} is not a capture`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var files []*source.File
			for _, p := range tt.files {
				files = append(files, source.NewFile(p, 0o644, nil))
			}
			tree, err := source.NewTree(files)
			if err != nil {
				t.Fatal(err)
			}
			composer, err := compose.New(map[string]*source.Tree{"repo": tree}, "")
			if err != nil {
				t.Fatal(err)
			}
			outputs, err := OutputsOf(generatorFor(func(s *swapi.ArtifactGeneratorSpec) {
				s.PathPattern = "@repo/apps/{app}/{env}"
				s.OutputArtifacts = []swapi.OutputArtifact{{Name: tt.name, Copy: []swapi.CopyOperation{{From: "@repo/apps/{app}/{env}/**", To: "@artifact/"}}}}
			}), composer)
			if tt.err != "" || err != nil {
				if err == nil || tt.err == "" || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%s: the error is %v, want %q", tt.reason, err, tt.err)
				}
				return
			}
			got := map[string]string{}
			for _, out := range outputs {
				got[out.Key.Name] = out.Spec.Copy[0].From
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tt.reason, diff)
			}
		})
	}
}

// TestMetadata keeps the labels that tell whose an artifact is from those of the user.
func TestMetadata(t *testing.T) {
	o := generatorFor(func(s *swapi.ArtifactGeneratorSpec) {
		s.CommonMetadata = &swapi.CommonMetadata{
			Labels:      map[string]string{"app": "own", "team": "web", toolkit.ManagedByLabel: "me", swapi.ArtifactGeneratorLabel: "other"},
			Annotations: map[string]string{"note": "x"},
		}
	})
	o.Labels = map[string]string{"shard": "one", "other": "two"}
	labels, annotations := metadataOf(o, Output{labels: map[string]string{"app": "a", "env": "dev"}}, []string{"shard", "none"})
	want := map[string]string{"shard": "one", "app": "own", "env": "dev", "team": "web", toolkit.ManagedByLabel: "source-watcher", swapi.ArtifactGeneratorLabel: "u"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("labels: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"note": "x"}, annotations); diff != "" {
		t.Errorf("annotations: -want +got\n%s", diff)
	}
}
