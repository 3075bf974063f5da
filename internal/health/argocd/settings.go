package argocd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/lua"
	"github.com/headgate-dev/headgate/internal/patterns"
)

// customizations is the key of argocd-cm with overrides in one block, and what the keys of single ones begin with.
const customizations = "resource.customizations"

// Settings are the overrides of an argocd-cm. The zero value has none.
type Settings struct {
	exact    map[string]override
	patterns []override
}

// override is a script that the settings have for a kind, or for all kinds that a pattern matches.
type override struct {
	key, name, script string
	openLibs          bool
	pattern           patterns.Glob
}

// block is an entry of the block of overrides; the other fields do not concern health.
type block struct {
	Script   string `json:"health.lua"`
	OpenLibs bool   `json:"health.lua.useOpenLibs"`
}

// ParseSettings reads the overrides among the data of an argocd-cm. Whatever else is there is passed over.
func ParseSettings(data map[string]string) (Settings, error) {
	blocks := map[string]block{}
	if err := yaml.Unmarshal([]byte(data[customizations]), &blocks); err != nil {
		return Settings{}, fmt.Errorf("reading %s: %w", customizations, err)
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if err := addSplit(blocks, key, data[key]); err != nil {
			return Settings{}, fmt.Errorf("reading %s: %w", key, err)
		}
	}
	s := Settings{exact: map[string]override{}}
	for _, key := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[key]
		if b.Script == "" {
			continue
		}
		o := override{key: key, name: "argocd-cm " + key, script: b.Script, openLibs: b.OpenLibs}
		var err error
		if o.pattern, err = patterns.NewGlob(key); err != nil {
			return Settings{}, fmt.Errorf("reading %s: the pattern %q: %w", customizations, key, err)
		}
		s.exact[key] = o
		if strings.ContainsAny(key, "*?[{") {
			s.patterns = append(s.patterns, o)
		}
	}
	slices.SortStableFunc(s.patterns, func(a, b override) int { return literal(b.key) - literal(a.key) })
	return s, nil
}

// addSplit adds what a key for one kind says, such as resource.customizations.health.GROUP_KIND.
func addSplit(blocks map[string]block, key, value string) error {
	rest, ok := strings.CutPrefix(key, customizations+".")
	if !ok {
		return nil
	}
	what, kind, ok := strings.Cut(rest, ".")
	if !ok || what != "health" && what != "useOpenLibs" {
		return nil
	}
	kind, err := overrideKey(kind)
	if err != nil {
		return err
	}
	b := blocks[kind]
	if what == "health" {
		b.Script = value
	} else if b.OpenLibs, err = strconv.ParseBool(value); err != nil {
		return fmt.Errorf("want true or false, not %q", value)
	}
	blocks[kind] = b
	return nil
}

// overrideKey makes GROUP/KIND of GROUP_KIND, and a pattern for everything of "all".
func overrideKey(kind string) (string, error) {
	if kind == "all" {
		return "*/*", nil
	}
	if kind == "" || strings.Count(kind, "_") > 1 {
		return "", errors.New("it should end in GROUP_KIND or KIND")
	}
	return strings.Replace(kind, "_", "/", 1), nil
}

// literal is how many characters of a pattern match only themselves.
func literal(pattern string) int {
	count, set := 0, false
	for _, c := range pattern {
		switch {
		case c == '[':
			set = true
		case c == ']':
			set = false
		case !set && !strings.ContainsRune("*?{},", c):
			count++
		}
	}
	return count
}

func (s Settings) overrideFor(key string) (override, bool) {
	if o, ok := s.exact[key]; ok {
		return o, true
	}
	for _, o := range s.patterns {
		if o.pattern.Match(key) {
			return o, true
		}
	}
	return override{}, false
}

// Check compiles all scripts, so that mistakes in settings are found before an object of the kind exists.
func (s Settings) Check() error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(s.exact)) {
		if _, err := lua.Compile(s.exact[key].name, s.exact[key].script, lua.Options{}); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// SettingsOf finds the data of an argocd-cm in a document: the ConfigMap itself, or the values of the chart argo-cd, which has them
// in configs.cm, or those of a chart that depends on it. It is false when there is none.
func SettingsOf(document map[string]any) (map[string]string, bool, error) {
	if document["kind"] == "ConfigMap" {
		metadata, _ := document["metadata"].(map[string]any)
		if metadata["name"] != "argocd-cm" {
			return nil, false, nil
		}
		data, err := stringsOf(document["data"], "data")
		return data, true, err
	}
	if cm, ok := chartSettings(document); ok {
		data, err := stringsOf(cm, "configs.cm")
		return data, true, err
	}
	for _, key := range slices.Sorted(maps.Keys(document)) {
		values, _ := document[key].(map[string]any)
		if cm, ok := chartSettings(values); ok {
			data, err := stringsOf(cm, key+".configs.cm")
			return data, true, err
		}
	}
	return nil, false, nil
}

func chartSettings(values map[string]any) (any, bool) {
	configs, _ := values["configs"].(map[string]any)
	cm, ok := configs["cm"]
	return cm, ok
}

// stringsOf reads the values of a map as the chart does: a value that is not a string is written as one.
func stringsOf(value any, field string) (map[string]string, error) {
	fields, ok := value.(map[string]any)
	if value != nil && !ok {
		return nil, fmt.Errorf("%s is not a map", field)
	}
	data := map[string]string{}
	for key, v := range fields {
		switch v.(type) {
		case nil:
		case map[string]any, []any:
			if strings.HasPrefix(key, customizations) {
				return nil, fmt.Errorf("%s: %s is not a string", field, key)
			}
		default:
			data[key] = fmt.Sprint(v)
		}
	}
	return data, nil
}
