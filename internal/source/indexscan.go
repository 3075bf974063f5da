package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// indexScanner reads an index in block form. It finds charts and versions by their indentation, and hands
// the few fields that are wanted to a parser. All else is passed over, which is most of an index.
type indexScanner struct {
	into *Index
	line int
	// version is set when there was an apiVersion, entries while the lines are about charts.
	version, entries, ended bool
	// names and items are the indentations of the names of charts and of their versions; -1 is unknown.
	names, items int
	chart        string
	// keys is the indentation of the fields of the version that is read, or -1. It is read when open is set.
	keys       int
	open, keep bool
	held       bytes.Buffer
}

// wanted are the fields that are kept.
var wanted = map[string]bool{"version": true, "appVersion": true, "digest": true, "urls": true, "created": true}

func (s *indexScanner) scan(in *bufio.Reader) error {
	for !s.ended {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		s.line++
		if err == nil {
			err = s.take(line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", s.line, err)
		}
	}
	if err := s.flush(); err != nil {
		return fmt.Errorf("line %d: %w", s.line, err)
	}
	if !s.version {
		return errNoVersion
	}
	return nil
}

// readLine returns the next line without its end.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return "", fmt.Errorf("longer than %d bytes", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0, err == nil:
			return strings.TrimRight(string(line), "\r\n"), nil
		default:
			return "", err
		}
	}
}

// take takes a line.
func (s *indexScanner) take(line string) error {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	switch {
	case strings.TrimSpace(text) == "":
		if s.open && s.keep {
			s.held.WriteByte('\n')
		}
		return nil
	case s.open && (indent > s.items || text[0] == '#'):
		return s.field(line, text, indent)
	case text[0] == '#' || text[0] == '%' && indent == 0 && !s.version && !s.entries:
		return nil
	case indent == 0 && (line == "---" || line == "..."):
		s.ended = line == "..." || s.version || s.entries
		return nil
	case indent == 0 && !isItem(text):
		return s.top(text)
	case !s.entries:
		return nil
	default:
		return s.inEntries(line, text, indent)
	}
}

// isItem reports whether a line begins an element of a list.
func isItem(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

// top takes a field of the index itself.
func (s *indexScanner) top(text string) error {
	if err := s.flush(); err != nil {
		return err
	}
	key, value, err := field(text)
	if err != nil {
		return err
	}
	s.entries, s.names, s.items, s.chart = key == "entries", -1, -1, ""
	switch key {
	case "apiVersion":
		s.version = value != "" && value != "null" && value != "~" && value != `""` && value != "''"
	case "entries":
		return emptyOrBlock(value)
	}
	return nil
}

// inEntries takes the name of a chart, or the first line of a version.
func (s *indexScanner) inEntries(line, text string, indent int) error {
	if s.chart != "" && isItem(text) && (s.items < 0 && indent >= s.names || indent == s.items) {
		if err := s.flush(); err != nil {
			return err
		}
		s.items, s.open, s.keep, s.keys = indent, true, true, -1
		rest := strings.TrimLeft(text[1:], " ")
		if rest == "" || rest[0] == '#' {
			return nil
		}
		return s.field(line[:indent]+" "+text[1:], rest, len(line)-len(rest))
	}
	if err := s.flush(); err != nil {
		return err
	}
	if s.names < 0 {
		s.names = indent
	}
	if indent != s.names || indent == 0 {
		return errors.New("its indentation matches neither a chart nor a chart version")
	}
	name, value, err := field(text)
	if err != nil {
		return err
	}
	s.chart, s.items = name, -1
	if name == "" {
		return errors.New("a chart has no name")
	}
	return emptyOrBlock(value)
}

// field takes a line of a version.
func (s *indexScanner) field(line, text string, indent int) error {
	if s.keys < 0 && text[0] != '#' {
		s.keys = indent
	}
	switch {
	case text[0] == '#':
	case indent < s.keys:
		return errors.New("its indentation matches no field of a version")
	case indent == s.keys && !isItem(text):
		key, _, found := strings.Cut(text, ":")
		s.keep = text[0] == '{' || found && wanted[strings.Trim(strings.TrimSpace(key), `"'`)]
	}
	if !s.keep {
		return nil
	}
	if s.held.Len()+len(line) > maxEntry {
		return fmt.Errorf("a version of chart %q is larger than %d bytes", s.chart, maxEntry)
	}
	s.held.WriteString(line)
	s.held.WriteByte('\n')
	return nil
}

// flush ends the version that is read.
func (s *indexScanner) flush() error {
	if !s.open {
		return nil
	}
	s.open = false
	defer s.held.Reset()
	var e entry
	if err := yaml.Unmarshal(s.held.Bytes(), &e); err != nil {
		return fmt.Errorf("the version of chart %q that ends here: %w", s.chart, err)
	}
	s.into.add(s.chart, &e)
	return nil
}

// field reads a line of the form "key: value".
func field(text string) (key, value string, err error) {
	if text[0] != '"' && text[0] != '\'' {
		key, value, found := strings.Cut(text, ":")
		if !found || value != "" && value[0] != ' ' || strings.ContainsAny(key, "{}[]&*!|>%@` ") {
			return "", "", errors.New("not a field in block style")
		}
		return key, withoutComment(value), nil
	}
	end := strings.IndexByte(text[1:], text[0]) + 1
	if end == 0 || strings.Contains(text[1:end], `\`) || !strings.HasPrefix(text[end+1:], ":") {
		return "", "", errors.New("not a field in block style")
	}
	return text[1:end], withoutComment(text[end+2:]), nil
}

func withoutComment(value string) string {
	value = " " + value
	if at := strings.Index(value, " #"); at >= 0 {
		value = value[:at]
	}
	return strings.TrimSpace(value)
}

// emptyOrBlock refuses a value that is not in the lines that follow.
func emptyOrBlock(value string) error {
	switch value {
	case "", "{}", "[]", "null", "~":
		return nil
	default:
		return errors.New("its value is not in block style")
	}
}
