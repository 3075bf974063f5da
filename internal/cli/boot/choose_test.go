package boot

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cli/console"
)

func TestChoose(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, in, want string
		ok               bool
		says             string
	}{
		"best":    {"the first candidate is chosen by Enter alone", "\n", "clusters/prod", true, "Which one? [1]"},
		"second":  {"a number chooses", " 2 \n", "clusters/staging", true, "2  clusters/staging"},
		"again":   {"what is no number of a candidate is asked again", "3\nstaging\n2\n", "clusters/staging", true, `"staging" is not a number from 1 to 2.`},
		"no more": {"nothing is chosen when the input ends", "", "", false, "Which one? [1]"},
		"partly":  {"nor by a line that is not sent", "2", "", false, "Which one? [1]"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			got, ok := choose(t.Context(), strings.NewReader(tc.in), &out, "There are several.", []string{"clusters/prod", "clusters/staging"})
			if got != tc.want || ok != tc.ok || !strings.Contains(out.String(), tc.says) {
				t.Errorf("%s: got %q, %v; want %q, %v and %q in:\n%s", tc.reason, got, ok, tc.want, tc.ok, tc.says, &out)
			}
		})
	}
	if interactive(console.IO{In: strings.NewReader("1\n"), Err: &bytes.Buffer{}}) {
		t.Error("a question is asked where no terminal is")
	}
}

// TestChooseInterrupted ends a question to which no answer comes.
func TestChooseInterrupted(t *testing.T) {
	in, answers := io.Pipe()
	defer func() { _ = answers.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if chosen, ok := choose(ctx, in, io.Discard, "", []string{"a", "b"}); ok {
		t.Errorf("it has chosen %q", chosen)
	}
}
