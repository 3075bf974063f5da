package digitalocean

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// failure is an error of the client as conditions show it: the same text for the same cause, without the number of the request
// and ports of this machine.
func failure(doing string, err error) error {
	if err == nil {
		return nil
	}
	if until, is := api.Throttled(err); is {
		return &managed.ThrottledError{Until: until, Err: err}
	}
	said := fmt.Errorf("%s: %w", doing, stable(err))
	switch {
	case api.Ambiguous(err):
		return &managed.AmbiguousError{Err: said}
	case api.Unauthorized(err):
		return managed.Invalid("%w; check the token of the provider configuration, and its scopes", said)
	}
	return said
}

// stable leaves out of an error what differs each time.
func stable(err error) error {
	var answer *godo.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return fmt.Errorf("DigitalOcean answered %d %s: %s", answer.Response.StatusCode, http.StatusText(answer.Response.StatusCode), answer.Message)
	}
	var ambiguous *api.AmbiguousError
	if errors.As(err, &ambiguous) && ambiguous.Status != 0 {
		return err
	}
	var failed *net.OpError
	if errors.As(err, &failed) {
		return fmt.Errorf("reaching DigitalOcean: %s: %w", failed.Op, failed.Err)
	}
	var sent *url.Error
	if errors.As(err, &sent) {
		return sent.Err
	}
	return err
}
