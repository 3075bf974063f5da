package cluster

import "testing"

func TestNearest(t *testing.T) {
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
			if got := nearest(tc.word, served); got != tc.want {
				t.Errorf("%s: %q", tc.reason, got)
			}
		})
	}
}
