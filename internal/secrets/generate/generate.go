// Package generate makes the values of generators: passwords and UUIDs.
//
// It is pure but for chance, which the caller gives, and refuses to know clusters and objects but the specs of generators.
package generate

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/headgate-dev/headgate/api/externalsecrets/generators/v1alpha1"
)

// Bounds and defaults of passwords.
const (
	defaultLength = 24
	// part is the share of digits, and that of symbols, where none is given: a quarter.
	part = 4
	// maxLength bounds a password, in characters.
	maxLength = 4096
	// maxKeys bounds how many passwords one generator makes.
	maxKeys = 64

	// DefaultKey is the key of a password that is given no other, UUIDKey that of a UUID.
	DefaultKey = "password"
	UUIDKey    = "uuid"

	lower          = "abcdefghijklmnopqrstuvwxyz"
	upper          = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits         = "0123456789"
	defaultSymbols = "~!@#$%^&*()_+`-={}|[]\\:\"<>?,./"
)

// Chance is where random bytes come from, such as crypto/rand.Reader.
type Chance interface {
	Read(p []byte) (n int, err error)
}

// UUID makes a random UUID (version 4).
func UUID(chance Chance) (map[string][]byte, error) {
	id, err := uuid.NewRandomFromReader(chance)
	if err != nil {
		return nil, fmt.Errorf("generating a UUID: %w", err)
	}
	return map[string][]byte{UUIDKey: []byte(id.String())}, nil
}

// Password makes a password for each key of a spec.
func Password(spec v1alpha1.PasswordSpec, chance Chance) (map[string][]byte, error) {
	r, err := recipeOf(spec)
	if err != nil {
		return nil, err
	}
	keys := spec.SecretKeys
	if len(keys) == 0 {
		keys = []string{DefaultKey}
	}
	if len(keys) > maxKeys {
		return nil, fmt.Errorf("secretKeys: %d are more than %d", len(keys), maxKeys)
	}
	made := map[string][]byte{}
	for i, key := range keys {
		switch {
		case key == "":
			return nil, fmt.Errorf("secretKeys[%d] must be non-empty", i)
		case made[key] != nil:
			return nil, fmt.Errorf("secretKeys[%d]: duplicate key %q", i, key)
		}
		password, err := r.make(chance)
		if err != nil {
			return nil, err
		}
		if made[key], err = encoded(password, spec.Encoding); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// recipe is how many characters of which kind there are.
type recipe struct {
	letters, symbols            string
	nLetters, nDigits, nSymbols int
	repeat                      bool
}

func recipeOf(spec v1alpha1.PasswordSpec) (recipe, error) {
	length := spec.Length
	if length == 0 {
		length = defaultLength
	}
	if length < 0 || length > maxLength {
		return recipe{}, fmt.Errorf("length: %d is not between 1 and %d", length, maxLength)
	}
	r := recipe{letters: lower + upper, symbols: defaultSymbols, nDigits: length / part, nSymbols: length / part, repeat: spec.AllowRepeat}
	if spec.Digits != nil {
		r.nDigits = *spec.Digits
	}
	if spec.Symbols != nil {
		r.nSymbols = *spec.Symbols
	}
	if spec.SymbolCharacters != nil {
		r.symbols = *spec.SymbolCharacters
	}
	if spec.NoUpper {
		r.letters = lower
	}
	r.nLetters = length - r.nDigits - r.nSymbols
	return r, r.check()
}

func (r recipe) check() error {
	switch {
	case r.nDigits < 0 || r.nSymbols < 0:
		return errors.New("digits and symbols must not be negative")
	case r.nLetters < 0:
		return errors.New("digits and symbols are more than length")
	case r.nSymbols > 0 && r.symbols == "":
		return errors.New("symbolCharacters is empty, but symbols are requested")
	}
	if r.repeat {
		return nil
	}
	for _, one := range []struct {
		what, of string
		n        int
	}{{"letters", r.letters, r.nLetters}, {"digits", digits, r.nDigits}, {"symbols", r.symbols, r.nSymbols}} {
		if have := distinct(one.of); one.n > have {
			return fmt.Errorf("%d %s without repetition are not possible, since there are %d; set allowRepeat", one.n, one.what, have)
		}
	}
	return nil
}

func distinct(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

// make makes one password: each character goes to a random place.
func (r recipe) make(chance Chance) ([]byte, error) {
	var made []rune
	used := map[rune]bool{}
	for _, one := range []struct {
		of string
		n  int
	}{{r.letters, r.nLetters}, {digits, r.nDigits}, {r.symbols, r.nSymbols}} {
		from := []rune(one.of)
		for range one.n {
			c, err := r.pick(from, used, chance)
			if err != nil {
				return nil, err
			}
			at, err := below(len(made)+1, chance)
			if err != nil {
				return nil, err
			}
			made = append(made, 0)
			copy(made[at+1:], made[at:])
			made[at] = c
		}
	}
	return []byte(string(made)), nil
}

// pick is a random character, one that was not used before unless it may be.
func (r recipe) pick(from []rune, used map[rune]bool, chance Chance) (rune, error) {
	left := from
	if !r.repeat {
		left = nil
		for _, c := range from {
			if !used[c] {
				left = append(left, c)
			}
		}
		if len(left) == 0 {
			return 0, errors.New("there are no characters left that were not used; set allowRepeat")
		}
	}
	i, err := below(len(left), chance)
	if err != nil {
		return 0, err
	}
	used[left[i]] = true
	return left[i], nil
}

// below is a random number from 0 to n-1, each as likely as the others.
func below(n int, chance Chance) (int, error) {
	const most, bits = 1 << 16, 8
	limit := most - most%n
	for {
		var b [2]byte
		if _, err := chance.Read(b[:]); err != nil {
			return 0, fmt.Errorf("generating a password: %w", err)
		}
		if v := int(b[0])<<bits | int(b[1]); v < limit {
			return v % n, nil
		}
	}
}

func encoded(password []byte, encoding string) ([]byte, error) {
	switch strings.ToLower(encoding) {
	case "", "raw":
		return bytes.Clone(password), nil
	case "base64":
		return base64.StdEncoding.AppendEncode(nil, password), nil
	case "base64url":
		return base64.URLEncoding.AppendEncode(nil, password), nil
	case "base32":
		return base32.StdEncoding.AppendEncode(nil, password), nil
	case "hex":
		return hex.AppendEncode(nil, password), nil
	}
	return nil, fmt.Errorf("encoding: %q is not one of raw, base64, base64url, base32, hex", encoding)
}
