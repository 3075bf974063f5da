package progress

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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

// TestView draws the gates with their bars, what waits in them and why, and what a unit is made of below it.
func TestView(t *testing.T) {
	now := time.Now()
	id := func(name string) engine.UnitID { return state(name, "", "", now).Unit }
	behind := func(s runner.State, others ...string) runner.State {
		for _, other := range others {
			s.Depends = append(s.Depends, id(other))
		}
		return s
	}
	waiting := func(s runner.State, stage string, on ...engine.Subject) runner.State {
		for _, one := range on {
			s.Waits = append(s.Waits, engine.Wait{On: one, Stage: stage})
		}
		s.Objects = 4
		return s
	}
	x := engine.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "x"}
	for name, c := range map[string]struct {
		states []runner.State
		width  int
		all    bool
		want   []string
	}{
		"Ready": {states: []runner.State{state("a", engine.PhaseReady, "", now)}, width: 99},
		"Gates": {
			states: []runner.State{
				state("a", engine.PhaseReady, "", now),
				waiting(behind(state("b", engine.PhaseWaitingForHealth, "waiting", now), "a"), "", x),
				behind(state("c", engine.PhaseFailed, "bad\nmore", now), "a"),
				behind(state("d", engine.PhaseWaitingForDependencies, "b: it is not ready", now), "b"),
				behind(state("e", engine.PhaseWaitingForDependencies, "d: it is not ready", now), "b", "d"),
			},
			width: 99,
			want: []string{
				"████░░░░░░░░░░░░░░░░░░░░ 1 of 5 ready, 12 objects",
				"gate 1  ░░░░░░░░ 0/2",
				"  ✗ ns/c             3s  bad",
				"  ◌ ns/b   ██████░░  3s  waits for Deployment/ns/x",
				"gate 2  ░░░░░░░░ 0/1  ns/d",
				"gate 3  ░░░░░░░░ 0/1  ns/e",
			},
		},
		"Narrow": {
			states: []runner.State{waiting(state("a-rather-long-name-of-a-unit", engine.PhaseWaitingForHealth, "", now), "", x)},
			width:  60,
			want: []string{
				"░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 1 ready, 4 objects",
				"  ◌ ns/a-rather-long-name-of-… ██████░░  3s  waits for Dep…",
			},
		},
		"Parts": {
			states: []runner.State{
				waiting(state("root", engine.PhaseApplying, "", now), "wave 1", id("a"), id("b")),
				state("a", engine.PhaseRendering, "", now),
				state("b", engine.PhaseApplying, "", now),
				state("z", engine.PhaseReady, "", now),
			},
			width: 80,
			want: []string{
				"██████░░░░░░░░░░░░░░░░░░ 1 of 4 ready, 10 objects",
				"  ◌ ns/root   ████░░░░  3s  wave 1: waits for Kustomization/ns/a, Kustomizatio…",
				"    · ns/a    ████████  3s  renders",
				"    · ns/b    ████████  3s  applies",
			},
		},
		"All": {
			states: []runner.State{
				state("a", engine.PhaseRendering, "", now), behind(state("b", engine.PhaseWaitingForDependencies, "a: it is not ready", now), "a"),
			},
			width: 80, all: true,
			want: []string{
				"░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 2 ready, 4 objects",
				"gate 0  ░░░░░░░░ 0/1",
				"  · ns/a   ████████  3s  renders",
				"gate 1  ░░░░░░░░ 0/1",
				"  ◌ ns/b   ████████  3s  a: it is not ready",
			},
		},
		"Cycles": {
			states: []runner.State{
				waiting(state("a", engine.PhaseApplying, "", now), "", id("b")), waiting(state("b", engine.PhaseApplying, "", now), "", id("a")),
				behind(state("c", engine.PhaseWaitingForDependencies, "d", now), "d"), behind(state("d", engine.PhaseWaitingForDependencies, "c", now), "c"),
			},
			width: 80,
			want: []string{
				"░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 4 ready, 12 objects",
				"gate 0  ░░░░░░░░ 0/2",
				"  ◌ ns/a   ██████░░  3s  waits for Kustomization/ns/b",
				"    ◌ ns/b ██████░░  3s  waits for Kustomization/ns/a",
				"gate 1  ░░░░░░░░ 0/1  ns/d",
				"gate 2  ░░░░░░░░ 0/1  ns/c",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := newView(c.states, now, c.width, c.all).lines(20)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the view (-want +got):\n%s", diff)
			}
			for _, line := range got {
				if n := utf8.RuneCountInString(line); n >= c.width {
					t.Errorf("%d columns of %d: %q", n, c.width, line)
				}
			}
		})
	}
	var many []runner.State
	for i := range 11 {
		many = append(many, state(fmt.Sprint("x", i), engine.PhaseRendering, "", now))
	}
	got := newView(many, now, 99, false).lines(10)
	if last := got[len(got)-1]; len(got) != 10 || last != "  and 3 more lines" {
		t.Errorf("many units take %d lines and end with %q", len(got), last)
	}
}

// TestResize takes the whole block off a terminal that has become narrower, on which its lines take more rows.
func TestResize(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	width := 80
	p.size = func() (int, int) { return width, 24 }
	p.width, p.height = p.size()
	p.Live([]runner.State{state("a", engine.PhaseFailed, strings.Repeat("bad ", 30), time.Now())})
	width = 30
	out.Reset()
	p.Plain("news")
	if rows := strings.Count(out.String(), "\x1b[1A"); rows != 2+3-1 {
		t.Errorf("%d rows up of %q", rows, out.String())
	}
	for line := range strings.Lines(out.String()[strings.Index(out.String(), "news"):]) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n >= width {
			t.Errorf("%d columns of %d: %q", n, width, line)
		}
	}
}

// TestVerbose prints each change of a wait, with all that is waited for.
func TestVerbose(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	p.Verbose()
	unit := engine.UnitID{Kind: "Kustomization", Namespace: "ns", Name: "a"}
	var waits []engine.Wait
	for i := range 5 {
		waits = append(waits, engine.Wait{On: engine.ObjectID{Kind: "Pod", Namespace: "ns", Name: fmt.Sprint(i)}})
	}
	for _, left := range []int{5, 5, 2} {
		p.Note(runner.Note{Unit: unit, Phase: engine.PhaseWaitingForHealth, Waits: waits[:left]})
	}
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "Pod/ns/4\n") || !strings.HasSuffix(got, "waits for Pod/ns/0, Pod/ns/1\n") {
		t.Errorf("printed is:\n%s", got)
	}
}

// TestBlock checks what a terminal shows: lines stay, the block below them is rewritten.
func TestBlock(t *testing.T) {
	var out bytes.Buffer
	p := New(&out)
	p.size = func() (int, int) { return 80, 24 }
	p.width, p.height = p.size()
	now := time.Now()
	p.Live([]runner.State{state("a", engine.PhaseRendering, "", now), state("b", engine.PhaseFailed, "bad", now)})
	p.Plain("first")
	p.Live([]runner.State{state("a", engine.PhaseReady, "", now), state("b", engine.PhaseFailed, "worse", now)})
	p.Plain("second")
	want := []string{
		"first", "second", "████████████░░░░░░░░░░░░ 1 of 2 ready, 4 objects",
		"  ✗ ns/b             3s  worse",
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
		"wave 1: waits for Application/ns/c", "wave 1: waits for Job/ns/x", "ready: one",
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
	if got, want := counted(waits, false), "waits for Deployment/shop/web-0, Deployment/shop/web-1, Deployment/shop/web-2 and 2 more objects"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWrapped breaks lines between words on a narrow terminal, and leaves commands whole.
func TestWrapped(t *testing.T) {
	const columns = 60
	var b strings.Builder
	p := New(&b)
	p.width, p.height, p.size = columns, 24, func() (int, int) { return columns, 24 }
	p.Problem("HelmRelease apps/podinfo", "1 of 4 objects failed: Deployment/shop/web: refused as invalid: spec.replicas: expected numeric\nHelmRelease/apps/other")
	command := "kubectl --kubeconfig /a/long/directory/cluster/kubeconfig get ks,pods -A"
	p.Info("look around", command)
	if !strings.Contains(b.String(), "look around "+command+"\n") {
		t.Errorf("the command is broken, or padded:\n%s", b.String())
	}
	lines := strings.Split(b.String(), "\n")
	for _, line := range lines[:len(lines)-2] {
		if n := utf8.RuneCountInString(line); n >= columns {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	want := "HelmRelease apps/podinfo 1 of 4 objects failed: Deployment/shop/web: refused as invalid: spec.replicas: expected numeric HelmRelease/apps/other"
	if got := strings.Join(strings.Fields(strings.Join(lines[:len(lines)-2], " "))[2:], " "); got != want {
		t.Errorf("the words are not the same:\n%s", b.String())
	}
}
