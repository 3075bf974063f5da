package laws

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// glossary is the page whose table names the forms that texts do not use, with the words to use instead.
const glossary = "../../docs/words.md"

// words are the forms of the glossary that texts do not use.
type words struct {
	pattern *regexp.Regexp
	instead map[string]string
}

// TestWords keeps messages, comments and docs in the words of the glossary.
func TestWords(t *testing.T) {
	data, err := os.ReadFile(glossary)
	if err != nil {
		t.Fatal(err)
	}
	banned := parseWords(string(data))
	if len(banned.instead) < 50 {
		t.Fatalf("only %d forms were found in the table of %s", len(banned.instead), glossary)
	}
	for _, f := range sources(t) {
		if f.test || strings.HasPrefix(f.room, "test/") {
			continue
		}
		for text := range literals(f.ast) {
			for _, found := range banned.in(text) {
				t.Errorf("%s: %q says %s", f.path, text, found)
			}
		}
		for _, group := range f.ast.Comments {
			for _, found := range banned.in(group.Text()) {
				t.Errorf("%s: a comment says %s: %q", f.path, found, group.Text())
			}
		}
	}
	for _, path := range pages(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, found := range banned.in(line) {
				t.Errorf("%s:%d: it says %s", path, i+1, found)
			}
		}
	}
}

func TestParseWords(t *testing.T) {
	page := "text | not | a row\n\n| not | but |\n|---|---|\n| put right, set right | fixed |\n| anew | again |\n\nafter it\n"
	banned := parseWords(page)
	for name, tc := range map[string]struct {
		reason, text string
		want         []string
	}{
		"Plain":  {"a text without a form", "drift was reverted again", nil},
		"Form":   {"a form, in any case", "Drift is put right", []string{`"put right"; use: fixed`}},
		"Broken": {"a form over two lines", "it was set\n  right anew", []string{`"set right"; use: fixed`, `"anew"; use: again`}},
		"Part":   {"a part of a word is none", "the avenue, renewanew", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := banned.in(tc.text); !slices.Equal(got, tc.want) {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// parseWords reads the table of a page that starts with the header "not | but".
func parseWords(page string) words {
	_, table, _ := strings.Cut(page, "| not | but |\n|---|---|\n")
	w := words{instead: map[string]string{}}
	var alternatives []string
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "|\n "), " | ")
		if len(cells) != 2 {
			break
		}
		for form := range strings.SplitSeq(cells[0], ", ") {
			w.instead[form] = cells[1]
			alternatives = append(alternatives, strings.ReplaceAll(regexp.QuoteMeta(form), " ", `\s+`))
		}
	}
	// The longest form is tried first, so that it is the one that is named.
	slices.SortFunc(alternatives, func(a, b string) int { return len(b) - len(a) })
	w.pattern = regexp.MustCompile(`(?i)\b(?:` + strings.Join(alternatives, "|") + `)\b`)
	return w
}

// in names the forms in a text, with the words to use instead.
func (w words) in(text string) []string {
	var found []string
	for _, match := range w.pattern.FindAllString(text, -1) {
		form := strings.ToLower(strings.Join(strings.Fields(match), " "))
		found = append(found, strconv.Quote(form)+"; use: "+w.instead[form])
	}
	return found
}

// literals are the texts of a file; import paths and tags are none.
func literals(file *ast.File) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		ended := false
		ast.Inspect(file, func(n ast.Node) bool {
			switch node := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				if ended || node.Kind != token.STRING {
					return !ended
				}
				if text, err := strconv.Unquote(node.Value); err == nil && strings.Contains(text, " ") {
					ended = !yield(text)
				}
			}
			return !ended
		})
	}
}

// pages are the files with prose, but for the glossary.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, root := range []string{"../../docs", "../../examples", "../../deploy/terraform"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".md" && filepath.ToSlash(path) != glossary {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
