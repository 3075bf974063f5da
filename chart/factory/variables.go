package factory

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// Variables are the values of environment variables; those of the process, if nil.
type Variables map[string]string

// Environ is the environment of the process, with what files of lines NAME=VALUE add to it: what is set in the environment wins, then
// the first file that has it. A file that is not there is an error.
func Environ(files ...string) (Variables, error) {
	variables := Variables{}
	for _, line := range os.Environ() {
		name, value, _ := strings.Cut(line, "=")
		variables[name] = value
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading variables: %w", err)
		}
		more, err := parseVariables(file, string(data))
		if err != nil {
			return nil, err
		}
		maps.Copy(more, variables)
		variables = more
	}
	return variables, nil
}

// parseVariables reads lines NAME=VALUE: comments, "export" and quotes around the value as shells have them.
func parseVariables(file, text string) (Variables, error) {
	variables := Variables{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || !variableName.MatchString(name) {
			return nil, fmt.Errorf("%s:%d: want NAME=VALUE", file, i+1)
		}
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		if _, taken := variables[name]; !taken {
			variables[name] = value
		}
	}
	return variables, nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// lookup is the value of a variable; one that is set to nothing counts as unset.
func (v Variables) lookup(name string) (string, error) {
	value := v[name]
	if v == nil {
		value = os.Getenv(name)
	}
	if value == "" {
		return "", fmt.Errorf("the environment variable %s is unset; export it, or add it to a file of variables", name)
	}
	return value, nil
}

// The ends of a reference to a variable in a text of Go: they do not occur in any that people write.
const (
	begin = "\ue000"
	end   = "\ue001"
)

var (
	inYAML = regexp.MustCompile(`\$?\$\{env:([^}]*)\}`)
	inGo   = regexp.MustCompile(begin + `([^` + end + `]*)` + end)
)

// Env stands for the value of an environment variable in a text of a chart's objects: "https://" + factory.Env("VAULT") + "/v1".
// It is replaced when the packages are written. If the variable is unset, that is an error with the object and the field.
func Env(name string) string { return begin + name + end }

// expand replaces the references of a configuration by values.
func expand(p *problems, variables Variables, value any, path string) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range keys(v) {
			v[name] = expand(p, variables, v[name], member(path, name))
		}
	case []any:
		for i := range v {
			v[i] = expand(p, variables, v[i], element(path, i))
		}
	case string:
		return expandText(p, variables, v, path)
	}
	return value
}

func expandText(p *problems, variables Variables, text, path string) any {
	text = inGo.ReplaceAllString(text, "$${env:$1}")
	found := false
	made := inYAML.ReplaceAllStringFunc(text, func(reference string) string {
		if strings.HasPrefix(reference, "$$") {
			return reference[1:]
		}
		found = true
		value, err := variables.lookup(inYAML.FindStringSubmatch(reference)[1])
		if err != nil {
			p.add(path, "%w", err)
		}
		return value
	})
	if whole := inYAML.FindString(text) == text; whole && found {
		return variable(made)
	}
	return made
}

// Resolve replaces the references of Env in the texts of an object; it makes Variables a chart.Resolver.
func (v Variables) Resolve(_ *chart.Object, _ []string, value any) (any, bool, error) {
	text, is := value.(string)
	if !is || !strings.Contains(text, begin) {
		return nil, false, nil
	}
	var unset error
	made := inGo.ReplaceAllStringFunc(text, func(reference string) string {
		value, err := v.lookup(strings.TrimSuffix(strings.TrimPrefix(reference, begin), end))
		if unset == nil {
			unset = err
		}
		return value
	})
	return made, true, unset
}
