package kit

import (
	"net/http"
	"strings"
	"sync"
)

// transfers count what the Git server sent.
type transfers struct {
	mu   sync.Mutex
	sent map[string]int
}

// Transfers reports how often commits of a repository were sent to a client.
func (k *Kit) Transfers(repo string) int {
	k.transfers.mu.Lock()
	defer k.transfers.mu.Unlock()
	return k.transfers.sent[repo]
}

// before is what comes before the Git server when a client has commits sent.
func (t *transfers) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.mu.Lock()
		if t.sent == nil {
			t.sent = map[string]int{}
		}
		t.sent[strings.TrimSuffix(r.PathValue("repo"), ".git")]++
		t.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}
