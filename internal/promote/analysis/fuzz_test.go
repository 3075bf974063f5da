package analysis

import (
	"errors"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(selecting{}); !is {
		m.Run()
	}
}

// selecting evaluates a path in a child, as promotions do.
type selecting struct{}

func (selecting) Name() string { return "select" }

func (selecting) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	return Select(Query{Path: string(input), Response: []byte(`{"a":1,"l":[{"n":"x","v":"1"},{"n":"y","v":[[[[2]]]]}]}`)})
}

// FuzzSelect has every path end within the limits of a child, and none crash it.
func FuzzSelect(f *testing.F) {
	for _, path := range []string{"{$.a}", "{..[*]..[*]}", "{.l[?(@.n=='x')].v}", "{.l[0:1000000:1]}", "{range .l[*]}{.n}{end}"} {
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
