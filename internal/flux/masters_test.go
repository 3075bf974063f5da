package flux

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	theSources        = "source.toolkit.fluxcd.io"
	theKustomizations = "kustomize.toolkit.fluxcd.io"
	theReleases       = "helm.toolkit.fluxcd.io"
)

func TestParseGroups(t *testing.T) {
	every := Groups{}.Names()
	cases := map[string]struct {
		reason string
		names  []string
		want   []string
		err    error
	}{
		"None":    {reason: "who names none serves all: a cluster of one's own", want: every},
		"Flux":    {reason: "flux is all of Flux's", names: []string{"flux"}, want: every},
		"Order":   {reason: "they come in the order of the way of the data", names: []string{theReleases, theSources}, want: []string{theSources, theReleases}},
		"Twice":   {reason: "a group that is named twice is served once", names: []string{theReleases, "flux", theReleases}, want: every},
		"Unknown": {reason: "a group that is not served here is refused", names: []string{theReleases, "apps"}, err: ErrGroup},
		"Short":   {reason: "groups have their whole names", names: []string{"helm"}, err: ErrGroup},
		"Empty":   {reason: "nothing is no group", names: []string{""}, err: ErrGroup},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseGroups(tc.names)
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

func groupsOf(t *testing.T, names ...string) Groups {
	t.Helper()
	g, err := ParseGroups(names)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestServedBy(t *testing.T) {
	some := groupsOf(t, theKustomizations, theReleases)
	cases := map[string]struct {
		reason, controller string
		serve              Groups
		want               string
	}{
		"Same":       {reason: "it serves a group that is served here", controller: "helm-controller", serve: some, want: theReleases},
		"Other":      {reason: "it serves a group that is left to it", controller: "source-controller", serve: some},
		"Shard":      {reason: "a shard of it serves that group too", controller: "kustomize-controller-shard1", serve: some, want: theKustomizations},
		"Images":     {reason: "two controllers serve one group", controller: "image-automation-controller", want: "image.toolkit.fluxcd.io"},
		"Beginning":  {reason: "a name that only begins alike is somebody else's", controller: "helm-controllers", serve: some},
		"Unknown":    {reason: "other controllers serve other groups", controller: "cert-manager"},
		"Everything": {reason: "the zero value is every group", controller: "source-watcher", want: "source.extensions.fluxcd.io"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, is := tc.serve.servedBy(tc.controller)
			if diff := cmp.Diff(tc.want, got); diff != "" || is != (tc.want != "") || tc.serve.Replaces(tc.controller) != is {
				t.Errorf("%s: %v\n%s", tc.reason, is, diff)
			}
		})
	}
}

func TestUnitKinds(t *testing.T) {
	want := map[schema.GroupKind]bool{kustomizationKind: true}
	if diff := cmp.Diff(want, groupsOf(t, theSources, theKustomizations).unitKinds()); diff != "" {
		t.Error(diff)
	}
}

func TestMasterDeployment(t *testing.T) {
	replicas := func(n int32) *int32 { return &n }
	cases := map[string]struct {
		reason, name, partOf string
		replicas             *int32
		want                 string
	}{
		"Serves":  {reason: "it runs", name: "helm-controller", partOf: "flux", replicas: replicas(2), want: "Deployment ns/helm-controller serves " + theReleases},
		"Default": {reason: "it says not how many, which is one", name: "helm-controller", partOf: "flux", want: "Deployment ns/helm-controller serves " + theReleases},
		"Paused":  {reason: "it is scaled down", name: "helm-controller", partOf: "flux", replicas: replicas(0)},
		"Foreign": {reason: "it bears the name alone", name: "helm-controller", partOf: "k3s"},
		"Left":    {reason: "its group is left to it", name: "source-controller", partOf: "flux"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: tc.name, Labels: map[string]string{PartOf: tc.partOf}}}
			d.Spec.Replicas = tc.replicas
			if diff := cmp.Diff(tc.want, masterDeployment(d, groupsOf(t, theReleases))); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMasterLease(t *testing.T) {
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
			if diff := cmp.Diff(tc.want, masterLease(tc.lease, groupsOf(t, theReleases), now)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.holder, holderOf(tc.lease, now)); diff != "" {
				t.Errorf("%s: the holder\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	if err := refusal([]string{"", ""}); err != nil {
		t.Errorf("nobody was found: %v", err)
	}
	err := refusal([]string{"b serves", "", "a serves"})
	if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "a serves; b serves;") || !strings.Contains(err.Error(), "headgate migrate flux") {
		t.Errorf("the refusal names neither who serves nor what to do: %v", err)
	}
}

// TestMasters tells of controllers that come, are scaled and go.
func TestMasters(t *testing.T) {
	m := &Masters{serve: groupsOf(t, theReleases), found: map[string]string{}, changed: make(chan struct{})}
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
		{"it comes", func() { m.see(controller(&one)) }, true, true},
		{"its status is written", func() { m.see(controller(&one)) }, false, true},
		{"it is paused", func() { m.see(controller(&zero)) }, true, false},
		{"it is started again", func() { m.see(controller(nil)) }, true, true},
		{"it is deleted", func() { m.lose(controller(nil)) }, true, false},
		{"something else is deleted", func() { m.lose("what") }, false, false},
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
