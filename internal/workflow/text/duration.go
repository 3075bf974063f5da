package text

import (
	"fmt"
	"strconv"
	"time"
)

// Duration reads a duration: a number alone is in seconds.
func Duration(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration, such as 90, 1m30s or 2h", text)
	}
	return duration, nil
}
