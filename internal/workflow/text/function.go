package text

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/ohler55/ojg/jp"

	"github.com/headgate-dev/headgate/internal/resourceset"
)

// dated makes a function of sprig on a date take it as text too, such as workflow.creationTimestamp. Anything else is the time of the pass, where the
// library would ask the clock. The date is the last argument, or the one before the zone.
func dated(function any, now time.Time, byZone bool) func(...any) (any, error) {
	return func(arguments ...any) (any, error) {
		at := len(arguments) - 1
		if byZone {
			at--
		}
		if at < 0 {
			return nil, fmt.Errorf("the function on a date has too few arguments")
		}
		arguments[at] = dateOf(arguments[at], now)
		called := reflect.ValueOf(function)
		if len(arguments) != called.Type().NumIn() {
			return nil, fmt.Errorf("the function on a date takes %d arguments, not %d", called.Type().NumIn(), len(arguments))
		}
		values := make([]reflect.Value, len(arguments))
		for i, argument := range arguments {
			values[i] = reflect.ValueOf(argument)
			if !values[i].IsValid() || !values[i].Type().AssignableTo(called.Type().In(i)) {
				return nil, fmt.Errorf("the function on a date does not take a %T", argument)
			}
		}
		return called.Call(values)[0].Interface(), nil
	}
}

func dateOf(value any, now time.Time) time.Time {
	switch v := value.(type) {
	case time.Time:
		return v
	case *time.Time:
		if v != nil {
			return *v
		}
	case string:
		if parsed, err := time.Parse(time.RFC3339, v); err == nil {
			return parsed
		}
	case int:
		return time.Unix(int64(v), 0).UTC()
	case int64:
		return time.Unix(v, 0).UTC()
	}
	return now
}

// functions are those that expressions may call, by name, at a time. None leaves the process, and none gives something else for the same arguments:
// an expression is evaluated again when a killed process is replaced.
var functions = map[string]func(time.Time, *meter) any{
	"asInt":    func(time.Time, *meter) any { return asInt },
	"asFloat":  func(time.Time, *meter) any { return asFloat },
	"toJson":   func(time.Time, *meter) any { return toJSON },
	"jsonpath": func(_ time.Time, m *meter) any { return m.jsonPath },
	"now":      func(now time.Time, _ *meter) any { return clock(now) },
	"sprig":    func(now time.Time, m *meter) any { return library(now, m) },
}

func clock(now time.Time) func() time.Time { return func() time.Time { return now } }

// library are the functions of sprig.
func library(now time.Time, m *meter) map[string]any {
	library := map[string]any{}
	for name, function := range resourceset.Hermetic() {
		library[name] = function
	}
	all := sprig.GenericFuncMap()
	for _, format := range []string{"date_in_zone", "dateInZone", "htmlDateInZone"} {
		library[format] = dated(all[format], now, true)
	}
	// Without a zone, it is not that of the machine.
	inZone := dated(all["dateInZone"], now, true)
	library["date"] = func(format string, date any) (any, error) { return inZone(format, date, "UTC") }
	library["htmlDate"] = func(date any) (any, error) { return inZone("2006-01-02", date, "UTC") }
	for _, modify := range []string{"date_modify", "dateModify"} {
		library[modify] = dated(all[modify], now, false)
	}
	library["now"] = clock(now)
	m.guard(library)
	m.guardPatterns(library)
	return library
}

func asInt(value any) (int, error) {
	switch v := value.(type) {
	case int:
		return v, nil
	case float64:
		return int(v), nil
	case string:
		if number, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
			return number, nil
		}
		number, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			return 0, fmt.Errorf("asInt: %q is not a number", v)
		}
		return int(number), nil
	default:
		return 0, fmt.Errorf("asInt: a value of type %T is not a number", value)
	}
}

func asFloat(value any) (float64, error) {
	switch v := value.(type) {
	case int:
		return float64(v), nil
	case float64:
		return v, nil
	case string:
		number, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			return 0, fmt.Errorf("asFloat: %q is not a number", v)
		}
		return number, nil
	default:
		return 0, fmt.Errorf("asFloat: a value of type %T is not a number", value)
	}
}

func toJSON(value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("toJson: %w", err)
	}
	return string(data), nil
}

// jsonPath evaluates a path over a text of JSON. A path that names one value gives that value, any other a list.
func (m *meter) jsonPath(text, path string) (any, error) {
	if err := m.read(text); err != nil {
		return nil, fmt.Errorf("jsonpath: %w", err)
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("jsonpath: the text is not JSON: %w", err)
	}
	parsed, err := jp.ParseString(path)
	if err != nil {
		return nil, fmt.Errorf("jsonpath: %q is not a path: %w", path, err)
	}
	if err := m.find(parsed, value); err != nil {
		return nil, fmt.Errorf("jsonpath: %q may find too much: %w", path, err)
	}
	found := parsed.Get(value)
	if !singular(parsed) {
		return found, nil
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("jsonpath: %q names nothing in the text", path)
	}
	return found[0], nil
}

func singular(path jp.Expr) bool {
	for _, part := range path {
		switch part.(type) {
		case jp.Root, jp.At, jp.Bracket, jp.Child, jp.Nth:
		default:
			return false
		}
	}
	return true
}
