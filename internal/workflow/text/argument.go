package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Replace substitutes tags in a value by way of its JSON.
func Replace[T any](value T, scope *Scope, mode Mode) (T, error) {
	var replaced T
	document, err := marshal(value)
	if err != nil {
		return replaced, err
	}
	text, err := Substitute(document, scope, mode)
	if err != nil {
		return replaced, err
	}
	if err := json.Unmarshal([]byte(text), &replaced); err != nil {
		return replaced, fmt.Errorf("reading what tags were replaced in: %w", err)
	}
	return replaced, nil
}

// marshal writes JSON in which braces, quotes of expressions and the like are as the user wrote them.
func marshal(value any) (string, error) {
	var out jsonText
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("writing a value as JSON: %w", err)
	}
	return string(out), nil
}

// jsonText collects what an encoder writes.
type jsonText []byte

func (t *jsonText) Write(data []byte) (int, error) {
	*t = append(*t, data...)
	return len(data), nil
}

// DropAbsent leaves arguments out whose whole value is a tag without a value for good, so that the default of the input counts.
func DropAbsent(arguments v1alpha1.Arguments, scope *Scope, mode Mode) (v1alpha1.Arguments, error) {
	kept := arguments.DeepCopy()
	for i := range kept.Parameters {
		value := kept.Parameters[i].Value
		if value == nil {
			continue
		}
		if _, whole := Whole(value.String()); !whole {
			continue
		}
		_, err := Substitute(`"`+escape(value.String())+`"`, scope, mode)
		var absent *AbsentError
		switch {
		case errors.As(err, &absent):
			kept.Parameters[i].Value = nil
		case err != nil:
			return *kept, err
		}
	}
	return *kept, nil
}

// ConfigValues are the values of ConfigMaps, by name and key; nil for one that does not exist.
type ConfigValues map[ConfigKey]*string

// ConfigKey names a value of a ConfigMap.
type ConfigKey struct{ Name, Key string }

// UnknownConfigError says that the value of a ConfigMap has to be read first.
type UnknownConfigError struct{ ConfigKey }

func (e *UnknownConfigError) Error() string {
	return fmt.Sprintf("the key %q of ConfigMap %q was not read yet", e.Key, e.Name)
}

// Bind gives inputs the values that a template is called with: the argument, else the value or default of the input, else what
// a ConfigMap says.
func Bind(inputs v1alpha1.Inputs, arguments v1alpha1.Arguments, configs ConfigValues) (v1alpha1.Inputs, error) {
	bound := inputs.DeepCopy()
	for i := range bound.Parameters {
		if err := bindParameter(&bound.Parameters[i], arguments.Parameters, configs); err != nil {
			return *bound, err
		}
	}
	kept := bound.Artifacts[:0]
	for i := range bound.Artifacts {
		artifact, err := bindArtifact(bound.Artifacts[i], arguments.Artifacts)
		if err != nil {
			return *bound, err
		}
		if artifact != nil {
			kept = append(kept, *artifact)
		}
	}
	bound.Artifacts = kept
	return *bound, nil
}

func bindParameter(p *v1alpha1.Parameter, arguments []v1alpha1.Parameter, configs ConfigValues) error {
	value, err := supplied(p.Name, arguments, configs)
	if err != nil {
		return fmt.Errorf("inputs.parameters.%s: %w", p.Name, err)
	}
	if value == nil && p.Value == nil {
		if value, err = FromConfig(p.ValueFrom, configs); err != nil {
			return fmt.Errorf("inputs.parameters.%s: %w", p.Name, err)
		}
	}
	switch {
	case value != nil:
		p.Value = value
	case p.Value == nil:
		p.Value = p.Default
	}
	if p.Value == nil {
		return fmt.Errorf("inputs.parameters.%s was not supplied", p.Name)
	}
	p.ValueFrom = nil
	return nil
}

// Settle gives inputs whose values are defaults with tags or expressions what these say, each after the inputs that it names. What was
// supplied as an argument stays as it is. It returns a scope inside another one, in which every input has its value.
func Settle(inputs, arguments []v1alpha1.Parameter, outer *Scope, mode Mode) (*Scope, error) {
	scope := outer.Inside()
	open := map[string]*v1alpha1.Parameter{}
	for i := range inputs {
		p := &inputs[i]
		given := slices.ContainsFunc(arguments, func(a v1alpha1.Parameter) bool { return a.Name == p.Name && a.Value != nil })
		if given || !strings.Contains(p.Value.String(), opening) {
			scope.Set(inputPrefix+p.Name, p.Value.String())
			continue
		}
		open[p.Name] = p
	}
	for len(open) > 0 {
		progress := false
		for _, name := range slices.Sorted(maps.Keys(open)) {
			p := open[name]
			needs, err := needed(p.Value.String(), open)
			if err != nil {
				return nil, fmt.Errorf("inputs.parameters.%s: %w", name, err)
			}
			if needs {
				continue
			}
			value, err := Replace(p.Value.String(), scope, mode)
			if err != nil {
				return nil, fmt.Errorf("inputs.parameters.%s: %w", name, err)
			}
			p.Value = v1alpha1.Any(value)
			scope.Set(inputPrefix+name, value)
			delete(open, name)
			progress = true
		}
		if !progress {
			return nil, fmt.Errorf("the defaults of inputs.parameters name each other: %s", strings.Join(slices.Sorted(maps.Keys(open)), ", "))
		}
	}
	return scope, nil
}

// inputPrefix begins the names of inputs that are parameters.
const inputPrefix = "inputs.parameters."

// needed reports whether a text names an input that has no value yet.
func needed(text string, open map[string]*v1alpha1.Parameter) (bool, error) {
	names, expressions := Tags(text)
	for _, expression := range expressions {
		more, err := Names(expression)
		if err != nil {
			return false, err
		}
		names = append(names, more...)
	}
	for _, name := range names {
		if name+"." == inputPrefix || name == "inputs" {
			return len(open) > 1, nil
		}
		input, is := strings.CutPrefix(name, inputPrefix)
		if !is {
			continue
		}
		for other := range open {
			if input == other || strings.HasPrefix(input, other+".") {
				return true, nil
			}
		}
	}
	return false, nil
}

// supplied is the value of an argument; nil if there is none.
func supplied(name string, arguments []v1alpha1.Parameter, configs ConfigValues) (*v1alpha1.AnyString, error) {
	for i := range arguments {
		if arguments[i].Name != name {
			continue
		}
		if arguments[i].Value != nil {
			return arguments[i].Value, nil
		}
		return FromConfig(arguments[i].ValueFrom, configs)
	}
	return nil, nil
}

// FromConfig reads a value from a ConfigMap; nil if the source is another one, or names something optional that does not exist.
func FromConfig(from *v1alpha1.ValueFrom, configs ConfigValues) (*v1alpha1.AnyString, error) {
	if from == nil || from.ConfigMapKeyRef == nil {
		return nil, nil
	}
	ref := from.ConfigMapKeyRef
	key := ConfigKey{Name: ref.Name, Key: ref.Key}
	value, read := configs[key]
	switch {
	case !read:
		return nil, &UnknownConfigError{key}
	case value != nil:
		return v1alpha1.Any(*value), nil
	case from.Default != nil:
		return from.Default, nil
	case ref.Optional != nil && *ref.Optional:
		return nil, nil
	default:
		return nil, fmt.Errorf("ConfigMap %q with the key %q and the label workflows.argoproj.io/configmap-type: Parameter was not found", ref.Name, ref.Key)
	}
}

// bindArtifact takes the location of the argument for an input. An optional artifact that has no location is left out.
func bindArtifact(input v1alpha1.Artifact, arguments []v1alpha1.Artifact) (*v1alpha1.Artifact, error) {
	for i := range arguments {
		if argument := arguments[i]; argument.Name == input.Name && HasLocation(argument.ArtifactLocation) {
			input.ArtifactLocation = argument.ArtifactLocation
			if argument.Archive != nil && input.Archive == nil {
				input.Archive = argument.Archive
			}
			if argument.SubPath != "" {
				input.SubPath = argument.SubPath
			}
			return &input, nil
		}
	}
	switch {
	case HasLocation(input.ArtifactLocation):
		return &input, nil
	case input.Optional:
		return nil, nil
	default:
		return nil, fmt.Errorf("inputs.artifacts.%s was not supplied", input.Name)
	}
}

// HasLocation reports whether a location names any place.
func HasLocation(l v1alpha1.ArtifactLocation) bool {
	later := l.LaterLocation
	return l.Raw != nil || l.Git != nil || l.HTTP != nil || l.Local != nil ||
		later.S3 != nil || later.GCS != nil || later.OSS != nil || later.Azure != nil || later.Artifactory != nil || later.HDFS != nil || later.Plugin != nil
}
