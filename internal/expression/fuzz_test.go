package expression

import (
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/cel"
)

// FuzzEval evaluates expressions of tenants: they end in time, whatever they are.
func FuzzEval(f *testing.F) {
	for _, seed := range []string{
		"object.status.phase == 'Ready'", "object.items.all(a, object.items.exists(b, a == b))", "object.big.replace('a', object.big)", "object.items.map(x, object.big.split(''))",
		"'%s %d'.format([object.big, 1])", "sets.contains(object.items, object.items)", "[object.items].map(v, [v, v]).map(v, [v, v]).size()", "object.big.matches('(a*)*b')", "object.big.matches('(a?){900}b')",
		"base64.decode(base64.encode(b'x')) == b'x'", "object.?none.orValue('x').reverse()", "object.big.lowerAscii().upperAscii().trim().substring(1)",
	} {
		f.Add(seed)
	}
	object := map[string]any{"status": map[string]any{"phase": "Ready"}, "items": []any{int64(1), "b", 2.5, nil, true}, "big": strings.Repeat("a", 10_000)}
	f.Fuzz(func(t *testing.T, text string) {
		env, err := Environment(cel.Variable("object", cel.DynType))
		if err != nil {
			t.Fatal(err)
		}
		ast, issues := env.Parse(text)
		if issues.Err() != nil {
			return
		}
		p, err := New(env, ast)
		if err != nil {
			return
		}
		began := time.Now()
		if _, err := p.Eval(map[string]any{"object": object}); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Errorf("%q: %v", text, err)
		}
		if took := time.Since(began); took > 20*timeLimit {
			t.Errorf("%q takes %s", text, took)
		}
	})
}
