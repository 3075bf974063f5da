package worktree

import (
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/utils/diff"
	"github.com/sergi/go-diff/diffmatchpatch"
)

// Bounds of texts that are merged by lines; larger ones are a conflict.
const (
	maxText     = 16 << 20
	maxLines    = 500_000
	maxCompared = 10 * time.Second
)

// hunk replaces lines of a text by others.
type hunk struct {
	from, to int
	lines    []string
}

// mergeLines makes the changes of both sides in a text, and reports whether these agree: they are the same, or have a line between them.
func mergeLines(base, ours, theirs string) (merged string, agreed bool) {
	for _, text := range []string{base, ours, theirs} {
		if strings.ContainsRune(text, 0) || len(text) > maxText || strings.Count(text, "\n") > maxLines {
			return "", false
		}
	}
	lines := slices.Collect(strings.Lines(base))
	a, b := hunks(base, ours), hunks(base, theirs)
	var out strings.Builder
	at := 0
	emit := func(h hunk) {
		for _, line := range lines[at:h.from] {
			out.WriteString(line)
		}
		for _, line := range h.lines {
			out.WriteString(line)
		}
		at = h.to
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].to < b[0].from:
			emit(a[0])
			a = a[1:]
		case len(a) == 0 || b[0].to < a[0].from:
			emit(b[0])
			b = b[1:]
		case a[0].from == b[0].from && a[0].to == b[0].to && slices.Equal(a[0].lines, b[0].lines):
			emit(a[0])
			a, b = a[1:], b[1:]
		default:
			return "", false
		}
	}
	emit(hunk{from: len(lines), to: len(lines)})
	return out.String(), true
}

// hunks are the changes from one text to another one, in their order.
func hunks(from, to string) []hunk {
	var all []hunk
	at := 0
	changing := false
	for _, d := range diff.DoWithTimeout(from, to, maxCompared) {
		lines := slices.Collect(strings.Lines(d.Text))
		if d.Type == diffmatchpatch.DiffEqual {
			at, changing = at+len(lines), false
			continue
		}
		if !changing {
			all, changing = append(all, hunk{from: at, to: at}), true
		}
		last := &all[len(all)-1]
		if d.Type == diffmatchpatch.DiffInsert {
			last.lines = append(last.lines, lines...)
			continue
		}
		at += len(lines)
		last.to = at
	}
	return all
}
