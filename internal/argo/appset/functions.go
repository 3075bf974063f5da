package appset

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// functions are those that templates may use: the library's except what reveals the process and its network, the
// built-in ones that make text, and those that upstream adds. Each is bounded.
func functions(m *meter) template.FuncMap {
	all := template.FuncMap(sprig.GenericFuncMap())
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(all, name)
	}
	all["print"], all["println"] = fmt.Sprint, fmt.Sprintln
	all["printf"] = printf
	all["html"], all["js"], all["urlquery"] = template.HTMLEscaper, template.JSEscaper, template.URLQueryEscaper
	all["normalize"], all["slugify"] = normalize, slugify
	all["toYaml"], all["fromYaml"], all["fromYamlArray"] = toYAML, fromYAML, fromYAMLArray
	for name, function := range all {
		all[name] = measured(m, name, function)
	}
	all[stepName] = func() (string, error) { return "", m.spend(1) }
	return all
}

var notInNames = regexp.MustCompile("[^-a-z0-9.]")

// normalize makes a name of an object out of any text.
func normalize(text string) string {
	text = notInNames.ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(text[:min(len(text), 253)], "-.")
}

var (
	notInSlugs = regexp.MustCompile("[^a-z0-9-]")
	dashes     = regexp.MustCompile("-+")
)

// slugify makes a part of a name out of any text: [LENGTH [WHOLE-WORDS]] TEXT. It has at most 50 characters by
// default, and is cut between words unless told otherwise.
func slugify(args ...any) (string, error) {
	length, words := 50, true
	var ok bool
	if len(args) == 0 || len(args) > 3 {
		return "", errors.New("slugify takes [LENGTH [WHOLE-WORDS]] TEXT")
	}
	text, ok := args[len(args)-1].(string)
	if !ok {
		return "", fmt.Errorf("slugify: the text is a %T", args[len(args)-1])
	}
	if len(args) > 1 {
		if length, ok = args[0].(int); !ok || length < 0 {
			return "", errors.New("slugify: the length is not a number >= 0")
		}
	}
	if len(args) > 2 {
		if words, ok = args[1].(bool); !ok {
			return "", errors.New("slugify: the argument to keep words whole is neither true nor false")
		}
	}
	slug := normalize(text)
	if !words && len(slug) >= length {
		slug = slug[:length]
	}
	slug = strings.Trim(dashes.ReplaceAllString(notInSlugs.ReplaceAllString(slug, "-"), "-"), "-")
	if !words || length == 0 || len(slug) <= length {
		return slug, nil
	}
	if cut := strings.LastIndexByte(slug[:length+1], '-'); cut >= 0 {
		return slug[:cut], nil
	}
	return slug[:length], nil
}

func toYAML(value any) (string, error) {
	data, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(data), "\n"), err
}

func fromYAML(text string) (map[string]any, error) {
	value := map[string]any{}
	return value, yaml.Unmarshal([]byte(text), &value)
}

func fromYAMLArray(text string) ([]any, error) {
	value := []any{}
	return value, yaml.Unmarshal([]byte(text), &value)
}

var width = regexp.MustCompile(`%[-+# 0\[\]]*(?:\d{4,}|\*)|%[^a-zA-Z%]*\.(?:\d{4,}|\*)`)

// printf is the built-in one, but for widths that make much out of nothing.
func printf(format string, args ...any) (string, error) {
	if width.MatchString(format) {
		return "", errors.New("printf: a width or a precision must be a number below 1000")
	}
	return fmt.Sprintf(format, args...), nil
}
