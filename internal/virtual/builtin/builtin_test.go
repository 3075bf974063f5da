package builtin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/virtual/builtin"
)

func TestIs(t *testing.T) {
	for name, c := range map[string]struct {
		reason            string
		repository, chart string
		want              bool
	}{
		"Published":     {reason: "the repository of its authors", repository: "https://charts.loft.sh", chart: "vcluster", want: true},
		"Slash":         {reason: "a trailing slash means the same", repository: "https://charts.loft.sh/", chart: "vcluster", want: true},
		"OCI":           {reason: "as an artifact, without a scheme as Argo CD has it", repository: "ghcr.io/loft-sh", chart: "vcluster", want: true},
		"OCIWhole":      {reason: "as an artifact, with the chart in the URL", repository: "oci://ghcr.io/loft-sh/vcluster", want: true},
		"OtherChart":    {reason: "another chart of the repository", repository: "https://charts.loft.sh", chart: "vcluster-eks"},
		"Fork":          {reason: "a chart of that name elsewhere is another one", repository: "https://charts.example.com", chart: "vcluster"},
		"Lookalike":     {reason: "the host is compared as a whole", repository: "https://charts.loft.sh.example.com", chart: "vcluster"},
		"LookalikeUser": {reason: "a user in the URL is not a host", repository: "https://charts.loft.sh@example.com", chart: "vcluster"},
		"Path":          {reason: "another path is another repository", repository: "https://charts.loft.sh/fork", chart: "vcluster"},
		"Clear":         {reason: "only what is fetched over TLS is from its authors", repository: "http://charts.loft.sh", chart: "vcluster"},
		"NoChart":       {reason: "a directory is not a chart", repository: "https://charts.loft.sh/vcluster"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := builtin.Is(c.repository, c.chart); got != c.want {
				t.Errorf("%s: %v, want %v", c.reason, got, c.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		reason, values string
		want           builtin.Values
		refused        []string
	}{
		"Usual": {
			reason: "values of a platform: Secrets are mapped, and what is of pods has no effect",
			values: `
controlPlane: {advanced: {virtualScheduler: {enabled: true}}, proxy: {extraSANs: [a.example.com]}}
exportKubeConfig: {server: "https://v.dev.svc:443", context: mine, secret: {name: kube}, additionalSecrets: [], insecure: false}
global: {labels: {team: a}}
sync:
  fromHost:
    nodes: {enabled: true}
    secrets: {enabled: true, mappings: {byName: {"nextjs/*": "nextjs/*"}}}
  toHost: {ingresses: {enabled: false}}`,
			want: builtin.Values{
				ByName: map[string]string{"nextjs/*": "nextjs/*"}, Ignored: []string{"exportKubeConfig.context", "exportKubeConfig.secret"},
			},
		},
		"Disabled": {reason: "mappings without enabled have no effect, as in the chart", values: `sync: {fromHost: {secrets: {mappings: {byName: {"a/*": "a/*"}}}}}`},
		"Misspelled": {
			reason:  "an unknown value is named",
			values:  `{sync: {fromHost: {secrets: {enabled: true, mapings: {byName: {"a/*": "a/*"}}}}}, contrlPlane: {}}`,
			refused: []string{"value contrlPlane: unknown to the virtual clusters of this process", "value sync.fromHost.secrets.mapings: unknown to the virtual clusters of this process"},
		},
		"Unsupported": {
			reason:  "what a user would miss is refused, and what is off is not",
			values:  `{sync: {fromHost: {configMaps: {enabled: true}, customResources: {}}}, integrations: {externalSecrets: {enabled: false}}, plugins: {x: {image: y}}}`,
			refused: []string{"value plugins: not supported by the virtual clusters of this process", "value sync.fromHost.configMaps: not supported by the virtual clusters of this process"},
		},
		"Types": {
			reason: "values of other types are named",
			values: `{exportKubeConfig: 1, sync: {fromHost: {secrets: {enabled: "yes", mappings: {byName: {a/b: 1}}}}, toHost: 3}}`,
			refused: []string{
				"value exportKubeConfig: is float64, and not an object", "value sync.fromHost.secrets.enabled: is string, and not a boolean",
				`value sync.fromHost.secrets.mappings.byName: "a/b" is mapped to float64, and not to a string`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var values map[string]any
			if err := yaml.Unmarshal([]byte(c.values), &values); err != nil {
				t.Fatal(err)
			}
			got, refusals := builtin.Read(values)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			var said []string
			for _, r := range refusals {
				said = append(said, r.Error())
			}
			if diff := cmp.Diff(c.refused, said); diff != "" {
				t.Errorf("%s: refusals (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
