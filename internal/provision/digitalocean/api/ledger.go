package api

import (
	"net/http"
	"strconv"
	"time"
)

// The rate of requests.
const (
	// usualPerMinute leaves a few of the 250 to others that use the token.
	usualPerMinute = 240
	// scarce is the part of the hourly limit that is spread over the hour, so that an account is never cut off for long.
	scarce = 10
	// longestPause bounds what an answer can ask for.
	longestPause = time.Hour
)

// ledger counts what is sent with a token, and what the API says is left. It is given the time.
type ledger struct {
	perMinute int
	// sent are the requests of the last minute, last is the last one of all.
	sent []time.Time
	last time.Time
	// limit, left and reset are what the API said about the hour; limit is 0 until it did.
	limit, left int
	reset       time.Time
	// pause is when the API admits requests again after it refused one.
	pause time.Time
	// open are the requests whose answers are due: what the API said last does not count them.
	open int
}

// next is when the next request may be sent; a time that is not after now is at once.
func (l *ledger) next(now time.Time) time.Time {
	at := l.pause
	for len(l.sent) > 0 && !l.sent[0].After(now.Add(-time.Minute)) {
		l.sent = l.sent[1:]
	}
	if len(l.sent) >= l.perMinute {
		at = later(at, l.sent[0].Add(time.Minute))
	}
	switch left := l.left - l.open; {
	case l.limit == 0 || !now.Before(l.reset):
	case left <= 0:
		at = later(at, l.reset)
	case left < l.limit/scarce:
		at = later(at, l.last.Add(time.Hour/time.Duration(l.limit)))
	}
	return at
}

// send counts a request.
func (l *ledger) send(now time.Time) {
	l.sent, l.last = append(l.sent, now), now
	l.open++
}

// fail counts the end of a request without an answer.
func (l *ledger) fail() { l.open-- }

// answered reads what an answer says about the rate.
func (l *ledger) answered(now time.Time, status int, header http.Header) {
	l.open--
	limit, hasLimit := number(header, "Ratelimit-Limit")
	left, hasLeft := number(header, "Ratelimit-Remaining")
	reset, hasReset := number(header, "Ratelimit-Reset")
	if hasLimit && hasLeft && hasReset && limit > 0 {
		l.limit, l.left = limit, left
		// The API tells whole seconds, and means the end of this one.
		l.reset = earlier(time.Unix(int64(reset)+1, 0), now.Add(longestPause))
	}
	if status != http.StatusTooManyRequests {
		return
	}
	switch after, says := number(header, "Retry-After"); {
	case says:
		l.pause = later(l.pause, earlier(now.Add(time.Duration(after)*time.Second), now.Add(longestPause)))
	case l.limit > 0 && l.left <= 0 && l.reset.After(now):
		l.pause = later(l.pause, l.reset)
	default:
		l.pause = later(l.pause, now.Add(time.Minute))
	}
}

func number(header http.Header, name string) (int, bool) {
	n, err := strconv.Atoi(header.Get(name))
	return n, err == nil && n >= 0
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
