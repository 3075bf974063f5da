package configuration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
)

// values are those of a chart as people have them.
const values = `configs:
  cm:
    application.resourceTrackingMethod: annotation+label
    timeout.reconciliation: 180s
    timeout.reconciliation.jitter: 60s
    timeout.hard.reconciliation: 1h
    kustomize.buildOptions: --enable-helm
    resource.customizations.health.argoproj.io_Application: |
      return {status = "Healthy"}
    resource.customizations.ignoreDifferences.gateway.networking.k8s.io_HTTPRoute: |
      jqPathExpressions: [".spec.parentRefs[].group"]
  params:
    controller.diff.server.side: true
    controller.status.processors: 50
    controller.repo.server.timeout.seconds: 300
    reposerver.parallelism.limit: 5
  repositories:
    charts: {url: https://charts.example, type: helm, password: secret}
`

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func rendered(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: parsed(t, text)}
}

func TestDeclaredSettings(t *testing.T) {
	const cm = "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm}, data: {timeout.reconciliation: 5s}}"
	chart := func(name, namespace, text string) []manifests.Chart {
		return []manifests.Chart{{Name: "other", Namespace: namespace}, {Name: name, Namespace: namespace, Values: parsed(t, text)}}
	}
	cases := map[string]struct {
		reason   string
		objects  []string
		charts   []manifests.Chart
		every    string // timeout.reconciliation of argocd-cm
		params   bool
		mistaken bool
	}{
		"Nothing":    {reason: "an Application without settings declares none"},
		"Rendered":   {reason: "a ConfigMap counts by its name", objects: []string{cm}, every: "5s"},
		"Elsewhere":  {reason: "a ConfigMap of another namespace is none of ours", objects: []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm, namespace: other}}"}},
		"OtherName":  {reason: "a ConfigMap of another name is none", objects: []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: cm}}"}},
		"StandIn":    {reason: "without its ConfigMaps the chart counts by its values, but for its logins", charts: chart("argo-cd", "argocd", values), every: "180s", params: true},
		"OtherChart": {reason: "values of another chart say nothing", charts: chart("argo-workflows", "argocd", values)},
		"OtherPlace": {reason: "an installation in another namespace is another one", charts: chart("argo-cd", "argo", values)},
		"Both":       {reason: "what was rendered comes before the values", objects: []string{cm}, charts: chart("argo-cd", "argocd", values), every: "5s", params: true},
		"Secrets":    {reason: "a login or a cluster counts once it is there", objects: []string{cm, "{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {argocd.argoproj.io/secret-type: repository}}}"}, every: "5s"},
		"Mistake":    {reason: "a mistake is told, and the rest holds", charts: chart("argo-cd", "argocd", "configs: {cm: {timeout.reconciliation: 7s}, params: [x]}"), every: "7s", params: true, mistaken: true},
		"NotCreated": {reason: "a ConfigMap that the chart is not to make is not made up", charts: chart("argo-cd", "argocd", "configs: {cm: {create: false}, params: {}}"), params: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			result := &manifests.Result{Charts: tc.charts}
			for _, text := range tc.objects {
				result.Objects = append(result.Objects, rendered(t, text))
			}
			got, err := DeclaredSettings(result, "argocd", "argocd")
			if (err != nil) != tc.mistaken {
				t.Errorf("\n%s\nerror: %v", tc.reason, err)
			}
			maps := map[string]corev1.ConfigMap{}
			for _, m := range got.ConfigMaps {
				maps[m.Name] = m
			}
			if every := maps[settings.ConfigName].Data["timeout.reconciliation"]; every != tc.every {
				t.Errorf("\n%s\ntimeout.reconciliation is %q, want %q", tc.reason, every, tc.every)
			}
			if _, params := maps[settings.ParamsName]; params != tc.params {
				t.Errorf("\n%s\n%s is declared: %v", tc.reason, settings.ParamsName, params)
			}
			if len(got.Secrets) > 0 {
				t.Errorf("\n%s\n%d Secrets are declared", tc.reason, len(got.Secrets))
			}
		})
	}
}

// Settings that Applications declare hold until the real ones are there; each Application takes back its own alone.
func TestSettings(t *testing.T) {
	k := NewSettings("argocd")
	read := func() settings.Settings {
		t.Helper()
		s, _, err := k.Read()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if got := read().Kustomize.BuildOptions; got != "--enable-helm" {
		t.Errorf("without any argocd-cm the options of builds are %q", got)
	}
	declared, err := DeclaredSettings(&manifests.Result{Charts: []manifests.Chart{{Name: "argo-cd", Namespace: "argocd", Values: parsed(t, values)}}}, "argocd", "argocd")
	if err != nil {
		t.Fatal(err)
	}
	one, two := engine.UnitID{Name: "one"}, engine.UnitID{Name: "two"}
	if !k.Chart(one, declared) || k.Chart(one, declared) {
		t.Error("the first declaration is news, the same again is not")
	}
	s := read()
	if s.Tracking.Method != settings.TrackAnnotationAndLabel || s.Kustomize.BuildOptions != "--enable-helm" || !s.Compare.ServerSide {
		t.Errorf("the values do not hold: %+v", s)
	}
	if s.Customizations["argoproj.io/Application"].Health == "" {
		t.Errorf("the script is not among the customizations: %v", s.Customizations)
	}
	hosts := settings.Objects{ConfigMaps: []corev1.ConfigMap{{Data: map[string]string{"ssh_known_hosts": "host key"}}}}
	hosts.ConfigMaps[0].Name = settings.KnownHostsName
	if !k.Chart(two, hosts) || k.Chart(one, declared) {
		t.Error("what another Application declares takes nothing from the first one")
	}
	if s := read(); s.KnownHosts != "host key" || s.Tracking.Method != settings.TrackAnnotationAndLabel {
		t.Errorf("both hold: %+v", s)
	}
	there := corev1.ConfigMap{Data: map[string]string{"application.resourceTrackingMethod": "label"}}
	there.Name = settings.ConfigName
	k.maps[settings.ConfigName] = there
	if live := k.Live(); live.KnownHosts != "" || live.Tracking.Method != settings.TrackAnnotation {
		t.Errorf("what is declared is not there: %+v", live)
	}
	if s := read(); s.Tracking.Method != settings.TrackLabel || s.Kustomize.BuildOptions != "" || !s.Compare.ServerSide {
		t.Errorf("what is there comes first, ConfigMap by ConfigMap: %+v", s)
	}
	delete(k.maps, settings.ConfigName)
	if !k.Chart(one, settings.Objects{}) || k.Chart(one, settings.Objects{}) {
		t.Error("taking settings back is news once")
	}
	if s := read(); s.Tracking.Method != settings.TrackAnnotation || s.KnownHosts != "host key" {
		t.Errorf("only the first one's are gone: %+v", s)
	}
}
