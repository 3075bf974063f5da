package host

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/workflow"
)

const (
	theSources        = "source.toolkit.fluxcd.io"
	theKustomizations = "kustomize.toolkit.fluxcd.io"
	theReleases       = "helm.toolkit.fluxcd.io"
)

func TestParseGroups(t *testing.T) {
	every := groupsOf(t).Names()
	ofFlux := slices.DeleteFunc(slices.Clone(every), func(name string) bool {
		return !strings.HasSuffix(name, ".fluxcd.io") && !strings.HasSuffix(name, "fluxcd.controlplane.io")
	})
	ofArgo := append(slices.Clone(ofFlux), argo.Group)
	cases := map[string]struct {
		reason string
		names  []string
		want   []string
		err    error
	}{
		"None":    {reason: "who names none serves all: a cluster of one's own", want: every},
		"Flux":    {reason: "flux is all of Flux's", names: []string{"flux"}, want: ofFlux},
		"Argo":    {reason: "argocd is that of Argo CD", names: []string{"argocd"}, want: []string{argo.Group}},
		"Both":    {reason: "words may be mixed", names: []string{"argocd", "flux", argo.Group}, want: ofArgo},
		"Shared":  {reason: "what is served of an API group that two dialects have is said by a word", names: []string{"workflows"}, want: []string{workflow.Group}},
		"Order":   {reason: "they come in the order of the way of the data", names: []string{theReleases, theSources}, want: []string{theSources, theReleases}},
		"Twice":   {reason: "a group that is named twice is served once", names: []string{theReleases, "flux", theReleases}, want: ofFlux},
		"Unknown": {reason: "a group that is not served here is refused", names: []string{theReleases, "apps"}, err: dialect.ErrGroup},
		"Short":   {reason: "groups have their whole names", names: []string{"helm"}, err: dialect.ErrGroup},
		"Empty":   {reason: "nothing is no group", names: []string{""}, err: dialect.ErrGroup},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := dialects.All().Parse(tc.names)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), `"`+tc.names[len(tc.names)-1]+`"`) || !strings.Contains(err.Error(), theSources) {
					t.Errorf("%s: the error names neither the group nor what is known: %v", tc.reason, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got.Names()); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func groupsOf(t *testing.T, names ...string) dialect.Groups {
	t.Helper()
	g, err := dialects.All().Parse(names)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestServedBy(t *testing.T) {
	some := groupsOf(t, theKustomizations, theReleases)
	cases := map[string]struct {
		reason, controller string
		serve              dialect.Groups
		want               string
	}{
		"Same":       {reason: "it serves a group that is served here", controller: "helm-controller", serve: some, want: theReleases},
		"Other":      {reason: "it serves a group that is left to it", controller: "source-controller", serve: some},
		"Shard":      {reason: "a shard of it serves that group too", controller: "kustomize-controller-shard1", serve: some, want: theKustomizations},
		"Images":     {reason: "two controllers serve one group", controller: "image-automation-controller", serve: groupsOf(t), want: "image.toolkit.fluxcd.io"},
		"Beginning":  {reason: "a name that only begins alike is somebody else's", controller: "helm-controllers", serve: some},
		"Unknown":    {reason: "other controllers serve other groups", controller: "cert-manager", serve: groupsOf(t)},
		"Everything": {reason: "who names none serves every group", controller: "source-watcher", serve: groupsOf(t), want: "source.extensions.fluxcd.io"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, is := tc.serve.ServedBy(tc.controller)
			if diff := cmp.Diff(tc.want, got); diff != "" || is != (tc.want != "") {
				t.Errorf("%s: %v\n%s", tc.reason, is, diff)
			}
		})
	}
}

func TestUnitKinds(t *testing.T) {
	want := map[schema.GroupKind]bool{{Group: theKustomizations, Kind: "Kustomization"}: true}
	if diff := cmp.Diff(want, groupsOf(t, theSources, theKustomizations).Units()); diff != "" {
		t.Error(diff)
	}
}

func TestFinding(t *testing.T) {
	replicas := func(n int32) *int32 { return &n }
	labels := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	both := groupsOf(t, theReleases, "argocd", "workflows")
	cases := map[string]struct {
		reason, kind, name string
		labels             map[string]string
		replicas           *int32
		serve              dialect.Groups
		want               finding
	}{
		"Serves":  {reason: "it runs", name: "helm-controller", labels: labels(PartOf, "flux"), replicas: replicas(2), want: finding{"flux", "Deployment ns/helm-controller serves " + theReleases}},
		"Default": {reason: "it says not how many, which is one", name: "helm-controller", labels: labels(PartOf, "flux"), want: finding{"flux", "Deployment ns/helm-controller serves " + theReleases}},
		"Paused":  {reason: "it is scaled down", name: "helm-controller", labels: labels(PartOf, "flux"), replicas: replicas(0)},
		"Foreign": {reason: "it bears the name alone", name: "helm-controller", labels: labels(PartOf, "k3s")},
		"Left":    {reason: "its group is left to it", name: "source-controller", labels: labels(PartOf, "flux")},

		"Argo":         {reason: "the controller of Argo CD is a StatefulSet", kind: "StatefulSet", name: "argocd-application-controller", labels: labels(PartOf, "argocd"), want: finding{"argocd", "StatefulSet ns/argocd-application-controller serves argoproj.io"}},
		"ArgoDeployed": {reason: "or a Deployment, with dynamic shards", name: "argocd-application-controller", labels: labels(PartOf, "argocd"), want: finding{"argocd", "Deployment ns/argocd-application-controller serves argoproj.io"}},
		"ArgoSets":     {reason: "that of ApplicationSets counts too", name: "argocd-applicationset-controller", labels: labels(PartOf, "argocd"), want: finding{"argocd", "Deployment ns/argocd-applicationset-controller serves argoproj.io"}},
		"ArgoUnmarked": {reason: "whoever installs it may give it other labels", kind: "StatefulSet", name: "argocd-application-controller", labels: labels(PartOf, "platform"), want: finding{"argocd", "StatefulSet ns/argocd-application-controller serves argoproj.io"}},
		"ArgoRelease":  {reason: "or another name, as a release does", kind: "StatefulSet", name: "prod-application-controller", labels: labels(PartOf, "argocd", appNameLabel, "argocd-application-controller"), want: finding{"argocd", "StatefulSet ns/prod-application-controller serves argoproj.io"}},
		"ArgoOperator": {reason: "or both, as an operator does", kind: "StatefulSet", name: "prod-application-controller", labels: labels(PartOf, "argocd", appNameLabel, "prod-application-controller", componentLabel, "application-controller"), want: finding{"argocd", "StatefulSet ns/prod-application-controller serves argoproj.io"}},
		"ArgoServer":   {reason: "its API server writes no objects of Applications", name: "argocd-server", labels: labels(PartOf, "argocd", componentLabel, "server")},
		"Workflows":    {reason: "the upstream's manifests give it a name and no label", name: "workflow-controller", want: finding{"argo-workflows", "Deployment ns/workflow-controller serves " + workflow.Group}},
		"WorkflowsSet": {reason: "a release of the chart has another name", name: "wf-argo-workflows-workflow-controller", labels: labels(PartOf, "argo-workflows", componentLabel, "workflow-controller"), want: finding{"argo-workflows", "Deployment ns/wf-argo-workflows-workflow-controller serves " + workflow.Group}},
		"WorkflowsOld": {reason: "a release that is named like the chart has its name once", name: "argo-workflows-workflow-controller", want: finding{"argo-workflows", "Deployment ns/argo-workflows-workflow-controller serves " + workflow.Group}},
		"WorkflowsWeb": {reason: "its server writes no status", name: "argo-workflows-server", labels: labels(PartOf, "argo-workflows", componentLabel, "server")},
		"WorkflowsOff": {reason: "it is scaled down", name: "workflow-controller", replicas: replicas(0)},
		"WorkflowsCD":  {reason: "it serves none of the kinds of Argo CD", name: "workflow-controller", serve: groupsOf(t, "argocd")},
		"ArgoPaused":   {reason: "it is scaled down", kind: "StatefulSet", name: "argocd-application-controller", labels: labels(PartOf, "argocd"), replicas: replicas(0)},
		"ArgoLeft":     {reason: "its group is left to it", kind: "StatefulSet", name: "argocd-application-controller", labels: labels(PartOf, "argocd"), serve: groupsOf(t, theReleases)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			serve := both
			if len(tc.serve.Names()) > 0 {
				serve = tc.serve
			}
			meta := metav1.ObjectMeta{Namespace: "ns", Name: tc.name, Labels: tc.labels}
			w := deployed(&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: tc.replicas}})
			if tc.kind == "StatefulSet" {
				w = stateful(&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: tc.replicas}})
			}
			if got := w.finding(serve); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// cloudy is a dialect whose upstream installs controllers under names of its own choice.
type cloudy struct{ dialect.Dialect }

func (cloudy) Name() string { return "cloudy" }
func (cloudy) Groups() []dialect.Group {
	return []dialect.Group{{Name: "droplets.example.dev", Controllers: []string{"provider-droplets"}}}
}

func (cloudy) Upstream() dialect.Upstream {
	return dialect.Upstream{Name: "cloudy", Title: "Cloudy", Kinds: []string{"Deployment"}, PodLabel: "pkg.example.dev/provider"}
}

// TestPodLabel finds controllers by what their pods are called.
func TestPodLabel(t *testing.T) {
	serve, err := dialect.Catalogue{cloudy{}}.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := selections(serve); len(all) != 1 || all[0].String() != "Deployments" {
		t.Errorf("got %v, want a search through all Deployments", all)
	}
	for provider, want := range map[string]string{
		"provider-droplets": "Deployment ns/provider-droplets-7f3a serves droplets.example.dev", "provider-volumes": "", "": "",
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "provider-droplets-7f3a"}}
		if provider != "" {
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"pkg.example.dev/provider": provider}}
		}
		found := deployed(d).finding(serve)
		if found.text != want {
			t.Errorf("pods of %q: got %q, want %q", provider, found.text, want)
		}
		if err := refusal(serve, []finding{found}); want != "" && (err == nil || !strings.Contains(err.Error(), "scale it to 0 replicas, or leave its group out of --serve")) {
			t.Errorf("the refusal suggests what does not work: %v", err)
		}
	}
}

// TestProviders finds the providers of Crossplane, by their package and by their image: an installation may name it as it likes.
func TestProviders(t *testing.T) {
	const registry = "xpkg.crossplane.io/crossplane-contrib/"
	const sum = "@sha256:0000000000000000000000000000000000000000000000000000000000000000"
	every := groupsOf(t, "crossplane")
	cases := map[string]struct {
		reason, label, image string
		serve                dialect.Groups
		group                string
	}{
		"Kubernetes":  {"it has the name of its package", "provider-kubernetes", registry + "provider-kubernetes:v1.2.0", every, "kubernetes.crossplane.io"},
		"Dependency":  {"installed by another package it has the organization before", "crossplane-contrib-provider-kubernetes", "x", every, "kubernetes.crossplane.io"},
		"Upjet":       {"it serves the groups with digitalocean in their names", "provider-upjet-digitalocean", "x", every, "droplet.digitalocean.crossplane.io"},
		"Classic":     {"it serves those with do", "provider-digitalocean", "x", groupsOf(t, "compute.do.crossplane.io"), "compute.do.crossplane.io"},
		"Chosen":      {"a person chose the name, the image has it", "do", registry + "provider-upjet-digitalocean:v1.0.1" + sum, every, "droplet.digitalocean.crossplane.io"},
		"Digest":      {"an image may have no version", "k8s", registry + "provider-kubernetes" + sum, every, "kubernetes.crossplane.io"},
		"Port":        {"or a registry with a port and nothing else", "k8s", "localhost:5000/provider-kubernetes", every, "kubernetes.crossplane.io"},
		"Left":        {"its groups are left to it", "provider-kubernetes", "x", groupsOf(t, "compute.do.crossplane.io"), ""},
		"OtherGroups": {"the classic one serves none of upjet's groups", "provider-digitalocean", "x", groupsOf(t, "custom.digitalocean.crossplane.io"), ""},
		"Other":       {"other providers serve other groups", "provider-aws-s3", registry + "provider-aws-s3:v1", every, ""},
		"Unlabelled":  {"an image alone is no provider: Crossplane labels what it installs", "", registry + "provider-kubernetes:v1.2.0", every, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "crossplane-system", Name: "p-7f3a"}}
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"pkg.crossplane.io/revision": "p-7f3a"}}
			if tc.label != "" {
				d.Spec.Selector.MatchLabels["pkg.crossplane.io/provider"] = tc.label
			}
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "package-runtime", Image: tc.image}}
			want := finding{}
			if tc.group != "" {
				want = finding{"crossplane", "Deployment crossplane-system/p-7f3a serves " + tc.group}
			}
			if got := deployed(d).finding(tc.serve); got != want {
				t.Errorf("%s: %v, want %v", tc.reason, got, want)
			}
		})
	}
}

// Only what matters is searched for: a controller that serves Argo CD alone needs no Deployments of Flux.
func TestSelections(t *testing.T) {
	cases := map[string]struct {
		reason string
		serve  dialect.Groups
		want   int
	}{
		"Flux": {"Deployments by their label", groupsOf(t, "flux"), 1},
		"Argo": {"two kinds, by a label and two names", groupsOf(t, "argocd"), 6},
		"Both": {"both", groupsOf(t, "flux", "argocd"), 7},
		"Runs": {"one kind, by a label and two names", groupsOf(t, "workflows"), 3},
		"Made": {"all Deployments: labels of pods cannot be selected by", groupsOf(t, "crossplane"), 1},
		"None": {"Builds have no upstream", groupsOf(t, "build"), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := selections(tc.serve); len(got) != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

func TestLeaseFinding(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	holder, nobody, seconds := "pod-a", "", int32(35)
	lease := func(name string, who *string, ago time.Duration) *coordinationv1.Lease {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
		l.Spec = coordinationv1.LeaseSpec{HolderIdentity: who, LeaseDurationSeconds: &seconds, RenewTime: &metav1.MicroTime{Time: now.Add(-ago)}}
		return l
	}
	cases := map[string]struct {
		reason       string
		lease        *coordinationv1.Lease
		want, holder string
	}{
		"Held": {
			reason: "a controller holds the lease of a group that is served here", lease: lease("helm-controller-leader-election", &holder, time.Second),
			want: "pod-a holds the lease flux-system/helm-controller-leader-election and serves " + theReleases, holder: "pod-a",
		},
		"Shard": {
			reason: "so does one for a shard", lease: lease("helm-controller-leader-election-1a2b3", &holder, time.Second),
			want: "pod-a holds the lease flux-system/helm-controller-leader-election-1a2b3 and serves " + theReleases, holder: "pod-a",
		},
		"Late":     {reason: "it was not renewed in time", lease: lease("helm-controller-leader-election", &holder, 36*time.Second)},
		"Released": {reason: "it was let go", lease: lease("helm-controller-leader-election", &nobody, 0)},
		"Never":    {reason: "nobody ever held it", lease: lease("helm-controller-leader-election", nil, 0)},
		"Left":     {reason: "the group is left to its holder", lease: lease("source-controller-leader-election", &holder, 0), holder: "pod-a"},
		"Own":      {reason: "our own lease is none of theirs", lease: lease(LeaseName(""), &holder, 0), holder: "pod-a"},
		"Alike":    {reason: "another lease only looks alike", lease: lease("helm-controller-leader-elections", &holder, 0), holder: "pod-a"},
		"Unfilled": {reason: "it says nothing", lease: &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "helm-controller-leader-election"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, leaseFinding(tc.lease, groupsOf(t, theReleases).Upstreams()[0], now).text); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.holder, holderOf(tc.lease, now)); diff != "" {
				t.Errorf("%s: the holder\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	if err := refusal(groupsOf(t), []finding{{}, {}}); err != nil {
		t.Errorf("nobody was found: %v", err)
	}
	found := []finding{{"flux", "b serves"}, {}, {"flux", "a serves"}, {"argocd", "c serves"}, {"argocd", "c serves"}}
	err := refusal(groupsOf(t), found)
	if !errors.Is(err, ErrUpstream) {
		t.Errorf("the refusal is another error: %v", err)
	}
	for _, part := range []string{"Flux runs on this cluster: a serves; b serves; `headgate migrate flux`", "Argo CD runs on this cluster: c serves; `headgate migrate argocd`"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the refusal does not say %q: %v", part, err)
		}
	}
	var known *UpstreamError
	if !errors.As(err, &known) || !slices.Equal(known.Upstreams, []string{"flux", "argocd"}) {
		t.Errorf("the refusal does not say whose controllers these are: %v", known)
	}
	if err := refusal(groupsOf(t), found[3:]); strings.Contains(err.Error(), "Flux") {
		t.Errorf("the refusal names an engine that does not run: %v", err)
	}
}

// TestControllers checks controllers that are created, scaled and deleted.
func TestControllers(t *testing.T) {
	m := &Controllers{serve: groupsOf(t, theReleases), found: map[string]finding{}, changed: make(chan struct{})}
	one, zero := int32(1), int32(0)
	controller := func(replicas *int32) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "helm-controller", Labels: map[string]string{PartOf: "flux"}}}
		d.Spec.Replicas = replicas
		return d
	}
	for _, step := range []struct {
		reason           string
		do               func()
		changed, refused bool
	}{
		{"it comes", func() { m.see("", controller(&one)) }, true, true},
		{"its status is written", func() { m.see("", controller(&one)) }, false, true},
		{"it is paused", func() { m.see("", controller(&zero)) }, true, false},
		{"it is started again", func() { m.see("", controller(nil)) }, true, true},
		{"it is deleted", func() { m.lose("", controller(nil)) }, true, false},
		{"something else is deleted", func() { m.lose("", "what") }, false, false},
	} {
		changed, _ := m.now()
		step.do()
		told := false
		select {
		case <-changed:
			told = true
		default:
		}
		if _, refusal := m.now(); told != step.changed || (refusal != nil) != step.refused {
			t.Errorf("%s: told %v, refusal %v", step.reason, told, refusal)
		}
	}
}

func TestLeaseName(t *testing.T) {
	a, rest := LeaseName("sharding.fluxcd.io/key=a"), LeaseName("!sharding.fluxcd.io/key")
	if LeaseName("") != "headgate" || a == rest || !strings.HasPrefix(a, "headgate-") || !strings.HasPrefix(rest, "headgate-") {
		t.Errorf("shards share a lease: %q, %q, %q", LeaseName(""), a, rest)
	}
	for _, same := range []string{"sharding.fluxcd.io/key=a", "sharding.fluxcd.io/key == a", " sharding.fluxcd.io/key=a "} {
		if LeaseName(same) != a {
			t.Errorf("%q has a lease of its own", same)
		}
	}
}
