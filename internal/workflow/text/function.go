package text

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/ohler55/ojg/jp"

	"github.com/headgate-dev/headgate/internal/resourceset"
)

// dated are functions of sprig that work on a date, and give the same for the same one.
var dated = []string{"date", "date_in_zone", "dateInZone", "date_modify", "dateModify", "htmlDate", "htmlDateInZone"}

// functions are those that expressions may call, by name, at a time. None leaves the process, and none gives something else for the same arguments:
// an expression is evaluated again when a killed process is replaced.
var functions = map[string]func(time.Time) any{
	"asInt":    func(time.Time) any { return asInt },
	"asFloat":  func(time.Time) any { return asFloat },
	"toJson":   func(time.Time) any { return toJSON },
	"jsonpath": func(time.Time) any { return jsonPath },
	"now":      func(now time.Time) any { return clock(now) },
	"sprig":    func(now time.Time) any { return library(now) },
}

func clock(now time.Time) func() time.Time { return func() time.Time { return now } }

// library are the functions of sprig.
func library(now time.Time) map[string]any {
	library := map[string]any{}
	for name, function := range resourceset.Hermetic() {
		library[name] = function
	}
	all := sprig.GenericFuncMap()
	for _, name := range dated {
		library[name] = all[name]
	}
	library["now"] = clock(now)
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
func jsonPath(text, path string) (any, error) {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("jsonpath: the text is not JSON: %w", err)
	}
	parsed, err := jp.ParseString(path)
	if err != nil {
		return nil, fmt.Errorf("jsonpath: %q is not a path: %w", path, err)
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
