// Package tracing sends what units did to an OpenTelemetry collector: a trace for each pass, in it a span
// for each phase, with what was waited for.
//
// It is notified of a pass when that has ended, and so costs the engine nothing while it runs. It knows names,
// revisions and messages of units, and no object.
package tracing

import (
	"context"
	"fmt"
	"net/url"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/headgate-dev/headgate/internal/buildinfo"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/runner"
)

// service is the name of the service that the spans belong to.
const service = "headgate"

// Tracer sends traces. It is safe for concurrent use.
type Tracer struct {
	ctx      context.Context
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New returns a Tracer to the collector at endpoint, a URL such as http://collector:4317; what the
// environment says by the names of OpenTelemetry (OTEL_EXPORTER_OTLP_HEADERS and so on) holds beside it.
// A collector that does not answer is tried again in the background; what cannot be kept is dropped.
func New(ctx context.Context, endpoint string) (*Tracer, error) {
	to, err := url.Parse(endpoint)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of a collector, such as http://collector:4317", endpoint)
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("creating an exporter of traces to %q: %w", endpoint, err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", service), attribute.String("service.version", buildinfo.Version()),
	)))
	return &Tracer{ctx: context.WithoutCancel(ctx), provider: provider, tracer: provider.Tracer(service)}, nil
}

// Pass sends the trace of a pass.
func (t *Tracer) Pass(p runner.Trace) {
	ctx, pass := t.tracer.Start(t.ctx, p.Unit.Kind+" "+p.Unit.Namespace+"/"+p.Unit.Name, trace.WithNewRoot(), trace.WithTimestamp(p.Phases[0].Began),
		trace.WithAttributes(
			attribute.String("headgate.unit.kind", p.Unit.Kind), attribute.String("headgate.unit.namespace", p.Unit.Namespace),
			attribute.String("headgate.unit.name", p.Unit.Name), attribute.String("headgate.source", p.Source.String()),
			attribute.String("headgate.revision", p.Revision), attribute.Int("headgate.changes", p.Changes),
		))
	for i, phase := range p.Phases {
		until := p.Ended
		if i+1 < len(p.Phases) {
			until = p.Phases[i+1].Began
		}
		_, span := t.tracer.Start(ctx, string(phase.Phase), trace.WithTimestamp(phase.Began))
		if phase.Message != "" {
			span.SetAttributes(attribute.String("headgate.waits", redaction.Text(phase.Message)))
		}
		span.End(trace.WithTimestamp(until))
	}
	if p.OK {
		pass.SetStatus(codes.Ok, "")
	} else {
		pass.SetAttributes(attribute.String("headgate.reason", string(p.Reason)))
		pass.SetStatus(codes.Error, redaction.Text(p.Message))
	}
	pass.End(trace.WithTimestamp(p.Ended))
}

// Stop sends what is left, for as long as ctx lasts.
func (t *Tracer) Stop(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("sending the last traces: %w", err)
	}
	return nil
}
