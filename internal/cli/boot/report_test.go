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

// TestCell has what a file says be text in a comment, whatever it contains.
func TestCell(t *testing.T) {
	for name, c := range map[string]struct{ reason, text, want string }{
		"Plain":     {"most are as they were", "waits for Kustomization/flux-system/a-b (2 of 3), then more", "waits for Kustomization/flux-system/a-b (2 of 3), then more"},
		"Languages": {"of any language", "größer als –", "größer als –"},
		"HTML":      {"no element", `</details><img src=x>`, `<code>&#60;/details&#62;&#60;img src=x&#62;</code>`},
		"Mark":      {"no mark of the comment", `<!-- headgate boot -->`, `<code>&#60;&#33;-- headgate boot --&#62;</code>`},
		"Mention":   {"no person is notified", "ask @everyone", "<code>ask &#64;everyone</code>"},
		"Link":      {"no link or image", "![x](https://example.com/?a=1)", "<code>&#33;&#91;x&#93;(https&#58;//example.com/?a=1)</code>"},
		"Bare":      {"none without markup either", "see www.example.com", "<code>see www&#46;example.com</code>"},
		"Issue":     {"no reference to an issue, a merge request or a milestone", "fixes GH-1 a/b#2 !3 %4 ~5 &6", "<code>fixes GH-1 a/b&#35;2 &#33;3 &#37;4 &#126;5 &#38;6</code>"},
		"Table":     {"no other cell, also after a backslash", `a\| b | c`, "<code>a&#92;&#124; b &#124; c</code>"},
		"Code":      {"no code, and no end of it", "`a` **b** __c__ $d$ </code>", "<code>&#96;a&#96; &#42;&#42;b&#42;&#42; &#95;&#95;c&#95;&#95; &#36;d&#36; &#60;/code&#62;</code>"},
		"Lines":     {"one line", "a\r\n/close\n/merge", "a /close /merge"},
		"Entity":    {"no entity", "&#64;all &lt;", "<code>&#38;&#35;64;all &#38;lt;</code>"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cell(c.text); got != c.want {
				t.Errorf("%s: %q, want %q", c.reason, got, c.want)
			}
		})
	}
	// Every field of the report is such a text.
	r := newReport()
	const foreign = "<b>@x</b>"
	id := engine.UnitID{Kind: foreign, Namespace: foreign, Name: foreign}
	r.note(runner.Note{Unit: id, Time: r.started, Phase: engine.PhaseWaitingForHealth, Text: foreign})
	r.standIns([]standIn{{What: foreign, Name: foreign, For: foreign}})
	if table := r.table(); strings.Contains(table, "<b>") || strings.Contains(table, "@") {
		t.Errorf("the table is:\n%s", table)
	}
}
