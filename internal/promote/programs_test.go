package promote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/promote/analysis"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(Jobs()...); !is {
		m.Run()
	}
}

// TestPathsOfMetrics has paths over a response end within their limits, or with their run.
func TestPathsOfMetrics(t *testing.T) {
	limits := sandbox.Limits{Memory: 384 << 20, Time: 5 * time.Second, Output: 16 << 20}
	p := &part{Host: &dialect.Host{Sandbox: sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits})}}
	run := &unstructured.Unstructured{Object: map[string]any{"kind": "AnalysisRun", "metadata": map[string]any{"namespace": "ns", "name": "run"}}}
	deep := strings.Repeat("[", 5000) + "1" + strings.Repeat("]", 5000)
	gone, end := context.WithCancelCause(t.Context())
	reason := errors.New("the run is gone")
	timer := time.AfterFunc(time.Second, func() { end(reason) })
	defer timer.Stop()
	for name, tc := range map[string]struct {
		ctx            context.Context
		path, response string
		want           any
		err            string
	}{
		"Value":      {path: "{$.a.b}", response: `{"a":{"b":1.5}}`, want: 1.5},
		"Missing":    {path: "{$.a.c}", response: `{"a":{"b":1}}`, err: `jsonPath: "{$.a.c}" is not in the response`},
		"Multiplies": {path: "{..[*]..[*]..[*]}", response: deep, err: "jsonPath: it "},
		"Gone":       {ctx: gone, path: "{..[*]..[*]..[*]}", response: deep, err: reason.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.ctx == nil {
				tc.ctx = t.Context()
			}
			got, err := analysis.Web{JSONPath: tc.path}.Value([]byte(tc.response), func(q analysis.Query) ([]byte, error) { return p.selects(tc.ctx, run, q) })
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%v, %v; want %v, %q", got, err, tc.want, tc.err)
			}
		})
	}
}
