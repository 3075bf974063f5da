package sandbox

import "testing"

// TestCauses reads why a child died from what the Go runtime prints.
func TestCauses(t *testing.T) {
	for printed, want := range map[string]struct {
		cause Cause
		said  string
	}{
		"runtime: goroutine stack exceeds 134217728-byte limit\nfatal error: stack overflow\n": {Stack, "fatal error: stack overflow"},
		"fatal error: runtime: out of memory\n":                                                {Memory, "fatal error: runtime: out of memory"},
		"fatal error: runtime: cannot allocate memory\n":                                       {Memory, "fatal error: runtime: cannot allocate memory"},
		"SIGTRAP: trace trap\nPC=0x1 m=0 sigcode=128\n":                                        {Crashed, "SIGTRAP: trace trap"},
		"panic: the value of a Secret\n":                                                       {Crashed, ""},
		"":                                                                                     {Crashed, ""},
	} {
		if cause, said := causeOf([]byte(printed)), saidOf([]byte(printed)); cause != want.cause || said != want.said {
			t.Errorf("%q: %s, %q; want %s, %q", printed, cause, said, want.cause, want.said)
		}
	}
}
