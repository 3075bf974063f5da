package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// The picture is in pixels.
const (
	fontSize   = 13.0
	charWidth  = 7.83 // of the fonts below, at this size
	lineHeight = 19.0
	margin     = 16.0
)

// parts are those of a line of progress: the time, the mark, the rest.
var parts = regexp.MustCompile(`^(\s*\d+\.\d+s )?([✓✗◌·] )?(.*)$`)

// classes are the styles of marks.
var classes = map[string]string{"✓ ": "ok", "✗ ": "bad", "◌ ": "wait", "· ": "dim"}

const style = `
  .all { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d8dee4; }
  .dim { fill: #8b949e; } .ok { fill: #57ab5a; } .wait { fill: #c69026; } .bad { fill: #f47067; } .prompt { fill: #6cb6ff; }
  .line { animation: appear linear backwards; }
  @keyframes appear { from, to { visibility: hidden; } }
  @media (prefers-reduced-motion: reduce) { .line { animation: none; } }
`

// draw makes the picture of a command and of what it printed.
func draw(prompt string, lines []line, columns int) []byte {
	var rows, delays []string
	width := 0
	for i, text := range folded(prompt, columns-4) {
		mark := map[bool]string{true: "$ ", false: "> "}[i == 0]
		width = max(width, len([]rune(mark+text)))
		rows = append(rows, `<tspan class="prompt">`+escape(mark)+`</tspan>`+escape(text))
		delays = append(delays, "")
	}
	for _, l := range lines {
		text := cut(l.text, columns)
		width = max(width, len([]rune(text)))
		rows = append(rows, row(text))
		delays = append(delays, fmt.Sprintf(` class="line" style="animation-duration:%.2fs"`, l.at.Seconds()))
	}
	var out bytes.Buffer
	w, h := float64(width)*charWidth+2*margin, float64(len(rows))*lineHeight+2*margin
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`+"\n", w, h, w, h)
	fmt.Fprintf(&out, "<title>What %s prints</title>\n<style>%s</style>\n", escape(prompt), style)
	fmt.Fprintf(&out, `<rect width="100%%" height="100%%" rx="8" fill="#1c2128"/>`+"\n"+`<g class="all">`+"\n")
	for i, text := range rows {
		fmt.Fprintf(&out, `<text x="%.0f" y="%.0f"%s>%s</text>`+"\n", margin, margin+fontSize+float64(i)*lineHeight, delays[i], text)
	}
	out.WriteString("</g>\n</svg>\n")
	return out.Bytes()
}

// row is a line with the styles of its parts.
func row(text string) string {
	found := parts.FindStringSubmatch(text)
	var out strings.Builder
	for _, part := range []struct{ class, text string }{{"dim", found[1]}, {classes[found[2]], found[2]}, {"", found[3]}} {
		switch {
		case part.text == "":
		case part.class == "":
			out.WriteString(escape(part.text))
		default:
			fmt.Fprintf(&out, `<tspan class="%s">%s</tspan>`, part.class, escape(part.text))
		}
	}
	return out.String()
}

// folded is a command in as many lines as it needs.
func folded(command string, columns int) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(command) {
		if current != "" && len([]rune(current+" "+word)) > columns {
			lines = append(lines, current+` \`)
			current = ""
		}
		current = strings.TrimPrefix(current+" "+word, " ")
	}
	return append(lines, cut(current, columns))
}

// cut ends a text that has more characters than fit. What no terminal shows is left out.
func cut(text string, columns int) string {
	shown := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
	if len(shown) <= columns {
		return string(shown)
	}
	return string(shown[:columns-1]) + "…"
}

// escape is a text as it stands in the picture, in which viewers would join spaces that may break.
func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(strings.ReplaceAll(text, " ", "\u00a0"))) // a strings.Builder takes everything
	return out.String()
}
