package gitserver_test

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

func TestSameRepository(t *testing.T) {
	cases := map[string]struct {
		reason, a, b string
		want         bool
	}{
		"protocols":    {"the protocol does not matter", "https://example.com/org/repo", "ssh://git@example.com/org/repo.git", true},
		"scp":          {"the short form of ssh is one", "git@example.com:org/repo.git", "https://example.com/org/repo", true},
		"scp slash":    {"with a slash as well", "git@example.com:/org/repo", "https://example.com/org/repo", true},
		"scp nobody":   {"and without a user", "example.com:org/repo", "https://example.com/org/repo", true},
		"ssh port":     {"the port of ssh says nothing", "ssh://git@example.com:2222/org/repo", "https://example.com/org/repo", true},
		"credentials":  {"nor do credentials", "https://user:secret@example.com/org/repo", "https://example.com/org/repo", true},
		"host case":    {"hosts have no case", "https://EXAMPLE.com/org/repo", "https://example.com/org/repo/", true},
		"default port": {"the default port is the port", "https://example.com:443/org/repo", "http://example.com/org/repo", true},
		"path case":    {"paths have", "https://example.com/Org/repo", "https://example.com/org/repo", false},
		"other host":   {"hosts differ", "https://example.org/org/repo", "https://example.com/org/repo", false},
		"other port":   {"servers differ", "http://localhost:3000/org/repo", "http://localhost:4000/org/repo", false},
		"other path":   {"paths differ", "https://example.com/org/repo", "https://example.com/org/repo2", false},
		"no path":      {"a host is no repository", "https://example.com/", "https://example.com", false},
		"files":        {"folders have no host", "/srv/repo.git", "/srv/repo.git", false},
		"ipv6":         {"brackets are read", "git@[::1]:org/repo", "https://[::1]/org/repo", true},
		"empty":        {"nothing is nothing", "", "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := gitserver.SameRepository(c.a, c.b); got != c.want {
				t.Errorf("%s: %q and %q: %v", c.reason, c.a, c.b, got)
			}
		})
	}
}

func FuzzSameRepository(f *testing.F) {
	f.Add("git@example.com:org/repo.git", "https://example.com/org/repo")
	f.Add("ssh://git@[::1]:22/x", "[::1]:x")
	f.Add(":", "]:")
	f.Fuzz(func(t *testing.T, a, b string) {
		same := gitserver.SameRepository(a, b)
		if same != gitserver.SameRepository(b, a) {
			t.Errorf("%q and %q: the order matters", a, b)
		}
		if same && !gitserver.SameRepository(a, a) {
			t.Errorf("%q is the repository of %q but not of itself", a, b)
		}
	})
}
