package substitute_test

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/render/substitute"
)

// TestExpensive has texts be refused whose replacement would take all memory, or very long.
func TestExpensive(t *testing.T) {
	o := &substitute.Options{Variables: map[string]string{"big": strings.Repeat("a", 500_000), "word": strings.Repeat("ab-", 60)}}
	began := time.Now()
	for name, tc := range map[string]struct{ text, err string }{
		"Multiplied": {"${big//a/${big}}", "make more than 64 MiB"},
		"Repeated":   {strings.Repeat("${big}", 200), "make more than 64 MiB"},
		"Nested":     {"${none:=" + strings.Repeat("${big}", 200) + "}", "make more than 64 MiB"},
		"Compared":   {"${big%%*b*c*d*e*f}", "removes a pattern takes too long"},
		"Many":       {strings.Repeat("${x}", 200_000), "more than 100000 dollar signs"},
		"Usual":      {"${word//-/_} ${word%%-*} ${word##*-} ${none:-x}", ""},
	} {
		_, err := o.Text(tc.text)
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it takes %s", took)
	}
}

// FuzzExpensive has no text make much of a few variables, or take long.
func FuzzExpensive(f *testing.F) {
	f.Add("${a//x/${a}}${b%%*-*}")
	f.Add("${a///${a:=${b}}}")
	o := &substitute.Options{Variables: map[string]string{"a": strings.Repeat("x", 1000), "b": strings.Repeat("-y", 500)}}
	f.Fuzz(func(t *testing.T, text string) {
		const most = 64 << 20
		began := time.Now()
		if got, err := o.Text(text); err == nil && len(got) > most {
			t.Errorf("%q makes %d bytes", text, len(got))
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q takes %s", text, took)
		}
	})
}
