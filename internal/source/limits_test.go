package source

import (
	"testing"
	"time"
)

func TestDeadline(t *testing.T) {
	for declared, want := range map[time.Duration]time.Duration{
		0: time.Minute, time.Second: time.Second, 5 * time.Minute: 5 * time.Minute, 24 * time.Hour: 10 * time.Minute,
	} {
		if got := Deadline(declared); got != want {
			t.Errorf("%s are declared, and it has %s, want %s", declared, got, want)
		}
	}
}
