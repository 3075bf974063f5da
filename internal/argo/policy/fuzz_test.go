package policy

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// FuzzPermits asks projects of any patterns: what a pattern permits, the same pattern denies, and what no pattern permits is refused.
func FuzzPermits(f *testing.F) {
	f.Add("https://git.example/team/*", "https://git.example/team/app.git", "https://kubernetes.default.svc", "team-*", "team-a")
	f.Add("*", "https://user:secret@git.example/x", "*", "!kube-system", "kube-system")
	f.Add("!https://git.example/**", "oci://registry.example/x", "{a,b}", "[a-z]?", "b")
	f.Add("git@git.example:team/*", "ssh://git@git.example/team/app", "\\*", "{", "")
	f.Fuzz(func(t *testing.T, repo, url, server, namespace, at string) {
		project := func(repos []string, destinations ...v1alpha1.ApplicationDestination) *Project {
			p, _ := Effective(&v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SourceRepos: repos, Destinations: destinations}}, nil,
				func(string) *v1alpha1.AppProject { return nil })
			return p
		}
		cluster := settings.Cluster{Server: "https://kubernetes.default.svc", Name: "in-cluster"}
		to := v1alpha1.ApplicationDestination{Server: server, Namespace: namespace}
		p := project([]string{repo}, to)
		if repo != "" && repo[0] != '!' && p.PermitsSource(url) == nil && project([]string{repo, "!" + repo}).PermitsSource(url) == nil {
			t.Errorf("%q is permitted by %q, and not denied by the same", url, repo)
		}
		if namespace != "" && namespace[0] != '!' && p.PermitsDestination(cluster, at) == nil {
			not := v1alpha1.ApplicationDestination{Server: server, Namespace: "!" + namespace}
			if project(nil, to, not).PermitsDestination(cluster, at) == nil {
				t.Errorf("namespace %q is permitted by %q, and not denied by the same", at, namespace)
			}
		}
		if empty := project(nil); empty.PermitsSource(url) == nil || empty.PermitsDestination(cluster, at) == nil {
			t.Errorf("a project without lists permits %q or %q", url, at)
		}
	})
}

// FuzzWindows reads sync windows: a verdict comes in time, and what changes next is to come.
func FuzzWindows(f *testing.F) {
	f.Add("0 8 * * 1-5", "2h", "Europe/Berlin", int64(1_700_000_000))
	f.Add("*/5 * * * *", "10m", "", int64(0))
	f.Add("0 0 29 2 *", "24h", "UTC", int64(4_000_000_000))
	f.Add("@every 1s", "-1h", "Nowhere/Here", int64(-1))
	f.Add("TZ=UTC * * * * *", "1ns", "Local", int64(1))
	f.Fuzz(func(t *testing.T, schedule, duration, zone string, at int64) {
		p, _ := Effective(&v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SyncWindows: []v1alpha1.SyncWindow{{
			Kind: "deny", Schedule: schedule, Duration: duration, TimeZone: zone, Applications: []string{"*"},
		}}}}, nil, func(string) *v1alpha1.AppProject { return nil })
		now, began := time.Unix(at%10_000_000_000, 0).UTC(), time.Now()
		v, err := Windows(p, &v1alpha1.Application{}, settings.Cluster{}, now)
		if err == nil && !v.Next.IsZero() && !v.Next.After(now) {
			t.Errorf("%q for %q changes at %s, which is not after %s", schedule, duration, v.Next, now)
		}
		if err != nil && v.Why == "" {
			t.Errorf("%q for %q cannot be read, and blocks nothing: %v", schedule, duration, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q for %q takes %s", schedule, duration, took)
		}
	})
}
