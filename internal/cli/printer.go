package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// printer prints the progress of up, a line for each thing that happens. It is safe for concurrent
// use.
type printer struct {
	w       io.Writer
	colour  bool
	began   time.Time
	mu      sync.Mutex
	changed chan struct{}
	last    map[string]string
}

func newPrinter(w io.Writer) *printer {
	return &printer{
		w: w, colour: terminal(w), began: time.Now(), changed: make(chan struct{}, 1), last: map[string]string{},
	}
}

// Colours of the terminal.
const (
	green, red, yellow, grey, plainColour = "32", "31", "33", "90", ""
)

func (p *printer) paint(code, text string) string {
	if !p.colour || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p *printer) line(code, mark, subject, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := fmt.Sprintf("%7.2fs", time.Since(p.began).Seconds())
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+strings.Repeat(" ", 13))
	fmt.Fprintf(p.w, "%s %s %-30s %s\n", p.paint(grey, since), p.paint(code, mark), subject, text)
}

func (p *printer) done(subject, text string)    { p.line(green, "✓", subject, text) }
func (p *printer) info(subject, text string)    { p.line(grey, "·", subject, text) }
func (p *printer) waits(subject, text string)   { p.line(yellow, "◌", subject, text) }
func (p *printer) problem(subject, text string) { p.line(red, "✗", subject, text) }

// note prints what a unit did. A wait is printed when it begins; what changes while it lasts is left
// to the journal.
func (p *printer) note(n runner.Note) {
	subject := n.Unit.Namespace + "/" + n.Unit.Name
	defer p.poke()
	waiting := n.Phase == engine.PhaseWaitingForDependencies || n.Phase == engine.PhaseWaitingForHealth ||
		n.Phase == engine.PhaseWaitingForSource
	key := n.Text
	if waiting {
		key = string(n.Phase)
	}
	p.mu.Lock()
	repeated := p.last[subject] == key
	p.last[subject] = key
	p.mu.Unlock()
	switch {
	case repeated:
	case n.Failed:
		p.problem(subject, n.Text)
	case waiting:
		p.waits(subject, n.Text)
	case n.Phase == engine.PhaseReady && strings.HasPrefix(n.Text, "ready"):
		p.done(subject, short(n.Text))
	default:
		p.info(subject, short(n.Text))
	}
}

// source prints what went wrong with a source.
func (p *printer) source(id engine.SourceID, text string) {
	p.problem(id.Kind+" "+id.Namespace+"/"+id.Name, text)
	p.poke()
}

func (p *printer) poke() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// short cuts the hashes of revisions to what a person reads.
func short(text string) string {
	const mark, length = "@sha1:", 10
	at := strings.Index(text, mark)
	if at < 0 || len(text) < at+len(mark)+40 {
		return text
	}
	return text[:at+len(mark)+length] + text[at+len(mark)+40:]
}
