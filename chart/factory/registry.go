package factory

import (
	"fmt"
	"reflect"

	"github.com/headgate-dev/headgate/chart"
)

// Registry has charts by their names.
type Registry struct {
	makers map[string]maker
	errors chart.Errors
}

// NewRegistry is a Registry without charts.
func NewRegistry() *Registry { return &Registry{makers: map[string]maker{}} }

// Make adds the objects of a chart below scope. P is a struct: its fields are the props by their names in JSON, with these tags:
//
//	factory:"required"   the zero value is an error
//	env:"NAME"           without a value, that of the variable; if there is none either, an error
//
// A field of the type Environment gets the environment of the application. Props with a method Validate() error are asked before
// anything is made of them.
type Make[P any] func(scope chart.Scope, props P)

// Register gives a name to a chart. A name that is taken is an error of Build.
func Register[P any](r *Registry, name string, build func(scope chart.Scope, props P)) {
	switch _, taken := r.makers[name]; {
	case name == "":
		r.errors = append(r.errors, &chart.Error{Err: fmt.Errorf("registering a chart of %v: its name is empty", reflect.TypeFor[P]())})
	case taken:
		r.errors = append(r.errors, &chart.Error{Err: fmt.Errorf("registering chart %q: the name is taken", name)})
	case reflect.TypeFor[P]().Kind() != reflect.Struct:
		r.errors = append(r.errors, &chart.Error{Err: fmt.Errorf("registering chart %q: its props are %v, want a struct", name, reflect.TypeFor[P]())})
	default:
		r.makers[name] = Make[P](build)
	}
}

// Names are those of the charts, sorted.
func (r *Registry) Names() []string { return keys(r.makers) }

// maker is a Make, whatever its props are.
type maker interface {
	props() reflect.Type
	build(scope chart.Scope, props reflect.Value)
}

func (m Make[P]) props() reflect.Type { return reflect.TypeFor[P]() }

func (m Make[P]) build(scope chart.Scope, props reflect.Value) { m(scope, props.Interface().(P)) }
