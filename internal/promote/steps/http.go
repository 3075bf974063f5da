package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/internal/promote/expressions"
)

const (
	// maxResponse bounds a response, in bytes.
	maxResponse = 2 << 20
	// requestTimeout is how long a request may take that names no timeout.
	requestTimeout = 10 * time.Second
	// leastPoll and defaultPoll are how long a step in progress is left alone.
	leastPoll, defaultPoll = 10 * time.Second, 30 * time.Second
)

type httpConfig struct {
	Method                string   `json:"method"`
	URL                   string   `json:"url"`
	Headers               []pair   `json:"headers"`
	QueryParams           []pair   `json:"queryParams"`
	Body                  string   `json:"body"`
	InsecureSkipTLSVerify bool     `json:"insecureSkipTLSVerify"`
	Proxy                 string   `json:"proxy"`
	Timeout               string   `json:"timeout"`
	PollInterval          string   `json:"pollInterval"`
	ResponseContentType   string   `json:"responseContentType"`
	SuccessExpression     string   `json:"successExpression"`
	FailureExpression     string   `json:"failureExpression"`
	ErrorExpression       string   `json:"errorExpression"`
	Outputs               []output `json:"outputs"`
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// http makes a request, and evaluates the response. Nothing of the response is in an error but what errorExpression takes from it.
func (s *step) http(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[httpConfig](data)
	if err != nil {
		return nil, err
	}
	if s.again, err = pollOf(config.PollInterval); err != nil {
		return nil, err
	}
	response, body, err := s.request(ctx, config)
	if err != nil {
		return nil, err
	}
	names, err := responseNames(config, response, body)
	if err != nil {
		return nil, err
	}
	failed, err := s.holds("failureExpression", config.FailureExpression, names)
	if err != nil {
		return nil, err
	}
	if failed {
		return nil, fail("the response of %s (%s) is a failure by failureExpression%s", response.Request.URL.Host, response.Status, saidBy(config.ErrorExpression, names))
	}
	succeeded, err := s.holds("successExpression", config.SuccessExpression, names)
	if err != nil {
		return nil, err
	}
	good := response.StatusCode >= http.StatusOK && response.StatusCode < http.StatusMultipleChoices
	switch {
	case config.SuccessExpression == "" && config.FailureExpression == "" && !good:
		return nil, fmt.Errorf("%s responds %s", response.Request.URL.Host, response.Status)
	case config.SuccessExpression != "" && !succeeded, config.SuccessExpression == "" && config.FailureExpression != "" && !good:
		s.running, s.message = true, fmt.Sprintf("%s responds %s, which is neither a success nor a failure yet", response.Request.URL.Host, response.Status)
		return nil, nil
	}
	return outputsOf(config.Outputs, names)
}

func pollOf(text string) (time.Duration, error) {
	if text == "" {
		return defaultPoll, nil
	}
	interval, err := time.ParseDuration(text)
	if err != nil {
		return 0, fail("pollInterval: %q is not a duration", text)
	}
	return max(interval, leastPoll), nil
}

// request sends the request of a configuration, and returns the response with its body.
func (s *step) request(ctx context.Context, config httpConfig) (*http.Response, []byte, error) {
	address, err := url.Parse(config.URL)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Host == "" {
		return nil, nil, fail("url: want an http or https address")
	}
	if config.Proxy != "" {
		return nil, nil, fail("proxy: requests go without a proxy that a configuration names: remove the field")
	}
	timeout := requestTimeout
	if config.Timeout != "" {
		if timeout, err = time.ParseDuration(config.Timeout); err != nil || timeout <= 0 {
			return nil, nil, fail("timeout: %q is not a duration", config.Timeout)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s took longer than %s", address.Host, timeout))
	defer cancel()
	query := address.Query()
	for _, p := range config.QueryParams {
		query.Add(p.Name, p.Value)
	}
	address.RawQuery = query.Encode()
	method := config.Method
	if method == "" {
		method = http.MethodGet
	}
	q, err := http.NewRequestWithContext(ctx, method, address.String(), strings.NewReader(config.Body))
	if err != nil {
		return nil, nil, fail("method: %q is not one", config.Method)
	}
	for _, p := range config.Headers {
		q.Header.Add(p.Name, p.Value)
	}
	return s.send(q, config.InsecureSkipTLSVerify)
}

// client sends requests to where tenants may send some.
func (s *step) client(insecure bool) (*http.Client, error) {
	if s.runner.HTTP == nil {
		return nil, fail("requests are not sent here")
	}
	client := *s.runner.HTTP
	if insecure {
		if s.runner.Insecure == nil {
			return nil, fail("insecureSkipTLSVerify: certificates are always verified here: remove the field")
		}
		client.Transport = s.runner.Insecure
	}
	return &client, nil
}

// send sends a request to where tenants may send some. Errors do not have its address, which may have a token in it.
func (s *step) send(q *http.Request, insecure bool) (*http.Response, []byte, error) {
	client, err := s.client(insecure)
	if err != nil {
		return nil, nil, err
	}
	response, err := client.Do(q)
	if err != nil {
		if cause := context.Cause(q.Context()); cause != nil {
			return nil, nil, cause
		}
		var within *url.Error
		if errors.As(err, &within) {
			err = within.Err
		}
		return nil, nil, fmt.Errorf("sending a request to %s: %w", q.URL.Host, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("reading the response of %s: %w", q.URL.Host, err)
	case len(body) > maxResponse:
		return nil, nil, fail("the response of %s has more than %d bytes", q.URL.Host, maxResponse)
	}
	return response, body, nil
}

// responseNames are what expressions see of a response.
func responseNames(config httpConfig, response *http.Response, body []byte) (map[string]any, error) {
	kind := config.ResponseContentType
	switch kind {
	case "", "application/json", "application/yaml", "text/plain":
	default:
		return nil, fail("responseContentType: %q is not one of application/json, application/yaml and text/plain", kind)
	}
	if kind == "" {
		kind, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	}
	var content any = map[string]any{}
	switch kind {
	case "text/plain":
		content = string(body)
	case "application/yaml", "text/yaml", "application/x-yaml":
		if err := yaml.Unmarshal(body, &content); err != nil {
			return nil, fail("the response of %s is not YAML", response.Request.URL.Host)
		}
	default:
		var decoded any
		err := json.Unmarshal(body, &decoded)
		if err == nil {
			content = decoded
		} else if kind == "application/json" && len(body) > 0 {
			return nil, fail("the response of %s is not JSON", response.Request.URL.Host)
		}
	}
	headers := map[string]any{}
	for name, values := range response.Header {
		all := make([]any, len(values))
		for i, value := range values {
			all[i] = value
		}
		headers[name] = all
	}
	header := func(arguments ...any) (any, error) {
		if len(arguments) != 1 {
			return nil, errors.New("header takes the name of one")
		}
		return response.Header.Get(fmt.Sprint(arguments[0])), nil
	}
	return map[string]any{"response": map[string]any{"status": response.StatusCode, "headers": headers, "header": header, "body": content}}, nil
}

// holds reports whether an expression is true; one that is not there is not.
func (s *step) holds(field, expression string, names map[string]any) (bool, error) {
	if expression == "" {
		return false, nil
	}
	value, err := expressions.Bare(expression, names, time.Now())
	if err != nil {
		return false, fail("%s: %w", field, err)
	}
	is, isBool := value.(bool)
	if !isBool {
		return false, fail("%s: it gives a %T, and has to give true or false", field, value)
	}
	return is, nil
}

// saidBy is what an expression takes from a response as the reason of a failure.
func saidBy(expression string, names map[string]any) string {
	if expression == "" {
		return ""
	}
	value, err := expressions.Bare(expression, names, time.Now())
	if said, isText := value.(string); err == nil && isText && said != "" {
		return ": " + said
	}
	return ""
}

// outputsOf are the values that expressions give.
func outputsOf(all []output, names map[string]any) (map[string]any, error) {
	outputs := map[string]any{}
	for i, one := range all {
		value, err := expressions.Bare(one.FromExpression, names, time.Now())
		if err != nil {
			return nil, fail("outputs[%d].fromExpression: %w", i, err)
		}
		if one.Name == "" {
			return nil, fail("outputs[%d].name: it is empty", i)
		}
		outputs[one.Name] = value
	}
	return outputs, nil
}
