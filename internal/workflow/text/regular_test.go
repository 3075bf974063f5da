package text

import (
	"strings"
	"testing"
	"time"
)

// TestMatching has regular expressions of conditions and expressions match as ever, and none take long.
func TestMatching(t *testing.T) {
	began := time.Now()
	for condition, want := range map[string]string{
		"'abc' =~ '^a.c$'":    "true",
		"'abc' !~ 'x'":        "true",
		"abc =~ abc":          "true",
		"'abc' =~ ('a'+'b')":  "true",
		"'a' == 'a' && 1 < 2": "true",
		"'" + strings.Repeat("a", 2000) + "' =~ ('(.?){1'+'000}')":                                                         "write the regular expression out",
		"'" + strings.Repeat("a", 9000) + "' =~ '((.?){100}b){10}((.?){100}c){10}((.?){100}d){10}((.?){100}e){10}'":        "regular expressions are too large",
		"'" + strings.Repeat("a", 100) + "' =~ '(.?b?){500}' && '" + strings.Repeat("a", 100) + "' =~ '(.?b?c?d?e?){500}'": "regular expressions are too large",
		"'" + strings.Repeat("a", 20000) + "' =~ 'b'":                                                                      "at most 16384 bytes",
	} {
		got, err := When(condition)
		if want == "true" && (!got || err != nil) || want != "true" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v, %v; want %s", condition, got, err, want)
		}
	}
	for expression, want := range map[string]any{
		"'abc' matches '^a.c$'": true, "'abc' matches 'x'": false, "not ('abc' matches 'x')": true, "nil matches 'x'": false,
		"len(filter(['a1', 'b', 'a2'], # matches 'a[0-9]'))": 2, "let p = 'b+'; 'abb' matches p": true, "sprig.regexFind('b+', 'abb')": "bb",
	} {
		if got, err := Evaluate(expression, sample(), nil); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", expression, got, err, want)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it takes %s", took)
	}
}
