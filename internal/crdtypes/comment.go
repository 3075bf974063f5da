package crdtypes

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// width is how long lines of comments are, and mostText how much of a description is kept.
const (
	width    = 120
	mostText = 3000
)

// comment is text as a comment of Go. Nothing in the text ends the comment, or is a directive: every line begins with "// ".
func comment(indent, text string) string {
	var b strings.Builder
	for _, line := range wrapped(clean(text), width-len("// ")-4*len(indent)) {
		b.WriteString(strings.TrimRight(indent+"// "+line, " ") + "\n")
	}
	return b.String()
}

// clean is a text without control characters, and without the markers of code generators.
func clean(text string) string {
	if len(text) > mostText {
		text = text[:mostText]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		text += " ..."
	}
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		line = strings.TrimRightFunc(strings.Map(func(r rune) rune {
			switch {
			case r == '\t':
				return ' '
			case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
				return -1
			}
			return r
		}, line), unicode.IsSpace)
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "+") || strings.HasPrefix(trimmed, "---") {
			continue
		}
		lines = append(lines, line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// wrapped are the lines of a text. Lines of a paragraph are joined; what is indented, or begins like an item of a list, keeps its line.
func wrapped(text string, width int) []string {
	var lines []string
	current := ""
	flush := func() {
		if current != "" {
			lines = append(lines, current)
		}
		current = ""
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			flush()
			if len(lines) > 0 && lines[len(lines)-1] != "" {
				lines = append(lines, "")
			}
			continue
		}
		if beginsLine(line) {
			flush()
		}
		for word := range strings.FieldsSeq(trimmed) {
			if current != "" && utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > width {
				flush()
			}
			if current != "" {
				current += " "
			}
			current += word
		}
	}
	flush()
	return lines
}

func beginsLine(line string) bool {
	trimmed := strings.TrimSpace(line)
	return strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") || strings.HasPrefix(line, "    ")
}

// limits is what a schema says of its values beyond their type.
func (s *Schema) limits(typed bool) string {
	var parts []string
	if s.Default != nil {
		if text := short(s.Default); text != "" {
			parts = append(parts, "Default: "+text+".")
		}
	}
	if len(s.Enum) > 0 && !typed {
		parts = append(parts, "One of: "+short(s.Enum)+".")
	}
	switch {
	case s.Minimum != nil && s.ExclusiveMinimum:
		parts = append(parts, fmt.Sprintf("More than %v.", *s.Minimum))
	case s.Minimum != nil:
		parts = append(parts, fmt.Sprintf("At least %v.", *s.Minimum))
	}
	if s.Maximum != nil {
		parts = append(parts, fmt.Sprintf("At most %v.", *s.Maximum))
	}
	switch s.Format {
	case "date-time", "duration", "email", "uri", "ipv4", "ipv6", "cidr", "hostname", "uuid", "password":
		parts = append(parts, "Format: "+s.Format+".")
	}
	return strings.Join(parts, " ")
}

// short is a value as JSON, if it is short.
func short(value any) string {
	data, err := json.Marshal(value)
	if err != nil || len(data) > 80 {
		return ""
	}
	return string(data)
}
