package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
)

// The headers of a forwarded event: who emitted it, and the signature of its body.
const (
	componentHeader = "Gotk-Component"
	signatureHeader = "X-Signature"
)

// generic forwards an event as it is, signed if the type says so.
func (c *sender) generic(ctx context.Context, e *Event) error {
	s := c.settings
	m, err := encoded(http.MethodPost, s.Address, e)
	if err != nil {
		return err
	}
	m.header.Set(componentHeader, e.ReportingController)
	for k, v := range s.Headers {
		m.header.Set(k, v)
	}
	if s.Type == typeHMAC {
		sign := hmac.New(sha256.New, []byte(s.Token))
		sign.Write(m.body)
		m.header.Set(signatureHeader, "sha256="+hex.EncodeToString(sign.Sum(nil)))
	}
	_, err = c.do(ctx, m)
	return err
}
