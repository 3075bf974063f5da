package plan

import "testing"

func TestRegistration(t *testing.T) {
	cluster := Name{Namespace: "dev-vcluster", Name: "vcluster-dev-helm"}
	written := Secret{Data: map[string][]byte{"name": []byte("dev-vcluster"), "server": []byte("https://127.0.0.1:7001")}}
	for name, tc := range map[string]struct {
		reason string
		r      Registration
		of     bool
		clash  string
	}{
		"Service":   {"what a Job of the repository registers", Registration{"dev-vcluster", "https://vcluster-dev-helm.dev-vcluster.svc:443"}, true, "name"},
		"Domain":    {"the same in full", Registration{"dev-vcluster", "https://vcluster-dev-helm.dev-vcluster.svc.cluster.local"}, true, "name"},
		"Other":     {"a cluster elsewhere by that name is somebody's own", Registration{"dev-vcluster", "https://dev.example.com"}, false, "name"},
		"Lookalike": {"the host is compared as a whole", Registration{"dev-vcluster", "https://vcluster-dev-helm.dev-vcluster.svc.example.com"}, false, "name"},
		"Neighbour": {"another release of the namespace", Registration{"dev-vcluster", "https://other.dev-vcluster.svc:443"}, false, "name"},
		"Renamed":   {"under another name it is no master of this one", Registration{"dev", "https://vcluster-dev-helm.dev-vcluster.svc:443"}, false, ""},
		"Clear":     {"credentials are sent over TLS only", Registration{"dev-vcluster", "http://vcluster-dev-helm.dev-vcluster.svc"}, false, "name"},
		"Address":   {"the same address under another name", Registration{"local", "https://127.0.0.1:7001/"}, false, "server"},
		"Unrelated": {"another cluster", Registration{"prod", "https://prod.example.com"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.r.Of(cluster); got != tc.of {
				t.Errorf("%s: %t", tc.reason, got)
			}
			if key, clashes := tc.r.Clashes(written); key != tc.clash || clashes != (tc.clash != "") {
				t.Errorf("%s: clashes by %q: %t", tc.reason, key, clashes)
			}
		})
	}
}
