package generate

import (
	"crypto/rand"
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/externalsecrets/generators/v1alpha1"
)

func TestPassword(t *testing.T) {
	count := func(text, of string) (n int) {
		for _, r := range text {
			if strings.ContainsRune(of, r) {
				n++
			}
		}
		return n
	}
	cases := map[string]struct {
		reason                          string
		spec                            v1alpha1.PasswordSpec
		length, digits, symbols, uppers int
		keys                            []string
		symbolsOf                       string
	}{
		"Default":     {"24 characters, a quarter of them digits, a quarter symbols", v1alpha1.PasswordSpec{}, 24, 6, 6, -1, []string{"password"}, defaultSymbols},
		"Length":      {"the quarter is that of the length", v1alpha1.PasswordSpec{Length: 8}, 8, 2, 2, -1, []string{"password"}, defaultSymbols},
		"None":        {"none are none", v1alpha1.PasswordSpec{Length: 20, Digits: new(0), Symbols: new(0)}, 20, 0, 0, -1, []string{"password"}, defaultSymbols},
		"NoUpper":     {"without upper case", v1alpha1.PasswordSpec{NoUpper: true}, 24, 6, 6, 0, []string{"password"}, defaultSymbols},
		"Symbols":     {"symbols are those given", v1alpha1.PasswordSpec{Symbols: new(2), SymbolCharacters: new("-_")}, 24, 6, 2, -1, []string{"password"}, "-_"},
		"Repeat":      {"more than there are, if they may occur twice", v1alpha1.PasswordSpec{Length: 200, AllowRepeat: true}, 200, 50, 50, -1, []string{"password"}, defaultSymbols},
		"SeveralKeys": {"one for each key", v1alpha1.PasswordSpec{SecretKeys: []string{"a", "b"}}, 24, 6, 6, -1, []string{"a", "b"}, defaultSymbols},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			made, err := Password(tc.spec, rand.Reader)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.keys, slices.Sorted(maps.Keys(made))); diff != "" {
				t.Errorf("%s: keys (-want +got):\n%s", tc.reason, diff)
			}
			seen := map[string]bool{}
			for _, value := range made {
				text := string(value)
				if len(text) != tc.length || count(text, digits) != tc.digits || count(text, tc.symbolsOf) != tc.symbols {
					t.Errorf("%s: %d characters, %d digits, %d symbols", tc.reason, len(text), count(text, digits), count(text, tc.symbolsOf))
				}
				if tc.uppers >= 0 && count(text, upper) != tc.uppers {
					t.Errorf("%s: %d of upper case", tc.reason, count(text, upper))
				}
				if !tc.spec.AllowRepeat && distinct(text) != len(text) {
					t.Errorf("%s: a character occurs twice", tc.reason)
				}
				if seen[text] {
					t.Errorf("%s: the same password twice", tc.reason)
				}
				seen[text] = true
			}
		})
	}
}

func TestPasswordRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   v1alpha1.PasswordSpec
		want   string
	}{
		"Negative":   {"a length is a number of characters", v1alpha1.PasswordSpec{Length: -1}, "length: -1 is not between"},
		"Huge":       {"and bounded", v1alpha1.PasswordSpec{Length: 1 << 30}, "is not between"},
		"TooMany":    {"parts are not more than the whole", v1alpha1.PasswordSpec{Length: 4, Digits: new(5)}, "more than length"},
		"Repetition": {"there are ten digits", v1alpha1.PasswordSpec{Digits: new(11)}, "set allowRepeat"},
		"NoSymbols":  {"no symbols to choose from", v1alpha1.PasswordSpec{SymbolCharacters: new("")}, "symbolCharacters is empty"},
		"Encoding":   {"an unknown encoding", v1alpha1.PasswordSpec{Encoding: "rot13"}, `"rot13" is not one of`},
		"Key":        {"a key has a name", v1alpha1.PasswordSpec{SecretKeys: []string{""}}, "secretKeys[0] must be non-empty"},
		"Twice":      {"and occurs once", v1alpha1.PasswordSpec{SecretKeys: []string{"a", "a"}}, `duplicate key "a"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := Password(tc.spec, rand.Reader); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	for encoding, pattern := range map[string]string{
		"raw": `^.{24}$`, "base64": `^[A-Za-z0-9+/]{32}$`, "base64url": `^[A-Za-z0-9_-]{32}$`, "base32": `^[A-Z2-7]{39}=$`, "hex": `^[0-9a-f]{48}$`,
	} {
		made, err := Password(v1alpha1.PasswordSpec{Encoding: encoding}, rand.Reader)
		if err != nil || !regexp.MustCompile(pattern).Match(made[DefaultKey]) {
			t.Errorf("%s: %v, and not of the form %s", encoding, err, pattern)
		}
	}
	made, err := Password(v1alpha1.PasswordSpec{Encoding: "base64", Length: 3}, rand.Reader)
	if raw, e := base64.StdEncoding.DecodeString(string(made[DefaultKey])); err != nil || e != nil || len(raw) != 3 {
		t.Errorf("base64 of 3 characters decodes to %d: %v %v", len(raw), err, e)
	}
}

func TestUUID(t *testing.T) {
	one, err := UUID(rand.Reader)
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).Match(one[UUIDKey]) {
		t.Errorf("no UUID of version 4: %v", err)
	}
	if two, _ := UUID(rand.Reader); string(two[UUIDKey]) == string(one[UUIDKey]) {
		t.Error("the same UUID twice")
	}
}
