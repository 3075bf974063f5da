package plan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/patterns"
)

// Bounds of what one ExternalSecret fetches.
const (
	maxPattern = 4096
	maxKeys    = 1000
	maxKey     = 253
)

// MaxValues bounds the values that one ExternalSecret fetches, with their keys, in bytes. They are more than a Secret holds, since templates may
// leave most out.
const MaxValues = 16 << 20

// Size is that of values with their keys, in bytes.
func Size(values map[string][]byte) int {
	size := 0
	for key, value := range values {
		size += len(key) + len(value)
	}
	return size
}

// Few refuses values that have more than MaxValues bytes together.
func Few(size int) error {
	if size > MaxValues {
		return fmt.Errorf("the values up to here have more than %d MiB together; spread the keys over several objects", MaxValues>>20)
	}
	return nil
}

var validKey = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)

// Transformer makes a key of each key by a template, in their order. Templates are programs of tenants: it runs them where they can do no harm.
type Transformer func(text string, keys []string) ([]string, error)

// Named are the values of one entry of dataFrom, by keys of the Secret: rewritten, or converted where nothing is rewritten, checked and
// decoded.
func Named(from esv1.DataFrom, values map[string][]byte, transform Transformer) (map[string][]byte, error) {
	err := countable(values)
	if err != nil {
		return nil, err
	}
	if len(from.Rewrite) > 0 {
		for i, r := range from.Rewrite {
			if values, err = rewrite(r, values, transform); err == nil {
				err = countable(values)
			}
			if err != nil {
				return nil, fmt.Errorf("rewrite[%d]: %w", i, err)
			}
		}
	} else if values, err = converted(strategy(from), values); err != nil {
		return nil, err
	}
	decoded := make(map[string][]byte, len(values))
	for key, value := range values {
		if err := Key(key); err != nil {
			return nil, fmt.Errorf("%w; change it with rewrite", err)
		}
		if decoded[key], err = Decode(decoding(from), value); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		if err := nulls(nullBytes(from), decoded[key]); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
	}
	return decoded, nil
}

// countable refuses values that are too many, too large together, or have a key that is too long to be rewritten.
func countable(values map[string][]byte) error {
	if len(values) > maxKeys {
		return fmt.Errorf("there are %d keys; at most %d are permitted", len(values), maxKeys)
	}
	for key := range values {
		if len(key) > maxPattern {
			return fmt.Errorf("the key %q has %d bytes; at most %d are permitted", bounded(key), len(key), maxPattern)
		}
	}
	return Few(Size(values))
}

// Single is a value of data: decoded and checked.
func Single(d esv1.Data, value []byte) ([]byte, error) {
	if err := Key(d.SecretKey); err != nil {
		return nil, err
	}
	made, err := Decode(d.RemoteRef.DecodingStrategy, value)
	if err != nil {
		return nil, err
	}
	return made, nulls(d.RemoteRef.NullBytePolicy, made)
}

func strategy(from esv1.DataFrom) esv1.ConversionStrategy {
	switch {
	case from.Extract != nil:
		return from.Extract.ConversionStrategy
	case from.Find != nil:
		return from.Find.ConversionStrategy
	}
	return esv1.ConversionDefault
}

func decoding(from esv1.DataFrom) esv1.DecodingStrategy {
	switch {
	case from.Extract != nil:
		return from.Extract.DecodingStrategy
	case from.Find != nil:
		return from.Find.DecodingStrategy
	}
	return esv1.DecodeNone
}

func nullBytes(from esv1.DataFrom) esv1.NullBytePolicy {
	switch {
	case from.Extract != nil:
		return from.Extract.NullBytePolicy
	case from.Find != nil:
		return from.Find.NullBytePolicy
	}
	return esv1.NullBytesIgnore
}

// nulls refuses a value with a null byte, where the policy says so.
func nulls(policy esv1.NullBytePolicy, value []byte) error {
	if policy == esv1.NullBytesFail && bytes.IndexByte(value, 0) >= 0 {
		return errors.New("the value has a null byte, and nullBytePolicy is Fail")
	}
	return nil
}

// Key refuses what is no key of a Secret.
func Key(key string) error {
	if !validKey.MatchString(key) || len(key) > maxKey {
		return fmt.Errorf("the key %q is not one of a Secret: letters, digits, '-', '_' and '.' are permitted, at most %d", bounded(key), maxKey)
	}
	return nil
}

func bounded(text string) string {
	if len(text) > maxKey {
		return text[:maxKey] + "..."
	}
	return text
}

// converted makes keys of a Secret of names in a store. Two that become the same are an error.
func converted(strategy esv1.ConversionStrategy, values map[string][]byte) (map[string][]byte, error) {
	made, of := make(map[string][]byte, len(values)), map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := Convert(strategy, key)
		if other, taken := of[name]; taken {
			return nil, fmt.Errorf("the keys %q and %q are both converted to %q; change them with rewrite", bounded(other), bounded(key), bounded(name))
		}
		of[name], made[name] = key, values[key]
	}
	return made, nil
}

// Convert makes a key of a Secret of a name: what is not permitted becomes "_", or its number in Unicode.
func Convert(strategy esv1.ConversionStrategy, key string) string {
	var b strings.Builder
	for _, r := range key {
		switch {
		case r < unicode.MaxASCII && (r == '-' || r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case strategy == esv1.ConversionUnicode:
			fmt.Fprintf(&b, "_U%04x_", r)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// escaped is a character as ConversionUnicode writes it.
var escaped = regexp.MustCompile(`_U([0-9a-fA-F]{4,5})_`)

// Revert makes the name of a key that ConversionUnicode made.
func Revert(key string) string {
	return escaped.ReplaceAllStringFunc(key, func(match string) string {
		var r rune
		if _, err := fmt.Sscanf(match, "_U%x_", &r); err != nil {
			return match
		}
		return string(r)
	})
}

// Decode decodes a value.
func Decode(strategy esv1.DecodingStrategy, value []byte) ([]byte, error) {
	decode := func(of *base64.Encoding) ([]byte, bool) {
		made, err := of.DecodeString(string(bytes.TrimSpace(value)))
		return made, err == nil
	}
	switch strategy {
	case "", esv1.DecodeNone:
		return value, nil
	case esv1.DecodeBase64:
		if made, ok := decode(base64.StdEncoding); ok {
			return made, nil
		}
	case esv1.DecodeBase64URL:
		if made, ok := decode(base64.URLEncoding); ok {
			return made, nil
		}
	case esv1.DecodeAuto:
		for _, one := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			if made, ok := decode(one); ok {
				return made, nil
			}
		}
		return value, nil
	default:
		return nil, fmt.Errorf("decodingStrategy: %q is not one of None, Base64, Base64URL, Auto", strategy)
	}
	return nil, fmt.Errorf("the value is not %s, as decodingStrategy says", strategy)
}

func rewrite(r esv1.Rewrite, values map[string][]byte, transform Transformer) (map[string][]byte, error) {
	switch {
	case r.Regexp != nil:
		if len(r.Regexp.Source) > maxPattern || len(r.Regexp.Target) > maxPattern {
			return nil, fmt.Errorf("regexp: at most %d bytes are permitted", maxPattern)
		}
		pattern, err := patterns.Regexp(r.Regexp.Source)
		if err != nil {
			return nil, fmt.Errorf("regexp.source is not a valid regular expression: %w", err)
		}
		return renamed(values, func(keys []string) ([]string, error) {
			made := make([]string, len(keys))
			for i, key := range keys {
				made[i] = pattern.ReplaceAllString(key, r.Regexp.Target)
			}
			return made, nil
		})
	case r.Transform != nil:
		return renamed(values, func(keys []string) ([]string, error) { return transform(r.Transform.Template, keys) })
	case r.Merge != nil:
		return merge(*r.Merge, values)
	}
	return nil, errors.New("it has none of regexp, transform, merge")
}

// renamed has the values by other keys. Where two get the same, that of the last key in order is kept, always the same one.
func renamed(values map[string][]byte, names func(keys []string) ([]string, error)) (map[string][]byte, error) {
	keys := slices.Sorted(maps.Keys(values))
	others, err := names(keys)
	if err != nil {
		return nil, err
	}
	made := make(map[string][]byte, len(values))
	for i, key := range keys {
		if len(others[i]) > maxPattern {
			return nil, fmt.Errorf("key %q: what it becomes has more than %d bytes", bounded(key), maxPattern)
		}
		made[others[i]] = values[key]
	}
	return made, nil
}

// merge makes one set of values that are JSON objects. Keys of priority come last, so that theirs are kept.
func merge(m esv1.RewriteMerge, values map[string][]byte) (map[string][]byte, error) {
	if len(m.Priority) > maxKeys {
		return nil, fmt.Errorf("merge.priority: there are %d keys; at most %d are permitted", len(m.Priority), maxKeys)
	}
	for _, key := range m.Priority {
		if _, has := values[key]; !has && m.PriorityPolicy != "IgnoreNotFound" {
			return nil, fmt.Errorf("merge.priority: there is no key %q", bounded(key))
		}
	}
	order := slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(key string) bool { return slices.Contains(m.Priority, key) })
	plain := len(order)
	order = append(order, slices.DeleteFunc(slices.Clone(m.Priority), func(key string) bool { _, has := values[key]; return !has })...)
	all := map[string]json.RawMessage{}
	from := map[string]string{}
	for i, key := range order {
		var fields map[string]json.RawMessage
		if json.Unmarshal(values[key], &fields) != nil {
			return nil, fmt.Errorf("merge: the value of key %q is not a JSON object", bounded(key))
		}
		for name, value := range fields {
			if other, twice := from[name]; twice && i < plain && m.ConflictPolicy != "Ignore" {
				return nil, fmt.Errorf("merge: the keys %q and %q both have %q; say which one wins by priority, or set conflictPolicy to Ignore", bounded(other), bounded(key), bounded(name))
			}
			all[name], from[name] = value, key
		}
	}
	switch m.Strategy {
	case "", "Extract":
		made := make(map[string][]byte, len(all))
		for name, raw := range all {
			made[name] = textOf(raw)
		}
		return made, nil
	case "JSON":
		if m.Into == "" {
			return nil, errors.New("merge.into is missing, which the strategy JSON needs")
		}
		data, err := json.Marshal(all)
		if err != nil {
			return nil, errors.New("merge: the values cannot be written as JSON")
		}
		return map[string][]byte{m.Into: data}, nil
	}
	return nil, fmt.Errorf("merge.strategy: %q is not one of Extract, JSON", m.Strategy)
}

func textOf(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	return raw
}
