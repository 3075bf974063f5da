package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if _, is := Serve(work{}); !is {
		m.Run()
	}
}

// work does what its input says.
type work struct{}

func (work) Name() string { return "work" }

func (work) Run(input []byte, asking Asker) ([]byte, error) {
	verb, rest, _ := strings.Cut(string(input), " ")
	switch verb {
	case "echo":
		return []byte(rest), nil
	case "ask":
		return asking.Ask([]byte(rest))
	case "fail":
		return nil, errors.New(rest)
	case "panic":
		panic(rest)
	case "recurse":
		return []byte{byte(recurse(1))}, nil
	case "loop":
		for {
			if len(input) == 0 {
				return nil, nil
			}
		}
	case "one": // a single piece
		return []byte(strings.Repeat(rest, 8<<30/len(rest)))[:1], nil
	case "many": // one piece after another
		var all []string
		for {
			all = append(all, strings.Repeat(rest, 1<<20))
			if len(all) == 0 {
				return nil, nil
			}
		}
	case "long":
		return []byte(strings.Repeat(rest, 2<<20)), nil
	case "environment":
		return []byte(strings.Join(os.Environ(), "\n")), nil
	}
	return nil, errors.New("no such verb")
}

func recurse(n int) int {
	var room [1 << 10]byte
	room[n%len(room)] = byte(n)
	return recurse(n+1) + int(room[(n+1)%len(room)]) //nolint:staticcheck // the stack is to overflow
}

// upper answers in capitals.
type upper struct{}

func (upper) Answer(_ context.Context, question []byte) ([]byte, error) {
	if string(question) == "nothing" {
		return nil, errors.New("no answer")
	}
	return []byte(strings.ToUpper(string(question))), nil
}

// quick are limits that tests reach soon; memory has room for stacks.
func quick() Limits {
	return Limits{Memory: 384 << 20, Time: time.Minute, Output: 1 << 20}
}

func pool(t *testing.T, c Config) *Pool {
	t.Helper()
	return New(t.Context(), c)
}

func TestDo(t *testing.T) {
	short := quick()
	short.Time = time.Second
	for name, tc := range map[string]struct {
		reason string
		input  string
		limits Limits
		want   string
		cause  Cause
		err    string
	}{
		"Echo":   {reason: "a job gives what it makes", input: "echo hello", want: "hello"},
		"Ask":    {reason: "a job asks, and is answered in this process", input: "ask who", want: "WHO"},
		"Denied": {reason: "an error in the place of an answer is the job's", input: "ask nothing", err: "no answer"},
		"Fail":   {reason: "an error keeps its text", input: "fail no such value", err: "no such value"},
		"Panic":  {reason: "a panic is an error of its job", input: "panic oh", err: "internal error: a panic with a value of type string"},
		"Stack":  {reason: "a recursion without an end ends its child only", input: "recurse", cause: Stack, err: "stack overflow"},
		"Piece":  {reason: "a single piece of memory is refused before it is touched", input: "one x", cause: Memory, err: "384 MiB of memory (--render-memory)"},
		"Pieces": {reason: "many pieces are refused together", input: "many x", cause: Memory, err: "384 MiB of memory (--render-memory)"},
		"Time":   {reason: "a job that does not end is ended", input: "loop", limits: short, cause: Time, err: "longer than 1s (--render-timeout)"},
		"Output": {reason: "what is too long is not read", input: "long x", cause: Output, err: "more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if raced && (tc.cause == Memory || tc.cause == Stack) {
				t.Skip("the race detector ends a process without memory by itself")
			}
			if tc.limits.Memory == 0 {
				tc.limits = quick()
			}
			p := pool(t, Config{Program: Self(), Limits: tc.limits})
			out, err := p.For("apps", "unit").Do(t.Context(), work{}, []byte(tc.input), upper{})
			if string(out) != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, out, tc.want)
			}
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s: got the error %v, want one with %q", tc.reason, err, tc.err)
			}
			var death *Death
			if errors.As(err, &death) != (tc.cause != "") || tc.cause != "" && death.Cause != tc.cause {
				t.Errorf("%s: got the death %v, want the cause %q", tc.reason, death, tc.cause)
			}
			// The next job is served, whatever became of the first one.
			if out, err := p.For("apps", "other").Do(t.Context(), work{}, []byte("echo again"), nil); err != nil || string(out) != "again" {
				t.Errorf("after that: got %q, %v", out, err)
			}
		})
	}
}

func TestChildrenAreKept(t *testing.T) {
	p := pool(t, Config{Program: Self(), Limits: quick()})
	c := p.For("apps", "unit")
	for range 3 {
		if _, err := c.Do(t.Context(), work{}, []byte("echo x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.idle) != 1 {
		t.Fatalf("%d children wait after jobs in a row, want the one that did them all", len(p.idle))
	}
	first := p.idle[0]
	// A child that ends while it is idle is no error of the next job.
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Do(t.Context(), work{}, []byte("echo y"), nil); err != nil || string(out) != "y" {
		t.Errorf("after the end of an idle child: got %q, %v", out, err)
	}
	p.Close()
	if len(p.idle) != 0 {
		t.Errorf("%d children wait in a closed pool", len(p.idle))
	}
}

func TestEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "hunter2")
	t.Setenv("TZ", "Asia/Tokyo")
	p := pool(t, Config{Program: Self(), Limits: quick()})
	out, err := p.For("apps", "unit").Do(t.Context(), work{}, []byte("environment"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if name, _, _ := strings.Cut(line, "="); name != marker && name != "TZ" {
			t.Errorf("a child has %q in its environment", name)
		}
	}
	if !strings.Contains(string(out), "TZ=Asia/Tokyo") {
		t.Error("a child has another time zone")
	}
}

func TestCancelled(t *testing.T) {
	p := pool(t, Config{Program: Self(), Limits: quick()})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the unit is gone")
	_, err := p.For("apps", "unit").Do(ctx, work{}, []byte("ask x"), ending{cancel, why})
	if !errors.Is(err, why) {
		t.Errorf("got %v, want why the context ended", err)
	}
}

// ending ends a context when it is asked.
type ending struct {
	end context.CancelCauseFunc
	why error
}

func (e ending) Answer(ctx context.Context, _ []byte) ([]byte, error) {
	e.end(e.why)
	return nil, ctx.Err()
}

func TestWithoutChildren(t *testing.T) {
	var told string
	dir := t.TempDir()
	p := pool(t, Config{Program: filepath.Join(dir, "missing"), Limits: quick(), Dir: dir, Problem: func(text string) { told = text }})
	out, err := p.For("apps", "unit").Do(t.Context(), work{}, []byte("ask who"), upper{})
	if err != nil || string(out) != "WHO" {
		t.Errorf("got %q, %v: jobs run in this process where no child can be started", out, err)
	}
	if !strings.Contains(told, "without limits") {
		t.Errorf("told %q, want that there are no limits", told)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "rendering", "*")); len(left) != 0 {
		t.Errorf("%v is left of a unit that was rendered", left)
	}
}

func TestQuarantine(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const unit = "HelmRelease apps/web"
	// Each round is a process that ends while it renders the unit.
	for deaths, wait := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		l := openLedger(dir, at)
		if err := l.enter(unit, at); err != nil {
			t.Fatalf("round %d: %v", deaths, err)
		}
		l = openLedger(dir, at)
		var q *Quarantined
		if err := l.enter(unit, at.Add(wait-time.Second)); !errors.As(err, &q) || q.Deaths != deaths+1 || !q.Until.Equal(at.Add(wait)) {
			t.Fatalf("round %d: got %v, want a quarantine of %s", deaths, err, wait)
		}
		if err := l.enter("HelmRelease apps/other", at); err != nil {
			t.Errorf("round %d: another unit waits: %v", deaths, err)
		}
		l.leave("HelmRelease apps/other")
		at = at.Add(wait)
	}
	l := openLedger(dir, at)
	if err := l.enter(unit, at); err != nil {
		t.Fatal(err)
	}
	l.leave(unit)
	if err := openLedger(dir, at).enter(unit, at); err != nil {
		t.Errorf("after a render that ended well: %v", err)
	}
}

func TestEncoding(t *testing.T) {
	type tree = map[string]any
	in := tree{"whole": int64(10000000), "float": 5.0, "large": 1e21, "nothing": nil, "list": []any{int64(1), "a", true}, "deep": tree{"text": "\xff"}}
	data, err := Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	var out tree
	if err := Decode(data, &out); err != nil {
		t.Fatal(err)
	}
	for key, want := range in {
		if _, isFloat := want.(float64); isFloat {
			if got, ok := out[key].(float64); !ok || got != want {
				t.Errorf("%s: got %T %v", key, out[key], out[key])
			}
		}
	}
	if out["whole"] != int64(10000000) || out["nothing"] != nil || out["deep"].(tree)["text"] != "\xff" {
		t.Errorf("got %#v, want %#v", out, in)
	}
}
