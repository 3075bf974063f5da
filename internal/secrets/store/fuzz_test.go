package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/secrets/store"
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
	return store.Select([]byte(`{"a":1,"l":[{"n":"x","v":"1"},{"n":"y","v":[[[[2]]]]}]}`), string(input)).Value, nil
}

// FuzzSelect has every path end within the limits of a child, and none crash it.
func FuzzSelect(f *testing.F) {
	for _, path := range []string{"l.#(n==y).v", "[@this,@this]|[@this,@this]|@pretty", `{"a":@this}|@tostr|@fromstr`, "a.b", "..#.a"} {
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
