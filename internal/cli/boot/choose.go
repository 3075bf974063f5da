package boot

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/guard"
)

// interactive reports whether a person reads and answers at a terminal.
func interactive(io console.IO) bool { return onTerminal(io.In) && onTerminal(io.Err) }

func onTerminal(stream any) bool {
	f, is := stream.(interface{ Fd() uintptr })
	return is && term.IsTerminal(int(f.Fd()))
}

// choose asks a person for one of several candidates, of which the first is the best. It is not ok when no answer comes, or ctx ends before.
func choose(ctx context.Context, in io.Reader, out io.Writer, question string, candidates []string) (chosen string, ok bool) {
	fmt.Fprintln(out, question)
	for i, c := range candidates {
		fmt.Fprintf(out, "  %d  %s\n", i+1, c)
	}
	answers := make(chan string)
	// A read of a terminal cannot be ended: it is left behind, with the process.
	guard.Guard{}.Go("the answer to a question", func() { listen(ctx, in, answers) })
	for {
		fmt.Fprint(out, "Which one? [1] ")
		var answer string
		select {
		case <-ctx.Done():
			fmt.Fprintln(out)
			return "", false
		case line, more := <-answers:
			if !more {
				fmt.Fprintln(out)
				return "", false
			}
			answer = strings.TrimSpace(line)
		}
		switch n, malformed := strconv.Atoi(answer); {
		case answer == "":
			return candidates[0], true
		case malformed == nil && n >= 1 && n <= len(candidates):
			return candidates[n-1], true
		default:
			fmt.Fprintf(out, "%q is not a number from 1 to %d.\n", answer, len(candidates))
		}
	}
}

// listen hands lines on, and closes the channel after the last.
func listen(ctx context.Context, in io.Reader, lines chan<- string) {
	defer close(lines)
	for reader := bufio.NewReader(in); ; {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return
		}
	}
}
