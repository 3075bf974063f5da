package hooks

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/redaction"
)

// agent is the User-Agent of deliveries.
const agent = "Headgate"

// maxAnswer bounds what is read of an answer, so that its connection can be used again, in bytes.
const maxAnswer = 64 << 10

// delivery is an event for one hook.
type delivery struct {
	hook    Hook
	kind    string
	payload []byte
	at      time.Time
}

// ended is the record of a delivery without an answer.
func (one delivery) ended(id string, err error) Delivery {
	past := Delivery{ID: id, Event: one.kind, At: one.at}
	if err != nil {
		past.Error = said(err)
	}
	return past
}

// send makes the request.
func (d *Dispatcher) send(one delivery) Delivery {
	id := identifier()
	request, err := one.request(id)
	if err != nil {
		return one.ended(id, err)
	}
	begun := time.Now()
	answer, err := d.cfg.Client.Do(request.WithContext(d.ctx))
	past := one.ended(id, err)
	past.Took = time.Since(begun)
	if err != nil {
		return past
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	past.Status = answer.StatusCode
	if answer.StatusCode/100 != 2 {
		past.Error = fmt.Sprintf("the receiver answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return past
}

// request is what the receiver gets.
func (one delivery) request(id string) (*http.Request, error) {
	body, media := one.payload, "application/json"
	switch one.hook.ContentType {
	case "", JSON:
	case Form:
		body, media = []byte(url.Values{"payload": {string(one.payload)}}.Encode()), "application/x-www-form-urlencoded"
	default:
		return nil, fmt.Errorf("the content type %q of the hook is not one of %s and %s", one.hook.ContentType, JSON, Form)
	}
	request, err := http.NewRequest(http.MethodPost, one.hook.URL, bytes.NewReader(body)) // send sets the context
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", media)
	request.Header.Set("User-Agent", agent)
	if one.hook.Authorization != "" {
		request.Header.Set("Authorization", one.hook.Authorization)
	}
	one.mark(request.Header, id)
	return request, nil
}

// mark sets the headers by which receivers of Gitea, Gogs and GitHub know an event and verify its sender. They are written
// as Gitea writes them, also those of a hook without a secret.
func (one delivery) mark(header http.Header, id string) {
	event := one.kind
	if event == TypePullRequestSync {
		event = TypePullRequest
	}
	var strong, weak string
	if one.hook.Secret != "" {
		strong, weak = one.signature(sha256.New), one.signature(sha1.New)
	}
	for _, forge := range []string{"X-Gitea-", "X-Gogs-", "X-GitHub-"} {
		// The names are not made canonical: X-GitHub- is written that way.
		header[forge+"Delivery"] = []string{id}
		header[forge+"Event"] = []string{event}
		header[forge+"Event-Type"] = []string{one.kind}
	}
	header["X-Gitea-Hook-Installation-Target-Type"] = []string{one.hook.Target}
	header["X-GitHub-Hook-Installation-Target-Type"] = []string{one.hook.Target}
	header["X-Gitea-Signature"] = []string{strong}
	header["X-Gogs-Signature"] = []string{strong}
	header["X-Hub-Signature"] = []string{"sha1=" + weak}
	header["X-Hub-Signature-256"] = []string{"sha256=" + strong}
}

func (one delivery) signature(algorithm func() hash.Hash) string {
	mac := hmac.New(algorithm, []byte(one.hook.Secret))
	mac.Write(one.payload)
	return hex.EncodeToString(mac.Sum(nil))
}

// identifier is a random UUID.
func identifier() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// said is the text of an error without the URL, whose path and query may be secrets.
func said(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		if of.Op == "parse" {
			return "the URL of the hook is malformed"
		}
		if of.Timeout() {
			return "the receiver did not answer in time"
		}
		err = of.Err
	}
	return strings.ToValidUTF8(redaction.Err(err), "?")
}
