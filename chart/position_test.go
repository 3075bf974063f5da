package chart_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/chart"
)

func TestJoin(t *testing.T) {
	placed := &chart.Error{Path: "web", At: chart.Position{File: "main.go", Line: 3}, Err: errors.New("it has no ports")}
	bare := errors.New("no file")
	for name, tc := range map[string]struct {
		reason string
		errs   []error
		want   string
	}{
		"None":    {"nothing is wrong", []error{nil, nil}, ""},
		"Place":   {"a mistake with its place", []error{placed}, "main.go:3: web: it has no ports"},
		"Bare":    {"one without a place", []error{bare, &chart.Error{Path: "db", Err: bare}}, "no file\ndb: no file"},
		"Nested":  {"mistakes within others", []error{errors.Join(chart.Errors{placed}, bare), nil}, "main.go:3: web: it has no ports\nno file"},
		"Wrapped": {"what wraps a mistake says more", []error{fmt.Errorf("loading: %w", placed)}, "loading: main.go:3: web: it has no ports"},
	} {
		t.Run(name, func(t *testing.T) {
			err := chart.Join(tc.errs...)
			if tc.want == "" {
				if err != nil {
					t.Errorf("%s: %v", tc.reason, err)
				}
				return
			}
			var all chart.Errors
			if !errors.As(err, &all) {
				t.Fatalf("%s: a %T, want Errors", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, all.Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
