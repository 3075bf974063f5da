package jq

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(Jobs()...); !is {
		m.Run()
	}
}

func object() map[string]any {
	return map[string]any{"a": map[string]any{"b": int64(1)}, "l": []any{map[string]any{"n": "x", "v": int64(7)}, map[string]any{"n": "y"}}}
}

// TestPaths names fields, and has programs end within the limits of a child.
func TestPaths(t *testing.T) {
	limits := sandbox.Limits{Memory: 384 << 20, Time: 5 * time.Second, Output: 16 << 20}
	box := sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits}).For("test", "test")
	for name, tc := range map[string]struct {
		text  string
		small bool
		want  Result
		err   string
	}{
		"Field":    {".a.b", true, Result{Paths: [][]any{{"a", "b"}}}, ""},
		"Elements": {".l[].n", true, Result{Paths: [][]any{{"l", 0, "n"}, {"l", 1, "n"}}}, ""},
		"Selected": {`.l[] | select(.n == "y" and (.v // 0) == 0) | .v`, false, Result{Paths: [][]any{{"l", 1, "v"}}}, ""},
		"Compared": {`.l[] | select(.n == "x" or .v > 9) | .v`, true, Result{Paths: [][]any{{"l", 0, "v"}}}, ""},
		"Comma":    {".a, .l[0]", true, Result{Paths: [][]any{{"a"}, {"l", 0}}}, ""},
		"Commas":   {strings.TrimSuffix(strings.Repeat("(.,.)|", 40), "|"), false, Result{Problem: Slow}, ""},
		"Slice":    {".l[0:1]", false, Result{Paths: [][]any{{"l", map[string]any{"start": 0, "end": 1}}}}, ""},
		"Computes": {"1 + 1", false, Result{Problem: Computes}, ""},
		"Stumbles": {".l.x", true, Result{Problem: Stumbles}, ""},
		"Endless":  {"last(repeat(.a))", false, Result{Problem: Slow}, ""},
		"Doubles":  {`(reduce range(40) as $i ("x"; . + .) | length) as $n | .a`, false, Result{}, ""},
		"Multiply": {`("x" * 100000000000 | length) as $n | .a`, false, Result{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := New(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if q.small != tc.small {
				t.Errorf("%s is small: %v", tc.text, q.small)
			}
			got, err := q.Paths(t.Context(), box, object())
			if name == "Multiply" || name == "Commas" || name == "Endless" || name == "Doubles" {
				// Whichever limit it meets first.
				if err == nil && got.Problem == "" {
					t.Errorf("%s has no problem", tc.text)
				}
				return
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%v, want %q", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.text, diff)
			}
		})
	}
	gone, end := context.WithCancel(t.Context())
	end()
	q, err := New(".l[0:1]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Paths(gone, box, object()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := New(strings.Repeat("(", 20_000)); err == nil || !strings.Contains(err.Error(), "at most 16384") {
		t.Errorf("a long expression: %v", err)
	}
}

// FuzzSmall has a small expression name few fields in little time.
func FuzzSmall(f *testing.F) {
	for _, text := range []string{".a.b", ".l[].n", `.l[] | select(.n == "y") | .v`, "(.,.)|(.,.)", ".l[]?.n?", `.["a"]`, ".. | .a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := New(text)
		if err != nil || !q.small {
			return
		}
		began := time.Now()
		got := q.evaluate(t.Context(), object())
		if took := time.Since(began); got.Problem == Slow || got.Problem == Many || took > Time {
			t.Errorf("%q: %s after %s", text, got.Problem, took)
		}
	})
}
