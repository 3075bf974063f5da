package factory

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// propsOf are the props of a chart for one package: given as a value of the chart's type or as maps, with what the override lays
// over them, the variables of tags and the environment filled in. ok says that the chart can be made of them.
func propsOf(p *problems, t reflect.Type, variables Variables, pkg *plan) (reflect.Value, bool) {
	before := len(p.errors)
	props := given(p, t, pkg)
	fill(p, variables, props, pkg.at("chart.props"))
	place(props, pkg.environment)
	if len(p.errors) == before {
		require(p, props, pkg.at("chart.props"))
	}
	if valid, is := props.Addr().Interface().(validator); is && len(p.errors) == before {
		if err := valid.Validate(); err != nil {
			p.add(pkg.at("chart.props"), "%w", err)
		}
	}
	return props, len(p.errors) == before
}

// validator are props that judge themselves.
type validator interface{ Validate() error }

// given are the props that the configuration has, as a value that can be set.
func given(p *problems, t reflect.Type, pkg *plan) reflect.Value {
	props := reflect.New(t).Elem()
	base, over := pkg.props, pkg.override.Props
	if typed, is := valueOf(over, t); is {
		base, over = typed, nil
	}
	if typed, is := valueOf(base, t); is && over == nil {
		props.Set(reflect.ValueOf(typed))
		return props
	}
	merged := objectOf(p, base, t, pkg.at("chart.props"))
	if over != nil {
		merged = merge(merged, objectOf(p, over, t, pkg.at("environments."+pkg.environment.Name+".props")))
	}
	props.Set(decode(p, merged, t, pkg.at("chart.props")))
	return props
}

// valueOf is a value of the type of the props, if it is one or points to one.
func valueOf(value any, t reflect.Type) (any, bool) {
	v := reflect.ValueOf(value)
	if v.IsValid() && v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Type() == t {
		v = v.Elem()
	}
	if !v.IsValid() || v.Type() != t {
		return nil, false
	}
	return v.Interface(), true
}

// objectOf are props as an object, whatever they were given as.
func objectOf(p *problems, value any, t reflect.Type, path string) map[string]any {
	if value == nil {
		return map[string]any{}
	}
	if object, is := generic(value).(map[string]any); is && reflect.TypeOf(value).Kind() == reflect.Map {
		return object
	}
	typed, is := valueOf(value, t)
	if !is {
		p.add(path, "the props are a %T; the chart takes %v", value, t)
		return map[string]any{}
	}
	object := map[string]any{}
	data, err := json.Marshal(typed)
	if err == nil {
		err = json.Unmarshal(data, &object)
	}
	if err != nil {
		p.add(path, "reading %v: %w", t, err)
	}
	fields := fieldsOf(t)
	maps.DeleteFunc(object, func(name string, _ any) bool { return fields[name].Name == "" })
	return object
}

// merge lays one object over another: objects field by field, a null removes, all else replaces.
func merge(base, over map[string]any) map[string]any {
	merged := maps.Clone(base)
	if merged == nil {
		merged = map[string]any{}
	}
	for name, value := range over {
		below, isObject := merged[name].(map[string]any)
		above, areObjects := value.(map[string]any)
		switch {
		case value == nil:
			delete(merged, name)
		case isObject && areObjects:
			merged[name] = merge(below, above)
		default:
			merged[name] = value
		}
	}
	return merged
}

// fill gives the values of variables to fields with the tag env that have none.
func fill(p *problems, variables Variables, props reflect.Value, path string) {
	fields := fieldsOf(props.Type())
	for _, name := range keys(fields) {
		f := fields[name]
		value, reachable := reach(props, f.Index)
		if !reachable {
			continue
		}
		variable, tagged := f.Tag.Lookup("env")
		if tagged && value.IsZero() {
			text, err := variables.lookup(variable)
			if err != nil {
				p.add(member(path, name), "%w", err)
				continue
			}
			value.Set(decode(p, scalarOf(text, f.Type), f.Type, member(path, name)))
		}
		if value.Kind() == reflect.Struct && !own(value.Type()) && value.Type() != reflect.TypeFor[Environment]() {
			fill(p, variables, value, member(path, name))
		}
	}
}

// require reports fields with the tag required that have no value, those in lists and maps among them.
func require(p *problems, props reflect.Value, path string) {
	fields := fieldsOf(props.Type())
	for _, name := range keys(fields) {
		f := fields[name]
		value, err := props.FieldByIndexErr(f.Index)
		required := slices.Contains(strings.Split(f.Tag.Get("factory"), ","), "required")
		switch {
		case required && (err != nil || value.IsZero()):
			p.add(member(path, name), "the chart requires a value, and there is none")
		case err == nil:
			requireBelow(p, value, member(path, name))
		}
	}
}

func requireBelow(p *problems, value reflect.Value, path string) {
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	switch {
	case own(value.Type()):
	case value.Kind() == reflect.Struct:
		require(p, value, path)
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			requireBelow(p, value.Index(i), element(path, i))
		}
	case value.Kind() == reflect.Map && value.Type().Key().Kind() == reflect.String:
		for _, key := range slices.SortedFunc(slices.Values(value.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			requireBelow(p, value.MapIndex(key), member(path, key.String()))
		}
	}
}

// reach is a field, unless a struct around it is missing.
func reach(v reflect.Value, index []int) (reflect.Value, bool) {
	value, err := v.FieldByIndexErr(index)
	return value, err == nil && value.CanSet()
}

// place puts the environment into fields of its type.
func place(props reflect.Value, environment Environment) {
	for _, f := range reflect.VisibleFields(props.Type()) {
		if f.Type != reflect.TypeFor[Environment]() || !f.IsExported() {
			continue
		}
		if value, reachable := reach(props, f.Index); reachable {
			value.Set(reflect.ValueOf(environment))
		}
	}
}

// Image is the image that the environment has under a name. None is an error of the scope, and an empty text.
func (e Environment) Image(scope chart.Scope, name string) string {
	return e.pick(scope, "image", "images", name, e.Images)
}

// Value is what the environment has under a name in its values. None is an error of the scope, and an empty text.
func (e Environment) Value(scope chart.Scope, name string) string {
	return e.pick(scope, "value", "values", name, e.Values)
}

func (e Environment) pick(scope chart.Scope, what, list, name string, from map[string]string) string {
	value, known := from[name]
	if !known {
		where := fmt.Sprintf("add it to environments.%s.%s", e.Name, list)
		if e.Name == "" {
			where = "the application belongs to no environment"
		}
		scope.Node().Errorf("%s; %s", unknown(what, name, keys(from)), where)
	}
	return value
}
