package boot

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// TestSlowest names the units that took longest, and no quick ones; a wait that has not ended has no end in the table.
func TestSlowest(t *testing.T) {
	r := newReport()
	at := func(name string, seconds float64, n runner.Note) {
		n.Unit = engine.UnitID{Kind: "Kustomization", Namespace: "ns", Name: name}
		n.Time = r.started.Add(time.Duration(seconds * float64(time.Second)))
		r.note(n)
	}
	at("quick", 1, runner.Note{Began: true})
	at("quick", 1.1, runner.Note{Phase: engine.PhaseReady})
	at("slow", 1, runner.Note{Began: true})
	at("slow", 4, runner.Note{Phase: engine.PhaseReady})
	at("slower", 1, runner.Note{Began: true})
	at("slower", 6, runner.Note{Phase: engine.PhaseReady})
	at("open", 1, runner.Note{Began: true})
	at("open", 2, runner.Note{Phase: engine.PhaseWaitingForHealth, Text: "waits"})
	if got, want := r.slowest(), "Kustomization/ns/slower 5.0s, Kustomization/ns/slow 3.0s"; got != want {
		t.Errorf("slowest are %q, want %q", got, want)
	}
	if table := r.table(); !strings.Contains(table, "| 2.00– waits<br>**waits** |") {
		t.Errorf("the table is:\n%s", table)
	}
}
