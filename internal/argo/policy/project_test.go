package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

func project(t *testing.T, spec v1alpha1.AppProjectSpec) *Project {
	t.Helper()
	p, err := Effective(&v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: spec}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestPermitsSource(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		sources []string
		url     string
		want    bool
	}{
		"Nothing":     {"a project without sources permits none", nil, "https://github.com/a/b", false},
		"Star":        {"a lone star is for all", []string{"*"}, "https://github.com/a/b.git", true},
		"Suffix":      {".git makes no difference", []string{"https://github.com/a/b.git"}, "https://github.com/a/b", true},
		"Case":        {"nor does case", []string{"https://GitHub.com/a/b"}, "https://github.com/A/b", true},
		"OneLevel":    {"a star stops at a slash", []string{"https://github.com/a/*"}, "https://github.com/a/b/c", false},
		"AllLevels":   {"two stars do not", []string{"https://github.com/a/**"}, "https://github.com/a/b/c", true},
		"Denied":      {"a denial wins over a star", []string{"*", "!https://github.com/a/*"}, "https://github.com/a/b", false},
		"DeniedFirst": {"wherever it stands", []string{"!https://github.com/a/*", "*"}, "https://github.com/a/b", false},
		"DeniedLogin": {"a login before the host leads round no denial", []string{"*", "!https://github.com/a/*"}, "https://me@github.com/a/b", false},
		"NotDenied":   {"a denial lets others through", []string{"!https://github.com/a/*"}, "https://github.com/b/b", true},
		"SSH":         {"both ways of SSH are one", []string{"git@github.com:a/b"}, "ssh://git@github.com/a/b", true},
		"OCI":         {"charts in registries too", []string{"oci://ghcr.io/a/*"}, "oci://ghcr.io/a/chart", true},
	} {
		t.Run(name, func(t *testing.T) {
			err := project(t, v1alpha1.AppProjectSpec{SourceRepos: tc.sources}).PermitsSource(tc.url)
			want := "application repo " + strings.Replace(tc.url, "me@", "", 1) + " is not permitted in project 'p'"
			if tc.want {
				want = ""
			}
			if diff := cmp.Diff(want, text(err)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestPermitsSourceHidesLogin(t *testing.T) {
	err := project(t, v1alpha1.AppProjectSpec{}).PermitsSource("https://user:secret@github.com/a/b")
	if want := "application repo https://github.com/a/b is not permitted in project 'p'"; text(err) != want {
		t.Errorf("got %q, want %q", text(err), want)
	}
}

func TestBadPattern(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		spec   v1alpha1.AppProjectSpec
		field  string
	}{
		"Source":    {"a denial that cannot be read denies all", v1alpha1.AppProjectSpec{SourceRepos: []string{"*", "![a"}}, "spec.sourceRepos[1]"},
		"Server":    {"so does one of a server", v1alpha1.AppProjectSpec{SourceRepos: []string{"![a"}, Destinations: []v1alpha1.ApplicationDestination{{Server: "![a", Namespace: "*"}}}, "spec.destinations[0]"},
		"Namespace": {"a regular expression permits none", v1alpha1.AppProjectSpec{SourceNamespaces: []string{"/(/"}}, "spec.sourceNamespaces[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Effective(&v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: tc.spec}, nil, nil)
			if !strings.Contains(text(err), "project 'p': "+tc.field) {
				t.Errorf("%s: the error names no field: %v", tc.reason, err)
			}
			app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "other"}}
			if p.PermitsSource("https://a") == nil || p.PermitsDestination(settings.Cluster{Server: "https://a"}, "ns") == nil || p.PermitsNamespace(app, "argocd") == nil {
				t.Error(tc.reason)
			}
		})
	}
}

func TestPermitsDestination(t *testing.T) {
	prod := settings.Cluster{Server: "https://prod", Name: "prod"}
	type places = []v1alpha1.ApplicationDestination
	for name, tc := range map[string]struct {
		reason    string
		items     places
		namespace string
		want      bool
	}{
		"Nothing":         {"a project without destinations permits none", nil, "a", false},
		"ByServer":        {"", places{{Server: "https://prod", Namespace: "a"}}, "a", true},
		"ByName":          {"", places{{Name: "pr*", Namespace: "*"}}, "a", true},
		"OtherNamespace":  {"", places{{Server: "*", Namespace: "b"}}, "a", false},
		"NoNamespace":     {"a star takes none too", places{{Server: "*", Namespace: "*"}}, "", true},
		"DeniedNamespace": {"", places{{Server: "*", Namespace: "*"}, {Server: "*", Namespace: "!kube-*"}}, "kube-system", false},
		"DeniedByName":    {"a namespace is denied in a cluster by its name too", places{{Server: "*", Namespace: "*"}, {Name: "prod", Namespace: "!kube-*"}}, "kube-system", false},
		"DeniedElsewhere": {"", places{{Server: "*", Namespace: "*"}, {Server: "https://dev", Namespace: "!kube-*"}}, "kube-system", true},
		"DeniedServer":    {"", places{{Server: "*", Namespace: "*"}, {Server: "!https://prod", Namespace: "*"}}, "a", false},
		"DeniedThere":     {"a server is denied for the namespaces of its item", places{{Server: "*", Namespace: "*"}, {Server: "!https://prod", Namespace: "b"}}, "a", true},
		"DeniedName":      {"", places{{Server: "*", Namespace: "*"}, {Name: "!prod", Namespace: "*"}}, "a", false},
		"OnlyDenial":      {"a denial lets others through", places{{Server: "!https://dev", Namespace: "a"}}, "a", true},
	} {
		t.Run(name, func(t *testing.T) {
			err := project(t, v1alpha1.AppProjectSpec{Destinations: tc.items}).PermitsDestination(prod, tc.namespace)
			want := "application destination server 'https://prod' and namespace '" + tc.namespace +
				"' do not match any of the allowed destinations in project 'p'"
			if tc.want {
				want = ""
			}
			if diff := cmp.Diff(want, text(err)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestOwnClusters(t *testing.T) {
	p := project(t, v1alpha1.AppProjectSpec{
		Destinations: []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}}, PermitOnlyProjectScopedClusters: true,
	})
	for owner, want := range map[string]bool{"p": true, "q": false, "": false} {
		if got := p.PermitsDestination(settings.Cluster{Server: "https://prod", Project: owner}, "a") == nil; got != want {
			t.Errorf("a cluster of project %q: permitted %v, want %v", owner, got, want)
		}
	}
}

func TestPermitsKind(t *testing.T) {
	type list = []metav1.GroupKind
	type clusterList = []v1alpha1.ClusterResourceRestrictionItem
	deployment := Object{Group: "apps", Kind: "Deployment", Name: "d", Namespaced: true}
	namespace := Object{Kind: "Namespace", Name: "team1-a"}
	for name, tc := range map[string]struct {
		reason string
		spec   v1alpha1.AppProjectSpec
		object Object
		want   bool
	}{
		"NoLists":          {"kinds in namespaces are permitted without a list", v1alpha1.AppProjectSpec{}, deployment, true},
		"EmptyList":        {"an empty list is a list", v1alpha1.AppProjectSpec{NamespaceResourceWhitelist: list{}}, deployment, false},
		"Listed":           {"", v1alpha1.AppProjectSpec{NamespaceResourceWhitelist: list{{Group: "app*", Kind: "*"}}}, deployment, true},
		"OtherGroup":       {"", v1alpha1.AppProjectSpec{NamespaceResourceWhitelist: list{{Group: "", Kind: "*"}}}, deployment, false},
		"Blacklist":        {"a blacklist wins", v1alpha1.AppProjectSpec{NamespaceResourceWhitelist: list{{Group: "*", Kind: "*"}}, NamespaceResourceBlacklist: list{{Group: "apps", Kind: "Deploy*"}}}, deployment, false},
		"BadPattern":       {"", v1alpha1.AppProjectSpec{NamespaceResourceWhitelist: list{{Group: "[", Kind: "*"}}}, deployment, false},
		"ClusterNoList":    {"kinds outside of namespaces are not permitted without a list", v1alpha1.AppProjectSpec{}, namespace, false},
		"ClusterListed":    {"", v1alpha1.AppProjectSpec{ClusterResourceWhitelist: clusterList{{Group: "*", Kind: "*"}}}, namespace, true},
		"ClusterNamed":     {"", v1alpha1.AppProjectSpec{ClusterResourceWhitelist: clusterList{{Kind: "Namespace", Name: "team1-*"}}}, namespace, true},
		"ClusterOtherName": {"", v1alpha1.AppProjectSpec{ClusterResourceWhitelist: clusterList{{Kind: "Namespace", Name: "team2-*"}}}, namespace, false},
		"ClusterBlacklist": {"", v1alpha1.AppProjectSpec{ClusterResourceWhitelist: clusterList{{Group: "*", Kind: "*"}}, ClusterResourceBlacklist: clusterList{{Kind: "Namespace", Name: "team1-*"}}}, namespace, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := project(t, tc.spec).PermitsKind(tc.object)
			want := "resource " + tc.object.Group + ":" + tc.object.Kind + " is not permitted in project p"
			if tc.want {
				want = ""
			}
			if diff := cmp.Diff(want, text(err)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestPermitsObject(t *testing.T) {
	p := project(t, v1alpha1.AppProjectSpec{
		Destinations:             []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "a"}},
		ClusterResourceWhitelist: []v1alpha1.ClusterResourceRestrictionItem{{Group: "*", Kind: "*"}},
	})
	cluster := settings.Cluster{Server: "https://prod"}
	for want, o := range map[string]Object{
		"": {Kind: "Namespace", Name: "b"},
		"namespace b is not permitted in project 'p'": {Kind: "Secret", Namespace: "b", Namespaced: true},
	} {
		if got := text(p.PermitsObject(cluster, o)); got != want {
			t.Errorf("%v: got %q, want %q", o, got, want)
		}
	}
}

func TestPermitsNamespace(t *testing.T) {
	p := project(t, v1alpha1.AppProjectSpec{SourceNamespaces: []string{"team-*", "/^dev[0-9]$/"}})
	for namespace, want := range map[string]bool{"": true, "argocd": true, "team-a": true, "dev1": true, "dev10": false, "other": false} {
		app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: namespace}}
		err := p.PermitsNamespace(app, "argocd")
		if (err == nil) != want {
			t.Errorf("namespace %q: %v, want permitted %v", namespace, err, want)
		}
		if wanted := "application 'a' in namespace '" + namespace + "' is not permitted to use project 'p'"; err != nil && err.Error() != wanted {
			t.Errorf("got %q, want %q", err, wanted)
		}
	}
}

func TestEffective(t *testing.T) {
	global := &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "global"}, Spec: v1alpha1.AppProjectSpec{
		NamespaceResourceWhitelist: []metav1.GroupKind{{Kind: "ConfigMap"}},
		SourceRepos:                []string{"!https://bad/*"},
		SyncWindows:                []v1alpha1.SyncWindow{{Kind: "deny", Schedule: "bad", Duration: "1h", Applications: []string{"*"}}},
	}}
	find := func(name string) *v1alpha1.AppProject {
		if name == "global" {
			return global
		}
		return nil
	}
	own := &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"tier": "one"}}, Spec: v1alpha1.AppProjectSpec{SourceRepos: []string{"*"}}}
	labelled := func(value string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{"tier": value}}
	}

	p, err := Effective(own, []settings.GlobalProject{
		{ProjectName: "global", LabelSelector: labelled("one")},
		{ProjectName: "other", LabelSelector: labelled("two")},
		{ProjectName: "p", LabelSelector: labelled("one")},
		{ProjectName: "gone", LabelSelector: labelled("one")},
		{ProjectName: "global", LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Bad"}}}},
	}, find)
	if !strings.Contains(text(err), `globalProjects[3].projectName: there is no project "gone"`) || !strings.Contains(text(err), "globalProjects[4].labelSelector") {
		t.Errorf("the error names neither the project nor the selector: %v", err)
	}
	if p.PermitsSource("https://bad/a") == nil || p.PermitsSource("https://good/a") != nil {
		t.Error("the denial of the global project does not hold")
	}
	if p.PermitsKind(Object{Kind: "Secret", Namespaced: true}) == nil || p.PermitsKind(Object{Kind: "ConfigMap", Namespaced: true}) != nil {
		t.Error("the kinds of the global project are not those that are permitted")
	}
	if _, err := Windows(p, &v1alpha1.Application{}, settings.Cluster{}, noon); err != nil {
		t.Errorf("a window that is for nobody here is read: %v", err)
	}
	_, err = Windows(p, &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, settings.Cluster{}, noon)
	if !strings.HasPrefix(text(err), "project 'global': spec.syncWindows[0] (deny): cannot parse schedule 'bad'") {
		t.Errorf("the window is not named: %v", err)
	}
	if own.Spec.NamespaceResourceWhitelist != nil || len(own.Spec.SourceRepos) != 1 {
		t.Error("the project itself was changed")
	}
}

func TestIgnoresOrphan(t *testing.T) {
	p := project(t, v1alpha1.AppProjectSpec{OrphanedResources: &v1alpha1.OrphanedResourcesMonitorSettings{Ignore: []v1alpha1.OrphanedResourceKey{
		{Kind: "Secret", Name: "sh.helm.*"}, {Group: "cilium.io"},
	}}})
	for want, objects := range map[bool][]Object{
		true: {
			{Kind: "ConfigMap", Namespace: "a", Name: "kube-root-ca.crt"},
			{Kind: "ServiceAccount", Namespace: "a", Name: "default"},
			{Kind: "Service", Namespace: "default", Name: "kubernetes"},
			{Kind: "Secret", Name: "sh.helm.release.v1"},
			{Group: "cilium.io", Kind: "CiliumEndpoint"},
		},
		false: {{Kind: "Service", Namespace: "a", Name: "kubernetes"}, {Kind: "Secret", Name: "other"}, {Group: "apps", Kind: "Secret", Name: "sh.helm.a"}},
	} {
		for _, o := range objects {
			if got := p.IgnoresOrphan(o); got != want {
				t.Errorf("%+v: got %v, want %v", o, got, want)
			}
		}
	}
	if watches, warns := p.WatchesOrphans(); !watches || !warns {
		t.Error("orphans are neither watched nor warned of by default")
	}
	if watches, _ := project(t, v1alpha1.AppProjectSpec{}).WatchesOrphans(); watches {
		t.Error("orphans are watched where nobody asked")
	}
}

func TestAccount(t *testing.T) {
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "argocd"}, Spec: v1alpha1.ApplicationSpec{Destination: v1alpha1.ApplicationDestination{Namespace: "guestbook"}}}
	bare := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "argocd"}}
	type items = []v1alpha1.ApplicationDestinationServiceAccount
	on, enforced := settings.Impersonation{Enabled: true}, settings.Impersonation{Enabled: true, Enforced: true}
	for name, tc := range map[string]struct {
		reason string
		app    *v1alpha1.Application
		items  items
		how    settings.Impersonation
		want   string
		err    string
	}{
		"Off":           {"", app, items{{Server: "*", Namespace: "*", DefaultServiceAccount: "x"}}, settings.Impersonation{Enforced: true}, "", ""},
		"First":         {"the first that matches holds", app, items{{Server: "https://dev", Namespace: "*", DefaultServiceAccount: "x"}, {Server: "*", Namespace: "guest*", DefaultServiceAccount: "y"}, {Server: "*", Namespace: "*", DefaultServiceAccount: "z"}}, on, "system:serviceaccount:guestbook:y", ""},
		"WithNamespace": {"", app, items{{Server: "*", Namespace: "*", DefaultServiceAccount: "ns:y"}}, on, "system:serviceaccount:ns:y", ""},
		"NoNamespace":   {"the namespace of the Application takes its place", bare, items{{Server: "*", Namespace: "*", DefaultServiceAccount: "y"}}, on, "system:serviceaccount:argocd:y", ""},
		"None":          {"the engine itself applies", app, nil, on, "", ""},
		"Enforced":      {"", app, nil, enforced, "", "no matching service account found for destination server https://prod and namespace guestbook"},
		"Bad":           {"", app, items{{Server: "*", Namespace: "*", DefaultServiceAccount: "a/b"}}, on, "", "project 'p': spec.destinationServiceAccounts[0].defaultServiceAccount: default service account contains invalid chars 'a/b'"},
		"Empty":         {"", app, items{{Server: "*", Namespace: "*"}}, on, "", "project 'p': spec.destinationServiceAccounts[0].defaultServiceAccount: default service account contains invalid chars ''"},
		"BadPattern":    {"", app, items{{Server: "[", Namespace: "*", DefaultServiceAccount: "y"}}, on, "", `project 'p': spec.destinationServiceAccounts[0]: server: "[" is not a pattern: unexpected end of input`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := project(t, v1alpha1.AppProjectSpec{DestinationServiceAccounts: tc.items}).Account(tc.app, settings.Cluster{Server: "https://prod"}, tc.how)
			if diff := cmp.Diff([]string{tc.want, tc.err}, []string{got, text(err)}); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	config := func(uid string, taken bool, owners ...string) Resident {
		return Resident{Object: Object{Kind: "ConfigMap", Namespace: "n", Name: uid, Namespaced: true}, UID: uid, Owners: owners, Taken: taken}
	}
	spec := v1alpha1.AppProjectSpec{
		NamespaceResourceBlacklist: []metav1.GroupKind{{Kind: "Secret"}},
		OrphanedResources:          &v1alpha1.OrphanedResourcesMonitorSettings{Ignore: []v1alpha1.OrphanedResourceKey{{Kind: "ConfigMap", Name: "ignored"}}},
	}
	named := func(kind, name string, taken bool) Resident {
		return Resident{Object: Object{Kind: kind, Namespace: "n", Name: name, Namespaced: true}, UID: kind + name, Taken: taken}
	}
	secret := Resident{Object: Object{Kind: "Secret", Namespace: "n", Name: "s", Namespaced: true}, UID: "s"}
	for name, tc := range map[string]struct {
		reason string
		all    []Resident
		want   int
	}{
		"none":        {"there is nothing", nil, 0},
		"one":         {"what nobody has is one", []Resident{config("a", false)}, 1},
		"taken":       {"what an Application has is none, and neither is what that owns", []Resident{config("a", true), config("b", false, "a")}, 0},
		"owned":       {"what an orphan owns counts too, each once", []Resident{config("a", false), config("b", false, "a"), config("c", false, "a", "b")}, 3},
		"elsewhere":   {"what something owns that is not there does not", []Resident{config("a", false, "gone")}, 0},
		"in a circle": {"objects that own each other end the count", []Resident{config("a", false), config("b", false, "a", "c"), config("c", false, "b")}, 3},
		"explained":   {"the Endpoints of a Service that an Application has are none", []Resident{named("Service", "a", true), named("Endpoints", "a", false)}, 0},
		"unexplained": {"those of nothing are one, and those of an orphan are counted with it", []Resident{
			named("Endpoints", "a", false), named("Service", "b", false), named("Endpoints", "b", false),
		}, 3},
		"ignored":   {"what the project ignores is none", []Resident{config("ignored", false), config("a", false)}, 1},
		"forbidden": {"what the project does not permit is nobody's business", []Resident{secret}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := project(t, spec).Orphans(tc.all); got != tc.want {
				t.Errorf("%s: there are %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestSame asks whether another version of a project, or of a global one, says anything else to its Applications.
func TestSame(t *testing.T) {
	type declared struct {
		project, global *v1alpha1.AppProject
	}
	effective := func(change func(*declared)) *Project {
		d := &declared{project: &v1alpha1.AppProject{}, global: &v1alpha1.AppProject{}}
		d.project.Name, d.global.Name = "p", "global"
		d.project.Labels = map[string]string{"team": "a"}
		d.project.Spec.SourceRepos = []string{"https://git.example/*"}
		change(d)
		globals := []settings.GlobalProject{{ProjectName: "global", LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}}}
		p, err := Effective(d.project, globals, func(string) *v1alpha1.AppProject { return d.global })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := effective(func(*declared) {})
	for name, c := range map[string]struct {
		reason string
		change func(*declared)
		want   bool
	}{
		"Nothing":    {"it was only written again", func(d *declared) { d.project.ResourceVersion = "2" }, true},
		"Status":     {"a token was made", func(d *declared) { d.project.Status.JWTTokensByRole = map[string]v1alpha1.JWTTokens{"r": {}} }, true},
		"Spec":       {"it has another repository", func(d *declared) { d.project.Spec.SourceRepos = []string{"*"} }, false},
		"Signatures": {"it requires signatures", func(d *declared) { d.project.Spec.SignatureKeys = []v1alpha1.SignatureKey{{KeyID: key}} }, false},
		"Decryption": {"it lists a Secret", func(d *declared) { d.project.Annotations = map[string]string{DecryptionSecrets: "x"} }, false},
		"Global": {"a global project has a window", func(d *declared) {
			d.global.Spec.SyncWindows = []v1alpha1.SyncWindow{{Kind: "deny", Schedule: "* * * * *", Duration: "1h"}}
		}, false},
		"Unselected": {"the global project does not hold for it any more, and said nothing", func(d *declared) { d.project.Labels = nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := effective(c.change).Same(before); got != c.want {
				t.Errorf("%s: the same: %v, want %v", c.reason, got, c.want)
			}
		})
	}
	gone, unreadable := (*Project)(nil), Unreadable("p", ErrKind)
	if gone.Same(before) || before.Same(gone) || !gone.Same(nil) || unreadable.Same(before) || !unreadable.Same(Unreadable("p", ErrKind)) {
		t.Error("a project that is gone or cannot be read is the same as another one, or not as itself")
	}
}
