package laws

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityTable has every threat of the guide proved by tests that there are: functions of packages, or scenarios.
func TestSecurityTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Threats and protection\n")
	section, _, _ = strings.Cut(section, "\n## ")
	tests := map[string]bool{}
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
				tests[f.room+"."+fn.Name.Name] = true
			}
		}
	}
	named, quoted := 0, regexp.MustCompile("`([^`]+)`")
	for _, row := range strings.Split(section, "\n") {
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		if !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| threat") {
			continue
		}
		if len(cells) != 3 || !quoted.MatchString(cells[2]) {
			t.Errorf("no test is named by the row %q", row)
			continue
		}
		for _, match := range quoted.FindAllStringSubmatch(cells[2], -1) {
			named++
			_, missing := os.Stat(filepath.Join("../../test/scenario/testdata", match[1]+".txtar"))
			if !tests[match[1]] && missing != nil {
				t.Errorf("there is no test %s, which shall prove that %s", match[1], strings.TrimSpace(cells[0]))
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d tests were found in the table", named)
	}
}
