package similar

import "testing"

func TestClosest(t *testing.T) {
	fields := []string{"image", "imagePullPolicy", "name", "ports", "replicas"}
	for word, want := range map[string]string{
		"replica": "replicas", "Replicas": "replicas", "imgae": "image", "imagePullpolicy": "imagePullPolicy", "port": "ports",
		"imagePolicy": "", "zone": "", "x": "", "": "", "prots": "ports", "volumes": "",
	} {
		if got := Closest(word, fields); got != want {
			t.Errorf("closest to %q is %q, want %q", word, got, want)
		}
	}
}

// FuzzEdits holds what a distance is: none to itself, and the same both ways.
func FuzzEdits(f *testing.F) {
	f.Add("replicas", "replica")
	f.Add("ab", "ba")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 100 || len(b) > 100 {
			t.Skip()
		}
		there, back := Edits(a, b, 200), Edits(b, a, 200)
		if there != back || (there == 0) != (a == b) || there > max(len(a), len(b)) {
			t.Errorf("from %q to %q are %d edits, back are %d", a, b, there, back)
		}
	})
}

// TestKinds finds the kind that a mistyped one was meant to be, and none for what is no slip.
func TestKinds(t *testing.T) {
	served := []string{"DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "StatefulSet"}
	for name, tc := range map[string]struct{ reason, word, want string }{
		"missing letter": {"a slip", "Deploymnt", "Deployment"},
		"turned letters": {"two of them are replaced", "Deploymetn", "Deployment"},
		"case":           {"kinds have a case of their own", "Daemonset", "DaemonSet"},
		"plural":         {"the resource is meant", "Deployments", "Deployment"},
		"short":          {"of a short word little is left when two letters differ", "Cod3", ""},
		"short slip":     {"one letter is a slip", "Pods", "Pod"},
		"other":          {"another kind", "Rollout", ""},
		"empty":          {"nothing is like nothing", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Closest(tc.word, served); got != tc.want {
				t.Errorf("%s: %q", tc.reason, got)
			}
		})
	}
}
