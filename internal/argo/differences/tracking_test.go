package differences

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// object reads an object as the API server sends it: whole numbers are int64.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestMark(t *testing.T) {
	long := strings.Repeat("a", 60) + "--bcd"
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns}}"
	type marks struct{ Annotations, Labels map[string]string }
	for name, tc := range map[string]struct {
		reason   string
		tracking Tracking
		object   string
		want     marks
		err      string
	}{
		"Default":    {"", Tracking{AppName: "app"}, deployment, marks{Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "app:apps/Deployment:ns/web"}}, ""},
		"Core":       {"the group of the core is empty", Tracking{AppName: "app"}, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}", marks{Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "app:/Secret:ns/s"}}, ""},
		"Cluster":    {"what is in no namespace carries that of the destination", Tracking{AppName: "app", Namespace: "dest"}, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}", marks{Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "app:/Namespace:dest/team"}}, ""},
		"Definition": {"definitions get none", Tracking{AppName: "app", Method: settings.TrackAnnotationAndLabel, LabelKey: "l"}, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: team}}", marks{}, ""},
		"Installation": {"", Tracking{AppName: "app", InstallationID: "one"}, deployment, marks{Annotations: map[string]string{
			"argocd.argoproj.io/tracking-id": "app:apps/Deployment:ns/web", "argocd.argoproj.io/installation-id": "one",
		}}, ""},
		"OtherInstallation": {"what a chart renders of another one goes", Tracking{AppName: "app"}, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns, annotations: {argocd.argoproj.io/installation-id: x}}}", marks{Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "app:/Secret:ns/s"}}, ""},
		"Label":             {"", Tracking{AppName: "app", Method: settings.TrackLabel, LabelKey: "app.kubernetes.io/instance"}, deployment, marks{Labels: map[string]string{"app.kubernetes.io/instance": "app"}}, ""},
		"LongLabel":         {"a label alone is not cut: it would be another Application's", Tracking{AppName: long, Method: settings.TrackLabel, LabelKey: "l"}, deployment, marks{}, `application.resourceTrackingMethod: the name "` + long + `" cannot be the value of label l: must be no more than 63 bytes; track by annotation+label`},
		"Both": {"the label is cut to what a label may be", Tracking{AppName: long, Method: settings.TrackAnnotationAndLabel, LabelKey: "l"}, deployment, marks{
			map[string]string{"argocd.argoproj.io/tracking-id": long + ":apps/Deployment:ns/web"}, map[string]string{"l": long[:63]},
		}, ""},
		"BothCut": {"it ends with a letter or a digit", Tracking{AppName: strings.Repeat("a", 60) + "-._b", Method: settings.TrackAnnotationAndLabel, LabelKey: "l"}, deployment, marks{
			map[string]string{"argocd.argoproj.io/tracking-id": strings.Repeat("a", 60) + "-._b:apps/Deployment:ns/web"}, map[string]string{"l": strings.Repeat("a", 60)},
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := object(t, tc.object)
			err := tc.tracking.Mark(u)
			if diff := cmp.Diff(tc.want, marks{u.GetAnnotations(), u.GetLabels()}); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if got := message(err); got != tc.err {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.err)
			}
			if isDefinition(u) || err != nil {
				return
			}
			if app, self := tc.tracking.Owner(u); app != tc.tracking.AppName || !self || !tc.tracking.Mine(u) {
				t.Errorf("%s: what was marked is %q's, itself %v", tc.reason, app, self)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOwner(t *testing.T) {
	marked := func(id string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns, labels: {l: other}, annotations: {argocd.argoproj.io/tracking-id: '" + id + "'}}}"
	}
	for name, tc := range map[string]struct {
		reason   string
		tracking Tracking
		id       string
		app      string
		self     bool
	}{
		"Own":           {"", Tracking{}, "app:apps/Deployment:ns/web", "app", true},
		"Other":         {"", Tracking{}, "b_app:apps/Deployment:ns/web", "b_app", true},
		"Copy":          {"a controller copied it to another name", Tracking{}, "app:apps/Deployment:ns/source", "app", false},
		"OtherKind":     {"", Tracking{}, "app:apps/ReplicaSet:ns/web", "app", false},
		"OtherPlace":    {"", Tracking{}, "app:apps/Deployment:other/web", "app", false},
		"None":          {"", Tracking{}, "", "", false},
		"Short":         {"", Tracking{}, "app:apps/Deployment", "", false},
		"NoGroup":       {"", Tracking{}, "app:Deployment:ns/web", "", false},
		"Slashes":       {"", Tracking{}, "app:apps/Deployment:ns/web/x", "", false},
		"Colons":        {"names of roles have colons", Tracking{}, "app:apps/Deployment:ns/web:x", "app", false},
		"Installation":  {"a mark of another installation is none", Tracking{InstallationID: "one"}, "app:apps/Deployment:ns/web", "", false},
		"Label":         {"", Tracking{Method: settings.TrackLabel, LabelKey: "l"}, "app:apps/Deployment:ns/web", "other", true},
		"LabelNotThere": {"", Tracking{Method: settings.TrackLabel, LabelKey: "m"}, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			app, self := tc.tracking.Owner(object(t, marked(tc.id)))
			if app != tc.app || self != tc.self {
				t.Errorf("%s: got %q, %v, want %q, %v", tc.reason, app, self, tc.app, tc.self)
			}
		})
	}
}

func TestInstanceName(t *testing.T) {
	for want, in := range map[string][2]string{"a": {"argocd", "a"}, "b": {"", "b"}, "team_a": {"team", "a"}} {
		if got := InstanceName(in[0], in[1], "argocd"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBackfill(t *testing.T) {
	tracking := Tracking{AppName: "app", LabelKey: "l"}
	desired := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}")
	if err := tracking.Mark(desired); err != nil {
		t.Fatal(err)
	}
	const id = "argocd.argoproj.io/tracking-id"
	for name, tc := range map[string]struct {
		reason, live, want string
	}{
		"OnlyLabel": {"", "{metadata: {labels: {l: app}}}", "app:/Secret:ns/s"},
		"Nothing":   {"an object of nobody is out of sync until it is marked", "{metadata: {}}", ""},
		"Another":   {"", "{metadata: {labels: {l: app}, annotations: {" + id + ": 'b:/Secret:ns/s'}}}", "b:/Secret:ns/s"},
	} {
		t.Run(name, func(t *testing.T) {
			live := object(t, strings.Replace(tc.live, "{metadata", "{apiVersion: v1, kind: Secret, metadata", 1))
			before := live.DeepCopy()
			filled := tracking.Backfill(desired, live)
			if got := filled.GetAnnotations()[id]; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
			if tc.want == "app:/Secret:ns/s" && filled.GetLabels()["l"] != "" {
				t.Error("the label that nobody wants is still a difference")
			}
			if diff := cmp.Diff(before, live); diff != "" {
				t.Errorf("the live object was changed: %s", diff)
			}
		})
	}
}
