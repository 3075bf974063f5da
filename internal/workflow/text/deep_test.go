package text

import (
	"strings"
	"testing"
)

// TestDeepExpressions is about brackets in brackets, for each of which the parsers call themselves: they would end the process.
func TestDeepExpressions(t *testing.T) {
	for name, tc := range map[string][2]string{"Brackets": {"(", ")"}, "Lists": {"[", "]"}, "Not": {"!", ""}, "Maps": {"{a:", "}"}, "Minus": {"-", ""}} {
		t.Run(name+"Allowed", func(t *testing.T) {
			deep := strings.Repeat(tc[0], maxBrackets) + "1" + strings.Repeat(tc[1], maxBrackets)
			// Whatever they say of it, they end.
			_, failure := Evaluate(deep, sample(), nil)
			_, refused := When(deep)
			if name != "Brackets" && (failure == nil || refused == nil) {
				t.Error("it has a value")
			}
		})
		t.Run(name, func(t *testing.T) {
			deep := strings.Repeat(tc[0], 3_000_000) + "1" + strings.Repeat(tc[1], 3_000_000)
			if _, err := Evaluate(deep, sample(), nil); err == nil || len(err.Error()) > 1000 {
				t.Errorf("an expression gives %.200v", err)
			}
			if _, err := When(deep); err == nil || len(err.Error()) > 1000 {
				t.Errorf("a condition gives %.200v", err)
			}
		})
	}
}
