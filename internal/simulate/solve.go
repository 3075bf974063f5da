package simulate

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apimachinery/pkg/runtime"
)

// solve makes an expression true or false, and reports whether it could.
func (s *solver) solve(e ast.Expr, want bool) bool {
	if s.is(e, want) {
		return true
	}
	if e.Kind() == ast.CallKind {
		if solved, known := s.call(e.AsCall(), want); known {
			return solved
		}
	}
	at, ok := s.place(e)
	return ok && at.set(want)
}

func (s *solver) call(c ast.CallExpr, want bool) (solved, isKnown bool) {
	args := c.Args()
	switch name := c.FunctionName(); name {
	case operators.LogicalAnd:
		return s.joined(args, want, want), true
	case operators.LogicalOr:
		return s.joined(args, want, !want), true
	case operators.LogicalNot:
		return s.solve(args[0], !want), true
	case operators.Conditional:
		return s.either(
			func() bool { return s.solve(args[0], true) && s.solve(args[1], want) },
			func() bool { return s.solve(args[0], false) && s.solve(args[2], want) },
		), true
	case operators.Equals:
		return s.equal(args[0], args[1], want), true
	case operators.NotEquals:
		return s.equal(args[0], args[1], !want), true
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return s.compare(name, args[0], args[1], want), true
	case operators.In:
		return s.member(args[0], args[1], want), true
	}
	return s.function(c, want)
}

// function makes the call of a function true or false. Anybody may write one with arguments that it does not
// take.
func (s *solver) function(c ast.CallExpr, want bool) (solved, isKnown bool) {
	args := c.Args()
	switch name := c.FunctionName(); {
	case name == "has" && len(args) == 1:
		return s.present(args[0], want), true
	case !c.IsMemberFunction():
		return false, false
	case name == "hasValue":
		return s.present(c.Target(), want), true
	case name == "exists" || name == "exists_one":
		return s.exists(c, want), true
	case name == "all":
		return s.all(c, want), true
	case (name == "startsWith" || name == "endsWith" || name == "contains") && len(args) == 1:
		return s.equal(c.Target(), args[0], want), true
	}
	return false, false
}

// joined makes all of the terms what is wanted, or one of them.
func (s *solver) joined(terms []ast.Expr, want, every bool) bool {
	if every {
		solved := true
		for _, term := range terms {
			solved = s.solve(term, want) && solved
		}
		return solved
	}
	// The last terms are the least particular ones: in "type is Ready and status is False" it is the status
	// that may change.
	ways := make([]func() bool, 0, len(terms))
	for _, term := range slices.Backward(terms) {
		ways = append(ways, func() bool { return s.solve(term, want) })
	}
	if want {
		slices.Reverse(ways)
	}
	return s.either(ways...)
}

// either goes the first way that leads somewhere. What the others changed is taken back.
func (s *solver) either(ways ...func() bool) bool {
	for _, way := range ways {
		before := map[string]any{}
		for name := range s.locals {
			before[name] = runtime.DeepCopyJSONValue(s.vars[name])
		}
		if way() {
			return true
		}
		for name, value := range before {
			s.vars[name] = value
		}
	}
	return false
}

func (s *solver) equal(a, b ast.Expr, want bool) bool {
	for _, sides := range [][2]ast.Expr{{a, b}, {b, a}} {
		if list, ok := sizeOf(sides[0]); ok {
			if n, isNumber := s.number(sides[1]); isNumber && want {
				return s.resize(list, int(n), int(n))
			}
			continue
		}
		value, ok := s.value(sides[1])
		if !ok {
			continue
		}
		if !want {
			value = other(value)
		}
		if at, ok := s.place(sides[0]); ok && at.set(value) {
			return true
		}
	}
	// Neither side has a value: two fields of the status, which may be numbers of something.
	left, ok := s.place(a)
	right, both := s.place(b)
	return ok && both && want && left.set(int64(1)) && right.set(int64(1))
}

// other is a value of the same type that is not the same.
func other(value any) any {
	switch v := value.(type) {
	case bool:
		return !v
	case int64:
		return v + 1
	case float64:
		return v + 1
	case string:
		switch v {
		case "False", "Unknown":
			return "True"
		case "True":
			return "False"
		case reason:
			return "Ready"
		}
	}
	return reason
}

// opposite are the comparisons that hold where others do not, and those with the sides changed.
var opposite = map[string]string{
	operators.Less: operators.GreaterEquals, operators.GreaterEquals: operators.Less,
	operators.Greater: operators.LessEquals, operators.LessEquals: operators.Greater,
}

var mirrored = map[string]string{
	operators.Less: operators.Greater, operators.Greater: operators.Less,
	operators.LessEquals: operators.GreaterEquals, operators.GreaterEquals: operators.LessEquals,
}

func (s *solver) compare(operator string, a, b ast.Expr, want bool) bool {
	if !want {
		operator = opposite[operator]
	}
	return s.bound(operator, a, b) || s.bound(mirrored[operator], b, a)
}

// bound moves the left side of a comparison to where it holds.
func (s *solver) bound(operator string, a, b ast.Expr) bool {
	limit, ok := s.number(b)
	if !ok {
		return false
	}
	switch operator {
	case operators.Greater:
		limit++
	case operators.Less:
		limit--
	}
	if list, ok := sizeOf(a); ok {
		if operator == operators.Greater || operator == operators.GreaterEquals {
			return s.resize(list, int(limit), -1)
		}
		return s.resize(list, 0, int(limit))
	}
	at, ok := s.place(a)
	if whole := int64(limit); float64(whole) == limit {
		return ok && at.set(whole)
	}
	return ok && at.set(limit)
}

func (s *solver) number(e ast.Expr) (float64, bool) {
	value, _ := s.value(e)
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// member puts a value among those of a list, or sets a field to one of them, or the reverse.
func (s *solver) member(a, b ast.Expr, want bool) bool {
	if values, ok := s.value(b); ok {
		if list, isList := values.([]any); isList && len(list) > 0 {
			if at, ok := s.place(a); ok {
				if want {
					if at.set(list[0]) {
						return true
					}
				} else if at.set(reason) {
					return true
				}
			}
		}
	}
	at, ok := s.place(b)
	value, known := s.value(a)
	if !ok || !known {
		return false
	}
	list, _ := at.list()
	list = slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == value })
	if want {
		list = append(list, value)
	}
	return at.set(list)
}

func (s *solver) present(e ast.Expr, want bool) bool {
	at, ok := s.place(e)
	if !ok {
		return false
	}
	if want {
		return at.set(marker)
	}
	return at.remove()
}
