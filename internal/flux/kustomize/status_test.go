package kustomize

import (
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/runner"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// conditionsOf words conditions as "Type=Status Reason".
func conditionsOf(s kustomizev1.KustomizationStatus) []string {
	var list []string
	for _, c := range s.Conditions {
		list = append(list, c.Type+"="+string(c.Status)+" "+c.Reason)
	}
	return list
}

// TestStatusOf plays the reports of a unit one after the other.
func TestStatusOf(t *testing.T) {
	entry := engine.Entry{ID: engine.ObjectID{Kind: "ConfigMap", Namespace: "n", Name: "x"}, Version: "v1"}
	steps := []struct {
		reason string
		report runner.Report
		want   []string
		check  func(s kustomizev1.KustomizationStatus) bool
	}{
		{
			"a first pass that takes long is in progress, and plans what it applies",
			runner.Report{Generation: 1, Reason: engine.ReasonProgressing, Message: "applying", Attempted: "r1", Checked: true, Planned: []engine.Entry{entry}},
			[]string{"Ready=Unknown Progressing", "Healthy=Unknown Progressing", "Reconciling=True Progressing"},
			func(s kustomizev1.KustomizationStatus) bool {
				return len(s.Inventory.Entries) == 1 && s.LastAppliedRevision == "" && s.LastAttemptedRevision == "r1"
			},
		},
		{
			"a pass that succeeds is ready",
			runner.Report{Final: true, OK: true, Generation: 1, Reason: engine.ReasonSucceeded, Attempted: "r1", Digest: "d1", Checked: true, Inventory: []engine.Entry{entry}},
			[]string{"Ready=True ReconciliationSucceeded", "Healthy=True Succeeded"},
			func(s kustomizev1.KustomizationStatus) bool {
				return s.LastAppliedRevision == "r1" && s.ObservedGeneration == 1 && s.Inventory.Entries[0].ID == "n_x__ConfigMap" && len(s.History) == 1
			},
		},
		{
			"looking at the same revision again does not make it unready",
			runner.Report{Generation: 1, Reason: engine.ReasonProgressing, Message: "again", Attempted: "r1"},
			[]string{"Ready=True ReconciliationSucceeded", "Healthy=True Succeeded", "Reconciling=True Progressing"},
			nil,
		},
		{
			"a dependency that is not ready does",
			runner.Report{Generation: 1, Reason: engine.ReasonDependencyNotReady, Message: "b", Attempted: "r1"},
			[]string{"Ready=False DependencyNotReady", "Healthy=True Succeeded", "Reconciling=True Progressing"},
			nil,
		},
		{
			"a failure is retried, and keeps what was applied, but not the health of an earlier declaration",
			runner.Report{Final: true, Generation: 2, Reason: engine.ReasonBuildFailed, Message: "bad", Attempted: "r2", Inventory: []engine.Entry{entry}},
			[]string{"Ready=False BuildFailed", "Reconciling=True ProgressingWithRetry"},
			func(s kustomizev1.KustomizationStatus) bool {
				return s.LastAppliedRevision == "r1" && s.LastAttemptedRevision == "r2" && s.ObservedGeneration == 1 && len(s.Inventory.Entries) == 1
			},
		},
		{
			"what only a change can help is stalled",
			runner.Report{Final: true, Terminal: true, Generation: 2, Reason: engine.ReasonInvalid, Message: "bad", Handled: "now"},
			[]string{"Ready=False InvalidCELExpression", "Stalled=True InvalidCELExpression"},
			func(s kustomizev1.KustomizationStatus) bool {
				return s.ObservedGeneration == 2 && s.LastHandledReconcileAt == "now"
			},
		},
		{
			"unchecked health is not told",
			runner.Report{Final: true, OK: true, Generation: 3, Reason: engine.ReasonSucceeded, Attempted: "r3", Digest: "d3"},
			[]string{"Ready=True ReconciliationSucceeded"},
			func(s kustomizev1.KustomizationStatus) bool { return len(s.History) == 2 },
		},
	}
	var status kustomizev1.KustomizationStatus
	for _, s := range steps {
		status = StatusOf(status, s.report, noon)
		if diff := cmp.Diff(s.want, conditionsOf(status)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.reason, diff)
		}
		if s.check != nil && !s.check(status) {
			t.Errorf("%s: the status is %+v", s.reason, status)
		}
	}
	again := StatusOf(status, steps[len(steps)-1].report, noon.Add(time.Hour))
	if diff := cmp.Diff(status, again); diff != "" {
		t.Errorf("a pass that finds nothing new changes the status (-before +after):\n%s", diff)
	}
}

func TestParseDependsOn(t *testing.T) {
	cases := map[string]struct {
		text  string
		want  []engine.Dependency
		fails bool
	}{
		"nothing":       {"", nil, false},
		"unit":          {"Kustomization/b", []engine.Dependency{{Unit: toolkit.KustomizationID("ns", "b")}}, false},
		"well known":    {"Deployment/other/web, Job/x", []engine.Dependency{{Object: engine.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "other", Name: "web"}}, {Object: engine.ObjectID{Group: "batch", Kind: "Job", Namespace: "ns", Name: "x"}}}, false},
		"group":         {"pki.e.io/Issuer/main", []engine.Dependency{{Object: engine.ObjectID{Group: "pki.e.io", Kind: "Issuer", Namespace: "ns", Name: "main"}}}, false},
		"cluster scope": {"CustomResourceDefinition/a.e.io", []engine.Dependency{{Object: engine.ObjectID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "a.e.io"}}}, false},
		"no kind":       {"web", nil, true},
		"no name":       {"Job/", nil, true},
		"too long":      {"e.io/Job/a/b/c", nil, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseDependsOn(c.text, "ns")
			if (err != nil) != c.fails {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(c.want, got); !c.fails && diff != "" {
				t.Errorf("the dependencies (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIgnoreOf(t *testing.T) {
	ks := func(paths []string, target *kustomize.Selector) *kustomizev1.Kustomization {
		return &kustomizev1.Kustomization{Spec: kustomizev1.KustomizationSpec{Ignore: []kustomizev1.IgnoreRule{{Paths: paths, Target: target}}}}
	}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	object.SetName("web-1")
	object.SetLabels(map[string]string{"a": "b"})
	for name, c := range map[string]struct {
		target *kustomize.Selector
		want   bool
	}{
		"everything":       {nil, true},
		"kind":             {&kustomize.Selector{Kind: "Deployment"}, true},
		"part of a name":   {&kustomize.Selector{Name: "web"}, false},
		"pattern":          {&kustomize.Selector{Name: "web-.*"}, true},
		"other group":      {&kustomize.Selector{Group: "batch", Kind: "Deployment"}, false},
		"label":            {&kustomize.Selector{LabelSelector: "a=b"}, true},
		"other annotation": {&kustomize.Selector{AnnotationSelector: "a"}, false},
	} {
		rules, err := ignoreOf(ks([]string{"/spec"}, c.target))
		if err != nil || rules[0].Match(object) != c.want {
			t.Errorf("%s: the rule matches: %v (%v)", name, !c.want, err)
		}
	}
	for want, bad := range map[string]*kustomizev1.Kustomization{
		`spec.ignore[0].paths[1]: JSON pointer "spec"`: ks([]string{"/a", "spec"}, nil),
		"spec.ignore[0].target.name":                   ks(nil, &kustomize.Selector{Name: "("}),
		"spec.ignore[0].target.labelSelector":          ks(nil, &kustomize.Selector{LabelSelector: "a in"}),
	} {
		if _, err := ignoreOf(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
