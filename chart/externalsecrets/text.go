package externalsecrets

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// reference is a value that a template takes: {{ .name }}, alone or in a call.
var (
	action    = regexp.MustCompile(`\{\{-?(.*?)-?\}\}`)
	quoted    = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	reference = regexp.MustCompile(`(?:^|[\s(|])\.([A-Za-z_][A-Za-z0-9_]*)`)
	control   = regexp.MustCompile(`\b(range|with|define|template|block)\b`)
)

// references are the values that a template takes from what was fetched. One that changes what the dot is has none that can be told.
func references(template string) []string {
	var names []string
	for _, one := range action.FindAllStringSubmatch(template, -1) {
		code := quoted.ReplaceAllString(one[1], `""`)
		if control.MatchString(code) {
			return nil
		}
		for _, found := range reference.FindAllStringSubmatch(code, -1) {
			names = append(names, found[1])
		}
	}
	return names
}

// list is the names of a set.
func list(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ", ") }
