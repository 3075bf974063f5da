package notify

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // it names a transaction, as the upstream does, and protects nothing
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// mark says at a glance whether an event is good or bad.
func mark(e *Event) string {
	if e.Severity == SeverityError {
		return "🚨"
	}
	return "💫"
}

// telegramAPI is where bots write to, unless the Provider says otherwise.
const telegramAPI = "https://api.telegram.org"

func (c *sender) telegram(ctx context.Context, e *Event) error {
	s := c.settings
	o := e.InvolvedObject
	heading := fmt.Sprintf("%s %s/%s/%s", mark(e), strings.ToLower(o.Kind), o.Name, o.Namespace)
	var text strings.Builder
	fmt.Fprintf(&text, "*%s*\n%s\n", markdown(heading), markdown(e.Message))
	for _, f := range e.facts() {
		fmt.Fprintf(&text, "\\- *%s*: %s\n", markdown(f.key), markdown(f.value))
	}
	chat, thread, threaded := strings.Cut(s.Channel, ":")
	form := object{"chat_id": chat, "text": text.String(), "parse_mode": "MarkdownV2"}
	if threaded {
		form["message_thread_id"] = thread
	}
	base := strings.TrimSuffix(cmp.Or(s.Address, telegramAPI), "/")
	return c.post(ctx, base+"/bot"+s.Token+"/sendMessage", form)
}

// markdown escapes what has a meaning in the Markdown of Telegram.
func markdown(text string) string {
	var out strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\.-_[]()~>`#+=|{}!*", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// matrix sends under a name that the event gives, so that a server that got it already takes it once.
func (c *sender) matrix(ctx context.Context, e *Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return permanent("encoding the event: " + err.Error())
	}
	sum := sha1.Sum(data) //nolint:gosec // see the import
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s\n%s\n", mark(e), e.InvolvedObject.title(), e.Message)
	for _, f := range e.facts() {
		fmt.Fprintf(&text, "- %s: %s\n", f.key, f.value)
	}
	address := fmt.Sprintf("%s/_matrix/client/r0/rooms/%s/send/m.room.message/%s",
		strings.TrimSuffix(c.settings.Address, "/"), url.PathEscape(c.settings.Channel), hex.EncodeToString(sum[:]))
	m, err := encoded(http.MethodPut, address, object{"body": text.String(), "msgtype": "m.text"})
	if err != nil {
		return err
	}
	m.header.Set("Authorization", "Bearer "+c.settings.Token)
	_, err = c.do(ctx, m)
	return err
}
