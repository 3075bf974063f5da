package here

import (
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/egress"
)

// TestEgress is about requests to this machine and to the metadata of a cloud: by address and by name. Nothing is sent.
func TestEgress(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		reason, url string
		of          egress.Run
	}{
		"Installation": {"an address of this machine, from the controller of a cluster", w.server.URL, egress.Run{Shared: true}},
		"Remote":       {"an address of this machine, from the repository of others", w.server.URL, egress.Run{Remote: true}},
		"Private":      {"an address of the network, from the repository of others", "http://10.255.255.1/", egress.Run{Remote: true}},
		"Name":         {"a name that resolves to this machine", strings.Replace(w.server.URL, "127.0.0.1", "localhost", 1), egress.Run{Shared: true}},
		"Metadata":     {"the metadata of a cloud", "http://169.254.169.254/latest/meta-data", egress.Run{}},
	} {
		t.Run(name, func(t *testing.T) {
			e := w.executor(t)
			policy, err := tc.of.Policy()
			if err != nil {
				t.Fatal(err)
			}
			e.Egress = policy.Requests
			wf := workflow()
			if err := e.Start(t.Context(), wf, run(v1alpha1.HTTPTemplate{URL: tc.url})); err != nil {
				t.Fatal(err)
			}
			leaf := w.leaf(t, e, wf)
			if leaf.Phase != v1alpha1.NodeError || leaf.Transient || !strings.Contains(leaf.Message, "the address is not permitted") {
				t.Errorf("%s: %s %q", tc.reason, leaf.Phase, leaf.Message)
			}
			if len(w.seen) > 0 {
				t.Errorf("%s: a server saw %q", tc.reason, w.seen)
			}
		})
	}
}
