package kit

import (
	"net/http"
	"strings"
	"sync"
)

// LateUser and LateToken fetch repositories, which HoldFetches may hold back.
const (
	LateUser  = "late"
	LateToken = "a-token-for-late-tests"
)

// gate holds the fetches of one user back.
type gate struct {
	mu sync.Mutex
	// shut are the repositories whose fetches wait, until the channel is closed.
	shut map[string]chan struct{}
}

// HoldFetches has the fetches of a repository by LateUser wait, or go on: others read what was pushed meanwhile.
func (k *Kit) HoldFetches(repo string, hold bool) {
	g := &k.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	waiting := g.shut[repo]
	switch {
	case hold && waiting == nil:
		if g.shut == nil {
			g.shut = map[string]chan struct{}{}
		}
		g.shut[repo] = make(chan struct{})
	case !hold && waiting != nil:
		close(waiting)
		delete(g.shut, repo)
	}
}

// before is what comes before the Git server when a client asks what a repository has.
func (g *gate) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		waiting := g.shut[strings.TrimSuffix(r.PathValue("repo"), ".git")]
		g.mu.Unlock()
		if user, _, _ := r.BasicAuth(); user == LateUser && waiting != nil {
			select {
			case <-waiting:
			case <-r.Context().Done():
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
