package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/render"
)

func TestSyntax(t *testing.T) {
	const fine = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 'a\n    b'\n"
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"fine":            {reason: "nothing is wrong with two documents, and an empty one", text: fine + "---\n---\n" + fine},
		"first line":      {reason: "the library gives no line of an error in the first one", text: "a: b: c\n", want: "1 it is not YAML: mapping values are not allowed in this context"},
		"second document": {reason: "the line is that of the file, not of the document", text: fine + "---\na: b: c\n", want: "7 it is not YAML: mapping values are not allowed in this context"},
		"tab":             {reason: "the line of the tab, and what to do about it", text: fine + "--- # comment\na:\n  b: c\n\td: e\n", want: "9 it is not YAML: a tab; YAML is indented with spaces"},
		"flow":            {reason: "the line on which it goes wrong, not the one before", text: "a: 1\nmetadata: {name: ${X:=y}\nb: 2\n", want: "2 it is not YAML: did not find expected ',' or '}'"},
		"open quote":      {reason: "the line of the quote that is not closed, not of one before", text: fine + "a: \"b\nc: d\n", want: "6 it is not YAML: found unexpected end of stream"},
		"indentation":     {reason: "the line that is in no place, not that on which the map begins", text: "a:\n  b: c\n d: e\n", want: "3 it is not YAML: did not find expected key"},
		"Windows":         {reason: "lines may end with a carriage return", text: "a: 1\r\n---\r\nb: c: d\r\n", want: "3 it is not YAML: mapping values are not allowed in this context"},
		"long": {
			reason: "a long text takes no time in proportion to its square",
			text:   "a: [1,\n" + strings.Repeat("  1,\n", 20000) + "b: c: d}\n" + strings.Repeat("e: 1\n", 1000), want: "20002 it is not YAML: ",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if line, err := render.Syntax([]byte(c.text)); err != nil {
				got = fmt.Sprintf("%d %v", line, err)
			}
			if strings.HasSuffix(c.want, ": ") {
				got = got[:min(len(got), len(c.want))]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
