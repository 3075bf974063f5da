// Package progress prints what a cluster does while it boots and runs: a line for each thing that
// happens, and on a terminal, below them, what is not ready yet.
//
// It knows states and notes, not how they came about, and writes to one stream.
package progress

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Printer prints the progress of up, a line for each thing that happens. On a terminal a block of
// lines that are rewritten stands below them. It is safe for concurrent use.
type Printer struct {
	w      io.Writer
	colour bool
	// width and height are those of the terminal, zero when there is none; size asks for them again.
	width  int
	height int
	size   func() (width, height int)
	// verbose prints every wait, and whole.
	verbose bool
	block   []string
	began   time.Time
	mu      sync.Mutex
	changed chan struct{}
	last    map[string]string
	// opened are the units that have been ready, with whether something was printed about them since.
	opened map[string]bool
	family family
}

// New returns a Printer on w.
func New(w io.Writer) *Printer {
	size := func() (int, int) { return terminalSize(w) }
	width, height := size()
	return &Printer{
		w: w, size: size, colour: width > 0 && os.Getenv("NO_COLOR") == "", width: width, height: height, began: time.Now(), changed: make(chan struct{}, 1), last: map[string]string{},
		opened: map[string]bool{}, family: newFamily(),
	}
}

// Verbose has every wait printed again when it changes, whole, and every unit shown on a terminal, as far as there is room.
func (p *Printer) Verbose() { p.verbose = true }

// Colours of the terminal.
const (
	green, red, yellow, grey, plainColour = "32", "31", "33", "90", ""
)

func (p *Printer) paint(code, text string) string {
	if !p.colour || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Columns of a line: what stands below the first row is indented, and subjects are padded where there is room.
const (
	indent   = 13
	subjects = 30
	roomy    = 80
)

func (p *Printer) line(code, mark, subject, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := fmt.Sprintf("%7.2fs", time.Since(p.began).Seconds())
	if p.width == 0 || p.width >= roomy {
		subject = fmt.Sprintf("%-*s", subjects, subject)
	}
	text = strings.TrimSpace(text)
	if code != grey {
		// The others may have commands, which are pasted.
		text = wrapped(text, len(since)+utf8.RuneCountInString(" "+mark+" "+subject+" "), p.width)
	}
	text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", indent))
	p.above(fmt.Sprintf("%s %s %s %s\n", p.paint(grey, since), p.paint(code, mark), subject, text))
}

// wrapped breaks a text between words where a row of the terminal ends; its first row begins at a column, the others behind the indent. A
// word for which a row is too short is left to the terminal.
func wrapped(text string, column, width int) string {
	if width <= indent {
		return text
	}
	var b strings.Builder
	for i, row := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
			column = indent
		}
		for j, word := range strings.Split(row, " ") {
			size := utf8.RuneCountInString(word)
			switch {
			case j > 0 && column+1+size >= width:
				b.WriteByte('\n')
				column = indent
			case j > 0:
				b.WriteByte(' ')
				column++
			case i == 0 && column+size >= width && size < width-indent:
				b.WriteByte('\n')
				column = indent
			}
			b.WriteString(word)
			column += size
		}
	}
	return b.String()
}

// Plain prints a line without a time or a mark.
func (p *Printer) Plain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.above(text + "\n")
}

// above prints text above the block.
func (p *Printer) above(text string) {
	erased := p.erased()
	p.block = fit(p.block, p.width, p.height)
	fmt.Fprint(p.w, erased+text+p.painted())
}

// erased is what takes the block off the terminal, whose size may have changed since: then its lines take more rows. The cursor
// stands at the end of the last one.
func (p *Printer) erased() string {
	if len(p.block) == 0 {
		return ""
	}
	p.measure()
	return "\r\x1b[K" + strings.Repeat("\x1b[1A\x1b[K", rowsOf(p.block, p.width)-1)
}

// measure asks for the size of the terminal.
func (p *Printer) measure() {
	if width, height := p.size(); width > 0 {
		p.width, p.height = width, height
	}
}

// painted is the block with its marks in colours.
func (p *Printer) painted() string {
	text := strings.Join(p.block, "\n")
	if !p.colour {
		return text
	}
	return strings.NewReplacer("✗", p.paint(red, "✗"), "◌", p.paint(yellow, "◌")).Replace(text)
}

// Live rewrites the block on a terminal.
func (p *Printer) Live(states []runner.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width == 0 {
		return
	}
	p.measure()
	room := p.height - leftLive
	if !p.verbose {
		room = min(room, maxLive)
	}
	p.show(newView(states, time.Now(), p.width, p.verbose).lines(room))
}

// Block rewrites the block on a terminal with lines of another kind, as many as fit. It is false where there is no terminal.
func (p *Printer) Block(lines []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width == 0 {
		return false
	}
	p.measure()
	p.show(fit(lines, p.width, p.height))
	return true
}

func (p *Printer) show(block []string) {
	if slices.Equal(block, p.block) {
		return
	}
	erased := p.erased()
	p.block = block
	fmt.Fprint(p.w, erased+p.painted())
}

// Done prints good news.
func (p *Printer) Done(subject, text string) { p.line(green, "✓", subject, text) }

// Info prints what is neither good nor bad.
func (p *Printer) Info(subject, text string) { p.line(grey, "·", subject, text) }

// Waits prints that something waits.
func (p *Printer) Waits(subject, text string) { p.line(yellow, "◌", subject, text) }

// Problem prints bad news.
func (p *Printer) Problem(subject, text string) { p.line(red, "✗", subject, text) }

// waits are the phases of units that wait for something.
var waits = map[engine.Phase]bool{engine.PhaseWaitingForDependencies: true, engine.PhaseWaitingForHealth: true, engine.PhaseWaitingForSource: true}

// Note prints what a unit did. A wait is printed when it begins; what changes while it lasts is left
// to the journal, and so is what a unit does that was ready and has nothing to change.
func (p *Printer) Note(n runner.Note) {
	if n.Began {
		return
	}
	defer p.poke()
	subject, s := subjectOf(n.Unit), p.wordsOf(n)
	if p.isOld(n, subject, &s) {
		return
	}
	switch {
	case n.Failed:
		p.Problem(subject, engine.Plain(n.Text))
	case s.waits:
		p.Waits(subject, s.text)
	case n.Ready:
		p.Done(subject, Short(n.Text))
	default:
		p.Info(subject, Short(n.Text))
	}
}

// words are what is said of a note: the text, by which part of it another one says the same, and whether it is about a wait.
type words struct {
	text, key string
	waits     bool
}

func (p *Printer) wordsOf(n runner.Note) words {
	s := words{text: n.Text, key: n.Text, waits: waits[n.Phase]}
	if s.waits {
		s.key = string(n.Phase)
	}
	if len(n.Waits) > 0 && (n.Phase == engine.PhaseWaitingForHealth || n.Phase == engine.PhaseApplying) && !n.Failed {
		s.text = counted(n.Waits, p.verbose)
		if !s.waits {
			s.waits, s.key = true, s.text
		}
	}
	if p.verbose {
		s.key = s.text
	}
	return s
}

// isOld takes what is about to be said of a unit into account, in the words for one that is made of others, and reports whether it is no news.
func (p *Printer) isOld(n runner.Note, subject string, s *words) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	parental, news := p.family.note(n)
	if parental != "" {
		*s = words{text: parental, key: parental, waits: true}
	}
	told, opened := p.opened[subject]
	repeated := p.last[subject] == s.key
	if p.verbose {
		p.last[subject] = s.key
		return repeated
	}
	// A unit that was ready waits its turn with every commit, and most of them find nothing to do.
	if opened && (waitsItsTurn(n) || n.Ready && !told && !n.Changed) {
		return true
	}
	p.last[subject] = s.key
	if n.Ready || opened {
		p.opened[subject] = !n.Ready
	}
	return repeated || !news
}

// waitsItsTurn reports whether a unit waits for what comes before it, as with every commit.
func waitsItsTurn(n runner.Note) bool {
	return !n.Failed && (n.Phase == engine.PhaseWaitingForDependencies || n.Phase == engine.PhaseWaitingForSource)
}

// maxWaits is how many objects that are waited for a line names.
const maxWaits = 3

// counted words what is waited for in one line: all objects by name, or the first by name and the others by number.
func counted(waits []engine.Wait, all bool) string {
	shown := len(waits)
	if !all {
		shown = min(shown, maxWaits)
	}
	var names []string
	for _, w := range waits[:shown] {
		names = append(names, w.On.String())
	}
	text := "waits for " + strings.Join(names, ", ")
	switch more := len(waits) - shown; {
	case more == 1:
		text += " and 1 more object"
	case more > 1:
		text += fmt.Sprintf(" and %d more objects", more)
	}
	if stage := waits[0].Stage; stage != "" {
		text = stage + ": " + text
	}
	return text
}

// Source prints what went wrong with a source.
func (p *Printer) Source(id engine.SourceID, text string) {
	p.Problem(id.Kind+" "+id.Namespace+"/"+id.Name, text)
	p.poke()
}

// Changed reports whether something was printed since it was last asked.
func (p *Printer) Changed() <-chan struct{} { return p.changed }

// Clear takes the block off the terminal.
func (p *Printer) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(nil)
}

func (p *Printer) poke() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// hashes are those of revisions and digests, and commits on their own.
var hashes = regexp.MustCompile(`\b([0-9a-f]{10})[0-9a-f]{30}\b|\b(sha1:[0-9a-f]{10})[0-9a-f]{30}\b|\b(sha256:[0-9a-f]{10})[0-9a-f]{54}\b`)

// Short cuts the hashes of revisions to what a person reads.
func Short(text string) string { return hashes.ReplaceAllString(text, "$1$2$3") }

// terminalSize is that of the terminal that w is, and zero when it is none that can be rewritten.
func terminalSize(w io.Writer) (width, height int) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	if width == 0 || height == 0 {
		// A terminal that does not know its size.
		return 80, 24
	}
	return width, height
}

// subjectOf is how a unit is called: one that is no Kustomization has its kind before it.
func subjectOf(id engine.UnitID) string {
	subject := id.Namespace + "/" + id.Name
	if id.Kind != "Kustomization" {
		subject = id.Kind + " " + subject
	}
	return subject
}
