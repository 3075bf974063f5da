package rounds

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestShares has slots come free one by one, and sees who is served.
func TestShares(t *testing.T) {
	cases := map[string]struct {
		reason  string
		slots   int
		waiting []string
		want    []string
	}{
		"one share": {
			reason: "a share alone is served in the order of its queue",
			slots:  1, waiting: []string{"a1", "a2", "a3"},
			want: []string{"a1", "a2", "a3"},
		},
		"a crowd": {
			reason: "one that comes after a crowd is next, and so are others that come",
			slots:  1, waiting: []string{"a1", "a2", "a3", "a4", "b1", "c1"},
			want: []string{"a1", "b1", "c1", "a2", "a3", "a4"},
		},
		"two crowds": {
			reason: "two crowds take turns",
			slots:  1, waiting: []string{"a1", "a2", "a3", "b1", "b2", "b3"},
			want: []string{"a1", "b1", "a2", "b2", "a3", "b3"},
		},
		"several slots": {
			reason: "a crowd leaves a slot, and what comes free, to shares that have none",
			slots:  3, waiting: []string{"a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"},
			want: []string{"a1", "a2", "b1", "c1", "a3", "b2", "a4", "a5"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := NewSlots(c.slots)
			turns, names := make([]*Turn, len(c.waiting)), map[*Turn]string{}
			for i, name := range c.waiting {
				turns[i] = s.join(name[:1], "")
				names[turns[i]] = name
			}
			var order, has []string
			held := map[*Turn]bool{}
			for len(order) < len(c.waiting) {
				var first *Turn
				for _, turn := range turns {
					select {
					case <-turn.given:
						if held[turn] {
							continue
						}
						held[turn] = true
						order, has = append(order, names[turn]), append(has, names[turn])
					default:
					}
				}
				if len(held) > 0 && len(has) <= c.slots {
					// Slots come free in the order in which they were given.
					for _, turn := range turns {
						if names[turn] == has[0] {
							first = turn
						}
					}
					has = has[1:]
					first.End()
					continue
				}
				t.Fatalf("%s: %d have slots, of %d", c.reason, len(has), c.slots)
			}
			if diff := cmp.Diff(c.want, order); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

// TestGivenUp cancels a request for a slot: its place is free again, and nothing is left in the end.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(1)
		first, ok := s.Take(t.Context(), "a")
		if !ok {
			t.Fatal("a free slot was not given")
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		results := make(chan string, 3)
		for i, ctx := range []context.Context{ctx, t.Context()} {
			go func() {
				turn, ok := s.Take(ctx, fmt.Sprint("waits", i))
				results <- fmt.Sprint(i, ok)
				if ok {
					turn.End()
				}
			}()
			synctest.Wait()
		}
		elapse(time.Hour)
		synctest.Wait()
		if got := <-results; got != "0 false" {
			t.Errorf("the one whose time is up got %s", got)
		}
		first.End()
		if got := <-results; got != "1 true" {
			t.Errorf("the one that waited got %s", got)
		}
		synctest.Wait()
		over, end := context.WithCancel(t.Context())
		end()
		// One that has its slot takes it, or gives it back.
		if turn, ok := s.Take(over, "late"); ok {
			turn.End()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.free != 1 || len(s.shares) > 0 || len(s.places) > 0 {
			t.Errorf("%d slots are free, and shares are left: %v", s.free, s.shares)
		}
	})
}

// TestNoSlots has nothing bounded where there are none.
func TestNoSlots(t *testing.T) {
	var s *Slots
	turn, ok := s.Take(t.Context(), "a")
	if !ok {
		t.Error("there is a bound")
	}
	turn.End()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, ok := s.Take(ctx, "a"); ok {
		t.Error("something begins after the end")
	}
}

// TestPlaces has a share, and a place, keep to their part of the slots.
func TestPlaces(t *testing.T) {
	cases := map[string]struct {
		reason  string
		waiting [][2]string
		want    []bool
	}{
		"one host": {
			reason:  "a host that takes all that it may leaves slots for others",
			waiting: [][2]string{{"a", "x"}, {"b", "x"}, {"c", "x"}, {"c", "y"}, {"d", "y"}, {"e", "z"}},
			want:    []bool{true, true, false, true, true, false},
		},
		"one namespace": {
			reason:  "so does a namespace, whatever its hosts",
			waiting: [][2]string{{"a", "x"}, {"a", "y"}, {"a", "z"}, {"b", "x"}, {"b", "w"}},
			want:    []bool{true, true, false, true, true},
		},
		"no host": {
			reason:  "what goes nowhere is bounded by its share alone",
			waiting: [][2]string{{"a", ""}, {"b", ""}, {"c", ""}, {"a", ""}, {"d", ""}},
			want:    []bool{true, true, true, true, false},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := NewBoundedSlots(4, 2)
			var turns []*Turn
			for _, w := range c.waiting {
				turns = append(turns, s.join(w[0], w[1]))
			}
			given := func() []bool {
				all := make([]bool, len(turns))
				for i, turn := range turns {
					select {
					case <-turn.given:
						all[i] = true
					default:
					}
				}
				return all
			}
			if diff := cmp.Diff(c.want, given()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
			for range turns {
				for i, has := range given() {
					if has && turns[i].slots != nil {
						turns[i].End()
						turns[i].slots = nil
					}
				}
			}
			for i, has := range given() {
				if !has {
					t.Errorf("%s: %v waits though all slots came free", c.reason, c.waiting[i])
				}
			}
			if s.free != 4 || len(s.shares) > 0 || len(s.places) > 0 {
				t.Errorf("%s: %d slots are free, and left are %v and %v", c.reason, s.free, s.shares, s.places)
			}
		})
	}
}

// TestAShareLeavesASlot has no share hold all slots, however long it holds them.
func TestAShareLeavesASlot(t *testing.T) {
	for n, most := range map[int]int{1: 1, 2: 1, 3: 2, 4: 3, 8: 6, 16: 12} {
		s, has := NewSlots(n), 0
		for range n + 1 {
			select {
			case <-s.join("never ends", "").given:
				has++
			default:
			}
		}
		if has != most {
			t.Errorf("a share has %d of %d slots, want %d", has, n, most)
		}
		select {
		case <-s.join("other", "").given:
		default:
			if n > 1 {
				t.Errorf("another share has none of %d slots", n)
			}
		}
	}
}

// TestPlaceInShare leaves a share something for other places than the one that takes all it gets.
func TestPlaceInShare(t *testing.T) {
	s := NewBoundedSlots(16, 8)
	var silent []*Turn
	given := func(turn *Turn) bool {
		select {
		case <-turn.given:
			return true
		default:
			return false
		}
	}
	for range 10 {
		silent = append(silent, s.join("team", "silent.example"))
	}
	for i, turn := range silent {
		if given(turn) != (i < 6) {
			t.Errorf("turn %d at the place has a slot: %v", i, given(turn))
		}
	}
	if !given(s.join("team", "git.example")) {
		t.Error("another place has to wait for one that takes all")
	}
	if !given(s.join("other", "silent.example")) {
		t.Error("another share has to wait for one that takes all")
	}
	silent[0].End()
	if !given(silent[6]) {
		t.Error("what came free is not given on")
	}
}

// TestKept has a few shares take what they can for good: one that has none is served all the same.
func TestKept(t *testing.T) {
	s := NewBoundedSlots(6, 3).Keep(2)
	for _, c := range []struct {
		share string
		want  bool
	}{
		{"a", true}, {"a", true}, {"a", true}, {"a", false}, {"b", true}, {"b", false}, {"c", true}, {"d", true}, {"e", false},
	} {
		turn := s.join(c.share, "")
		got := false
		select {
		case <-turn.given:
			got = true
		default:
		}
		if got != c.want {
			t.Errorf("%s has a slot: %t, want %t", c.share, got, c.want)
		}
	}
}
