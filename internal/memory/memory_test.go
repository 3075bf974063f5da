package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContainerLimit(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         int64
	}{
		"Bounded":   {reason: "a tenth is left for what is not the heap", text: "1000\n", want: 900},
		"Max":       {reason: "the newer control groups say max where there is no limit", text: "max\n"},
		"Unlimited": {reason: "the older ones say a number that no machine has", text: "9223372036854771712\n"},
		"Zero":      {reason: "no memory at all is no limit", text: "0"},
		"Negative":  {reason: "nor is less than that", text: "-1"},
		"Empty":     {reason: "nor a file that says nothing", text: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, containerLimit(tc.text)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMachineMemory(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         int64
	}{
		"Known":    {reason: "the kernel counts in KiB", text: "MemTotal:       16 kB\nMemFree:        8 kB\n", want: 16 << 10},
		"Later":    {reason: "whatever the order", text: "MemFree: 8 kB\nMemTotal: 16 kB\n", want: 16 << 10},
		"Missing":  {reason: "a file that does not say it is no answer", text: "MemFree: 8 kB\n"},
		"Unit":     {reason: "nor is another unit", text: "MemTotal: 16 MB\n"},
		"Negative": {reason: "nor less than nothing", text: "MemTotal: -16 kB\n"},
		"Enormous": {reason: "nor what no machine has", text: "MemTotal: 9223372036854775807 kB\n"},
		"Empty":    {reason: "nor an empty file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, machineMemory(tc.text)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTune leaves to people what they have said, and sets the rest where the memory is known.
func TestTune(t *testing.T) {
	const before = 77
	cases := map[string]struct {
		reason, gogc, limit string
		tuned               bool
	}{
		"Unset": {reason: "nobody said anything", tuned: container() > 0 || machine() > 0},
		"GOGC":  {reason: "GOGC is set", gogc: "77"},
		"Limit": {reason: "GOMEMLIMIT is set", limit: "1GiB"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", tc.gogc)
			t.Setenv("GOMEMLIMIT", tc.limit)
			percent, limit := debug.SetGCPercent(before), debug.SetMemoryLimit(math.MaxInt64)
			defer func() {
				debug.SetGCPercent(percent)
				debug.SetMemoryLimit(limit)
			}()
			Tune()
			got := debug.SetGCPercent(before)
			if want := map[bool]int{true: lazy, false: before}[tc.tuned]; got != want {
				t.Errorf("%s: the percentage is %d, not %d", tc.reason, got, want)
			}
			if limited := debug.SetMemoryLimit(-1) < math.MaxInt64; tc.tuned && !limited || tc.limit != "" && limited {
				t.Errorf("%s: a limit is set: %t", tc.reason, limited)
			}
		})
	}
}

// TestPercent has a small heap grow to four times its size, and a large one by a gigabyte.
func TestPercent(t *testing.T) {
	for kept, want := range map[uint64]int{0: lazy, 1 << 20: lazy, 1 << 30: 100, 512 << 20: 200, 1 << 40: keen} {
		if got := percent(kept); got != want {
			t.Errorf("after a collection that kept %d bytes the heap may grow by %d %%, want %d", kept, got, want)
		}
	}
}

// TestFollow sets what fits after a collection, and leaves alone what others set.
func TestFollow(t *testing.T) {
	before := debug.SetGCPercent(keen)
	defer debug.SetGCPercent(before)
	kept := make([]byte, 1<<20)
	follow(keen)
	for now := 0; now != lazy; _, now = collected() {
		runtime.GC()
		runtime.Gosched()
	}
	debug.SetGCPercent(77)
	for range 20 {
		runtime.GC()
	}
	if _, now := collected(); now != 77 {
		t.Errorf("what was set by others has become %d", now)
	}
	runtime.KeepAlive(kept)
}
