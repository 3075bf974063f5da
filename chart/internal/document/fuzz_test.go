package document_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart/internal/document"
)

// FuzzText writes a string as a key and as a value in every place, and expects it back from readers of YAML 1.1 and 1.2.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"", " ", "a", "yes", "on", "y", "N", "0755", "0o17", "0X1F", "1e3", "1_000", "12:30:45", "2024-01-01", "~", "null", "it's", `say "hi"`, `both ' and "`,
		"a: b", "a #b", "# a", "-", "- a", "?", "? a", "---", "...", "%a", "a\nb", "a\nb\n", "a\n\n", "\na", " a\nb", "\ta\nb", "a \nb", "a\n b\n", "a\n\t", "a\r\nb",
		"\u0085", "\u2028", "\ufeff", "\U0001f600", "{}", "[a", "a,b", "key:", "<<", "=", ".", "+.inf", "a\n---\nb", "---\na", "!!str", "&a", "*a", "|", ">", "@", "`", "\x7f", "a\tb", "a:\tb", "\n", "\n\n", "\n \na",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip("a string of an object is UTF-8")
		}
		want := map[string]any{
			"value": text, "list": []any{text, []any{text, "end"}, map[string]any{"in": text, "next": true}, "end"}, "map": map[string]any{"deep": map[string]any{"er": text, "x": "end"}},
			"keys": map[string]any{text: map[string]any{text: text}, text + "2": []any{text}, text + " ": "x"},
		}
		check(t, want)
		checkRoot(t, text)
	})
}

func check(t *testing.T, want map[string]any) {
	t.Helper()
	written := document.Append(nil, want)
	var third map[string]any
	if err := yaml3.Unmarshal(written, &third); err != nil {
		t.Fatalf("reading as YAML 1.2: %v\n%s", err, written)
	}
	if diff := cmp.Diff(want, third); diff != "" {
		t.Fatalf("read as YAML 1.2 (-want +got):\n%s\n%s", diff, written)
	}
	var second map[string]any
	if err := yaml.Unmarshal(written, &second); err != nil {
		t.Fatalf("reading as kubectl does: %v\n%s", err, written)
	}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Fatalf("read as kubectl does (-want +got):\n%s\n%s", diff, written)
	}
	var old struct {
		Value string              `yaml:"value"`
		Keys  map[any]interface{} `yaml:"keys"`
	}
	if err := yaml2.Unmarshal(written, &old); err != nil {
		t.Fatalf("reading as YAML 1.1: %v\n%s", err, written)
	}
	for key := range old.Keys {
		if _, ok := key.(string); !ok {
			t.Fatalf("the key %v is a %T for a reader of YAML 1.1\n%s", key, key, written)
		}
	}
	if old.Value != want["value"] {
		t.Fatalf("read as YAML 1.1: %q, want %q\n%s", old.Value, want["value"], written)
	}
}

// checkRoot writes a string as a whole document.
func checkRoot(t *testing.T, text string) {
	t.Helper()
	written := document.Append(nil, text)
	var third any
	if err := yaml3.Unmarshal(written, &third); err != nil || third != text {
		t.Fatalf("a document of its own: %q, %v, want %q\n%s", third, err, text, written)
	}
}
