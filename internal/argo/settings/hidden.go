package settings

import "fmt"

// hidden is what is shown in the place of a secret.
const hidden = "(hidden)"

// Secret is a text that no log, error or file shows, whatever it is formatted with.
type Secret struct{ value string }

// NewSecret hides a text.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the text, for whoever signs in with it.
func (s Secret) Reveal() string { return s.value }

// IsSet is false where there is no text.
func (s Secret) IsSet() bool { return s.value != "" }

// Equal compares the texts.
func (s Secret) Equal(other Secret) bool { return s.value == other.value }

// String says that there is a secret.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return hidden
}

// Format says no more, whichever verb is used.
func (s Secret) Format(state fmt.State, _ rune) { fmt.Fprint(state, s.String()) }

// MarshalText says no more to JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
