package health_test

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/health"
)

// TestBounds has expressions of a tenant end soon and with little memory, whatever they evaluate.
func TestBounds(t *testing.T) {
	var items []any
	for i := range 3000 {
		items = append(items, int64(i))
	}
	object := map[string]any{"status": map[string]any{"items": items, "big": strings.Repeat("a", 500_000)}}
	nested := "status.items"
	for range 9 {
		nested = "[" + nested + "].map(v, [v, v, v, v, v, v, v, v, v, v])"
	}
	cases := map[string]struct{ reason, text, want string }{
		"Loops":     {"nested loops cost", "status.items.all(a, status.items.all(b, status.items.all(c, a+b+c > -1)))", "failed to evaluate the CEL expression "},
		"Sets":      {"comparing sets costs the product", "status.items.all(x, sets.contains(status.items, status.items))", "failed to evaluate the CEL expression "},
		"Small":     {"small sets are compared", "sets.contains([1, 2, 3], [2])", ""},
		"Split":     {"lists that are made cost", "status.items.map(x, status.big.split('')).size() > 0", "failed to evaluate the CEL expression "},
		"Lower":     {"texts that are made cost", "status.items.all(x, status.big.lowerAscii().size() > 0)", "failed to evaluate the CEL expression "},
		"Encode":    {"so do encoded ones", "status.items.all(x, base64.encode(bytes(status.big)).size() > 0)", "failed to evaluate the CEL expression "},
		"Replace":   {"a text that explodes is not made", "status.big.replace('a', status.big).size() > 0", "failed to evaluate the CEL expression "},
		"Chain":     {"neither is one that grows step by step", "'aaaaaaaaaa'" + strings.Repeat(".replace('a', 'aaaaaaaaaa')", 12) + ".size() > 0", "failed to evaluate the CEL expression "},
		"Join":      {"nor one that is joined", "[status.big" + strings.Repeat(", status.big", 200) + "].join('').size() > 0", "join: its arguments are too large"},
		"Format":    {"nor one of a value that holds itself many times", "'%s'.format([" + nested + "]).size() > 0", "format: its arguments are too large"},
		"Match":     {"long evaluations are interrupted", "status.items.all(x, status.big.matches('(a|a)*b') || true)", "failed to evaluate the CEL expression "},
		"Repeats":   {"regular expressions cost what they have, not how they are written", "status.big.matches('(.?b?c?){300}$')", "matches: its arguments are too large"},
		"Counted":   {"and are bounded", "'a'.matches('((.?){100}b){10}((.?){100}b){10}')", "counted repetitions"},
		"Regular":   {"what is usual works as ever", "'v1.2.3'.matches('^v[0-9]+([.][0-9]+){2}$') && !matches('x', 'y')", ""},
		"Functions": {"what is small works as ever", "'a-b'.split('-').join('+').replace('a', 'c') == 'c+b' && '%s %d'.format(['x', 1]) == 'x 1' && 'ab'.reverse() == 'ba'", ""},
		"Strings":   {"also in other arities", "'abcabc'.replace('a', 'x', 1) == 'xbcabc' && 'abc'.indexOf('c', 1) == 2 && strings.quote('a') == '\"a\"' && base64.decode('YQ==') == b'a'", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			expr, err := health.CompileHealth(c.text)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			ok, err := expr.Holds(object)
			if c.want == "" && (err != nil || !ok) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: got %t, %v; want %q", c.reason, ok, err, c.want)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("%s: it took %s", c.reason, took)
			}
		})
	}
}

// TestRunaway has an expression that cannot be interrupted evaluated once, and no more.
func TestRunaway(t *testing.T) {
	nested := "[1, 2, 3]"
	for range 9 {
		nested = "[" + nested + "].map(v, [v, v, v, v, v, v, v, v, v, v])"
	}
	expr, err := health.CompileHealth("[" + nested + "].all(v, v == " + nested + ")")
	if err != nil {
		t.Fatal(err)
	}
	_, first := expr.Holds(nil)
	began := time.Now()
	_, second := expr.Holds(nil)
	if first == nil || second == nil || !strings.Contains(first.Error(), "it takes longer than 1s") || !strings.Contains(second.Error(), "until it changes") {
		t.Errorf("got %v, then %v", first, second)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("the second evaluation took %s", took)
	}
}
