package scenario

import (
	"fmt"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/source"
)

const fleetGenerator = `apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: {name: parts, namespace: fleet}
spec:
  sources: [{alias: repo, kind: GitRepository, name: repo}]
  artifacts: [{name: part, copy: [{from: "@repo/part/**", to: "@artifact/"}]}]
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: part, namespace: fleet}
spec: {interval: 1h, retryInterval: 1h, path: ./, prune: true, sourceRef: {kind: ExternalArtifact, name: part}}
`

// TestGeneratorsStartAgain starts the engine again, with what it stored and without: an artifact whose files
// are the same stays the same.
func TestGeneratorsStartAgain(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	f := newFleet(t, k)
	part := func(value string) {
		t.Helper()
		writeFile(t, filepath.Join(f.repo, "part", "x.yaml"), fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: part, namespace: default}\ndata: {k: %q}\n", value))
	}
	part("1")
	f.push("1")
	if err := f.world.put(fleetGenerator); err != nil {
		t.Fatal(err)
	}
	f.settled("1")
	f.condition("ag", "parts", "True", "generated 1 artifact(s)")
	f.condition("ks", "part", "True", "latest@sha256:")

	before := made(t, k, f)
	unbroken := again(t, k, f, "artifacts")
	f.push("2")
	f.settled("2")
	f.condition("ag", "parts", "True", "")
	unbroken()
	if after := made(t, k, f); after != before {
		t.Errorf("it was %s, now it is %s", before, after)
	}

	unbroken = again(t, k, f, "others")
	eventually(t, "the artifact is stored again", func() (bool, string) {
		after := made(t, k, f)
		return after.digest == before.digest && after.url != before.url && after.stored == before.stored, fmt.Sprint(after)
	})
	unbroken()
	part("2")
	f.push("3")
	f.settled("3")
	eventually(t, "the part has come", func() (bool, string) {
		got := configMaps(t, f.client, "default")["part"]
		return got == "2", got
	})
}

// again starts the engine again with a store in a directory. What it returns looks whether anything was not
// ready since then.
func again(t *testing.T, k *kit.Kit, f *fleet, store string) (unbroken func()) {
	t.Helper()
	k.StopEngine()
	var err error
	if k.Store, err = source.NewStore(filepath.Join(k.Dir, store), k.Git.Base()+"/"+store); err != nil {
		t.Fatal(err)
	}
	var watches []watch.Interface
	for kind, name := range map[string]string{"ag": "parts", "ea": "part"} {
		m, _, err := f.world.resource(kind)
		if err != nil {
			t.Fatal(err)
		}
		watched, err := f.world.client.Resource(m.Resource).Namespace("fleet").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(watched.Stop)
		watches = append(watches, watched)
	}
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		for _, watched := range watches {
			neverFailed(t, watched)
		}
	}
}

// madeArtifact is what a generator made, as its object and the store have it.
type madeArtifact struct{ version, digest, url, stored string }

func made(t *testing.T, k *kit.Kit, f *fleet) madeArtifact {
	t.Helper()
	m, _, err := f.world.resource("ea")
	if err != nil {
		t.Fatal(err)
	}
	u, err := f.world.client.Resource(m.Resource).Namespace("fleet").Get(t.Context(), "part", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	of := madeArtifact{version: u.GetResourceVersion(), digest: field(u, "status.artifact.digest"), url: field(u, "status.artifact.url")}
	if a, ok := k.Store.Get(source.Key{Group: "source.toolkit.fluxcd.io", Kind: "ExternalArtifact", Namespace: "fleet", Name: "part"}); ok {
		of.stored = a.Revision + " " + a.Digest
	}
	return of
}
