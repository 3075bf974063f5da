package here

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

const (
	// requestDefault bounds a request that names no time, requestMost one that does.
	requestDefault = 30 * time.Second
	requestMost    = 5 * time.Minute
	// maxBody bounds what is read of a response, which is as much as a result may have.
	maxBody = 256 << 10
	// shortest is how long a value has to be to be searched for in texts.
	shortest = 4
	// maxRedirects is how often a request is sent elsewhere.
	maxRedirects = 10
)

// request sends a request, and judges the response.
func (e *Executor) request(ctx context.Context, x *execution) plan.Leaf {
	if !plan.Repeatable(x.run.Template) {
		// From here on, a restart finds that it was sent.
		select {
		case <-x.recorded:
		case <-ctx.Done():
			return plan.Leaf{}
		}
	}
	h := x.run.Template.HTTP
	reading, read := context.WithTimeoutCause(ctx, requestDefault, fmt.Errorf("no response within %s", requestDefault))
	c, err := e.compose(reading, x)
	read()
	if err != nil {
		return failed(v1alpha1.NodeError, "%s", c.mask(err.Error()))
	}
	turn, ok := e.slots.TakeAt(ctx, x.of.Namespace, c.request.URL.Host)
	if !ok {
		return failed(v1alpha1.NodeError, "%s", context.Cause(ctx))
	}
	defer turn.End()
	timeout := timeoutOf(h)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response within %s", timeout))
	defer cancel()
	c.request = c.request.WithContext(ctx)
	response, body, err := c.send(e.Egress, h.InsecureSkipVerify)
	if errors.Is(err, egress.ErrRefused) {
		return failed(v1alpha1.NodeError, "http.url: %s; a container or a script uses the network of its namespace", c.mask(err.Error()))
	}
	if err != nil {
		return transient(failed(v1alpha1.NodeError, "%s", c.mask(err.Error())), true)
	}
	return c.verdict(x, response, body)
}

// timeoutOf is how long a template waits for the response, at most: what a server does not answer holds a slot for that long.
func timeoutOf(h *v1alpha1.HTTPTemplate) time.Duration {
	if h.TimeoutSeconds == nil || *h.TimeoutSeconds <= 0 {
		return requestDefault
	}
	return time.Duration(min(*h.TimeoutSeconds, int64(requestMost/time.Second))) * time.Second
}

// call is one request with the values that no one may see.
type call struct {
	request *http.Request
	secrets []string
}

// compose makes the request of a template, with values of Secrets that its account may read.
func (e *Executor) compose(ctx context.Context, x *execution) (*call, error) {
	h := x.run.Template.HTTP
	c := &call{}
	body := []byte(h.Body)
	if h.BodyFrom != nil {
		body = h.BodyFrom.Bytes
	}
	request, err := http.NewRequestWithContext(ctx, cmp.Or(h.Method, http.MethodGet), h.URL, bytes.NewReader(body))
	if err != nil {
		return c, fmt.Errorf("http: %w", err)
	}
	if request.URL.Scheme != "http" && request.URL.Scheme != "https" || request.URL.Host == "" {
		return c, fmt.Errorf("http.url %q is not the address of an http or https server", redaction.Text(h.URL))
	}
	for i, header := range h.Headers {
		value := header.Value
		if from := header.ValueFrom; from != nil && from.SecretKeyRef != nil {
			if value, err = e.secret(ctx, x, from.SecretKeyRef); err != nil {
				return c, fmt.Errorf("http.headers[%d] %q: %w", i, header.Name, err)
			}
			c.hide(value)
		}
		if strings.EqualFold(header.Name, "Host") {
			request.Host = value
			continue
		}
		request.Header.Add(header.Name, value)
	}
	c.request = request
	return c, nil
}

// hide has a value masked wherever it appears, and what follows a scheme such as Bearer.
func (c *call) hide(value string) {
	_, token, _ := strings.Cut(value, " ")
	for _, one := range []string{strings.TrimSpace(value), strings.TrimSpace(token)} {
		if len(one) >= shortest {
			c.secrets = append(c.secrets, one)
		}
	}
}

// mask takes secret values out of a text.
func (c *call) mask(message string) string { return redaction.Text(c.hidden(message)) }

func (c *call) hidden(s string) string {
	for _, secret := range c.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}

// errTooLong is returned for a response that is longer than a result may be.
var errTooLong = fmt.Errorf("the response has more than %d bytes", maxBody)

// send sends the request, and reads the response.
func (c *call) send(to egress.Rules, insecure bool) (*http.Response, []byte, error) {
	transport := to.Transport()
	transport.DisableKeepAlives = true
	if insecure {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // the template asks for it
	}
	client := &http.Client{Transport: transport, CheckRedirect: c.redirect}
	response, err := client.Do(c.request)
	if err != nil {
		if cause := context.Cause(c.request.Context()); cause != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", c.request.Method, c.request.URL.Redacted(), cause)
		}
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the response: %w", err)
	}
	return response, body, nil
}

// redirect keeps values of Secrets from a server that they are not for.
func (c *call) redirect(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) >= maxRedirects:
		return fmt.Errorf("it was redirected %d times", maxRedirects)
	case len(c.secrets) > 0 && (next.URL.Host != c.request.URL.Host || next.URL.Scheme != c.request.URL.Scheme):
		return http.ErrUseLastResponse
	default:
		return nil
	}
}

// verdict is how the execution ended.
func (c *call) verdict(x *execution, response *http.Response, body []byte) plan.Leaf {
	h := x.run.Template.HTTP
	if len(body) > maxBody && (x.run.Result || h.SuccessCondition != "") {
		return failed(v1alpha1.NodeFailed, "%s", errTooLong)
	}
	leaf := plan.Leaf{Phase: v1alpha1.NodeSucceeded}
	if x.run.Result {
		result := c.hidden(string(body))
		leaf.Outputs = &v1alpha1.Outputs{Result: &result}
	}
	if h.SuccessCondition == "" {
		if response.StatusCode/100 != 2 {
			leaf.Phase, leaf.Message = v1alpha1.NodeFailed, fmt.Sprintf("received non-2xx response code: %d", response.StatusCode)
			leaf.Transient = response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests
		}
		return leaf
	}
	met, err := text.Bool(h.SuccessCondition, text.NewScope(time.Now()), map[string]any{
		"request": map[string]any{
			"method": c.request.Method, "url": h.URL, "body": h.Body, "headers": plain(c.request.Header),
		},
		"response": map[string]any{
			"statusCode": response.StatusCode, "body": string(body), "headers": plain(response.Header),
		},
	})
	switch {
	case err != nil:
		leaf.Phase, leaf.Message = v1alpha1.NodeError, c.mask(err.Error())
	case !met:
		leaf.Phase, leaf.Message = v1alpha1.NodeFailed, fmt.Sprintf("successCondition '%s' evaluated false", h.SuccessCondition)
	}
	return leaf
}

// plain are headers as expressions see them.
func plain(headers http.Header) map[string]any {
	all := make(map[string]any, len(headers))
	for name, values := range headers {
		list := make([]any, len(values))
		for i, value := range values {
			list[i] = value
		}
		all[name] = list
	}
	return all
}
