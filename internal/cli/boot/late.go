package boot

import (
	"net/http"
	"sync/atomic"
)

// lateHandler serves what is known only after the server has its address.
type lateHandler struct{ handler atomic.Pointer[http.Handler] }

func (l *lateHandler) set(h http.Handler) { l.handler.Store(&h) }

// ServeHTTP serves as soon as there is something to serve.
func (l *lateHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := l.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	http.Error(w, "starting", http.StatusServiceUnavailable)
}
