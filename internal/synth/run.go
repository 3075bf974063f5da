package synth

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/headgate-dev/headgate/chart"
)

// Request is what a program is to do. Its flags are those of chart.Main.
type Request struct {
	// Out is the output directory, absolute.
	Out string
	// Only is a pattern of charts; all without one.
	Only string
	// Check writes nothing.
	Check bool
	// Stdout takes one stream of YAML instead of files.
	Stdout io.Writer
}

// The types of events.
const (
	eventChart   = "chart"
	eventFinding = "finding"
	eventError   = "error"
	eventDone    = "done"
)

// Listener hears what a program says while it runs.
type Listener interface {
	// Chart was synthesized.
	Chart(e chart.Event)
	// Finding is a mistake in the description, or what a check says of it.
	Finding(e chart.Event)
}

// MistakesError is that a description has mistakes, which were told.
type MistakesError struct{ Count int }

// Error is the message.
func (e *MistakesError) Error() string {
	if e.Count == 1 {
		return "the description has a mistake; nothing was written"
	}
	return fmt.Sprintf("the description has %d mistakes; nothing was written", e.Count)
}

// Run runs the program that was built, and returns what it did at the end.
func (p *Program) Run(ctx context.Context, r Request, to Listener) (chart.Event, error) {
	args := []string{"-progress", "json"}
	if r.Stdout != nil {
		args = append(args, "-stdout")
	} else {
		args = append(args, "-out", r.Out)
	}
	if r.Check {
		args = append(args, "-check")
	}
	if r.Only != "" {
		args = append(args, "-only", r.Only)
	}
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Dir, cmd.Stdout = p.Dir, r.Stdout
	if r.Stdout == nil {
		cmd.Stdout = p.others
	}
	events, err := cmd.StderrPipe()
	if err != nil {
		return chart.Event{}, err
	}
	if err := cmd.Start(); err != nil {
		return chart.Event{}, fmt.Errorf("starting the program: %w", err)
	}
	heard := p.hear(events, to)
	ended := cmd.Wait()
	differs := r.Check && heard.done.Type == eventDone
	switch {
	case ctx.Err() != nil:
		return heard.done, ctx.Err()
	case heard.err != nil:
		return heard.done, heard.err
	case heard.mistakes > 0:
		return heard.done, &MistakesError{Count: heard.mistakes}
	case ended != nil && !differs:
		return heard.done, fmt.Errorf("the program failed: %w", ended)
	case heard.done.Type == "" && r.Stdout == nil:
		return heard.done, errors.New("the program ended without a description: its main function calls os.Exit(chart.Main(...)), and nothing exits before")
	}
	return heard.done, nil
}

// maxLine bounds a line that a program prints.
const maxLine = 16 << 20

// heard is what a program said.
type heard struct {
	done     chart.Event
	mistakes int
	err      error
}

// hear reads what a program prints. Lines that are no events are the person's own, and are forwarded.
func (p *Program) hear(from io.Reader, to Listener) heard {
	var h heard
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		var e chart.Event
		line := lines.Bytes()
		if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil {
			e = chart.Event{}
		}
		switch e.Type {
		case eventChart:
			to.Chart(e)
		case eventError:
			h.mistakes++
			to.Finding(e)
		case eventFinding:
			to.Finding(e)
		case eventDone:
			h.done = e
		default:
			fmt.Fprintf(p.others, "%s\n", line)
		}
	}
	if h.err = lines.Err(); h.err != nil {
		// It would wait for a reader for ever otherwise.
		_, _ = io.Copy(io.Discard, from)
	}
	return h
}
