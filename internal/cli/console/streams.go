package console

import (
	"errors"
	"fmt"
	"io"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// IO is where a command reads and writes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// Child is set if this binary can be started as a child of itself, to render in.
	Child bool
}

// ErrNo is returned when the answer is no and has been printed.
var ErrNo = errors.New("the answer is no")

// Hint gives an error the next command to try.
func Hint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &dialect.HintError{Err: err, Next: fmt.Sprintf(format, args...)}
}

// Counted is a number of things with their name, which is in the plural for all numbers but one.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, engine.Plural(noun))
}
