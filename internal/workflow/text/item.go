package text

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// maxItems bounds a loop, so that a typing mistake in a sequence does not become a million nodes.
const maxItems = 10_000

// Items are the values of a loop, in which every tag was replaced.
func Items(loop v1alpha1.Loop) ([]v1alpha1.Item, error) {
	switch {
	case len(loop.WithItems) > 0:
		return bounded(loop.WithItems)
	case loop.WithParam != "":
		var items []v1alpha1.Item
		if err := json.Unmarshal([]byte(loop.WithParam), &items); err != nil {
			return nil, fmt.Errorf("withParam value could not be parsed as a JSON list: %s: %w", shortened(strings.TrimSpace(loop.WithParam)), err)
		}
		return bounded(items)
	case loop.WithSequence != nil:
		return sequence(loop.WithSequence)
	default:
		return nil, nil
	}
}

func bounded(items []v1alpha1.Item) ([]v1alpha1.Item, error) {
	if len(items) > maxItems {
		return nil, fmt.Errorf("the loop has %d items, more than %d", len(items), maxItems)
	}
	return items, nil
}

func sequence(s *v1alpha1.Sequence) ([]v1alpha1.Item, error) {
	start, err := number("start", s.Start)
	if err != nil {
		return nil, err
	}
	end, err := number("end", s.End)
	if err != nil {
		return nil, err
	}
	if s.End == nil {
		if s.Count == nil {
			return nil, fmt.Errorf("withSequence: neither end nor count was specified")
		}
		count, err := number("count", s.Count)
		if err != nil || count == 0 {
			return nil, err
		}
		end = start + count - 1
	}
	step := 1
	if start > end {
		step = -1
	}
	if length := (end - start) * step; length >= maxItems || length < 0 {
		return nil, fmt.Errorf("withSequence: there are more than %d numbers from %d to %d", maxItems, start, end)
	}
	format := s.Format
	if format == "" {
		format = "%d"
	}
	var items []v1alpha1.Item
	for i := start; i != end+step; i += step {
		items = append(items, v1alpha1.Item{Raw: quoted(fmt.Sprintf(format, i))})
	}
	return items, nil
}

func number(field string, value *intstr.IntOrString) (int, error) {
	if value == nil {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(value.String()))
	if err != nil {
		return 0, fmt.Errorf("withSequence: %s %q is not a number", field, value.String())
	}
	return n, nil
}

// ItemName is the name of one execution of a loop, such as build(0:linux).
func ItemName(name string, index int, item v1alpha1.Item) string {
	clean := strings.NewReplacer("(", "", ")", "").Replace(describe(item))
	return name + "(" + strconv.Itoa(index) + ":" + clean + ")"
}

// describe is the text of an item in a name: a map has its fields in order.
func describe(item v1alpha1.Item) string {
	switch value := decode(item).(type) {
	case map[string]any:
		var parts []string
		for key, field := range value {
			parts = append(parts, key+":"+plain(field))
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	default:
		return plain(value)
	}
}

// ItemScope is a scope in which the item has its name, and the fields of a map have theirs.
func ItemScope(outer *Scope, item v1alpha1.Item) *Scope {
	scope := outer.Inside()
	value := decode(item)
	scope.Set("item", plain(value))
	if fields, isMap := value.(map[string]any); isMap {
		for key, field := range fields {
			scope.Set("item."+key, plain(field))
		}
	}
	return scope
}

func decode(item v1alpha1.Item) any {
	decoder := json.NewDecoder(strings.NewReader(string(item.Raw)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return string(item.Raw)
	}
	return value
}

// plain is a string as it is, and anything else as JSON.
func plain(value any) string {
	if text, isText := value.(string); isText {
		return text
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// quoted is a string of JSON.
func quoted(text string) json.RawMessage { return json.RawMessage(`"` + escape(text) + `"`) }

const maxShown = 120

func shortened(text string) string {
	if len(text) > maxShown {
		return text[:maxShown] + "..."
	}
	return text
}
