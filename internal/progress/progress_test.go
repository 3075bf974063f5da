package progress

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// screen does with text what a terminal does, as far as this package asks for it.
func screen(text string) []string {
	lines := []string{""}
	at := 0
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "\x1b[K"):
			lines[at], text = "", text[3:]
		case strings.HasPrefix(text, "\x1b[1A"):
			at, text = at-1, text[4:]
		case text[0] == '\r':
			text = text[1:]
		case text[0] == '\n':
			at++
			if at == len(lines) {
				lines = append(lines, "")
			}
			text = text[1:]
		default:
			end := strings.IndexAny(text, "\x1b\r\n")
			if end < 0 {
				end = len(text)
			}
			lines[at] += text[:end]
			text = text[end:]
		}
	}
	return lines
}

func state(name string, phase engine.Phase, message string, now time.Time) runner.State {
	return runner.State{
		Unit: engine.UnitID{Kind: "Kustomization", Namespace: "ns", Name: name}, Phase: phase, Message: message,
		Since: now.Add(-3 * time.Second), Ready: phase == engine.PhaseReady, Objects: 2,
	}
}

func TestView(t *testing.T) {
	now := time.Now()
	states := []runner.State{
		state("a", engine.PhaseReady, "", now),
		state("b", engine.PhaseWaitingForDependencies, "Kustomization/ns/c: it is not ready", now),
		state("c", engine.PhaseWaitingForHealth, "waiting for the health of: Deployment/ns/x\nmore", now),
		state("d", engine.PhaseFailed, "bad", now),
	}
	want := []string{
		"██████░░░░░░░░░░░░░░░░░░ 1 of 4 ready, 8 objects",
		"  ns/d                           Failed                   3s  bad",
		"  ns/c                           WaitingForHealth         3s  waiting for the health of: Deployme…",
		"  ns/b                           WaitingForDependencies   3s  Kustomization/ns/c: it is not ready",
	}
	want[3] = clip(want[3], 99)
	if diff := cmp.Diff(want, view(states, now, 99)); diff != "" {
		t.Errorf("the view (-want +got):\n%s", diff)
	}
	if got := view(states[:1], now, 99); got != nil {
		t.Errorf("a view of what is ready: %q", got)
	}
	var many []runner.State
	for range maxLive + 3 {
		many = append(many, state("x", engine.PhaseRendering, "", now))
	}
	got := view(many, now, 99)
	if last := got[len(got)-1]; len(got) != maxLive+2 || last != "  and 3 more" {
		t.Errorf("many units take %d lines and end with %q", len(got), last)
	}
}

// TestBlock checks what a terminal shows: lines stay, the block below them is rewritten.
func TestBlock(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	p.width = 80
	now := time.Now()
	p.Live([]runner.State{state("a", engine.PhaseRendering, "", now), state("b", engine.PhaseFailed, "bad", now)})
	p.Plain("first")
	p.Live([]runner.State{state("a", engine.PhaseReady, "", now), state("b", engine.PhaseFailed, "worse", now)})
	p.Plain("second")
	want := []string{
		"first", "second", "████████████░░░░░░░░░░░░ 1 of 2 ready, 4 objects",
		"  ns/b                           Failed                   3s  worse",
	}
	if diff := cmp.Diff(want, screen(out.String())); diff != "" {
		t.Errorf("the screen (-want +got):\n%s", diff)
	}
	p.Clear()
	p.Plain("third")
	if diff := cmp.Diff([]string{"first", "second", "third", ""}, screen(out.String())); diff != "" {
		t.Errorf("the screen after the block (-want +got):\n%s", diff)
	}
}

// TestRoutine prints nothing of a commit that changes nothing for a unit.
func TestRoutine(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	unit := engine.UnitID{Kind: "Kustomization", Namespace: "ns", Name: "a"}
	note := func(phase engine.Phase, failed bool, text string) {
		p.Note(runner.Note{Unit: unit, Phase: phase, Failed: failed, Text: text})
	}
	ready := func(revision, changes string) {
		p.Note(runner.Note{Unit: unit, Phase: engine.PhaseReady, Text: "ready: " + revision + changes, Ready: true, Changed: changes != ""})
	}
	note(engine.PhaseWaitingForDependencies, false, "b: it is not ready")
	ready("one", " (1 created)")
	for _, revision := range []string{"two", "three"} {
		note(engine.PhaseWaitingForDependencies, false, "b: it has not applied it yet")
		ready(revision, "")
	}
	ready("four", " (1 configured)")
	note(engine.PhaseFailed, true, "bad")
	ready("five", "")
	ready("six", "")
	var got []string
	for line := range strings.Lines(out.String()) {
		fields := strings.Fields(line)
		got = append(got, strings.Join(fields[1:], " "))
	}
	want := []string{
		"◌ ns/a b: it is not ready", "✓ ns/a ready: one (1 created)", "✓ ns/a ready: four (1 configured)", "✗ ns/a bad", "✓ ns/a ready: five",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestParents prints of what is made of other units which of them it waits for, once for each wave and each new one.
func TestParents(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	app := func(name string) engine.UnitID {
		return engine.UnitID{Kind: "Application", Namespace: "ns", Name: name}
	}
	for _, child := range []string{"a", "b", "c"} {
		p.Note(runner.Note{Unit: app(child), Phase: engine.PhaseApplying, Text: "deploys"})
	}
	wait := func(reason, stage string, on ...engine.Subject) {
		n := runner.Note{Unit: app("root"), Phase: engine.PhaseApplying, Text: reason}
		for _, name := range on {
			n.Waits = append(n.Waits, engine.Wait{On: name, Reason: reason, Stage: stage})
		}
		p.Note(n)
	}
	job := engine.ObjectID{Group: "batch", Kind: "Job", Namespace: "ns", Name: "x"}
	wait("one", "wave 0", app("a"), app("b"))
	wait("two", "wave 0", app("a"), app("b"))
	wait("three", "wave 0", app("b"))
	wait("four", "wave 0", app("b"), app("c"))
	wait("five", "wave 1", app("c"))
	wait("Job/ns/x: the hook has not completed", "wave 1", job)
	wait("Job/ns/x: 1 of 2 done", "wave 1", job)
	p.Note(runner.Note{Unit: app("root"), Phase: engine.PhaseReady, Text: "ready: one", Ready: true})
	var got []string
	for line := range strings.Lines(out.String()) {
		if _, text, found := strings.Cut(line, "Application ns/root"); found {
			got = append(got, strings.TrimSpace(text))
		}
	}
	want := []string{
		"wave 0: waits for 2 Applications (ns/a, ns/b)", "wave 0: waits for 2 Applications (ns/b, ns/c)",
		"wave 1: waits for Application/ns/c", "Job/ns/x: the hook has not completed", "ready: one",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPipe has nothing rewritten where that cannot be.
func TestPipe(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	p.Live([]runner.State{state("a", engine.PhaseRendering, "", time.Now())})
	unit := engine.UnitID{Kind: "Kustomization", Namespace: "ns", Name: "a"}
	for range 2 {
		p.Note(runner.Note{Unit: unit, Phase: engine.PhaseFailed, Failed: true, Text: "bad"})
	}
	p.Note(runner.Note{Unit: unit, Phase: engine.PhaseReady, Text: "ready: main@sha1:" + strings.Repeat("a", 40) + " (1 created)", Ready: true, Changed: true})
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != 2 || !strings.Contains(got[0], "✗ ns/a") || !strings.HasSuffix(got[1], "ready: main@sha1:aaaaaaaaaa (1 created)") {
		t.Errorf("what is printed:\n%s", out.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("control codes in what is no terminal: %q", out.String())
	}
}

// TestWaits names the first objects that a unit waits for, once, and counts the others.
func TestWaits(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	unit := engine.UnitID{Kind: "Kustomization", Namespace: "flux-system", Name: "apps"}
	var waits []engine.Wait
	for i := range 5 {
		waits = append(waits, engine.Wait{On: engine.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: fmt.Sprintf("web-%d", i)}, Reason: "InProgress"})
		p.Note(runner.Note{Unit: unit, Phase: engine.PhaseWaitingForHealth, Text: "waiting for the health of: all of them", Waits: waits})
	}
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "waits for Deployment/shop/web-0\n") {
		t.Errorf("printed is:\n%s", got)
	}
	if got, want := counted(waits), "waits for Deployment/shop/web-0, Deployment/shop/web-1, Deployment/shop/web-2 and 2 more objects"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
