package settings

import "testing"

func TestExcludes(t *testing.T) {
	excluding := Filter{Exclusions: []Kinds{{APIGroups: []string{"*.example.com"}, Kinds: []string{"Snapshot"}, Clusters: []string{"https://*.local"}}}}
	including := Filter{Inclusions: []Kinds{{APIGroups: []string{"apps"}, Clusters: []string{"https://one"}}}, Exclusions: []Kinds{{Kinds: []string{"ReplicaSet"}}}}
	cases := map[string]struct {
		reason               string
		filter               Filter
		group, kind, cluster string
		want                 bool
	}{
		"Event":     {"events are looked at nowhere", Filter{}, "", "Event", "", true},
		"Metrics":   {"nor are metrics", Filter{}, "metrics.k8s.io", "NodeMetrics", "", true},
		"Lease":     {"nor are leases", Filter{}, "coordination.k8s.io", "Lease", "", true},
		"Pod":       {"all else is", Filter{}, "", "Pod", "", false},
		"Pattern":   {"groups and clusters are patterns", excluding, "backup.example.com", "Snapshot", "https://a.b.local", true},
		"Elsewhere": {"of another cluster", excluding, "backup.example.com", "Snapshot", "https://a.b", false},
		"Kind":      {"a kind is none", excluding, "backup.example.com", "SnapshotClass", "https://a.b.local", false},
		"Included":  {"what is included is looked at", including, "apps", "Deployment", "https://one", false},
		"Alone":     {"all else in such a cluster is not", including, "batch", "Job", "https://one", true},
		"Other":     {"in another one it is", including, "batch", "Job", "https://two", false},
		"Both":      {"what is excluded is not included", including, "apps", "ReplicaSet", "https://one", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.filter.Excludes(tc.group, tc.kind, tc.cluster); got != tc.want {
				t.Errorf("%s: Excludes(%q, %q, %q) = %v", tc.reason, tc.group, tc.kind, tc.cluster, got)
			}
		})
	}
}
