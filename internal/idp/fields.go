package idp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Scheme begins the addresses of packages.
const Scheme = "cnoe://"

// place is an address as it occurs in a field: of a directory, or of a file in one.
type place struct {
	address string
	file    bool
}

// occurrence is a place with its field.
type occurrence struct {
	place
	field string
}

// texts are the fields that have documents as text, in which addresses are scalars: values of charts, patches, elements of lists.
var texts = []string{"values", "patch", "templatePatch", "elementsYaml"}

// unread are the fields of a spec that no source is read from.
var unread = []string{"info", "ignoreDifferences"}

// ofFile are the fields of a source that name files.
var ofFile = regexp.MustCompile(`^spec\.(template\.spec\.)?(source|sources\[\d+\]|sourceHydrator\.drySource)\.helm\.(valueFiles\[\d+\]|fileParameters\[\d+\]\.path)$`)

// inText is an address that begins a scalar of a text, and what comes before it in its line.
var inText = regexp.MustCompile("(?m)(^|[-:,{\\[\"'])([ \\t]*[\"']?)(cnoe://(?:\\{\\{[^}\\n]*\\}\\}|[^\\s\"'`,\\[\\]{}|<>])*)")

// replaceAll replaces each address in a spec, whatever field it is in: a string that begins with the scheme, and scalars in texts. The
// value is changed; addresses are visited in the order of fields by name.
func replaceAll(spec map[string]any, replace func(occurrence) string) {
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		if !slices.Contains(unread, key) {
			spec[key] = replaceIn(spec[key], key, "spec."+key, replace)
		}
	}
}

// replaceIn replaces the addresses in the value of a field with this key and path.
func replaceIn(value any, key, field string, replace func(occurrence) string) any {
	switch value := value.(type) {
	case string:
		return replaceString(value, key, field, replace)
	case []any:
		for i, item := range value {
			value[i] = replaceIn(item, key, fmt.Sprintf("%s[%d]", field, i), replace)
		}
	case map[string]any:
		for _, inner := range slices.Sorted(maps.Keys(value)) {
			value[inner] = replaceIn(value[inner], inner, field+"."+inner, replace)
		}
	}
	return value
}

func replaceString(text, key, field string, replace func(occurrence) string) string {
	if !strings.Contains(text, Scheme) {
		return text
	}
	begins := strings.HasPrefix(text, Scheme)
	if slices.Contains(texts, key) && (!begins || strings.Contains(text, "\n")) {
		return replaceText(text, func(address string) string { return replace(occurrence{place{address: address}, field}) })
	}
	if !begins {
		return text
	}
	return replace(occurrence{place{text, ofFile.MatchString(field)}, field})
}

// replaceText replaces the scalars of a text that are addresses, besides those in comments.
func replaceText(text string, replace func(address string) string) string {
	var out strings.Builder
	done := 0
	for _, at := range inText.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[6], at[7]
		line := text[strings.LastIndexByte(text[:from], '\n')+1 : from]
		if strings.HasPrefix(strings.TrimSpace(line), "#") || strings.Contains(line, " #") {
			continue
		}
		out.WriteString(text[done:from])
		out.WriteString(replace(text[from:to]))
		done = to
	}
	out.WriteString(text[done:])
	return out.String()
}

// occurrences are the addresses in a spec: those of sources first, so that the repository of a source has the plain name.
func occurrences(spec map[string]any) []occurrence {
	var all []occurrence
	replaceAll(spec, func(o occurrence) string {
		all = append(all, o)
		return o.address
	})
	slices.SortStableFunc(all, func(a, b occurrence) int { return rank(a) - rank(b) })
	return all
}

func rank(o occurrence) int {
	switch {
	case o.file:
		return 2
	case strings.HasSuffix(o.field, ".repoURL"):
		return 0
	}
	return 1
}
