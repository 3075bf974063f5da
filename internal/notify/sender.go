package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	// maxAnswer bounds what is read of an answer; excerpt is how much of one an error quotes.
	maxAnswer = 1 << 20
	excerpt   = 200
	// defaultTimeout is that of a Provider that names none.
	defaultTimeout = 15 * time.Second
)

// Send delivers an event once.
func Send(ctx context.Context, s Settings, e Event) error {
	if err := s.Check(); err != nil {
		return permanent(err.Error())
	}
	if s.Timeout <= 0 {
		s.Timeout = defaultTimeout
	}
	transport, err := s.transport()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	c := &sender{settings: &s, client: &http.Client{Transport: transport, CheckRedirect: sameHost}}
	err = c.send(ctx, &e)
	if err == nil {
		return nil
	}
	out := &failure{text: plain(err).Error()}
	var f *failure
	if errors.As(err, &f) {
		out.final, out.after = f.final, f.after
	}
	out.text = s.Scrub(out.text)
	return out
}

// sameHost refuses redirects that would carry a login elsewhere, and those that would turn a message into a
// question.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
		return http.ErrUseLastResponse
	}
	return nil
}

// sender talks to one receiver.
type sender struct {
	settings *Settings
	client   *http.Client
}

func (c *sender) send(ctx context.Context, e *Event) error {
	switch c.settings.Type {
	case typeGeneric, typeHMAC:
		return c.generic(ctx, e)
	case typeSlack:
		return c.slack(ctx, e)
	case typeDiscord:
		return c.discord(ctx, e)
	case typeRocket:
		return c.rocket(ctx, e)
	case typeTeams:
		return c.teams(ctx, e)
	case typeGoogleChat:
		return c.googleChat(ctx, e)
	case typeTelegram:
		return c.telegram(ctx, e)
	case typeMatrix:
		return c.matrix(ctx, e)
	case typeAlertmanager:
		return c.alertmanager(ctx, e)
	case typePagerDuty:
		return c.pagerDuty(ctx, e)
	case typeGrafana:
		return c.grafana(ctx, e)
	}
	return c.commitStatus(ctx, e)
}

// message is one request.
type message struct {
	method, url string
	body        []byte
	header      http.Header
}

// encoded makes a message of a value.
func encoded(method, url string, value any) (message, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return message{}, permanent("encoding the message: " + err.Error())
	}
	return message{method: method, url: url, body: body, header: http.Header{}}, nil
}

// post sends a value as JSON, with headers in pairs.
func (c *sender) post(ctx context.Context, url string, value any, header ...string) error {
	m, err := encoded(http.MethodPost, url, value)
	if err != nil {
		return err
	}
	for i := 0; i+1 < len(header); i += 2 {
		m.header.Set(header[i], header[i+1])
	}
	_, err = c.do(ctx, m)
	return err
}

// do sends a message and returns the body of the answer.
func (c *sender) do(ctx context.Context, m message) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, m.method, m.url, bytes.NewReader(m.body))
	if err != nil {
		return nil, permanent("spec.address: not a usable URL")
	}
	for k, v := range m.header {
		req.Header[k] = v
	}
	if len(m.body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("sending: %w", plain(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the response: %w", plain(err))
	}
	return body, verdict(answer, body)
}

// verdict reports what an answer means.
func verdict(answer *http.Response, body []byte) error {
	code := answer.StatusCode
	if code >= 200 && code < 300 {
		return nil
	}
	f := &failure{text: fmt.Sprintf("the receiver returned %d", code), after: retryAfter(answer)}
	if text := readable(body); text != "" {
		f.text += ": " + text
	}
	switch code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		f.final = code < 500
	}
	return f
}

// retryAfter reads for how long the receiver wants to be left alone: seconds, or a date.
func retryAfter(answer *http.Response) time.Duration {
	value := answer.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return min(time.Duration(seconds)*time.Second, giveUp)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(time.Until(at), 0), giveUp)
	}
	return 0
}

// readable is the beginning of an answer as one line.
func readable(body []byte) string {
	if len(body) > excerpt {
		body = body[:excerpt]
	}
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(body), ""))
	return strings.Join(strings.Fields(text), " ")
}
