package document

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// separator is between two documents of a stream.
const separator = "---\n"

// Append adds documents to a stream of YAML: maps (map[string]any or *Map), lists ([]any), strings, bools, int64, uint64, float64 and nil.
// apiVersion, kind and metadata are the first keys of a document, in this order.
func Append(stream []byte, documents ...any) []byte {
	for _, one := range documents {
		if len(stream) > 0 {
			stream = append(stream, separator...)
		}
		w := writer{out: stream}
		w.root(one)
		stream = w.out
	}
	return stream
}

type writer struct{ out []byte }

// maxKey is how long a key may be that is followed by a colon in the same line; readers give up beyond 1024 characters.
const maxKey = 1000

func (w *writer) root(value any) {
	keys, get := mapping(value)
	if get == nil || len(keys) == 0 {
		w.value(value, 0)
		return
	}
	w.pairs(first(keys), get, 0)
}

// first has the keys that name an object before all others.
func first(keys []string) []string {
	ordered := make([]string, 0, len(keys))
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		for _, key := range keys {
			if key == name {
				ordered = append(ordered, key)
			}
		}
	}
	for _, key := range keys {
		if key != "apiVersion" && key != "kind" && key != "metadata" {
			ordered = append(ordered, key)
		}
	}
	return ordered
}

// mapping is the keys of a mapping in order, and their values; the second is nil for anything else.
func mapping(value any) ([]string, func(string) any) {
	switch v := value.(type) {
	case map[string]any:
		return Keys(v), func(key string) any { return v[key] }
	case *Map:
		return v.keys, func(key string) any { return v.values[key] }
	}
	return nil, nil
}

// pairs writes the pairs of a mapping at an indentation; the first begins where the writer is.
func (w *writer) pairs(keys []string, get func(string) any, indent int) {
	for i, key := range keys {
		if i > 0 {
			w.indent(indent)
		}
		written := keyText(key)
		if len(written) > maxKey {
			w.out = append(w.out, "? "...)
			w.out = append(w.out, written...)
			w.out = append(w.out, '\n')
			w.indent(indent)
		} else {
			w.out = append(w.out, written...)
		}
		w.out = append(w.out, ':')
		w.below(get(key), indent)
	}
}

// below writes the value of a key: in its line, or in the lines below it.
func (w *writer) below(value any, indent int) {
	if keys, get := mapping(value); len(keys) > 0 {
		w.out = append(w.out, '\n')
		w.indent(indent + 2)
		w.pairs(keys, get, indent+2)
		return
	}
	if list, ok := value.([]any); ok && len(list) > 0 {
		w.out = append(w.out, '\n')
		w.indent(indent + 2)
		w.items(list, indent+2)
		return
	}
	w.out = append(w.out, ' ')
	w.value(value, indent+2)
}

func (w *writer) items(list []any, indent int) {
	for i, item := range list {
		if i > 0 {
			w.indent(indent)
		}
		w.out = append(w.out, "- "...)
		w.value(item, indent+2)
	}
}

// value writes what begins where the writer is; indent is that of the lines that follow.
func (w *writer) value(value any, indent int) {
	if keys, get := mapping(value); get != nil {
		if len(keys) > 0 {
			w.pairs(keys, get, indent)
			return
		}
		w.out = append(w.out, "{}\n"...)
		return
	}
	if list, ok := value.([]any); ok {
		if len(list) > 0 {
			w.items(list, indent)
			return
		}
		w.out = append(w.out, "[]\n"...)
		return
	}
	w.out = append(append(w.out, scalar(value, indent)...), '\n')
}

func (w *writer) indent(n int) {
	for range n {
		w.out = append(w.out, ' ')
	}
}

// scalar is the text of a scalar without a newline at its end.
func scalar(value any, indent int) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return number(v)
	case string:
		return text(v, indent)
	}
	// Other numbers are those of Go code that builds objects itself.
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	}
	return text(fmt.Sprint(value), indent)
}

// number is a number as JavaScript writes it: without an exponent up to 1e21, and without a point where it is whole.
func number(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return ".nan"
	case math.IsInf(v, 1):
		return ".inf"
	case math.IsInf(v, -1):
		return "-.inf"
	case size == 0:
		return "0"
	case size >= 1e21 || size < 1e-6:
		written := strconv.FormatFloat(v, 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(written, "e")
		return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
