package substitute_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/render/substitute"
)

func TestText(t *testing.T) {
	variables := map[string]string{"a": "one", "B_2": "Two", "empty": "", "lines": "x\ny\n", "path": "a/b/c.txt"}
	cases := map[string]struct {
		reason, text, want string
		strict             bool
		undefined          []string
		fails              bool
	}{
		"plain":            {reason: "text without variables stays", text: "a: $5 and 100%", want: "a: $5 and 100%"},
		"value":            {reason: "a variable is replaced by its value", text: "${a}-${B_2}", want: "one-Two"},
		"bare":             {reason: "a variable without braces is no variable", text: "$a", want: "$a"},
		"escaped":          {reason: "two dollars make a literal one", text: "$${a}", want: "${a}"},
		"undefined":        {reason: "an undefined variable is empty", text: "[${nope}]", want: "[]"},
		"strict":           {reason: "every undefined variable is named at once", text: "${x} ${a} ${y} ${z:=d}", strict: true, undefined: []string{"x", "y"}},
		"strict default":   {reason: "a default makes a variable optional", text: "${x:=d}", want: "d", strict: true},
		"nested":           {reason: "a default may be a variable", text: "${x:=${a}}", want: "one", strict: true},
		"nested undefined": {reason: "a variable in a default counts", text: "${x:=${y}}", strict: true, undefined: []string{"y"}},
		"empty default":    {reason: "an empty value takes a default with a colon", text: "${empty:-d}", want: "d"},
		"newlines":         {reason: "newlines are taken out of values", text: "${lines}", want: "xy"},
		"upper":            {reason: "bash's functions work", text: "${a^^} ${B_2,,} ${a:0:2} ${path/b/z}", want: "ONE two on a/z/c.txt"},
		"length":           {reason: "a length is a number", text: "${#a}", want: "3"},
		"unclosed":         {reason: "what is no expression is an error", text: "${a", fails: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := &substitute.Options{Variables: variables, Strict: c.strict}
			got, err := options.Text(c.text)
			var undefined *substitute.UndefinedError
			switch {
			case c.undefined != nil:
				if !errors.As(err, &undefined) {
					t.Fatalf("%s: error %v, want an UndefinedError", c.reason, err)
				}
				if diff := cmp.Diff(c.undefined, undefined.Names); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			case c.fails:
				if err == nil {
					t.Errorf("%s: no error, but %q", c.reason, got)
				}
			case err != nil:
				t.Errorf("%s: %v", c.reason, err)
			case got != c.want:
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	good := &substitute.Options{Variables: map[string]string{"_a": "", "A1": ""}}
	if err := good.Check(); err != nil {
		t.Errorf("names that Flux takes: %v", err)
	}
	bad := &substitute.Options{Variables: map[string]string{"1a": "secret", "a-b": "secret"}}
	err := bad.Check()
	if err == nil || !strings.Contains(err.Error(), `"1a", "a-b"`) || strings.Contains(err.Error(), "secret") {
		t.Errorf("names that Flux refuses: %v", err)
	}
}

func TestActive(t *testing.T) {
	var none *substitute.Options
	for name, c := range map[string]struct {
		options *substitute.Options
		want    bool
	}{
		"no substitution":   {none, false},
		"no variables":      {&substitute.Options{Strict: true}, false},
		"variables":         {&substitute.Options{Variables: map[string]string{"a": ""}}, true},
		"always, for those": {&substitute.Options{Always: true}, true},
	} {
		if got := c.options.Active(); got != c.want {
			t.Errorf("%s: Active is %v", name, got)
		}
	}
}

// FuzzText searches for text that breaks the expressions, or that shows a value in an error.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"${a}", "${a:=${b:-c}}", "$${a}", "${a/x/y}", "${", "${a:1:2}", "${#a}", "${a^^}", "${a:?no}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const value = "hunter2hunter2"
		options := &substitute.Options{Variables: map[string]string{"a": value}, Strict: true}
		if _, err := options.Text(text); err != nil && strings.Contains(err.Error(), value) && !strings.Contains(text, value) {
			t.Errorf("the error shows a value: %v", err)
		}
		if plain := strings.ReplaceAll(text, "$", ""); plain == text {
			if got, err := options.Text(text); err != nil || got != text {
				t.Errorf("text without a dollar became %q (%v)", got, err)
			}
		}
	})
}
