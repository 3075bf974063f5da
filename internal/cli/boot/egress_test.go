package boot

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/egress"
)

// TestEgress is about where the requests go that what is served names. It holds for every flag: there are no other rules.
func TestEgress(t *testing.T) {
	type may struct{ External, Private, Loopback, Metadata, Named bool }
	seen := func(r egress.Rules) may {
		at := func(host, port, addr string) bool { return r.Permits(host, port, netip.MustParseAddr(addr)) == nil }
		return may{
			at("a.example", "443", "1.1.1.1"), at("a.example", "443", "10.0.0.1"), at("localhost", "80", "127.0.0.1"),
			at("a.example", "80", "169.254.169.254"), at("git.lan", "3000", "10.0.0.1"),
		}
	}
	everything, outside := may{External: true, Private: true, Loopback: true, Named: true}, may{External: true, Named: true}
	for name, c := range map[string]struct {
		path, kubeconfig, allow string
		packages                []string
		fetches, requests       may
	}{
		"Directory":        {path: ".", fetches: everything, requests: everything},
		"URL":              {path: "http://git.lan:3000/x.git", fetches: outside, requests: outside},
		"URLAllowed":       {path: "http://git.lan:3000/x.git", allow: "loopback,private", fetches: everything, requests: everything},
		"URLElsewhere":     {path: "https://git.lan/x.git", fetches: may{External: true}, requests: may{External: true}},
		"Package":          {path: ".", packages: []string{"packages"}, fetches: everything, requests: everything},
		"PackageByURL":     {path: ".", packages: []string{"packages", "http://git.lan:3000/x//basic"}, fetches: outside, requests: outside},
		"Cluster":          {path: ".", kubeconfig: "kubeconfig", fetches: everything, requests: may{External: true, Private: true, Named: true}},
		"ClusterURL":       {path: "http://git.lan:3000/x.git", kubeconfig: "kubeconfig", fetches: outside, requests: outside},
		"AllowedByAddress": {path: "http://git.lan:3000/x.git", allow: "10.0.0.1", fetches: may{true, true, false, false, true}, requests: may{true, true, false, false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &console.Globals{Catalogue: dialects.All()}
			root := &cobra.Command{}
			g.Bind(root)
			if err := root.PersistentFlags().Set("kubeconfig", c.kubeconfig); err != nil {
				t.Fatal(err)
			}
			o := upOptions{Globals: g, path: c.path, packages: c.packages}
			o.serving.allowEgress = c.allow
			if err := o.decideEgress(); err != nil {
				t.Fatal(err)
			}
			got := [2]may{seen(o.serving.egress.Fetches), seen(o.serving.egress.Requests)}
			if diff := cmp.Diff([2]may{c.fetches, c.requests}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
