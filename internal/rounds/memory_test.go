package rounds

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	b := Backoff{Min: 750 * time.Millisecond, Max: time.Minute}
	cases := map[string]struct {
		b        Backoff
		failures int
		want     time.Duration
	}{
		"none yet":             {b, 0, 750 * time.Millisecond},
		"the first":            {b, 1, 750 * time.Millisecond},
		"the second":           {b, 2, 1500 * time.Millisecond},
		"the last below":       {b, 7, 48 * time.Second},
		"the longest":          {b, 8, time.Minute},
		"very many":            {b, math.MaxInt, time.Minute},
		"no wait":              {Backoff{}, 3, 0},
		"always the same":      {Backoff{time.Second, time.Second}, 5, time.Second},
		"a longest below":      {Backoff{time.Minute, time.Second}, 1, time.Second},
		"nearly the end of it": {Backoff{1, math.MaxInt64}, 63, 1 << 62},
		"past the end of it":   {Backoff{1, math.MaxInt64}, 70, math.MaxInt64},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.b.After(c.failures); got != c.want {
				t.Errorf("after %d failures: %s, want %s", c.failures, got, c.want)
			}
		})
	}
}

func TestAbout(t *testing.T) {
	for range 1000 {
		if d := About(time.Hour); d < 57*time.Minute || d > 63*time.Minute {
			t.Fatalf("%s is not about an hour", d)
		}
	}
}

func TestMemory(t *testing.T) {
	const least, most, interval = time.Second, 3 * time.Second, time.Minute
	b := Backoff{Min: least, Max: most}
	cases := map[string]struct {
		reason string
		do     func(m *Memory[string])
		want   time.Duration
	}{
		"nothing behind": {
			reason: "the first pass is due",
			do:     func(*Memory[string]) {},
		},
		"passed": {
			reason: "what stays the same rests until the interval is over",
			do: func(m *Memory[string]) {
				m.Passed("same", interval)
				elapse(20 * time.Second)
			},
			want: 40 * time.Second,
		},
		"over": {
			reason: "after the interval a pass is due",
			do: func(m *Memory[string]) {
				m.Passed("same", interval)
				elapse(interval + 1)
			},
		},
		"something else": {
			reason: "what has changed is due",
			do:     func(m *Memory[string]) { m.Passed("other", interval) },
		},
		"failed": {
			reason: "what failed waits, also when something wakes it that changes nothing",
			do:     func(m *Memory[string]) { m.Failed("same", b) },
			want:   least,
		},
		"failed often": {
			reason: "the wait grows, up to the longest",
			do: func(m *Memory[string]) {
				for range 5 {
					m.Failed("same", b)
				}
			},
			want: most,
		},
		"failed after a success": {
			reason: "a success begins the waits again",
			do: func(m *Memory[string]) {
				m.Failed("same", b)
				m.Waits("same", interval)
				m.Passed("same", interval)
				m.Failed("same", b)
			},
			want: least,
		},
		"waits": {
			reason: "what only a change can help waits for that",
			do:     func(m *Memory[string]) { m.Waits("same", interval) },
			want:   interval,
		},
		"forgotten": {
			reason: "what is forgotten is due, whatever it was made for",
			do: func(m *Memory[string]) {
				m.Passed("same", interval)
				m.Forget()
			},
		},
		"failed again after it was forgotten": {
			reason: "how often it failed is not forgotten",
			do: func(m *Memory[string]) {
				m.Failed("same", b)
				m.Forget()
				m.Failed("same", b)
			},
			want: 2 * least,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m Memory[string]
				c.do(&m)
				if of, made := m.Last(); made != m.Made(of) {
					t.Errorf("%s: the last pass was made (%t), but not for %q", c.reason, made, of)
				}
				if got := m.Rest("same"); got != c.want {
					t.Errorf("%s: it rests %s, want %s", c.reason, got, c.want)
				}
			})
		})
	}
}

// elapse lets time go by, which in the bubble of a test takes none.
func elapse(d time.Duration) { <-time.After(d) }
