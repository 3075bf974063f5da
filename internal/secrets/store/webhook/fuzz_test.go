package webhook_test

import (
	"errors"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/secrets/store/webhook"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(selecting{}); !is {
		m.Run()
	}
}

// selecting evaluates a path in a child, as the dialect does.
type selecting struct{}

func (selecting) Name() string { return "select" }

func (selecting) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	found, err := webhook.Select(webhook.Query{Answer: []byte(`{"a":1,"l":[{"n":"x","v":"1"},{"n":"y","v":[[[[2]]]]}]}`), Path: string(input)})
	return found.Value, err
}

// FuzzSelect has every path end within the limits of a child, and none crash it.
func FuzzSelect(f *testing.F) {
	for _, path := range []string{"$..n", "$..*..*", "$[?(@.l[0:100000:2])]", "$.l[*].v", "$.l[?(@.n == 'x')]"} {
		f.Add(path)
	}
	limits := sandbox.Limits{Memory: 256 << 20, Time: time.Second, Output: 4 << 20}
	box := sandbox.New(f.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits}).For("fuzz", "fuzz")
	f.Fuzz(func(t *testing.T, path string) {
		_, err := box.Do(t.Context(), selecting{}, []byte(path), nil)
		var death *sandbox.Death
		if errors.As(err, &death) && death.Cause == sandbox.Crashed {
			t.Errorf("%q: %v", path, err)
		}
	})
}
