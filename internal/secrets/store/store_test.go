package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

func TestStatusError(t *testing.T) {
	for name, tc := range map[string]struct {
		status    int
		header    http.Header
		is        error
		transient bool
		after     time.Duration
	}{
		"NotFound":     {status: 404, is: store.ErrNotFound},
		"Unauthorized": {status: 401, is: store.ErrDenied},
		"Forbidden":    {status: 403, is: store.ErrDenied},
		"TooMany":      {status: 429, header: http.Header{"Retry-After": {"7"}}, transient: true, after: 7 * time.Second},
		"Unavailable":  {status: 503, transient: true},
		"BadRequest":   {status: 400},
		"Unknown":      {status: 499},
	} {
		t.Run(name, func(t *testing.T) {
			err := store.StatusError("reading a/b", tc.status, tc.header)
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("it is %v, want %v", err, tc.is)
			}
			if after, transient := store.RetryAfter(err); transient != tc.transient || after != tc.after {
				t.Errorf("it may be over: %v after %s, want %v after %s", transient, after, tc.transient, tc.after)
			}
			if !strings.HasPrefix(err.Error(), "reading a/b: ") || !strings.Contains(err.Error(), fmt.Sprint(tc.status)) {
				t.Errorf("the request or the status is not in %q", err)
			}
		})
	}
}

func TestAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "-4": 0, "soon": 0, "99999999": time.Hour, "99999999999999999999": 0,
		"Sun, 01 Mar 2026 12:00:20 GMT": 20 * time.Second, "Sun, 01 Mar 2026 11:00:00 GMT": 0,
	} {
		if got := store.After(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("Retry-After %q: %s, want %s", text, got, want)
		}
	}
}

func TestUnreachableHidesTheURL(t *testing.T) {
	err := store.Unreachable("reading a", &url.Error{Op: "Get", URL: "https://h/?token=s3cret", Err: errors.New("connection refused")})
	if _, transient := store.RetryAfter(err); !transient || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v: want a transient failure without the URL", err)
	}
	if err := store.Unreachable("reading a", context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want the end of the context", err)
	}
}

func TestProperty(t *testing.T) {
	object := []byte(`{"a.b":"dotted","a":{"b":"nested","n":[1, 2]},"s":"text","n":1.50,"t":true,"z":null}`)
	for property, want := range map[string]string{
		"a.b": "dotted", `a\.b`: "dotted", "a.n": "[1, 2]", "a.n.1": "2", "s": "text", "n": "1.50", "t": "true", "z": "", "a": `{"b":"nested","n":[1,2]}`, "": string(object),
	} {
		got, err := store.Property(t.Context(), "the secret x", object, property)
		if err != nil || string(got) != want {
			t.Errorf("property %q: %q, %v; want %q", property, got, err, want)
		}
	}
	if got, err := store.Property(t.Context(), "the secret x", object, "a.n|1"); err == nil {
		t.Errorf("a property that is a program is evaluated in this process: %q", got)
	}
	elsewhere := store.Within(t.Context(), func(_ context.Context, _ []byte, path string) (store.Selected, error) {
		return store.Selected{Value: []byte(path), Exists: path != "#"}, nil
	})
	if got, err := store.Property(elsewhere, "the secret x", object, "a.n|1"); err != nil || string(got) != "a.n|1" {
		t.Errorf("a property that is a program: %q, %v", got, err)
	}
	if _, err := store.Property(elsewhere, "the secret x", object, "#"); !errors.Is(err, store.ErrNoProperty) {
		t.Errorf("a program that selects nothing: %v", err)
	}
	if _, err := store.Property(elsewhere, "the secret x", object, strings.Repeat("a", 5000)); err == nil || errors.Is(err, store.ErrNoProperty) {
		t.Errorf("a property that is too long: %v", err)
	}
	if _, err := store.Property(t.Context(), "the secret x", object, "missing"); !errors.Is(err, store.ErrNoProperty) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a property that is missing: %v", err)
	}
	for _, bad := range []string{"s3cret", `["s3cret"]`, "null", ""} {
		if _, err := store.Property(t.Context(), "the secret x", []byte(bad), "a"); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("a property of %s: %v", bad, err)
		}
	}
}

func TestSetAndRemoveProperty(t *testing.T) {
	object, err := store.WithProperty("x", nil, "a", []byte("1"))
	if err == nil {
		object, err = store.WithProperty("x", object, "b", []byte("2"))
	}
	if err != nil || string(object) != `{"a":"1","b":"2"}` {
		t.Fatalf("two properties: %s, %v", object, err)
	}
	rest, left, err := store.WithoutProperty("x", object, "a")
	if err != nil || left != 1 || string(rest) != `{"b":"2"}` {
		t.Errorf("without a: %s, %d, %v", rest, left, err)
	}
	if _, err := store.WithProperty("x", []byte("s3cret"), "a", nil); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a property of a text: %v", err)
	}
	if _, _, err := store.WithoutProperty("x", []byte("s3cret"), "a"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a property out of a text: %v", err)
	}
}

func TestFind(t *testing.T) {
	f := store.Find{Path: "a/", Name: "^x", Tags: map[string]string{"env": "dev"}}
	pattern, err := f.Pattern()
	if err != nil || !pattern.MatchString("xy") || pattern.MatchString("yx") {
		t.Errorf("the pattern is wrong: %v", err)
	}
	got := []bool{f.Below("a/b"), f.Below("b"), f.Tagged(map[string]string{"env": "dev", "x": "y"}), f.Tagged(map[string]string{"env": "prod"}), store.Find{}.Below("b"), store.Find{}.Tagged(nil)}
	if diff := cmp.Diff([]bool{true, false, true, false, true, true}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"(", strings.Repeat("a", 5000)} {
		if _, err := (store.Find{Name: bad}).Pattern(); err == nil {
			t.Errorf("the pattern %.10q is taken", bad)
		}
	}
}

func TestCredential(t *testing.T) {
	if got, err := store.Credential([]byte(" token\n"), nil); err != nil || got != "token" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := store.Credential([]byte(" \n"), nil); err == nil {
		t.Error("an empty credential is taken")
	}
	if _, err := store.Credential(nil, store.ErrDenied); !errors.Is(err, store.ErrDenied) {
		t.Errorf("the failure of the look-up is lost: %v", err)
	}
}

// TestFetched has all answers of a pass have a bound together.
func TestFetched(t *testing.T) {
	ctx := store.Within(t.Context(), nil)
	for range 8 {
		if err := store.Fetched(ctx, store.MaxFetched/8); err != nil {
			t.Fatal(err)
		}
	}
	err := store.Fetched(ctx, 1)
	if !errors.Is(err, store.ErrFetched) || !errors.Is(store.TooLarge("x", err), store.ErrFetched) || !errors.Is(store.TooLarge("x", store.ErrTooLarge), store.ErrTooLarge) {
		t.Errorf("one byte more: %v", err)
	}
	if err := store.Fetched(t.Context(), store.MaxFetched+1); err != nil {
		t.Errorf("outside a pass: %v", err)
	}
}

// FuzzProperty has a property that is evaluated in this process take no more than it is given, whatever it is.
func FuzzProperty(f *testing.F) {
	f.Add(`{"a":{"b":[1,2]}}`, "a.b.1")
	f.Add(`{"a.b":1}`, `a\.b`)
	f.Add(`{"a":1}`, "[@this,@this]|[@this,@this]")
	f.Add(`{"a":[{"b":1}]}`, "a.#(b==1)#.b")
	f.Fuzz(func(t *testing.T, object, path string) {
		began := time.Now()
		got, err := store.Property(t.Context(), "x", []byte(object), path)
		if err == nil && len(got) > len(object)+utf8.UTFMax*len(object) {
			t.Errorf("%q makes %d bytes of %d", path, len(got), len(object))
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%q takes %s", path, took)
		}
	})
}
