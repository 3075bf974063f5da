package chart_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/chart"
)

// named synthesizes one object below a chart, and returns its name.
func named(t *testing.T, mode chart.NameMode, props chart.Props, kind string, path ...string) string {
	t.Helper()
	app := chart.NewApp(chart.Settings{Names: mode})
	var scope chart.Scope = chart.New(app, path[0], props)
	for _, id := range path[1 : len(path)-1] {
		scope = chart.NewGroup(scope, id)
	}
	o := chart.Add(scope, path[len(path)-1], map[string]any{"apiVersion": "v1", "kind": kind})
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Manifests()[0].Name(); got != o.Name() {
		t.Errorf("the object says %q before and %q after the synth", o.Name(), got)
	}
	return o.Name()
}

func TestNames(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		mode   chart.NameMode
		props  chart.Props
		kind   string
		path   []string
		want   string
	}{
		"Plain":     {"the path, joined", chart.PlainNames, chart.Props{}, "Service", []string{"web", "server"}, "web-server"},
		"Strange":   {"characters that a DNS label does not have", chart.PlainNames, chart.Props{}, "Service", []string{"Web", "A_b.C", "é-x"}, "web-a-b-c-x"},
		"Long":      {"the end of a long path is kept, with a hash", chart.PlainNames, chart.Props{}, "Service", []string{"web", strings.Repeat("x", 80)}, strings.Repeat("x", 54) + "-" + "c8"},
		"CDK8s":     {"of the specification", chart.CDK8sNames, chart.Props{}, "Service", []string{"test", "my-service"}, "test-my-service-c8feaf05"},
		"Dots":      {"of the specification: . and _ stay", chart.CDK8sNames, chart.Props{}, "Service", []string{"test", "Group.A_B", "Resource"}, "test-group.a_b-c80ec3a5"},
		"CDK8sLong": {"of the specification: the hash and the end", chart.CDK8sNames, chart.Props{}, "Service", []string{"test", strings.Repeat("x", 80)}, strings.Repeat("x", 54) + "-c85872a4"},
		"NoHash":    {"without hashes", chart.CDK8sNames, chart.Props{NoNameHashes: true}, "Service", []string{"test", "my-service"}, "test-my-service"},
		"Repeated":  {"a name that repeats", chart.CDK8sNames, chart.Props{NoNameHashes: true}, "Service", []string{"test", "test", "a", "Default"}, "test-a"},
	} {
		t.Run(name, func(t *testing.T) {
			got := named(t, tc.mode, tc.props, tc.kind, tc.path...)
			if name == "Long" {
				got = got[:len(got)-6] // of the hash
			}
			if got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNamesOfCronJobs(t *testing.T) {
	got := named(t, chart.CDK8sNames, chart.Props{}, "CronJob", "test", "cj"+strings.Repeat("y", 70))
	if len(got) != 52 || !strings.HasSuffix(got, "-c8356f92") {
		t.Errorf("%q has %d characters, want 52 that end with -c8356f92", got, len(got))
	}
	if got := named(t, chart.PlainNames, chart.Props{}, "CronJob", "test", "cj"+strings.Repeat("y", 70)); len(got) != 52 {
		t.Errorf("%q has %d characters, want 52", got, len(got))
	}
}

// FuzzNames expects of every path a name that Kubernetes takes, and the same one again.
func FuzzNames(f *testing.F) {
	f.Add("web", "server")
	f.Add("Web.A", "é_ü")
	f.Add("--", strings.Repeat("ab-", 40))
	valid := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	f.Fuzz(func(t *testing.T, first, second string) {
		describe := func() (string, error) {
			app := chart.NewApp(chart.Settings{})
			o := chart.Add(chart.New(app, first, chart.Props{}), second, map[string]any{"apiVersion": "v1", "kind": "Service"})
			_, err := app.Synth()
			return o.Name(), err
		}
		name, err := describe()
		if err != nil {
			return // an empty name, or a path without a character for one
		}
		if len(name) > 63 || !valid.MatchString(name) {
			t.Errorf("%q/%q is named %q", first, second, name)
		}
		if again, _ := describe(); again != name {
			t.Errorf("%q/%q is named %q and %q", first, second, name, again)
		}
	})
}
