package settings

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// reader reads the keys of one object. What is left when all readers have taken theirs is not acted on.
type reader struct {
	settings *Settings
	object   string
	data     map[string]string
	left     map[string]bool
	problems *problems
	// secret keeps values out of problems.
	secret bool
}

func newReader(s *Settings, object string, data map[string]string, p *problems) *reader {
	r := &reader{settings: s, object: object, data: data, left: map[string]bool{}, problems: p}
	for key := range data {
		r.left[key] = true
	}
	return r
}

// sorted are the keys that are not read yet.
func (r *reader) sorted() []string { return slices.Sorted(maps.Keys(r.left)) }

// take returns a value, and false where it is not there or empty, which is the same.
func (r *reader) take(key string) (string, bool) {
	delete(r.left, key)
	value := strings.TrimSpace(r.data[key])
	return value, value != ""
}

func (r *reader) bad(key, reason string) {
	value := strings.TrimSpace(r.data[key])
	if r.secret {
		value = ""
	}
	r.problems.add(r.object, key, value, reason)
}

func (r *reader) text(key string, into *string) {
	if value, ok := r.take(key); ok {
		*into = value
	}
}

func (r *reader) flag(key string, into *bool) {
	value, ok := r.take(key)
	if !ok {
		return
	}
	parsed, err := strconv.ParseBool(strings.ToLower(value))
	if err != nil {
		r.bad(key, "is neither true nor false")
		return
	}
	*into = parsed
}

func (r *reader) number(key string, into *int64) bool {
	value, ok := r.take(key)
	if !ok {
		return false
	}
	parsed, err := strconv.ParseInt(value, 10, 64)
	if err != nil || parsed < 0 {
		r.bad(key, "is not a number >= 0")
		return false
	}
	*into = parsed
	return true
}

func (r *reader) seconds(key string, into *time.Duration) {
	count := int64(*into / time.Second)
	r.number(key, &count)
	*into = time.Duration(count) * time.Second
}

func (r *reader) duration(key string, into *time.Duration) {
	value, ok := r.take(key)
	if !ok {
		return
	}
	parsed, ok := readDuration(value)
	if !ok {
		r.bad(key, `is not a duration such as "120s"`)
		return
	}
	*into = parsed
}

var days = regexp.MustCompile(`^([0-9]+)d(.*)$`)

// readDuration reads what Go does, and days before it.
func readDuration(text string) (time.Duration, bool) {
	var sum time.Duration
	if parts := days.FindStringSubmatch(text); parts != nil {
		count, err := strconv.Atoi(parts[1])
		if err != nil || count > 36500 {
			return 0, false
		}
		sum, text = time.Duration(count)*24*time.Hour, parts[2]
		if text == "" {
			return sum, true
		}
	}
	rest, err := time.ParseDuration(text)
	return sum + rest, err == nil && rest >= 0
}

func (r *reader) list(key string, into *[]string) {
	if value, ok := r.take(key); ok {
		*into = split(value)
	}
}

// split reads a list with commas.
func split(text string) []string {
	var all []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			all = append(all, item)
		}
	}
	return all
}

func (r *reader) choice(key string, into *string, choices ...string) {
	value, ok := r.take(key)
	if !ok {
		return
	}
	if !slices.Contains(choices, value) {
		r.bad(key, "is not one of "+strings.Join(choices, ", "))
		return
	}
	*into = value
}

// document reads YAML, in which an unknown field is bad: it is misspelled.
func (r *reader) document(key string, into any) bool {
	value, ok := r.take(key)
	if !ok {
		return false
	}
	if err := yaml.UnmarshalStrict([]byte(value), into); err != nil {
		r.bad(key, "is invalid: "+err.Error())
		return false
	}
	return true
}

// unserved says of whatever is left that it is not acted on.
func (r *reader) unserved(concern Concern) {
	for _, key := range r.sorted() {
		r.name(key, concern)
	}
}

// name says of one key that it is not acted on.
func (r *reader) name(key string, concern Concern) {
	delete(r.left, key)
	r.settings.Unserved = append(r.settings.Unserved, Unserved{r.object, key, concern})
}

// unknown reports whatever is left as unknown.
func (r *reader) unknown() {
	for _, key := range r.sorted() {
		delete(r.left, key)
		r.settings.Unknown = append(r.settings.Unknown, Unserved{Object: r.object, Key: key})
	}
}
