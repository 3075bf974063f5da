package render_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/headgate-dev/headgate/internal/render"
)

// TestPatchesOfStandIns builds kustomizations whose patches are for what is not there: those that fail are left out and
// told, the others are applied, and nothing is left out where nothing stands in.
func TestPatchesOfStandIns(t *testing.T) {
	const remote = "resources: [x.yaml, 'https://example.invalid/all.yaml']\n"
	const chart = "helmCharts: [{name: web, repo: 'https://example.invalid'}]\n"
	const volume = "- {target: {kind: ConfigMap, name: x}, patch: '- {op: replace, path: /spec/volumes/0, value: v}'}\n"
	const value = "- {target: {kind: ConfigMap, name: x}, patch: '- {op: replace, path: /data/k, value: patched}'}\n"
	const absent = "- {patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: absent}, data: {k: v}}'}\n"
	cases := map[string]struct {
		reason       string
		files        map[string]string
		patches      []types.Patch
		chart        bool
		left         []string
		names, fails string
		leaveOut     bool
	}{
		"remote": {
			reason:   "what a base that is left out has is not there",
			files:    map[string]string{"kustomization.yaml": remote + "patches:\n" + absent + value + volume, "x.yaml": configMap("x", "v")},
			leaveOut: true, names: "ConfigMap//x=patched",
			left: []string{"Remote https://example.invalid/all.yaml", "Patch kustomization.yaml: patches[0]", `Patch kustomization.yaml: patches[2] for ConfigMap "x"`},
		},
		"chart below": {
			reason: "an overlay patches what a chart in its base stands in for",
			files: map[string]string{
				"kustomization.yaml": "resources: [base]\npatches:\n" + volume + value, "base/kustomization.yaml": chart + "patchesStrategicMerge: [p.yaml]\n",
				"base/p.yaml": configMap("absent", "v"),
			},
			chart: true, leaveOut: true, names: "ConfigMap//x=patched",
			left: []string{`Patch kustomization.yaml: patches[0] for ConfigMap "x"`, "Patch base/kustomization.yaml: patchesStrategicMerge[0]"},
		},
		"of the unit": {
			reason:   "the patches of the unit are laid on as well",
			files:    map[string]string{"kustomization.yaml": remote, "x.yaml": configMap("x", "v")},
			patches:  []types.Patch{{Patch: configMap("absent", "v")}, {Patch: configMap("x", "unit")}},
			leaveOut: true, names: "ConfigMap//x=unit",
			left: []string{"Remote https://example.invalid/all.yaml", "Patch kustomization.yaml: patches[0]"},
		},
		"fits": {
			reason:   "patches that fit are applied",
			files:    map[string]string{"kustomization.yaml": remote + "patches:\n" + value, "x.yaml": configMap("x", "v")},
			leaveOut: true, names: "ConfigMap//x=patched", left: []string{"Remote https://example.invalid/all.yaml"},
		},
		"nothing stands in": {
			reason:   "a mistake is one where everything is real",
			files:    map[string]string{"kustomization.yaml": "resources: [x.yaml]\npatches:\n" + volume, "x.yaml": configMap("x", "v")},
			leaveOut: true, fails: "kustomization.yaml",
		},
		"real chart": {
			reason: "so it is with a chart that was fetched",
			files:  map[string]string{"kustomization.yaml": chart + "patches:\n" + volume}, leaveOut: true, fails: "kustomization.yaml",
		},
		"another failure": {
			reason:   "what is not about patches stays a failure",
			files:    map[string]string{"kustomization.yaml": "resources: ['https://example.invalid/all.yaml', missing.yaml]\npatches:\n" + volume},
			leaveOut: true, fails: `entry "missing.yaml"`, left: []string{"Remote https://example.invalid/all.yaml"},
		},
		"not simulated": {
			reason: "nothing is left out unless that is asked for",
			files:  map[string]string{"kustomization.yaml": chart + "patches:\n" + volume}, chart: true, fails: "kustomization.yaml",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			told := map[string]bool{}
			var left []string
			o := render.Options{Patches: c.patches, Inflate: func(_ context.Context, chart *render.Chart) ([]byte, error) {
				chart.StandIn = c.chart
				return []byte(configMap("x", "v")), nil
			}}
			if c.leaveOut {
				o.LeaveOut = func(what, entry string) {
					if !told[what+" "+entry] {
						told[what+" "+entry], left = true, append(left, what+" "+entry)
					}
				}
			}
			result, err := render.New().Build(t.Context(), tree(t, c.files), o)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("%s: error %v, want %q", c.reason, err, c.fails)
			}
			if diff := cmp.Diff(c.left, left); diff != "" {
				t.Errorf("%s: left out (-want +got):\n%s", c.reason, diff)
			}
			if err != nil {
				return
			}
			var got []string
			for _, u := range result.Objects {
				data, _ := u.Object["data"].(map[string]any)
				text, _ := data["k"].(string)
				got = append(got, u.GetKind()+"/"+u.GetNamespace()+"/"+u.GetName()+"="+text)
			}
			if diff := cmp.Diff(c.names, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
