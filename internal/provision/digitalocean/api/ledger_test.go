package api

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

// step is something that happens to a ledger, so many seconds after the start.
type step struct {
	at   int
	do   string // send, or the status of an answer
	left int    // what the answer says is left of 1000 until the second 3000; less than zero says nothing
	wait string // the header Retry-After
}

func TestLedger(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	second := func(n int) time.Time { return began.Add(time.Duration(n) * time.Second) }
	for name, tc := range map[string]struct {
		reason string
		steps  []step
		now    int
		want   time.Time
	}{
		"New":       {"nothing is known", nil, 0, time.Time{}},
		"Burst":     {"three a minute were sent", []step{{0, "send", 0, ""}, {10, "send", 0, ""}, {20, "send", 0, ""}}, 30, second(60)},
		"Slides":    {"the oldest is a minute ago", []step{{0, "send", 0, ""}, {10, "send", 0, ""}, {20, "send", 0, ""}}, 60, time.Time{}},
		"Refused":   {"a burst is refused for a time", []step{{0, "send", 0, ""}, {1, "429", 900, "7"}}, 2, second(8)},
		"Again":     {"the longer of two pauses", []step{{0, "send", 0, ""}, {0, "send", 0, ""}, {1, "429", 900, "30"}, {2, "429", 900, "3"}}, 3, second(31)},
		"Absurd":    {"nobody waits for a day", []step{{0, "send", 0, ""}, {1, "429", 900, "86400"}}, 2, second(3601)},
		"Hour":      {"the hour is used up", []step{{0, "send", 0, ""}, {1, "429", 0, ""}}, 2, second(3001)},
		"Silent":    {"a refusal that says nothing", []step{{0, "send", 0, ""}, {1, "429", -1, ""}}, 2, second(61)},
		"Last":      {"the last one of the hour was sent", []step{{0, "send", 0, ""}, {1, "200", 0, ""}}, 2, second(3001)},
		"Open":      {"those that are open count as sent", []step{{0, "send", 0, ""}, {1, "200", 2, ""}, {2, "send", 0, ""}, {2, "send", 0, ""}}, 65, second(3001)},
		"Scarce":    {"the rest is spread over the hour", []step{{0, "send", 0, ""}, {1, "200", 90, ""}}, 2, began.Add(3600 * time.Millisecond)},
		"Plenty":    {"there is enough", []step{{0, "send", 0, ""}, {1, "200", 500, ""}}, 2, time.Time{}},
		"Reset":     {"the hour is over", []step{{0, "send", 0, ""}, {1, "200", 0, ""}}, 3001, time.Time{}},
		"Negative":  {"an answer without sense", []step{{0, "send", 0, ""}, {1, "200", -1, ""}}, 2, time.Time{}},
		"NoAnswer":  {"a request without an answer is not open", []step{{0, "send", 0, ""}, {1, "none", 0, ""}, {2, "send", 0, ""}, {3, "200", 101, ""}}, 65, time.Time{}},
		"Different": {"a pause does not hide a longer wait", []step{{0, "send", 0, ""}, {0, "send", 0, ""}, {0, "send", 0, ""}, {1, "429", 900, "5"}}, 2, second(60)},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledger{perMinute: 3}
			for _, s := range tc.steps {
				switch s.do {
				case "send":
					l.send(second(s.at))
				case "none":
					l.fail()
				default:
					status, _ := strconv.Atoi(s.do)
					l.answered(second(s.at), status, header(s, second(3000)))
				}
			}
			got := l.next(second(tc.now))
			if tc.want.IsZero() && got.After(second(tc.now)) || !tc.want.IsZero() && !got.Equal(tc.want) {
				t.Errorf("%s: the next request after %s, want %s", tc.reason, got.Sub(began), tc.want.Sub(began))
			}
		})
	}
}

func header(s step, reset time.Time) http.Header {
	h := http.Header{}
	if s.wait != "" {
		h.Set("Retry-After", s.wait)
	}
	if s.left >= 0 {
		h.Set("Ratelimit-Limit", "1000")
		h.Set("Ratelimit-Remaining", strconv.Itoa(s.left))
		h.Set("Ratelimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	}
	return h
}
