package promote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/promote/analysis"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// maxMeasured bounds a response that is measured, in bytes; measureTimeout is how long a request may take that names no timeout.
const maxMeasured, measureTimeout = 1 << 20, 10 * time.Second

// carryOut makes the measurements that are due, or evaluates those in progress, and says when to look again.
func (p *part) carryOut(
	ctx context.Context, run *unstructured.Unstructured, spec analysis.Spec, status analysis.Status, now time.Time,
) (analysis.Status, time.Time) {
	if err := spec.Check(); err != nil {
		status.Phase, status.Message = analysis.Error, err.Error()
		return status, time.Time{}
	}
	status = analysis.Begin(spec, status, now)
	due, next := analysis.Due(spec, status, now)
	for _, m := range due {
		one := analysis.Next(status, m.Name, time.Now())
		var err error
		if one.Phase, err = p.measure(ctx, run, spec, m, analysis.Number(status, m.Name), &one); err != nil {
			one.Message = redaction.Text(err.Error())
		}
		if at := time.Now(); one.Phase == analysis.Running {
			one.ResumeAt = &metav1.Time{Time: at.Add(runPoll)}
		} else {
			one.FinishedAt = &metav1.Time{Time: at}
		}
		status = analysis.Measured(spec, status, m.Name, one)
	}
	if len(due) > 0 {
		_, next = analysis.Due(spec, status, now)
	}
	return status, next
}

// measure starts or continues a measurement of a metric, and returns its phase.
func (p *part) measure(
	ctx context.Context, run *unstructured.Unstructured, spec analysis.Spec, m analysis.Metric, number int32, one *analysis.Measurement,
) (string, error) {
	values := map[string]string{}
	for _, a := range spec.Args {
		if a.Value != nil {
			values[a.Name] = *a.Value
		}
	}
	if m.Provider.Web == nil {
		return p.measureByObject(ctx, run, m, values, number, one)
	}
	var secret []string
	for _, a := range spec.Args {
		if a.Value != nil || a.ValueFrom == nil || a.ValueFrom.SecretKeyRef == nil {
			continue
		}
		ref := a.ValueFrom.SecretKeyRef
		found, err := p.client.CoreV1().Secrets(run.GetNamespace()).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return analysis.Error, fmt.Errorf("args: %q: reading Secret %q: %w", a.Name, ref.Name, err)
		}
		values[a.Name] = string(found.Data[ref.Key])
		secret = append(secret, values[a.Name])
	}
	body, err := p.fetch(ctx, *m.Provider.Web, values)
	var value any
	if err == nil {
		value, err = m.Provider.Web.Value(body, func(q analysis.Query) ([]byte, error) { return p.selects(ctx, run, q) })
	}
	phase := analysis.Error
	if err == nil {
		phase, err = m.Judge(value, time.Now())
	}
	if err != nil {
		err = errors.New(redaction.NewValues(secret...).Text(err.Error()))
	}
	return phase, err
}

// fetch sends the request of a metric.
func (p *part) fetch(ctx context.Context, w analysis.Web, values map[string]string) ([]byte, error) {
	address, err := analysis.Fill(w.URL, values)
	if err != nil {
		return nil, fmt.Errorf("provider.web.url: %w", err)
	}
	text := w.Body
	if w.JSONBody != nil {
		data, err := json.Marshal(w.JSONBody)
		if err != nil {
			return nil, fmt.Errorf("provider.web.jsonBody: %w", err)
		}
		text = string(data)
	}
	if text, err = analysis.Fill(text, values); err != nil {
		return nil, fmt.Errorf("provider.web.body: %w", err)
	}
	timeout := measureTimeout
	if w.TimeoutSeconds > 0 {
		timeout = time.Duration(w.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	method := w.Method
	if method == "" {
		method = http.MethodGet
	}
	q, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(text))
	if err != nil {
		return nil, errors.New("provider.web.url: it is not an address")
	}
	if w.JSONBody != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	for i, h := range w.Headers {
		value, err := analysis.Fill(h.Value, values)
		if err != nil {
			return nil, fmt.Errorf("provider.web.headers[%d]: %w", i, err)
		}
		q.Header.Set(h.Key, value)
	}
	client := *p.network.client
	if w.Insecure {
		client.Transport = p.network.insecure
	}
	response, err := client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("sending a request to %s: %w", q.URL.Host, errors.Unwrap(err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s responds %s", q.URL.Host, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMeasured+1))
	if err != nil || len(body) > maxMeasured {
		return nil, fmt.Errorf("the response of %s cannot be read, or has more than %d bytes", q.URL.Host, maxMeasured)
	}
	return body, nil
}
