package boot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// report is what became of every unit since the start, and when. It is safe for concurrent use.
type report struct {
	mu      sync.Mutex
	started time.Time
	units   map[engine.UnitID]*gate
	stands  []standIn
	opened  int
}

// gate is what became of one unit.
type gate struct {
	Unit string `json:"unit"`
	// Order counts the units as they became ready first; zero is one that did not.
	Order int `json:"order"`
	// Waits, Began and Ready are in seconds since the start.
	Waits []gateWait `json:"waits,omitempty"`
	Began float64    `json:"began,omitempty"`
	Ready float64    `json:"ready,omitempty"`
	Text  string     `json:"text"`
	// Failures are how often it failed.
	Failures int `json:"failures,omitempty"`
}

type gateWait struct {
	For   string  `json:"for"`
	Since float64 `json:"since"`
	Until float64 `json:"until,omitempty"`
}

func newReport() *report {
	return &report{started: time.Now(), units: map[engine.UnitID]*gate{}}
}

// note takes what a unit did.
func (r *report) note(n runner.Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.units[n.Unit]
	if g == nil {
		g = &gate{Unit: n.Unit.String()}
		r.units[n.Unit] = g
	}
	at := n.Time.Sub(r.started).Round(time.Millisecond).Seconds()
	if last := len(g.Waits) - 1; last >= 0 && g.Waits[last].Until == 0 {
		g.Waits[last].Until = at
	}
	g.Text = n.Text
	waits := strings.HasPrefix(string(n.Phase), "Waiting") || n.Phase == engine.PhaseApplying
	switch {
	case n.Began:
		g.Began = at
	case n.Failed:
		g.Failures++
	case waits:
		g.Waits = append(g.Waits, gateWait{For: n.Text, Since: at})
	case n.Phase == engine.PhaseReady && g.Order == 0:
		r.opened++
		g.Order, g.Ready = r.opened, at
	}
}

// standIns takes what is not real.
func (r *report) standIns(all []standIn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stands = append([]standIn{}, all...)
}

// sorted are the gates in the order in which they opened, those that did not at the end.
func (r *report) sorted() []*gate {
	var all []*gate
	for _, g := range r.units {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *gate) int {
		switch {
		case a.Order == b.Order:
			return strings.Compare(a.Unit, b.Unit)
		case a.Order == 0 || b.Order != 0 && a.Order > b.Order:
			return 1
		}
		return -1
	})
	return all
}

// maxIdle is how many units a line names.
const maxIdle = 5

// tellIdle names the units that are ready although a user has yet to request what they declare, and how one does that.
func (s *system) tellIdle(states []runner.State) {
	engine := s.leader.current()
	if engine == nil {
		return
	}
	idle := engine.Idle()
	var names []string
	try := ""
	for _, st := range states {
		why, is := idle[st.Unit]
		if !is || st.Suspended {
			continue
		}
		names = append(names, st.Unit.Namespace+"/"+st.Unit.Name+" is "+why)
		try = cmp.Or(try, fmt.Sprintf("headgate sync %s/%s -n %s", st.Unit.Kind, st.Unit.Name, st.Unit.Namespace))
	}
	if more := len(names) - maxIdle; more > 0 {
		names = append(names[:maxIdle], fmt.Sprintf("and %d more", more))
	}
	if len(names) > 0 {
		s.say.Info("not synced", strings.Join(names, ", ")+": not synced automatically; try: "+try)
	}
}

// slowestUnits is how many units a summary names, of those that took slowestSeconds at least from the begin of their pass.
const slowestUnits, slowestSeconds = 5, 0.5

// slowest names the units that took longest to become ready, with their seconds; empty where none was slow.
func (r *report) slowest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var slow []*gate
	for _, g := range r.units {
		if g.Order > 0 && g.Ready-g.Began >= slowestSeconds {
			slow = append(slow, g)
		}
	}
	slices.SortFunc(slow, func(a, b *gate) int {
		return cmp.Or(cmp.Compare(b.Ready-b.Began, a.Ready-a.Began), strings.Compare(a.Unit, b.Unit))
	})
	var names []string
	for _, g := range slow[:min(len(slow), slowestUnits)] {
		names = append(names, fmt.Sprintf("%s %.1fs", g.Unit, g.Ready-g.Began))
	}
	return strings.Join(names, ", ")
}

// write writes the report as JSON to a file, and as a table beside it; nothing if there is not a name.
func (r *report) write(file string) error {
	if file == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := json.MarshalIndent(map[string]any{"started": r.started, "units": r.sorted(), "simulated": r.stands}, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o600)
	}
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(file, filepath.Ext(file))+".md", []byte(r.table()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// table is the report for people.
func (r *report) table() string {
	var b strings.Builder
	fmt.Fprintln(&b, "| # | unit | started s | ready s | waited for |\n|--:|---|--:|--:|---|")
	for _, g := range r.sorted() {
		var waits []string
		for _, w := range g.Waits {
			until := ""
			if w.Until > 0 {
				until = fmt.Sprintf("%.2f", w.Until)
			}
			waits = append(waits, fmt.Sprintf("%.2f–%s %s", w.Since, until, cell(w.For)))
		}
		order, ready := fmt.Sprint(g.Order), fmt.Sprintf("%.2f", g.Ready)
		if g.Order == 0 {
			order, ready = "–", "–"
			waits = append(waits, "**"+cell(g.Text)+"**")
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %s | %s |\n", order, cell(g.Unit), g.Began, ready, strings.Join(waits, "<br>"))
	}
	if len(r.stands) > 0 {
		fmt.Fprintln(&b, "\n| simulated | what | for |\n|---|---|---|")
		for _, one := range r.stands {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(one.What), cell(one.Name), cell(one.For))
		}
	}
	return b.String()
}

// cell is a text in a table, which is a comment on a pull request: what files of the pull request say is text there, and neither markup, an image, a
// mention of a person, a reference to another issue nor a command to the forge. Forges search text for those that are none of Markdown, except in code.
func cell(text string) string {
	text = console.OneLine(text)
	var b strings.Builder
	for _, r := range text {
		if plain(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	if b.Len() == len(text) && !strings.Contains(text, "www.") && !strings.Contains(text, "GH-") {
		return text
	}
	return "<code>" + strings.ReplaceAll(b.String(), "www.", "www&#46;") + "</code>"
}

// plain reports whether a character means nothing in Markdown, in HTML and to a forge, within a line that begins with another one.
func plain(r rune) bool {
	return r > unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ,.;/()'\"+=-?", r)
}
