package document

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	// forced are characters that a reader changes or refuses unless they are escaped: control characters, the line breaks of YAML 1.1
	// beyond \n, and what is not a character.
	forced = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{2028}\x{2029}\x{feff}\x{fffe}\x{ffff}\x{fffd}]`)
	// special is where a plain scalar would be taken for something else.
	special = regexp.MustCompile(`^[\n\t ,\[\]{}#&*!|>'"%@` + "`" + `]|^[?-]$|^[?-][ \t]|[\n:][ \t]|[ \t]\n|[\n\t ]#|[\n\t :]$`)
	// marker is a line that would begin or end a document, or be a directive.
	marker = regexp.MustCompile(`(?m)^(%|---|\.\.\.)`)
)

// other is what some reader takes for something other than a string: null, booleans, numbers of all bases, times, merge keys.
var other = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`~|[Nn]ull|NULL`,
	`Y|y|[Yy]es|YES|True|true|TRUE|[Oo]n|ON`,
	`N|n|[Nn]o|NO|False|false|FALSE|[Oo]ff|OFF`,
	`[-+]?0[bB][0-1_]+`,
	`[-+]?0[oO]?[0-7_]+`,
	`[-+]?[0-9][0-9_]*`,
	`[-+]?0[xX][0-9a-fA-F_]+`,
	`[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)`,
	`[-+]?(?:[0-9][0-9_]*)?(?:\.[0-9_]*)?[eE][-+]?[0-9]+`,
	`[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*`,
	`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?`,
	`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[tT]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:[ \t]*(?:Z|[-+][012]?[0-9](?::[0-9]{2})?))?)?`,
	`<<|=`,
}, "|") + `)$`)

// ambiguous reports whether a reader takes a string for something else. Some leave the underscores of a number out before they read it.
func ambiguous(value string) bool {
	return other.MatchString(value) || (value[0] != '_' && strings.Contains(value, "_") && other.MatchString(strings.ReplaceAll(value, "_", "")))
}

// simple reports whether a text is plain in every place, as most are: letters, digits and -_./ after a letter, and no word such as "yes".
func simple(value string) bool {
	for i := range len(value) {
		switch c := value[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' || c == '/'):
		default:
			return false
		}
	}
	const longest = len("false")
	return len(value) > longest || (value != "" && !other.MatchString(value))
}

// keyText is a key as it is written.
func keyText(key string) string {
	switch {
	case simple(key):
		return key
	case key == "" || forced.MatchString(key) || strings.Contains(key, "\n") || ambiguous(key):
		return double(key)
	case special.MatchString(key):
		return quoted(key)
	}
	return key
}

// text is a string as it is written where its further lines have an indentation.
func text(value string, indent int) string {
	lines := strings.Contains(value, "\n")
	switch {
	case simple(value):
		return value
	case value == "" || forced.MatchString(value):
		return double(value)
	case lines:
		return block(value, indent)
	case special.MatchString(value):
		return quoted(value)
	case ambiguous(value), indent == 0 && marker.MatchString(value):
		return double(value)
	}
	return value
}

// quoted has single quotes around what has double quotes in it and no single ones, and double quotes around anything else.
func quoted(value string) string {
	if strings.Contains(value, `"`) && !strings.ContainsAny(value, "'\n") {
		return "'" + value + "'"
	}
	return double(value)
}

var (
	// ends is a last line of blanks alone, which a block would lose.
	ends = regexp.MustCompile(`\n[\t ]+$`)
	// tail is the white space that ends a block.
	tail = regexp.MustCompile(`[\n\t ]*$`)
)

// block is a text of several lines as a literal block; what a block cannot hold is in double quotes.
func block(value string, indent int) string {
	if ends.MatchString(value) || strings.TrimSpace(value) == "" {
		return double(value)
	}
	head := value[:len(value)-len(strings.TrimLeft(value, "\n "))]
	if strings.HasPrefix(value[len(head):], "\t") || strings.Contains(head, " \n") {
		// Readers differ in what they take for the indentation of such a block.
		return double(value)
	}
	header := "|"
	if strings.Contains(head, " ") {
		header += "2"
	}
	switch end := tail.FindString(value); {
	case !strings.Contains(end, "\n"):
		header += "-"
	case strings.Index(end, "\n") != len(end)-1:
		header += "+"
	}
	margin := strings.Repeat(" ", max(indent, 2))
	b := strings.Builder{}
	b.WriteString(header)
	for i, line := range strings.Split(strings.TrimSuffix(value, "\n"), "\n") {
		b.WriteByte('\n')
		if line != "" || i == 0 {
			b.WriteString(margin)
			b.WriteString(line)
		}
	}
	return b.String()
}

// escapes are the short forms of characters in double quotes.
var escapes = map[rune]string{
	'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`,
	0: `\0`, 7: `\a`, 0xb: `\v`, 0x1b: `\e`, 0x85: `\N`, 0x2028: `\L`, 0x2029: `\P`,
}

// double is a string in double quotes, in one line.
func double(value string) string {
	b := strings.Builder{}
	b.WriteByte('"')
	for i, char := range value {
		escape, short := escapes[char]
		switch {
		case char == ' ' && strings.HasPrefix(value[i+1:], "\n"):
			b.WriteString(`\ `)
		case short:
			b.WriteString(escape)
		case char < 0x20, char >= 0x7f && char < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, char)
		case char == 0xfeff, char == 0xfffe, char == 0xffff, char == utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x`, char)
		default:
			b.WriteRune(char)
		}
	}
	b.WriteByte('"')
	return b.String()
}
