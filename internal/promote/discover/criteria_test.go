package discover

import (
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

func TestCriteria(t *testing.T) {
	found := &v1alpha1.DiscoveredArtifacts{
		Images: []v1alpha1.ImageDiscoveryResult{
			{RepoURL: "docker.io/library/web", References: []v1alpha1.DiscoveredImageReference{{Tag: "1.2.0", Annotations: map[string]string{"commit": "abc"}}, {Tag: "1.1.0"}}},
			{RepoURL: "ghcr.io/team/api", References: []v1alpha1.DiscoveredImageReference{{Tag: "1.1.0"}}},
		},
		Git:    []v1alpha1.GitDiscoveryResult{{RepoURL: "https://github.com/Team/app.git", Commits: []v1alpha1.DiscoveredCommit{{ID: "abc", Tag: "v1"}}}},
		Charts: []v1alpha1.ChartDiscoveryResult{{RepoURL: "oci://ghcr.io/team/chart", Versions: []string{"1.2.0"}}, {RepoURL: "https://charts.example.org", Name: "b", Versions: []string{"7"}}},
	}
	for name, tc := range map[string]struct {
		expression string
		want       bool
		err        string
	}{
		"None":      {"  ", true, ""},
		"Same":      {`imageFrom('web').Tag == chartFrom("oci://ghcr.io/team/chart").Version`, true, ""},
		"Different": {`imageFrom("web").Tag == imageFrom("ghcr.io/team/api").Tag`, false, ""},
		"Commit":    {`imageFrom("web").Annotations["commit"] == commitFrom("https://github.com/team/app").ID`, true, ""},
		"Named":     {`chartFrom("https://charts.example.org", "b").Version == "7" && chartFrom("https://charts.example.org", "c") == nil`, true, ""},
		"Absent":    {`imageFrom("nginx") == nil`, true, ""},
		"Text":      {`"true"`, true, ""},
		"Neither":   {`imageFrom("web").Tag`, false, "true or false"},
		"OfNothing": {`imageFrom("nginx").Tag == "1"`, false, "nil"},
		"Unknown":   {`imageOf("web")`, false, "imageOf"},
		"Arguments": {`imageFrom("web", "x") == nil`, false, "imageFrom takes"},
		"Number":    {`commitFrom(1) == nil`, false, "has to be a string"},
		"Runaway":   {`len(map(1..1000000, map(1..1000000, #))) == 1`, false, "evaluate"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Criteria(tc.expression, found)
			switch {
			case tc.err == "" && err != nil:
				t.Fatal(err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || !strings.HasPrefix(err.Error(), "spec.freightCreationCriteria.expression: ")):
				t.Fatalf("the error is %v", err)
			case got != tc.want:
				t.Errorf("it is %v", got)
			}
		})
	}
	if is, err := Criteria("false", &v1alpha1.DiscoveredArtifacts{}); !is || err != nil {
		t.Errorf("without artifacts it is %v %v", is, err)
	}
}
