package controller

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPeer(t *testing.T) {
	cases := map[string]struct{ reason, holder, own, want string }{
		"Known":     {reason: "another replica says in the lease where it is", holder: identity("pod-a", "10.0.0.1"), own: "10.0.0.2", want: "10.0.0.1"},
		"IPv6":      {reason: "in either family", holder: identity("pod-a", "fd00::1"), own: "fd00::2", want: "fd00::1"},
		"Self":      {reason: "a replica does not pass on to itself, or to who was in its place before", holder: identity("pod-a", "10.0.0.1"), own: "10.0.0.1"},
		"NoAddress": {reason: "a replica that nobody can reach serves all the same", holder: identity("pod-a", ""), own: "10.0.0.2"},
		"Nobody":    {reason: "nobody holds the lease", own: "10.0.0.2"},
		"Laptop":    {reason: "headgate up holds the lease, and words itself otherwise", holder: "host, process 1, since 2030-01-01T00:00:00Z", own: "10.0.0.2"},
		"Forged":    {reason: "what is no address is not asked", holder: "pod_example.com:80_x", own: "10.0.0.2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Controller{cfg: Config{Address: tc.own}}
			c.state.follow(tc.holder)
			if diff := cmp.Diff(tc.want, c.peer()); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIdentity has two processes of one name and address, as there are on a node whose network they share.
func TestIdentity(t *testing.T) {
	if first, second := identity("node", "10.0.0.1"), identity("node", "10.0.0.1"); first == second {
		t.Error("two replicas on one node take each other for themselves")
	}
}

func TestReady(t *testing.T) {
	c := &Controller{identity: "me"}
	refused := errors.New("Flux runs on this cluster")
	steps := []struct {
		reason string
		do     func()
		want   error
	}{
		{"it is refused", func() { c.refuse(refused) }, refused},
		{"the lease was let go by somebody: nobody serves yet", func() { c.follow("") }, refused},
		{"it asks for the lease itself, and does not serve yet", func() { c.follow("me") }, refused},
		{"another one serves", func() { c.follow("other") }, nil},
		{"it has served", func() { c.state.set(errEnded) }, errEnded},
	}
	for _, step := range steps {
		step.do()
		if err := c.state.ready(); !errors.Is(err, step.want) {
			t.Errorf("%s: ready says %v", step.reason, err)
		}
	}
	if err := c.alive(t.Context()); err != nil {
		t.Errorf("a replica that stands by is not alive: %v", err)
	}
}
