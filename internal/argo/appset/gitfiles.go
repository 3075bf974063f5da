package appset

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/source"
)

// maxFile bounds a file of parameters, in bytes.
const maxFile = 4 << 20

func (g *generation) files(said v1alpha1.GitGenerator, tree *source.Tree) ([]parameters, error) {
	var include, exclude []func(string) bool
	for i, item := range said.Files {
		match, err := g.pattern(item.Path)
		if err != nil {
			return nil, within(fmt.Sprintf(".files[%d].path", i), err)
		}
		if item.Exclude {
			exclude = append(exclude, match)
		} else {
			include = append(include, match)
		}
	}
	var sets []parameters
	for _, name := range tree.Paths() {
		if !anyOf(include, name) || anyOf(exclude, name) {
			continue
		}
		documents, err := documentsOf(tree, name)
		if err != nil {
			return nil, fmt.Errorf("file %q of %s: %w", name, public(said.RepoURL), err)
		}
		for i, document := range documents {
			params := g.fileParams(document)
			g.addPath(params, said.PathParamPrefix, path.Dir(name), path.Base(name))
			if err := addValues(g.engine, said.Values, params); err != nil {
				return nil, fmt.Errorf("with file %q: %w", name, err)
			}
			origin := fmt.Sprintf("file %q", name)
			if len(documents) > 1 {
				origin = fmt.Sprintf("item %d of file %q", i+1, name)
			}
			sets = append(sets, parameters{params, origin})
		}
	}
	return sets, nil
}

// fileParams are what a file says, for the older templates as text under flat names.
func (g *generation) fileParams(document map[string]any) map[string]any {
	params := map[string]any{}
	if g.set.Spec.GoTemplate {
		maps.Copy(params, document)
		return params
	}
	for key, value := range flatten(document) {
		params[key] = value
	}
	return params
}

// documentsOf reads a file of parameters: an object, or a list of objects. A link to a directory has none.
func documentsOf(tree *source.Tree, name string) ([]map[string]any, error) {
	at, err := tree.Resolve(name)
	if err != nil {
		return nil, err
	}
	if _, directory := tree.Entries(at); directory {
		return nil, nil
	}
	file, ok := tree.File(at)
	switch {
	case !ok:
		return nil, fmt.Errorf("a symbolic link to %q, which does not exist", at)
	case file.Size > maxFile:
		return nil, fmt.Errorf("it has more than %d MiB", maxFile>>20)
	}
	data, err := file.Read()
	if err != nil {
		return nil, err
	}
	one := map[string]any{}
	if yaml.Unmarshal(data, &one) == nil {
		return []map[string]any{one}, nil
	}
	var several []map[string]any
	if err := yaml.Unmarshal(data, &several); err != nil {
		return nil, errors.New("not an object or a list of objects in YAML or JSON: " + firstLine(err))
	}
	return several, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func anyOf(patterns []func(string) bool, name string) bool {
	for _, match := range patterns {
		if match(name) {
			return true
		}
	}
	return false
}

// pattern reports whether a path matches. The older patterns are those of Git: "*" matches slashes too, and
// a pattern that names a directory matches what is in it.
func (g *generation) pattern(text string) (func(string) bool, error) {
	text = strings.TrimPrefix(text, "./")
	if g.options.NewGlobbing {
		compiled, err := patterns.NewPath(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a pattern: %w", text, err)
		}
		return compiled.Match, nil
	}
	compiled, err := patterns.Regexp("^(?s:" + wild(text) + ")$")
	if err != nil {
		return nil, fmt.Errorf("%q is not a pattern", text)
	}
	directory := strings.TrimSuffix(text, "/") + "/"
	return func(name string) bool {
		return compiled.MatchString(name) || strings.HasPrefix(name, directory) || text == "" || text == "."
	}, nil
}

// class is a set of characters, such as [a-z] and [!0-9].
var class = regexp.MustCompile(`^\[[!^]?\]?[^\]]*\]`)

// wild makes an expression out of a pattern of Git.
func wild(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			found := class.FindString(pattern[i:])
			if found == "" {
				b.WriteString(`\[`)
				continue
			}
			inner := strings.TrimPrefix(found[1:len(found)-1], "!")
			if inner != found[1:len(found)-1] {
				inner = "^" + inner
			}
			b.WriteString("[" + strings.ReplaceAll(inner, `[`, `\[`) + "]")
			i += len(found) - 1
		case '\\':
			if i++; i < len(pattern) {
				b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			}
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return b.String()
}
