package steps

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(Jobs()...); !is {
		m.Run()
	}
}

// TestSet sets values in JSON, and has keys that are programs end within the limits of a child.
func TestSet(t *testing.T) {
	limits := sandbox.Limits{Memory: 384 << 20, Time: 5 * time.Second, Output: 16 << 20}
	s := &step{runner: &Runner{Sandbox: sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits})}}
	const content = `{"a":{"b":1},"l":[{"n":"x","t":"1"},{"n":"y","t":"2"}]}`
	for name, tc := range map[string]struct {
		key   string
		value any
		want  string
		err   string
	}{
		"Name":    {"a.b", "<2>", `{"a":{"b":"<2>"},"l":[{"n":"x","t":"1"},{"n":"y","t":"2"}]}`, ""},
		"Escaped": {`a.b\.c`, 1.5, `{"a":{"b":1,"b.c":1.5},"l":[{"n":"x","t":"1"},{"n":"y","t":"2"}]}`, ""},
		"Item":    {"l.0.t", true, `{"a":{"b":1},"l":[{"n":"x","t":true},{"n":"y","t":"2"}]}`, ""},
		"Query":   {`l.#(n=="y").t`, "3", `{"a":{"b":1},"l":[{"n":"x","t":"1"},{"n":"y","t":"3"}]}`, ""},
		"Far":     {"l.2000000000", "x", "", "item 2000000000 is beyond 10000"},
		"Hidden":  {`l.\2000000000`, "x", "", "item 2000000000 is beyond 10000"},
		"Farther": {"l.20000000000000000000000", "x", "", "is beyond 10000"},
		"Long":    {strings.Repeat("a", 2000), "x", "", "at most 1024"},
		"Doubles": {strings.TrimSuffix(strings.Repeat("[@this,@this]|", 36), "|"), "x", "", "it "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.set(t.Context(), []byte(content), tc.key, tc.value)
			if string(got) != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s, %v; want %s, %q", got, err, tc.want, tc.err)
			}
		})
	}
}

// FuzzSet has a key that is no program take little time, and make little of its file.
func FuzzSet(f *testing.F) {
	f.Add("a.b")
	f.Add(`l.10000.x\.y`)
	f.Add("[@this,@this]|[@this,@this]")
	f.Fuzz(func(t *testing.T, key string) {
		if indices(key) != nil || !names.MatchString(key) {
			return
		}
		const most = 16 << 20
		began := time.Now()
		made, err := setting{[]byte(`{"a":{"b":1},"l":[{"n":"x"}]}`), key, "v"}.apply()
		if took := time.Since(began); err == nil && len(made) > most || took > time.Second {
			t.Errorf("%q makes %d bytes in %s", key, len(made), took)
		}
	})
}
