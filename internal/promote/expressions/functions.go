package expressions

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// function is one of expressions.
type function = func(arguments ...any) (any, error)

// environment are the names that expressions know.
func (s *Scope) environment() map[string]any {
	env := map[string]any{
		"ctx":     s.context(),
		"vars":    orEmpty(s.Vars),
		"outputs": orEmpty(s.Outputs),
		"task":    map[string]any{"outputs": s.ofTask()},

		"quote": quote, "unsafeQuote": unsafeQuote, "asJSON": asJSON, "asYAML": asYAML,
		"warehouse": warehouse, "imageFrom": s.image, "commitFrom": s.commit, "chartFrom": s.chart,
		"semverParse": semverParse, "semverDiff": semverDiff,
		"always":  func(...any) (any, error) { return true, nil },
		"success": func(...any) (any, error) { return s.success(), nil },
		"failure": func(...any) (any, error) { return !s.success(), nil },
		"status":  s.status,

		"configMap": s.read(ConfigMap), "secret": s.read(Secret), "sharedConfigMap": s.read(SharedConfigMap), "sharedSecret": s.read(SharedSecret),
		"freightMetadata": s.read(FreightMetadata), "stageMetadata": s.read(StageMetadata),
	}
	metas := map[string]any{}
	for _, step := range s.Steps {
		metas[step.Alias] = map[string]any{"status": step.Status, "message": step.Message, "errorCount": int(step.ErrorCount)}
	}
	env["stepMetas"] = metas
	return env
}

func orEmpty(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return values
}

// ofTask are the outputs of the steps of the same task, by the names that they have in it.
func (s *Scope) ofTask() map[string]any {
	outputs := map[string]any{}
	task, _, within := strings.Cut(s.Alias, "::")
	if !within {
		return outputs
	}
	for alias, output := range s.Outputs {
		if name, same := strings.CutPrefix(alias, task+"::"); same {
			outputs[name] = output
		}
	}
	return outputs
}

func quote(arguments ...any) (any, error) {
	if len(arguments) == 1 {
		if s, isText := arguments[0].(string); isText {
			return fmt.Sprintf("%q", s), nil
		}
	}
	return unsafeQuote(arguments...)
}

func unsafeQuote(arguments ...any) (any, error) {
	if len(arguments) != 1 {
		return nil, fmt.Errorf("quote takes one value, not %d", len(arguments))
	}
	data, err := json.Marshal(arguments[0])
	return `"` + string(data) + `"`, err
}

func asJSON(arguments ...any) (any, error) {
	if len(arguments) != 1 {
		return nil, fmt.Errorf("asJSON takes one value, not %d", len(arguments))
	}
	data, err := json.MarshalIndent(arguments[0], "", "  ")
	return `"` + string(data) + "\n" + `"`, err
}

func asYAML(arguments ...any) (any, error) {
	if len(arguments) != 1 {
		return nil, fmt.Errorf("asYAML takes one value, not %d", len(arguments))
	}
	data, err := yaml.Marshal(arguments[0])
	return `"` + string(data) + `"`, err
}

func warehouse(arguments ...any) (any, error) {
	name, err := texts("warehouse", arguments, 1, 1)
	if err != nil {
		return nil, err
	}
	return v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: name[0]}, nil
}

// texts are the arguments of a function that takes strings.
func texts(function string, arguments []any, least, most int) ([]string, error) {
	if len(arguments) < least || len(arguments) > most {
		return nil, fmt.Errorf("%s takes %d to %d arguments, not %d", function, least, most, len(arguments))
	}
	all := make([]string, len(arguments))
	for i, argument := range arguments {
		s, isText := argument.(string)
		if !isText {
			return nil, fmt.Errorf("argument %d of %s has to be a string, not a %T", i+1, function, argument)
		}
		all[i] = s
	}
	return all, nil
}

// split separates the origin, which may come last, from the other arguments.
func split(arguments []any) ([]any, *v1alpha1.FreightOrigin) {
	if len(arguments) > 0 {
		if origin, is := arguments[len(arguments)-1].(v1alpha1.FreightOrigin); is {
			return arguments[:len(arguments)-1], &origin
		}
	}
	return arguments, nil
}

// find is the artifact of a Freight for which pick has one. Without an origin, only one Freight may have it.
func find[T any](s *Scope, what string, origin *v1alpha1.FreightOrigin, pick func(v1alpha1.FreightReference) *T) (*T, error) {
	var found *T
	var from v1alpha1.FreightOrigin
	for _, freight := range s.Freight {
		if origin != nil && freight.Origin != *origin {
			continue
		}
		one := pick(freight)
		if one == nil {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s is in Freight of the Warehouses %q and %q: name one of them with warehouse()", what, from.Name, freight.Origin.Name)
		}
		found, from = one, freight.Origin
	}
	if found == nil {
		return nil, fmt.Errorf("%s is not in the Freight of the Promotion", what)
	}
	return found, nil
}

func (s *Scope) image(arguments ...any) (any, error) {
	arguments, origin := split(arguments)
	repo, err := texts("imageFrom", arguments, 1, 1)
	if err != nil {
		return nil, err
	}
	return find(s, fmt.Sprintf("image %q", repo[0]), origin, func(f v1alpha1.FreightReference) *v1alpha1.Image {
		for i := range f.Images {
			if f.Images[i].RepoURL == repo[0] {
				return &f.Images[i]
			}
		}
		return nil
	})
}

func (s *Scope) commit(arguments ...any) (any, error) {
	arguments, origin := split(arguments)
	repo, err := texts("commitFrom", arguments, 1, 1)
	if err != nil {
		return nil, err
	}
	return find(s, fmt.Sprintf("a commit of %q", repo[0]), origin, func(f v1alpha1.FreightReference) *v1alpha1.GitCommit {
		for i := range f.Commits {
			if f.Commits[i].RepoURL == repo[0] {
				return &f.Commits[i]
			}
		}
		return nil
	})
}

func (s *Scope) chart(arguments ...any) (any, error) {
	arguments, origin := split(arguments)
	named, err := texts("chartFrom", arguments, 1, 2)
	if err != nil {
		return nil, err
	}
	name := ""
	if len(named) > 1 {
		name = named[1]
	}
	return find(s, fmt.Sprintf("chart %q", strings.Join(named, " ")), origin, func(f v1alpha1.FreightReference) *v1alpha1.Chart {
		for i := range f.Charts {
			if f.Charts[i].RepoURL == named[0] && f.Charts[i].Name == name {
				return &f.Charts[i]
			}
		}
		return nil
	})
}

// status is how a step went that is named as in the same task, or as in the Promotion.
func (s *Scope) status(arguments ...any) (any, error) {
	alias, err := texts("status", arguments, 1, 1)
	if err != nil {
		return nil, err
	}
	names := []string{alias[0]}
	if task, _, within := strings.Cut(s.Alias, "::"); within {
		names = []string{task + "::" + alias[0], alias[0]}
	}
	for _, name := range names {
		for _, step := range s.Steps {
			if step.Alias == name {
				return step.Status, nil
			}
		}
	}
	return "", nil
}

// read is a function that gives the data of an object, or one value of it.
func (s *Scope) read(kind Kind) function {
	return func(arguments ...any) (any, error) {
		named, err := texts("the function that reads a "+string(kind), arguments, 1, 2)
		if err != nil {
			return nil, err
		}
		if s.Read == nil {
			return nil, fmt.Errorf("reading %s %q is not permitted here", kind, named[0])
		}
		data, err := s.Read(kind, named[0])
		plain := kind != FreightMetadata && kind != StageMetadata
		if err != nil && (!plain || !errors.Is(err, ErrNone)) {
			return nil, fmt.Errorf("reading %s %q: %w", kind, named[0], err)
		}
		switch {
		case plain && len(named) > 1:
			return textsOf(data)[named[1]], nil
		case plain:
			return textsOf(data), nil
		case len(named) > 1:
			return data[named[1]], nil
		}
		return orEmpty(data), nil
	}
}

// textsOf is the data of a ConfigMap or a Secret: a key that is not in it is empty, and not null.
func textsOf(data map[string]any) map[string]string {
	all := make(map[string]string, len(data))
	for key, value := range data {
		all[key], _ = value.(string)
	}
	return all
}

func semverParse(arguments ...any) (any, error) {
	named, err := texts("semverParse", arguments, 1, 1)
	if err != nil {
		return nil, err
	}
	return semver.NewVersion(named[0])
}

// semverDiff is the first part in which two versions differ.
func semverDiff(arguments ...any) (any, error) {
	named, err := texts("semverDiff", arguments, 2, 2)
	if err != nil {
		return nil, err
	}
	a, errA := semver.NewVersion(named[0])
	b, errB := semver.NewVersion(named[1])
	switch {
	case errA != nil || errB != nil:
		return "Incomparable", nil
	case a.Major() != b.Major():
		return "Major", nil
	case a.Minor() != b.Minor():
		return "Minor", nil
	case a.Patch() != b.Patch():
		return "Patch", nil
	case a.Prerelease() != b.Prerelease():
		return "Incomparable", nil
	case a.Metadata() != b.Metadata():
		return "Metadata", nil
	default:
		return "None", nil
	}
}
