package cloud

import (
	"net/http"
	"testing"
)

// TestMemory keeps a cloud that is polled for days from growing.
func TestMemory(t *testing.T) {
	var log Log
	for range 3 * remembered {
		log = append(log, Entry{Method: http.MethodGet}).trim()
	}
	log = append(log, Entry{Method: http.MethodPost, Done: true}, Entry{Method: http.MethodGet, Faults: []Kind{Refuse}})
	for range 3 * remembered {
		log = append(log, Entry{Method: http.MethodGet}).trim()
	}
	if len(log) > remembered || len(log.Done()) != 1 || len(log.Select(http.MethodPost, "")) != 1 {
		t.Errorf("the log has %d entries, %d of which changed something", len(log), len(log.Done()))
	}
	var s State
	first := &Action{ID: 1, Status: inProgress}
	s.act(first)
	for range 5 * recentActions {
		s.act(&Action{Status: completed})
	}
	if len(s.Actions) > 2*recentActions || s.Actions[0] != first {
		t.Errorf("%d actions are remembered, the first one is %v", len(s.Actions), s.Actions[0])
	}
}
