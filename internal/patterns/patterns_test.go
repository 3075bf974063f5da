package patterns

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/gobwas/glob"
)

// TestRefuses has what would take long be refused, and what is usual be taken.
func TestRefuses(t *testing.T) {
	began := time.Now()
	compile := map[string]func(string) error{
		"regexp":     func(text string) error { _, err := Regexp(text); return err },
		"glob":       func(text string) error { _, err := NewGlob(text, '/'); return err },
		"path":       func(text string) error { _, err := NewPath(text); return err },
		"constraint": func(text string) error { _, err := Constraint(text); return err },
	}
	for name, tc := range map[string]struct{ of, text, err string }{
		"Usual":             {"regexp", `^v?(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]{1,63})?$`, ""},
		"Label":             {"regexp", `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){0,4}$`, ""},
		"Nested":            {"regexp", `(?:(?:.?){100}x){10}[^a]{1000}(?:.?b?c?d?){1000}`, "counted repetitions"},
		"Repeated":          {"regexp", strings.Repeat(`(.?){1000}`, 100), "counted repetitions"},
		"Long":              {"regexp", strings.Repeat("a", 5000), "at most 4096"},
		"Malformed":         {"regexp", "(", "missing closing"},
		"Globs":             {"glob", "https://git.example.com/{a,b}/*", ""},
		"ManyBraces":        {"glob", strings.Repeat("{a,b}", 800), ""},
		"DeepBraces":        {"glob", strings.Repeat("{a,", 1300), ""},
		"LongGlob":          {"glob", strings.Repeat("*", 5000), "at most 4096"},
		"MalformedGlob":     {"glob", "[", "unexpected end"},
		"Path":              {"path", "apps/**/{prod,dev}/*.{yaml,yml}", ""},
		"PathAlternatives":  {"path", strings.Repeat("{a,?}", 28) + "b", "its braces stand for more"},
		"PathNested":        {"path", strings.Repeat("{a,{b,", 10) + strings.Repeat("}}", 10), ""},
		"MalformedPath":     {"path", "[a", "malformed"},
		"Range":             {"constraint", ">=1.2.3 <2 || ~3.1", ""},
		"LongRange":         {"constraint", strings.Repeat("1||", 2000) + "1", "at most 4096"},
		"MalformedRange":    {"constraint", "x.y.z.1", "improper constraint"},
		"EmptyAlternatives": {"path", strings.Repeat("{,}", 28), "its braces stand for more"},
	} {
		err := compile[tc.of](tc.text)
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it takes %s", took)
	}
}

// TestGlobs has globs match what those of the library do.
func TestGlobs(t *testing.T) {
	texts := []string{"a", "ab", "abc", "a/b", "a/b/c", "-", "^", "]", "ä", "a\nb", "https://x/y", "team-a", "team-b"}
	for _, pattern := range []string{"", "*", "**", "?", "a*", "*b", "a/*", "a/**", "{a,ab}", "{a,}b", "[abc]", "[!abc]", "[a-c]", "[!a-c]", `\*`, "team-{a,b}", "{team-*,a/?}", "[]]", "[^]", "a?b", "*{b,c}", "{*a,b*}/*"} { // Of the empty text, the library says that it is one character.
		for _, separators := range [][]rune{nil, {'/'}} {
			sameGlob(t, pattern, texts, separators...)
		}
	}
}

func sameGlob(t *testing.T, pattern string, texts []string, separators ...rune) {
	t.Helper()
	theirs, theirErr := glob.Compile(pattern, separators...)
	ours, err := NewGlob(pattern, separators...)
	if (theirErr == nil) != (err == nil) {
		t.Errorf("%q: %v, and the library says %v", pattern, err, theirErr)
	}
	if err != nil || theirErr != nil {
		return
	}
	for _, text := range texts {
		if ours.Match(text) != theirs.Match(text) {
			t.Errorf("%q matches %q: %v, and in the library %v", pattern, text, ours.Match(text), theirs.Match(text))
		}
	}
}

// TestPaths has patterns match what those of the library do.
func TestPaths(t *testing.T) {
	for _, pattern := range []string{"a/**", "**/a", "{a,b}/*.yaml", "{a/**,b}/c", "a/{b,{c,d}}/e", `\{a\}`, "[{]a", "{,a}b", "a{b,c/**}", "**/{x,y}.yaml"} {
		ours, err := NewPath(pattern)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		for _, name := range []string{"", "a", "b", "a/b", "a/b/c", "a/x.yaml", "b/y.yaml", "x.yaml", "{a}", "{a", "ab", "ac/d", "a/c/e", "a/d/e", "a/x/c", "b/c"} {
			if theirs := doublestar.MatchUnvalidated(pattern, name); ours.Match(name) != theirs {
				t.Errorf("%q matches %q: %v, and in the library %v", pattern, name, !theirs, theirs)
			}
		}
	}
}

// FuzzGlob compares short globs with those of the library, and has all of them take little time.
func FuzzGlob(f *testing.F) {
	f.Add("{a,b}*[!c-d]?", "a/bc")
	f.Add("**/x{,y}", "a/b/xy")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		began := time.Now()
		if compiled, err := NewGlob(pattern, '/'); err == nil {
			compiled.Match(text)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%q takes %s", pattern, took)
		}
		const few, longest = 2, 20
		unusual := func(r rune) bool { return r < ' ' || r == utf8.RuneError }
		usual := len(pattern) < longest && text != "" && strings.IndexFunc(pattern+text, unusual) < 0
		if usual && !strings.Contains(pattern, "{") && strings.Count(pattern, "*") <= few {
			theirs, theirErr := glob.Compile(pattern)
			ours, err := NewGlob(pattern)
			switch {
			case theirErr == nil && err != nil:
				t.Errorf("%q: %v", pattern, err)
			case theirErr == nil && ours.Match(text) && !theirs.Match(text):
				// The other way round, the library has "a*a" match "a".
				t.Errorf("%q matches %q, but not in the library", pattern, text)
			}
		}
	})
}

// FuzzRegexp has what is compiled take little time for a text of the length of a name.
func FuzzRegexp(f *testing.F) {
	f.Add(`(a|b){1,100}[^c]*`, "abab")
	f.Add(`((x{0,30}){0,30})*y`, "xxxx")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		const name = 253
		began := time.Now()
		if compiled, err := Regexp(pattern); err == nil {
			compiled.MatchString(text[:min(len(text), name)])
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%q takes %s", pattern, took)
		}
	})
}

// FuzzPath has patterns of paths take little time.
func FuzzPath(f *testing.F) {
	f.Add("**/{a,b}/*.{yaml,yml}", "x/a/y.yaml")
	f.Add("{a,{b,c}}[{]", "b{")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		const longest = 1000
		began := time.Now()
		if compiled, err := NewPath(pattern); err == nil {
			compiled.Match(name[:min(len(name), longest)])
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%q takes %s", pattern, took)
		}
	})
}
