package v1alpha1

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// AnyString is a string that may be written as a number or a boolean as well.
//
// +kubebuilder:validation:Type=string
type AnyString string

// Any makes a value out of a string.
func Any(s string) *AnyString {
	value := AnyString(s)
	return &value
}

// String is the string; that of no value is empty.
func (a *AnyString) String() string {
	if a == nil {
		return ""
	}
	return string(*a)
}

// UnmarshalJSON reads strings, and the text of anything else.
func (a *AnyString) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*a = AnyString(text)
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return fmt.Errorf("reading a value: %w", err)
	}
	*a = AnyString(compact.String())
	return nil
}

// Item is one of the values of a loop: a string, a number, a boolean, a list or a map.
//
// +kubebuilder:validation:Type=object
type Item struct {
	// Raw is the JSON.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the JSON.
func (i *Item) UnmarshalJSON(data []byte) error {
	i.Raw = bytes.Clone(data)
	return nil
}

// MarshalJSON gives the JSON back.
func (i Item) MarshalJSON() ([]byte, error) {
	if len(i.Raw) == 0 {
		return []byte("null"), nil
	}
	return i.Raw, nil
}
