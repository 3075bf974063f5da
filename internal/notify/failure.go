package notify

import (
	"errors"
	"net/url"
	"time"
)

// failure is why a delivery did not succeed.
type failure struct {
	text string
	// final is set when another attempt would end the same way.
	final bool
	// after is how long the receiver asked to be left alone.
	after time.Duration
}

func (f *failure) Error() string { return f.text }

// permanent is a failure that another attempt does not mend.
func permanent(text string) error { return &failure{text: text, final: true} }

// plain takes the URL out of an error of a client, which would quote it.
func plain(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// The ways in which a delivery ends that is no failure of the receiver.
var (
	// ErrGone is why a delivery is given up: the Provider is there no more.
	ErrGone = errors.New("the Provider was deleted")
	// ErrSuspended is why a delivery waits.
	ErrSuspended = errors.New("the Provider is suspended")
)
