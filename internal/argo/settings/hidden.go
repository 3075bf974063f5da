package settings

import "fmt"

// hidden is what is shown instead of a secret.
const hidden = "(hidden)"

// Secret is a text that no log, error or file shows, whatever it is formatted with. It is behind a pointer, since
// fmt passes over methods where a verb does not fit what the secret is in.
type Secret struct{ value *string }

// NewSecret hides a text.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal returns the text, for logging in with it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet is false if there is not a string.
func (s Secret) IsSet() bool { return s.value != nil }

// Equal compares the texts.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String says that there is a secret.
func (s Secret) String() string {
	if s.IsSet() {
		return hidden
	}
	return ""
}

// Format says no more, whichever verb is used.
func (s Secret) Format(state fmt.State, _ rune) { fmt.Fprint(state, s.String()) }

// MarshalText says no more to JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
