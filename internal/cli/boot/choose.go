package boot

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/headgate-dev/headgate/internal/cli/console"
)

// interactive tells whether a person reads and answers at a terminal.
func interactive(io console.IO) bool { return onTerminal(io.In) && onTerminal(io.Err) }

func onTerminal(stream any) bool {
	f, is := stream.(interface{ Fd() uintptr })
	return is && term.IsTerminal(int(f.Fd()))
}

// choose asks a person for one of several candidates, of which the first is the best. It is not ok when no answer comes.
func choose(in io.Reader, out io.Writer, question string, candidates []string) (chosen string, ok bool) {
	fmt.Fprintln(out, question)
	for i, c := range candidates {
		fmt.Fprintf(out, "  %d  %s\n", i+1, c)
	}
	answers := bufio.NewReader(in)
	for {
		fmt.Fprint(out, "Which one? [1] ")
		answer, err := answers.ReadString('\n')
		answer = strings.TrimSpace(answer)
		switch n, malformed := strconv.Atoi(answer); {
		case err != nil:
			fmt.Fprintln(out)
			return "", false
		case answer == "":
			return candidates[0], true
		case malformed == nil && n >= 1 && n <= len(candidates):
			return candidates[n-1], true
		default:
			fmt.Fprintf(out, "%q is not a number from 1 to %d.\n", answer, len(candidates))
		}
	}
}
