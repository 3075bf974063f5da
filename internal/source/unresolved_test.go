package source

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
)

func TestUnresolved(t *testing.T) {
	cases := map[string]struct{ reason, text, around, want string }{
		"Plain": {"another error stays", `dial tcp 10.0.0.1:443: connect: connection refused`, "", `dial tcp 10.0.0.1:443: connect: connection refused`},
		"Asked": {"the resolver is nobody's concern", "requesting charts.example.com: dial tcp: lookup charts.example.com on 127.0.0.53:53: no such host", "", "requesting charts.example.com: no such host"},
		"Git": {
			"nor is the request of a source that is named by its URL",
			`Get "https://git.example.com/a/info/refs?service=git-upload-pack": dial tcp: lookup git.example.com on 127.0.0.53:53: no such host`,
			`fetching "https://git.example.com/a": `, "no such host",
		},
		"Unnamed": {"a host that nothing else names is named", "dial tcp: lookup git.example.com: no such host", "", "git.example.com: no such host"},
		"Broken":  {"a resolver that answers nonsense", "dial tcp: lookup git.example.com on 10.0.0.10:53: server misbehaving", "git.example.com", "server misbehaving"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := unresolved(c.text, c.around); got != c.want {
				t.Errorf("%s: %q, want %q", c.reason, got, c.want)
			}
		})
	}
	lookup := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "charts.example.com", Server: "127.0.0.53:53", IsNotFound: true}}
	var secrets redactor
	if got := secrets.text(t.Context(), &url.Error{Op: "Get", URL: "https://charts.example.com/index.yaml", Err: lookup}); got != "requesting charts.example.com: no such host" {
		t.Errorf("what a library says: %q", got)
	}
	r := &remote{options: GitOptions{}, url: "https://git.example.com/a"}
	err := r.explain(t.Context(), errors.New(`Get "https://git.example.com/a/info/refs": dial tcp: lookup git.example.com on 127.0.0.53:53: no such host`))
	if want := `fetching "https://git.example.com/a": no such host`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("what Git says: %v, want %s", err, want)
	}
}
