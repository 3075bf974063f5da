package policy

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// The retries of an Application that says nothing of them.
const (
	defaultRetries     = 5
	defaultRetryWait   = 5 * time.Second
	defaultRetryFactor = 2
	defaultRetryCap    = 3 * time.Minute
	// slowest bounds the wait before a revision is retried whose retries are exhausted.
	slowest = 3 * time.Minute
	// longest bounds a wait that the user bounds by nothing.
	longest = 24 * time.Hour
)

// Retry is the strategy of automated syncs: that of the Application, where a limit that is left out is
// none at all, or five retries where it has no strategy.
func Retry(policy *v1alpha1.SyncPolicy) v1alpha1.RetryStrategy {
	if policy == nil || policy.Retry == nil {
		return v1alpha1.RetryStrategy{Limit: defaultRetries}
	}
	return *policy.Retry.DeepCopy()
}

// Backoff is the wait before the next attempt of an operation that failed, after so many retries: the duration, times
// the factor for each retry, at most the longest duration. There is none, and again is false, when the limit is reached;
// a negative limit is none. An error names the field that is bad.
func Backoff(retry v1alpha1.RetryStrategy, retries int64) (wait time.Duration, again bool, err error) {
	steps, err := readBackoff(retry)
	if err != nil {
		return 0, false, err
	}
	if retry.Limit >= 0 && retries >= retry.Limit {
		return 0, false, nil
	}
	return steps.after(retries), true, nil
}

// Slow is the wait before a revision is retried whose retries are exhausted: the longest wait of the strategy, and
// three minutes at most.
//
// Upstream never tries such a revision again, and a cluster that was in the way for ten minutes leaves Applications
// behind that stay broken until the next commit. What a person ended is not tried again here either.
func Slow(retry v1alpha1.RetryStrategy) (time.Duration, error) {
	steps, err := readBackoff(retry)
	if err != nil {
		return slowest, err
	}
	if steps.cap <= 0 || steps.cap > slowest {
		return slowest, nil
	}
	return max(steps.cap, time.Second), nil
}

// backoff is a wait that grows; a cap of zero is none.
type backoff struct {
	first, cap time.Duration
	factor     int64
}

func (b backoff) after(times int64) time.Duration {
	limit := b.cap
	if limit <= 0 {
		limit = longest
	}
	// A factor below one would end without any wait.
	return time.Duration(math.Min(float64(limit), float64(b.first)*math.Pow(float64(max(b.factor, 1)), float64(max(times, 0)))))
}

func readBackoff(retry v1alpha1.RetryStrategy) (backoff, error) {
	b := backoff{first: defaultRetryWait, cap: defaultRetryCap, factor: defaultRetryFactor}
	said := retry.Backoff
	if said == nil {
		return b, nil
	}
	const field = "spec.syncPolicy.retry.backoff."
	if err := duration(field+"duration", said.Duration, &b.first); err != nil {
		return b, err
	}
	if err := duration(field+"maxDuration", said.MaxDuration, &b.cap); err != nil {
		return b, err
	}
	if said.Factor != nil {
		b.factor = *said.Factor
	}
	return b, nil
}

// duration reads seconds, or a duration with its units; an empty text leaves what there is.
func duration(field, text string, into *time.Duration) error {
	if text == "" {
		return nil
	}
	read, err := time.ParseDuration(text)
	if seconds, notSeconds := strconv.ParseInt(text, 10, 32); notSeconds == nil {
		read, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || read < 0 {
		return fmt.Errorf("%s: unable to parse %q as a duration; use seconds, or a duration such as 2m", field, text)
	}
	*into = read
	return nil
}

// healWait is the wait after so many corrections of drift in a row.
func healWait(s settings.SelfHeal, attempts int64) time.Duration {
	switch {
	case s.Fixed > 0:
		return s.Fixed
	case attempts <= 0:
		return 0
	}
	return backoff{first: s.Initial, cap: s.Cap, factor: s.Factor}.after(attempts - 1)
}
