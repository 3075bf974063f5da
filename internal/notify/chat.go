package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// slackMessage is the form that Slack defined, and that Discord and Rocket.Chat take as well.
type slackMessage struct {
	Channel     string            `json:"channel"`
	Username    string            `json:"username"`
	IconURL     string            `json:"icon_url"`
	IconEmoji   string            `json:"icon_emoji"`
	Text        string            `json:"text,omitempty"`
	Attachments []slackAttachment `json:"attachments,omitempty"`
}

type slackAttachment struct {
	Color      string       `json:"color"`
	AuthorName string       `json:"author_name"`
	Text       string       `json:"text"`
	MrkdwnIn   []string     `json:"mrkdwn_in"`
	Fields     []slackField `json:"fields"`
}

type slackField struct {
	Title string `json:"title"`
	Value string `json:"value"`
	Short bool   `json:"short"`
}

func slackForm(e *Event, channel, username, good, bad string) slackMessage {
	fields := []slackField{}
	for _, f := range e.facts() {
		fields = append(fields, slackField{Title: f.key, Value: f.value})
	}
	color := good
	if e.Severity == SeverityError {
		color = bad
	}
	return slackMessage{Channel: channel, Username: username, Attachments: []slackAttachment{{
		Color: color, AuthorName: e.InvolvedObject.title(), Text: e.Message, MrkdwnIn: []string{"text"}, Fields: fields,
	}}}
}

func bearer(token string) []string {
	if token == "" {
		return nil
	}
	return []string{"Authorization", "Bearer " + token}
}

func (c *sender) slack(ctx context.Context, e *Event) error {
	s := c.settings
	form := slackForm(e, s.Channel, cmp.Or(s.Username, e.ReportingController), "good", "danger")
	m, err := encoded(http.MethodPost, s.Address, form)
	if err != nil {
		return err
	}
	if s.Token != "" {
		m.header.Set("Authorization", "Bearer "+s.Token)
	}
	body, err := c.do(ctx, m)
	if err != nil || !strings.HasSuffix(strings.TrimSuffix(s.Address, "/"), "/api/chat.postMessage") {
		return err
	}
	return slackVerdict(body)
}

// slackVerdict reads the answer of the API of Slack, whose status is always 200.
func slackVerdict(body []byte) error {
	var answer struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return &failure{text: "the response of Slack is invalid"}
	}
	if answer.OK {
		return nil
	}
	switch answer.Error {
	case "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout":
		return &failure{text: "Slack returned: " + readable([]byte(answer.Error))}
	}
	return permanent("Slack returned: " + readable([]byte(answer.Error)))
}

// discord gets the format of Slack, at the path that it has for that.
func (c *sender) discord(ctx context.Context, e *Event) error {
	s := c.settings
	u, err := url.Parse(s.Address)
	if err != nil {
		return permanent("spec.address: not a URL")
	}
	if !strings.HasSuffix(u.Path, "/slack") {
		u.Path = path.Join(u.Path, "slack")
	}
	return c.post(ctx, u.String(), slackForm(e, "", cmp.Or(s.Username, e.ReportingController), "good", "danger"))
}

func (c *sender) rocket(ctx context.Context, e *Event) error {
	s := c.settings
	return c.post(ctx, s.Address, slackForm(e, s.Channel, s.Username, "#0076D7", "#FF0000"))
}
