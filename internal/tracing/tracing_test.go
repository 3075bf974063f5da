package tracing

import (
	"context"
	"encoding/hex"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// received is a collector that keeps what it is sent.
type received struct {
	collector.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans []*trace.Span
	of    string
}

// Export takes spans.
func (r *received) Export(_ context.Context, q *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range q.GetResourceSpans() {
		r.of = attributes(resource.GetResource().GetAttributes())["service.name"]
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

func attributes(list []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		text := a.GetValue().GetStringValue()
		if text == "" {
			text = a.GetValue().String()
		}
		out[a.GetKey()] = text
	}
	return out
}

// span is what is reported of a span: Parent is the name of the one around it.
type span struct {
	Name, Parent string
	Began, Ended time.Time
	Status       string
	Attributes   map[string]string
}

func (r *received) tree() []span {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]string{}
	for _, s := range r.spans {
		names[hex.EncodeToString(s.GetSpanId())] = s.GetName()
	}
	var out []span
	for _, s := range r.spans {
		out = append(out, span{
			Name: s.GetName(), Parent: names[hex.EncodeToString(s.GetParentSpanId())],
			Began: time.Unix(0, int64(s.GetStartTimeUnixNano())).UTC(), Ended: time.Unix(0, int64(s.GetEndTimeUnixNano())).UTC(),
			Status: s.GetStatus().GetCode().String() + s.GetStatus().GetMessage(), Attributes: attributes(s.GetAttributes()),
		})
	}
	return out
}

// TestPass sends passes to a real collector.
func TestPass(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2030, 1, 1, 0, 0, second, 5, time.UTC) }
	unit := engine.UnitID{Kind: "Kustomization", Namespace: "apps", Name: "web"}
	from := engine.SourceID{Kind: "GitRepository", Namespace: "apps", Name: "repo"}
	about := func(more map[string]string) map[string]string {
		out := map[string]string{
			"headgate.unit.kind": "Kustomization", "headgate.unit.namespace": "apps", "headgate.unit.name": "web",
			"headgate.source": from.String(), "headgate.revision": "main@sha1:abc", "headgate.changes": "int_value:2",
		}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	stretches := runner.Stretches{Ended: at(9), Phases: []runner.Stretch{
		{Phase: engine.PhaseWaitingForDependencies, Began: at(1), Message: "for db"},
		{Phase: engine.PhaseApplying, Began: at(4)},
	}}
	phases := []span{
		{Name: "WaitingForDependencies", Parent: "Kustomization apps/web", Began: at(1), Ended: at(4), Status: "STATUS_CODE_UNSET", Attributes: map[string]string{"headgate.waits": "for db"}},
		{Name: "Applying", Parent: "Kustomization apps/web", Began: at(4), Ended: at(9), Status: "STATUS_CODE_UNSET", Attributes: map[string]string{}},
	}
	cases := map[string]struct {
		reason string
		pass   runner.Trace
		want   span
	}{
		"Ready": {
			reason: "a pass lasts from what was waited for first to its end, and each phase until the next",
			pass:   runner.Trace{Unit: unit, Source: from, Revision: "main@sha1:abc", Changes: 2, OK: true, Stretches: stretches},
			want:   span{Name: "Kustomization apps/web", Began: at(1), Ended: at(9), Status: "STATUS_CODE_OK", Attributes: about(nil)},
		},
		"Failed": {
			reason: "one that failed says why",
			pass:   runner.Trace{Unit: unit, Source: from, Revision: "main@sha1:abc", Changes: 2, Reason: "BuildFailed", Message: "no such file", Stretches: stretches},
			want: span{
				Name: "Kustomization apps/web", Began: at(1), Ended: at(9), Status: "STATUS_CODE_ERRORno such file",
				Attributes: about(map[string]string{"headgate.reason": "BuildFailed"}),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, endpoint := start(t)
			tracer, err := New(t.Context(), endpoint)
			if err != nil {
				t.Fatal(err)
			}
			tracer.Pass(tc.pass)
			if err := tracer.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(phases, tc.want), got.tree()); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if got.of != service {
				t.Errorf("the spans are those of service %q", got.of)
			}
		})
	}
}

// start starts a collector.
func start(t *testing.T) (got *received, endpoint string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got = &received{}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, got)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return got, "http://" + listener.Addr().String()
}

func TestEndpoint(t *testing.T) {
	cases := map[string]struct {
		reason, endpoint string
		ok               bool
	}{
		"Plain":    {reason: "a collector in the cluster", endpoint: "http://collector:4317", ok: true},
		"TLS":      {reason: "one elsewhere", endpoint: "https://otlp.example.com", ok: true},
		"NoScheme": {reason: "traces would go to this machine without a word", endpoint: "collector:4317"},
		"NoHost":   {reason: "there is nowhere to send them", endpoint: "http://"},
		"NoURL":    {reason: "that is nothing", endpoint: "%"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tracer, err := New(t.Context(), tc.endpoint)
			if (err == nil) != tc.ok {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if err == nil {
				_ = tracer.Stop(t.Context())
			}
		})
	}
}
