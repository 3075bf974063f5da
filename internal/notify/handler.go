package notify

import (
	"encoding/json"
	"net/http"
	"time"
)

// maxBody bounds an event that is posted.
const maxBody = 256 << 10

// Handler takes the events that other controllers post, as notification-controller does. fact says what is
// known beside an event.
func (n *Notifier) Handler(fact func(Event) Fact) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "use POST", http.StatusMethodNotAllowed)
			return
		}
		var e Event
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&e); err != nil {
			http.Error(w, "the body is not an event", http.StatusBadRequest)
			return
		}
		if err := e.Check(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if e.Timestamp.IsZero() {
			e.Timestamp = time.Now()
		}
		e.Timestamp = e.Timestamp.UTC().Truncate(time.Second)
		if !n.Publish(fact(e)) {
			http.Error(w, "duplicate of a recent event", http.StatusTooManyRequests)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
}
