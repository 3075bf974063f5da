package cluster

import (
	"context"
	"errors"
	"testing"
)

func TestWithin(t *testing.T) {
	broken, late := errors.New("broken"), errors.New("late")
	over, end := context.WithCancelCause(t.Context())
	end(late)
	cases := map[string]struct {
		reason string
		ctx    context.Context
		read   func() error
		err    error
		text   string
	}{
		"read":   {"what was read in time is fine", t.Context(), func() error { return nil }, nil, ""},
		"broken": {"an error is returned as it is", t.Context(), func() error { return broken }, broken, "broken"},
		"late":   {"what does not end is not waited for", over, func() error { <-t.Context().Done(); return nil }, late, "watching things: late"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := Within(c.ctx, "things", c.read)
			if !errors.Is(err, c.err) || err != nil && err.Error() != c.text {
				t.Errorf("%s: got %v", c.reason, err)
			}
		})
	}
}
