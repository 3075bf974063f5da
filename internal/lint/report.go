package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Finding is what is wrong with an object, and where it is written.
type Finding struct {
	// File and Line are where; a line of the file, not of a document in it. They are empty for what no file has.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Severity is error, warning or info.
	Severity string `json:"severity"`
	Rule     string `json:"rule"`
	// Object is KIND/NAMESPACE/NAME, Unit what renders it; empty for plain files.
	Object string `json:"object,omitempty"`
	Unit   string `json:"unit,omitempty"`
	Field  string `json:"field,omitempty"`
	// Message is what is wrong and what to write instead.
	Message string `json:"message"`
}

// Sort puts findings in the order of files, lines, objects, fields and rules, and leaves out what is said twice.
func Sort(findings []Finding) []Finding {
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Unit, b.Unit))
	})
	return slices.CompactFunc(findings, func(a, b Finding) bool { a.Unit = b.Unit; return a == b })
}

// Formats are those of Write.
func Formats() []string { return []string{"text", "json", "github", "sarif"} }

// Tool is what SARIF says of who found something: its name, and its rules.
type Tool struct {
	Name  string
	Rules []Rule
}

// Write writes findings in a format.
func Write(to io.Writer, format string, findings []Finding, by Tool) error {
	switch format {
	case "json":
		if findings == nil {
			findings = []Finding{}
		}
		return encode(to, findings)
	case "sarif":
		return encode(to, sarif(by, findings))
	}
	for _, f := range findings {
		line := f.text()
		if format == "github" {
			line = f.github()
		}
		if _, err := fmt.Fprintln(to, line); err != nil {
			return err
		}
	}
	return nil
}

func encode(to io.Writer, value any) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// place is "file:line", and the unit for what is in no file.
func (f Finding) place() string {
	if f.File == "" {
		return cmp.Or(f.Unit, "-")
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// said is "object: field: message".
func (f Finding) said() string {
	parts := slices.DeleteFunc([]string{f.Object, f.Field}, func(s string) bool { return s == "" })
	return strings.Join(append(parts, f.Message), ": ")
}

func (f Finding) text() string {
	line := fmt.Sprintf("%s: %s: %s (%s)", f.place(), f.Severity, f.said(), f.Rule)
	if f.Unit != "" && f.File != "" {
		line += " [" + f.Unit + "]"
	}
	return line
}

// github is a command of GitHub's workflows, which shows the finding beside the line.
func (f Finding) github() string {
	level := map[string]string{"error": "error", "warning": "warning"}[f.Severity]
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	at := ""
	if f.File != "" {
		at = fmt.Sprintf("file=%s,line=%d,", value.Replace(f.File), f.Line)
	}
	return fmt.Sprintf("::%s %stitle=%s::%s", cmp.Or(level, "notice"), at, value.Replace(f.Rule), text.Replace(f.said()))
}
