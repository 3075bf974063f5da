package api

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// DefaultEndpoint is the address of the API of DigitalOcean.
const DefaultEndpoint = "https://api.digitalocean.com/"

// Credentials are a token and the API that it is for. The zero value is for nothing.
type Credentials struct {
	token    token
	endpoint *url.URL
	named    bool
}

// token hides a text from everything that prints: behind a pointer, only its address is.
type token struct{ text *string }

// ParseCredentials reads the value of a Secret as upjet's and as the classic provider have it: a JSON object with token and
// api_endpoint, or the token alone. An API other than that of DigitalOcean has to be one of those that are permitted, since
// everyone who can write the Secret could otherwise have the engine call any address.
func ParseCredentials(data []byte, permitted ...string) (Credentials, error) {
	text := strings.TrimSpace(string(data))
	fields := struct {
		Token    string `json:"token"`
		Endpoint string `json:"api_endpoint"`
	}{Token: text}
	if strings.HasPrefix(text, "{") {
		fields.Token = ""
		if json.Unmarshal([]byte(text), &fields) != nil {
			return Credentials{}, errors.New("credentials of DigitalOcean: not valid JSON; store the token alone, or an object with token and api_endpoint")
		}
	}
	secret := strings.Trim(strings.TrimSpace(fields.Token), `'"`)
	switch {
	case secret == "":
		return Credentials{}, errors.New("credentials of DigitalOcean: no token; store the token alone, or an object with token and api_endpoint")
	case strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Credentials{}, errors.New("credentials of DigitalOcean: the token has characters that no token has, such as spaces or line breaks")
	}
	endpoint, err := parseEndpoint(fields.Endpoint, permitted)
	return Credentials{token{&secret}, endpoint, fields.Endpoint != ""}, err
}

// Named reports whether the credentials say which API they are for. Without that, they are for DigitalOcean's.
func (c Credentials) Named() bool { return c.named }

func parseEndpoint(text string, permitted []string) (*url.URL, error) {
	if text == "" {
		text = DefaultEndpoint
	}
	// The paths of the client are relative: without a slash at the end, the last part of the address would be lost.
	text = strings.TrimSuffix(text, "/") + "/"
	permits := slices.ContainsFunc(append(permitted, DefaultEndpoint), func(one string) bool { return strings.TrimSuffix(one, "/")+"/" == text })
	if !permits {
		return nil, errors.New("credentials of DigitalOcean: api_endpoint is not an API that this engine may call")
	}
	endpoint, err := url.Parse(text)
	if err != nil || endpoint.Host == "" {
		return nil, errors.New("credentials of DigitalOcean: api_endpoint is not a valid URL")
	}
	return endpoint, nil
}

// digest identifies credentials without being them.
func (c Credentials) digest() [sha256.Size]byte {
	return sha256.Sum256([]byte(c.endpoint.String() + "\x00" + *c.token.text))
}

// String names the API, but not the token.
func (c Credentials) String() string {
	if c.endpoint == nil {
		return "no credentials of DigitalOcean"
	}
	return fmt.Sprintf("credentials for %s", c.endpoint)
}

// GoString is String, so that %#v prints no token either.
func (c Credentials) GoString() string { return c.String() }
