package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/kit"
)

const (
	theSources = "source.toolkit.fluxcd.io"
	theUnits   = "kustomize.toolkit.fluxcd.io,helm.toolkit.fluxcd.io"
)

const repositoryRelease = `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: fleet}
spec: {interval: 1h, url: "http://%s/elsewhere"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: listed, namespace: fleet}
spec:
  interval: 1h
  chart: {spec: {chart: listed, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}
`

// TestElsewhere lets another engine serve the sources: an engine in this process stands for Flux's controller, and
// a process serves Kustomizations and HelmReleases beside it.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	audit := filepath.Join(t.TempDir(), "audit.log")
	k := startKit(t, kit.Options{Serve: []string{theSources}, AuditLog: audit})
	charts, err := kit.StartCharts()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = charts.Stop(context.WithoutCancel(t.Context())) })
	chart := func(name string) map[string][]byte {
		return map[string][]byte{
			name + "/Chart.yaml":        []byte("apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n"),
			name + "/templates/cm.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\n"),
		}
	}
	if err := charts.Put("elsewhere", "listed", "1.0.0", chart("listed")); err != nil {
		t.Fatal(err)
	}
	i := newInstalled(t, k)
	for name, data := range chart("chart") {
		writeFile(t, filepath.Join(i.repo, filepath.FromSlash(name)), string(data))
	}
	i.push("1")
	i.describe("gitrepositories.source.toolkit.fluxcd.io")
	i.describe("kustomizations.kustomize.toolkit.fluxcd.io")

	r := i.start(t, here, "--serve", theUnits)
	i.settled("1")
	i.push("2")
	i.settled("2")
	if i.describedByHand("kustomizations.kustomize.toolkit.fluxcd.io") || !i.describedByHand("gitrepositories.source.toolkit.fluxcd.io") {
		t.Error("the definitions of the groups that are served are applied, and those of others left alone: it is not so")
	}

	if err := i.world.put(fmt.Sprintf(repositoryRelease, charts.Host) + "---\n" + fmt.Sprintf(permittedRelease, "packed", "fleet")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"packed", "listed"} {
		i.condition("hr", name, "True", "")
		if _, err := i.client.CoreV1().ConfigMaps("fleet").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	r = sourcesChange(t, i, charts, r)
	leases, err := i.client.CoordinationV1().Leases(toolkit.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(leases.Items) != 1 || leases.Items[0].Name != "headgate" {
		t.Errorf("leases: %v %v", leases, err)
	}
	if holder, err := host.Holder(t.Context(), i.client, "", time.Now()); err != nil || !strings.Contains(holder, here) {
		t.Errorf("the lease is held by %q: %v", holder, err)
	}
	if code := r.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the replica ended with %d", code)
	}
	wroteAlone(t, audit)
}

// sourcesChange adds and removes charts and sources that another engine serves; it returns the replica that serves then.
func sourcesChange(t *testing.T, i *installed, charts *kit.Charts, r *replica) *replica {
	t.Helper()
	// A user requests the repository of charts, and it has a newer one.
	if err := charts.Put("elsewhere", "listed", "1.1.0", map[string][]byte{
		"listed/Chart.yaml":        []byte("apiVersion: v2\nname: listed\nversion: 1.1.0\n"),
		"listed/templates/cm.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: newer}\n"),
	}); err != nil {
		t.Fatal(err)
	}
	i.merge("HelmRepository", "charts", `{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":"now"}}}`)
	eventually(t, "the release takes the chart that came", func() (bool, string) {
		_, err := i.client.CoreV1().ConfigMaps("fleet").Get(t.Context(), "newer", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	// A source that is suspended is of use to a process that begins.
	i.merge("GitRepository", "repo", `{"spec":{"suspend":true}}`)
	if code := r.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the replica ended with %d", code)
	}
	if err := i.client.CoreV1().ConfigMaps("fleet").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r = i.start(t, here, "--serve", theUnits)
	if err := i.world.put(fmt.Sprintf(strings.Replace(permittedUnit, "path: ./%[1]s", "path: ./a, targetNamespace: default", 1), "late", "")); err != nil {
		t.Fatal(err)
	}
	i.condition("ks", "late", "True", "")
	i.settled("2")
	i.merge("GitRepository", "repo", `{"spec":{"suspend":false}}`)
	i.push("3")
	i.settled("3")
	// What is deleted goes.
	for _, name := range []string{"packed", "listed"} {
		if err := i.delete("HelmRelease", "fleet", name); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the charts go with their releases", func() (bool, string) {
		list, err := i.world.client.Resource(i.resourceOf("HelmChart")).Namespace("fleet").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 0, fmt.Sprint(err)
	})
	if err := i.delete("GitRepository", "fleet", "repo"); err != nil {
		t.Fatal(err)
	}
	i.condition("ks", "late", "False", "does not exist")
	return r
}

// merge changes an object of the fleet.
func (i *installed) merge(kind, name, patch string) {
	i.t.Helper()
	_, err := i.world.client.Resource(i.resourceOf(kind)).Namespace("fleet").Patch(i.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
}

// byHand is the description of a definition that a user changed.
const byHand = "changed by hand"

// describe changes a definition.
func (i *installed) describe(name string) {
	i.t.Helper()
	patch := fmt.Sprintf(`[{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/description", "value": %q}]`, byHand)
	_, err := i.world.client.Resource(i.resourceOf("CustomResourceDefinition")).Patch(i.t.Context(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
}

func (i *installed) describedByHand(name string) bool {
	i.t.Helper()
	u, err := i.world.client.Resource(i.resourceOf("CustomResourceDefinition")).Get(i.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
	text, _, _ := unstructured.NestedString(versions[0].(map[string]any), "schema", "openAPIV3Schema", "description")
	return text == byHand
}

// wroteAlone looks through the audit log for who wrote to sources. The engine of this process has its agent; the
// other one may make charts for releases and delete them, and nothing more.
func wroteAlone(t *testing.T, audit string) {
	t.Helper()
	data, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	statuses := 0
	for line := range bytes.Lines(data) {
		var event struct {
			Verb, UserAgent string
			ObjectRef       struct{ Resource, Subresource, APIGroup, Name string }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			continue
		}
		ref := event.ObjectRef
		if ref.APIGroup != theSources || slices.Contains([]string{"get", "list", "watch"}, event.Verb) {
			continue
		}
		switch {
		case event.UserAgent == "headgate/test":
			if ref.Subresource == "status" {
				statuses++
			}
		case ref.Resource == "helmcharts" && ref.Subresource == "":
		default:
			t.Errorf("%s wrote to the source of somebody else: %s", event.UserAgent, line)
		}
	}
	if statuses == 0 {
		t.Error("nobody wrote the status of a source")
	}
}
