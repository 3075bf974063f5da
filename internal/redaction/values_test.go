package redaction_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/redaction"
)

// TestValues has values found in whatever form they are written, and nothing else removed.
func TestValues(t *testing.T) {
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	const object = `{"user":"ann","password":"hu\"nt<er2","port":54321,"retries":3,"list":["other-word"],"on":true}`
	for name, tc := range map[string]struct {
		value, text, want string
	}{
		"Plain":             {"hunter2", "login with hunter2 failed", "login with … failed"},
		"Other text":        {"hunter2", "login failed with hunter3", "login failed with hunter3"},
		"Short":             {"ab", "cab", "c…"},
		"Space around it":   {"hunter2\n", "login with hunter2: no", "login with …: no"},
		"Line":              {"-----BEGIN-----\nMIIEvQIBADAN\n-----END-----\n", "read MIIEvQIBADAN", "read …"},
		"Quoted by Go":      {"a\"b\tc", `got "a\"b\tc"`, `got "…"`},
		"Quoted twice":      {"a\"b", fmt.Sprintf("%q", fmt.Sprintf("%q", `a"b`)), `"\"…\""`},
		"Quoted for HTML":   {"a<b&c", `"a\u003cb\u0026c"`, `"…"`},
		"Quoted as ASCII":   {"pässword", fmt.Sprintf("%+q", "pässword"), `"…"`},
		"Quoted by YAML":    {"it's me", "key: 'it''s me'", "key: '…'"},
		"In a query":        {"a b&c/d", "https://x.example/?t=a+b%26c%2Fd", "https://x.example/?t=…"},
		"In a path":         {"a b/c", "https://x.example/a%20b%2Fc", "https://x.example/…"},
		"Base64":            {"hunter2", "data: " + encode("hunter2"), "data: …"},
		"Base64 of a URL":   {"??>>??>>", "t=" + base64.RawURLEncoding.EncodeToString([]byte("??>>??>>")), "t=…"},
		"Decoded":           {encode("the-plain-word"), "it is the-plain-word", "it is …"},
		"Hexadecimal":       {"hunter2", "68756e74657232", "…"},
		"Number":            {"1234567", "pin 1.234567e+06", "pin …"},
		"Long number":       {"12345678901234567890", "id 12345678901234567000", "id …"},
		"Leaf":              {object, "user is other-word", "user is …"},
		"Quoted leaf":       {object, `said "hu\"nt<er2"`, `said "…"`},
		"Number of a leaf":  {object, "port 54321", "port …"},
		"Short leaf":        {object, "3 retries of ann", "3 retries of ann"},
		"Whole short leaf":  {object, "ann", "…"},
		"JSON, other order": {object, `{"list":["other-word"],"on":true,"password":"hu\"nt<er2","port":54321,"retries":3,"user":"ann"}`, "…"},
		"JSON in base64":    {encode(object), "port 54321", "port …"},
		"Nothing":           {"", "nothing", "nothing"},
		"Longest first":     {"[\"word-a\",\"word-a-and-b\"]", "word-a-and-b", "…"},
	} {
		t.Run(name, func(t *testing.T) {
			v := redaction.NewValues(tc.value)
			if got := v.Text(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			got := v.JSON(map[string]any{"of": []any{tc.text}})
			if diff := cmp.Diff(map[string]any{"of": []any{tc.want}}, got); diff != "" {
				t.Errorf("in JSON: %s", diff)
			}
		})
	}
	// Within a longer text in base64, wherever it begins, no more than the bits of a character at either end are left.
	for _, before := range []string{"", "u", "us", "usr:"} {
		got := redaction.NewValues("hunter2-long").Text("Basic " + encode(before+"hunter2-long"+":after"))
		if plain := decodable(got); strings.Contains(plain, "unter") || !strings.Contains(got, "…") {
			t.Errorf("after %q: %s", before, got)
		}
	}
}

// decodable is what the parts of a text are the base64 of.
func decodable(text string) string {
	var all strings.Builder
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == '…' }) {
		for skip := range 4 {
			if data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(word[min(skip, len(word)):], "=")); err == nil {
				all.Write(data)
			}
		}
	}
	return all.String()
}

// TestValuesAsJSON has values found that an expression gave another type.
func TestValuesAsJSON(t *testing.T) {
	v := redaction.NewValues("1234567", `{"password":"hunter2","ports":[54321],"retries":3}`)
	got := v.JSON(map[string]any{
		"number": 1234567.0, "whole": 1234567, "exact": json.Number("54321"), "other": 7.0, "retries": 3.0, "on": true, "none": nil,
		"object": map[string]any{"password": "hunter2", "hunter2": 1.0}, "typed": struct {
			A string `json:"a"`
			N int32  `json:"n"`
		}{"hunter2", 54321}, "list": []string{"hunter2"},
	})
	want := map[string]any{
		"number": "…", "whole": "…", "exact": "…", "other": 7.0, "retries": 3.0, "on": true, "none": nil,
		"object": map[string]any{"password": "…", "…": 1.0}, "typed": map[string]any{"a": "…", "n": "…"}, "list": []any{"…"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestManyValues has the lines of a long value found as they are, and shows nothing where there are more values than can be searched for.
func TestManyValues(t *testing.T) {
	lines := make([]string, 0, 5000)
	for i := range cap(lines) {
		lines = append(lines, fmt.Sprintf("line-%d-of-many", i))
	}
	long := redaction.NewValues(strings.Join(lines, "\n"), "hunter2")
	if got := long.Text("hunter2 aHVudGVyMg== line-4999-of-many, line-5000-of-many"); got != "… … …, line-5000-of-many" {
		t.Errorf("of many lines: %s", got)
	}
	many := make([]string, 0, 30_000)
	for i := range cap(many) {
		many = append(many, fmt.Sprintf("value-%d", i))
	}
	list, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]*redaction.Values{
		"values": redaction.NewValues(many...), "leaves": redaction.NewValues(string(list)), "bytes": redaction.NewValues(strings.Repeat("x", 5<<20)),
		"nested": redaction.NewValues(strings.Repeat(`{"a-key":`, 5000) + string(list) + strings.Repeat("}", 5000)),
	} {
		if got := v.JSON(map[string]any{"a": "b", "n": 1.0}); !cmp.Equal(got, map[string]any{"…": "…"}) && !cmp.Equal(got, map[string]any{"…": "…", "n": "…"}) {
			t.Errorf("%s: %v", name, got)
		}
		if got := v.Text("value-29999"); got != "…" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzValues has a value never survive in the forms in which steps and servers write it.
func FuzzValues(f *testing.F) {
	f.Add("hunter2", "before ", " after")
	f.Add(`{"a":"b-long"}`, "", "")
	f.Add("12345", "x", "y")
	f.Fuzz(func(t *testing.T, value, before, after string) {
		if len(value) < 4 || strings.Contains(before+after, value) {
			t.Skip()
		}
		v := redaction.NewValues(value)
		for _, form := range []string{value, fmt.Sprintf("%q", value), base64.StdEncoding.EncodeToString([]byte(value))} {
			if got := v.Text(before + form + after); strings.Contains(got, form) && !strings.Contains(before+after, form) {
				t.Errorf("%q is still in %q", form, got)
			}
		}
	})
}
