package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// noon is a Wednesday.
var noon = time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)

func windowed() (*v1alpha1.Application, settings.Cluster) {
	return &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.ApplicationSpec{
		Destination: v1alpha1.ApplicationDestination{Server: "https://prod", Namespace: "shop"},
	}}, settings.Cluster{Server: "https://prod", Name: "prod"}
}

func TestWindows(t *testing.T) {
	everywhere := []string{"*"}
	type windows = []v1alpha1.SyncWindow
	at := func(hour, minute int) time.Time { return time.Date(2026, 7, 15, hour, minute, 0, 0, time.UTC) }
	for name, tc := range map[string]struct {
		reason            string
		windows           windows
		automatic, manual bool
		next              time.Time
	}{
		"None":           {"", nil, true, true, time.Time{}},
		"OpenDenial":     {"", windows{{Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Applications: everywhere}}, false, false, at(13, 0)},
		"ManualDenial":   {"", windows{{Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Applications: everywhere, ManualSync: true}}, false, true, at(13, 0)},
		"OneNotManual":   {"all denials have to permit what a person asks for", windows{{Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Applications: everywhere, ManualSync: true}, {Kind: "deny", Schedule: "30 11 * * *", Duration: "1h", Applications: everywhere}}, false, false, at(12, 30)},
		"ClosedDenial":   {"", windows{{Kind: "deny", Schedule: "0 14 * * *", Duration: "2h", Applications: everywhere}}, true, true, at(14, 0)},
		"OpenAllow":      {"", windows{{Kind: "allow", Schedule: "0 11 * * *", Duration: "2h", Applications: everywhere}}, true, true, at(13, 0)},
		"ClosedAllow":    {"", windows{{Kind: "allow", Schedule: "0 14 * * *", Duration: "2h", Applications: everywhere}}, false, false, at(14, 0)},
		"ClosedManual":   {"", windows{{Kind: "allow", Schedule: "0 14 * * *", Duration: "2h", Applications: everywhere, ManualSync: true}}, false, true, at(14, 0)},
		"OneAllowOpen":   {"one open permission is enough", windows{{Kind: "allow", Schedule: "0 14 * * *", Duration: "2h", Applications: everywhere}, {Kind: "allow", Schedule: "0 11 * * *", Duration: "2h", Applications: everywhere}}, true, true, at(13, 0)},
		"DenialWins":     {"", windows{{Kind: "allow", Schedule: "* * * * *", Duration: "2h", Applications: everywhere}, {Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Applications: everywhere}}, false, false, at(13, 0)},
		"JustOpened":     {"a window is open when it opens", windows{{Kind: "deny", Schedule: "0 12 * * *", Duration: "1h", Applications: everywhere}}, false, false, at(13, 0)},
		"JustClosed":     {"and closed when it closes", windows{{Kind: "deny", Schedule: "0 11 * * *", Duration: "1h", Applications: everywhere}}, true, true, at(11, 0).AddDate(0, 0, 1)},
		"OverMidnight":   {"", windows{{Kind: "deny", Schedule: "0 22 * * *", Duration: "15h", Applications: everywhere}}, false, false, at(13, 0)},
		"Zone":           {"noon is two in Berlin in summer", windows{{Kind: "deny", Schedule: "0 14 * * *", Duration: "1h", TimeZone: "Europe/Berlin", Applications: everywhere}}, false, false, at(13, 0)},
		"ZoneInSchedule": {"", windows{{Kind: "deny", Schedule: "TZ=Europe/Berlin 0 14 * * *", Duration: "1h", Applications: everywhere}}, false, false, at(13, 0)},
		"Never":          {"a day that does not come blocks nothing", windows{{Kind: "deny", Schedule: "0 0 30 2 *", Duration: "1h", Applications: everywhere}}, true, true, time.Time{}},
		"NoDuration":     {"", windows{{Kind: "deny", Schedule: "* * * * *", Duration: "0s", Applications: everywhere}}, true, true, time.Time{}},
		"OtherApp":       {"", windows{{Kind: "deny", Schedule: "* * * * *", Duration: "1h", Applications: []string{"db-*"}}}, true, true, time.Time{}},
		"NoPatterns":     {"a window without patterns is for nobody", windows{{Kind: "deny", Schedule: "* * * * *", Duration: "1h"}}, true, true, time.Time{}},
		"ByNamespace":    {"", windows{{Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Applications: []string{"db"}, Namespaces: []string{"sh*"}}}, false, false, at(13, 0)},
		"ByName":         {"a cluster is meant by its name although the Application names its server", windows{{Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Clusters: []string{"prod"}}}, false, false, at(13, 0)},
		"And":            {"", windows{{Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Applications: everywhere, Namespaces: []string{"bank"}, UseAndOperator: true}}, true, true, time.Time{}},
		"AndAll":         {"", windows{{Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Applications: everywhere, Clusters: []string{"https://prod"}, UseAndOperator: true}}, false, false, at(13, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			app, cluster := windowed()
			v, err := Windows(project(t, v1alpha1.AppProjectSpec{SyncWindows: tc.windows}), app, cluster, noon)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]bool{tc.automatic, tc.manual}, []bool{v.CanSync(false), v.CanSync(true)}); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if !v.Next.Equal(tc.next) {
				t.Errorf("%s: it changes at %s, want %s", tc.reason, v.Next, tc.next)
			}
			if (v.Why == "") != tc.automatic {
				t.Errorf("why: %q", v.Why)
			}
		})
	}
}

func TestNextIsNoLaterThanAChange(t *testing.T) {
	app, cluster := windowed()
	p := project(t, v1alpha1.AppProjectSpec{SyncWindows: []v1alpha1.SyncWindow{
		{Kind: "deny", Schedule: "*/7 3-4 * * 1-5", Duration: "10m", TimeZone: "America/New_York", Applications: []string{"*"}},
		{Kind: "allow", Schedule: "0 1 * * *", Duration: "20h", TimeZone: "Europe/Berlin", Applications: []string{"*"}},
	}})
	for _, day := range []int{29, 30, 31} { // the hour is skipped in Berlin on the 29th
		at := time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC)
		v, err := Windows(p, app, cluster, at)
		if err != nil {
			t.Fatal(err)
		}
		for end := at.AddDate(0, 0, 1); at.Before(end); at = at.Add(time.Minute) {
			now, err := Windows(p, app, cluster, at)
			if err != nil {
				t.Fatal(err)
			}
			if now.CanSync(false) != v.CanSync(false) && at.Before(v.Next) {
				t.Fatalf("the verdict changed at %s, before %s", at, v.Next)
			}
			if !at.Before(v.Next) {
				v = now
			}
		}
	}
}

func TestCanGoOn(t *testing.T) {
	morning := noon.Add(-2 * time.Hour)
	deny := v1alpha1.SyncWindow{Kind: "deny", Schedule: "0 11 * * *", Duration: "2h", Applications: []string{"*"}, SyncOverrun: true}
	strict := deny
	strict.SyncOverrun = false
	allow := v1alpha1.SyncWindow{Kind: "allow", Schedule: "0 9 * * *", Duration: "2h", Applications: []string{"*"}, SyncOverrun: true}
	for name, tc := range map[string]struct {
		reason  string
		windows []v1alpha1.SyncWindow
		began   time.Time
		want    bool
	}{
		"IntoDenial":  {"it began before", []v1alpha1.SyncWindow{deny}, morning, true},
		"InDenial":    {"it began within", []v1alpha1.SyncWindow{deny}, noon.Add(-time.Minute), false},
		"OneIsStrict": {"", []v1alpha1.SyncWindow{deny, strict}, morning, false},
		"OutOfAllow":  {"", []v1alpha1.SyncWindow{allow}, morning, true},
		"BeforeAllow": {"", []v1alpha1.SyncWindow{allow}, noon.Add(-4 * time.Hour), false},
		"NotBegun":    {"", []v1alpha1.SyncWindow{deny}, time.Time{}, false},
		"Nothing":     {"", nil, time.Time{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			app, cluster := windowed()
			v, err := Windows(project(t, v1alpha1.AppProjectSpec{SyncWindows: tc.windows}), app, cluster, noon)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.CanGoOn(false, tc.began); got != tc.want {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestWindowsOfNoProject(t *testing.T) {
	app, cluster := windowed()
	v, err := Windows(nil, app, cluster, noon)
	if err != nil || !v.CanGoOn(false, noon) || v.Why != "" || !v.Next.IsZero() {
		t.Errorf("the project was deleted while a sync was under way: got %+v, %v", v, err)
	}
}

func TestBadWindows(t *testing.T) {
	for name, tc := range map[string]struct {
		window v1alpha1.SyncWindow
		want   string
	}{
		"Kind":     {v1alpha1.SyncWindow{Kind: "Deny", Schedule: "* * * * *", Duration: "1h"}, "(Deny): kind 'Deny' mismatch: can only be allow or deny"},
		"Schedule": {v1alpha1.SyncWindow{Kind: "deny", Schedule: "* * * *", Duration: "1h"}, "(deny): cannot parse schedule '* * * *': expected exactly 5 fields, found 4"},
		"Named":    {v1alpha1.SyncWindow{Kind: "deny", Schedule: "@daily", Duration: "1h"}, "(deny): cannot parse schedule '@daily'"},
		"ZoneOnly": {v1alpha1.SyncWindow{Kind: "deny", Schedule: "TZ=UTC", Duration: "1h"}, "(deny): cannot parse schedule 'TZ=UTC'"},
		"Empty":    {v1alpha1.SyncWindow{Kind: "deny", Duration: "1h"}, "(deny): cannot parse schedule ''"},
		"Duration": {v1alpha1.SyncWindow{Kind: "deny", Schedule: "* * * * *", Duration: "1 hour"}, "(deny): cannot parse duration '1 hour'"},
		"Zone":     {v1alpha1.SyncWindow{Kind: "deny", Schedule: "* * * * *", Duration: "1h", TimeZone: "Berlin"}, "(deny): unknown timeZone 'Berlin'"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.window.Applications = []string{"*"}
			app, cluster := windowed()
			v, err := Windows(project(t, v1alpha1.AppProjectSpec{SyncWindows: []v1alpha1.SyncWindow{tc.window}}), app, cluster, noon)
			if want := "project 'p': spec.syncWindows[0] " + tc.want; !strings.HasPrefix(text(err), want) {
				t.Errorf("got %q, want %q", text(err), want)
			}
			if v.CanSync(true) || v.CanGoOn(true, noon) || v.Why == "" {
				t.Errorf("something begins although a window cannot be read: %q", v.Why)
			}
		})
	}
}
