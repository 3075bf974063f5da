package cloud

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// Limits are how many requests an account may send. A zero field is the limit of the real API; a negative one is none.
type Limits struct {
	// Hour and Minute are for all requests, KeyLists for lists of SSH keys in a minute.
	Hour, Minute, KeyLists int
}

func (l Limits) orDefaults() Limits {
	for field, standard := range map[*int]int{&l.Hour: 5000, &l.Minute: 250, &l.KeyLists: 10} {
		switch {
		case *field == 0:
			*field = standard
		case *field < 0:
			*field = math.MaxInt32
		}
	}
	return l
}

// window counts the requests of a sliding time. Those that were refused do not count.
type window struct {
	limit int
	span  time.Duration
	sent  []time.Time
}

// left is how many requests may still be sent.
func (w *window) left(now time.Time) int {
	first := 0
	for first < len(w.sent) && !w.sent[first].After(now.Add(-w.span)) {
		first++
	}
	w.sent = w.sent[first:]
	return w.limit - len(w.sent)
}

// reset is when the oldest request stops counting.
func (w *window) reset(now time.Time) time.Time {
	if len(w.sent) == 0 {
		return now.Add(w.span)
	}
	return w.sent[0].Add(w.span)
}

func (w *window) add(now time.Time) { w.sent = append(w.sent, now) }

// meter holds the windows of one token.
type meter struct{ hour, minute, keyLists window }

func newMeter(l Limits) *meter {
	return &meter{
		hour:     window{limit: l.Hour, span: time.Hour},
		minute:   window{limit: l.Minute, span: time.Minute},
		keyLists: window{limit: l.KeyLists, span: time.Minute},
	}
}

// admit counts a request, or says why it is refused.
func (m *meter) admit(now time.Time, listsKeys bool) error {
	if m.hour.left(now) <= 0 {
		return problem(http.StatusTooManyRequests, "API Rate limit exceeded.")
	}
	windows := []*window{&m.minute}
	if listsKeys {
		windows = append(windows, &m.keyLists)
	}
	for _, w := range windows {
		if w.left(now) <= 0 {
			return tooMany(w.reset(now).Sub(now))
		}
	}
	m.hour.add(now)
	for _, w := range windows {
		w.add(now)
	}
	return nil
}

// tooMany refuses a request in a burst.
func tooMany(wait time.Duration) *refusal {
	refused := problem(http.StatusTooManyRequests, "Too many requests")
	refused.retryAfter = max(1, int(math.Ceil(wait.Seconds())))
	return refused
}

// show sets the headers that say how much is left.
func (m *meter) show(header http.Header, now time.Time) {
	left := m.hour.left(now)
	header.Set("Ratelimit-Limit", strconv.Itoa(m.hour.limit))
	header.Set("Ratelimit-Remaining", strconv.Itoa(max(0, left)))
	header.Set("Ratelimit-Reset", strconv.FormatInt(m.hour.reset(now).Unix(), 10))
}
