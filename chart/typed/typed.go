// Package typed has objects of a chart with their Go types: what helpers made stays reachable, field by field.
package typed

import "github.com/headgate-dev/headgate/chart"

// Object is an object of a chart, with the value that it is written from. What is changed in the value until Synth is written.
type Object[T any] struct {
	*chart.Object
	// Value is the object itself.
	Value T
}

// Add puts an object below scope, as chart.Add does, and keeps its type.
func Add[T any](scope chart.Scope, id string, value T) Object[T] {
	return Object[T]{Object: chart.Add(scope, id, value), Value: value}
}
