package simulate

import (
	"github.com/google/cel-go/common/ast"
)

// filter is a condition over the elements of a list: its variable, and what has to hold.
type filter struct {
	variable  string
	condition ast.Expr
}

func filterOf(c ast.CallExpr) (filter, bool) {
	args := c.Args()
	if !c.IsMemberFunction() || len(args) != 2 || args[0].Kind() != ast.IdentKind {
		return filter{}, false
	}
	return filter{variable: args[0].AsIdent(), condition: args[1]}, true
}

// ranged takes the filters off a list.
func (s *solver) ranged(e ast.Expr) (list place, filters []filter, ok bool) {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "filter" {
		f, isFilter := filterOf(e.AsCall())
		if !isFilter {
			return place{}, nil, false
		}
		list, filters, ok = s.ranged(e.AsCall().Target())
		return list, append(filters, f), ok
	}
	list, ok = s.place(e)
	return list, nil, ok
}

// passes reports whether an element passes all filters.
func (s *solver) passes(element any, filters []filter) bool {
	for _, f := range filters {
		held := false
		s.with(f.variable, element, func() { held = s.is(f.condition, true) })
		if !held {
			return false
		}
	}
	return true
}

// insert makes an element that passes all filters, over the one of the same type if there is one.
func (s *solver) insert(list place, filters []filter) bool {
	var element any = map[string]any{}
	for _, f := range filters {
		solved := false
		element = s.with(f.variable, element, func() { solved = s.solve(f.condition, true) })
		if !solved {
			return false
		}
	}
	entries, _ := list.list()
	if fields, ok := element.(map[string]any); ok {
		return list.set(overlay(entries, fields))
	}
	return list.set(append(entries, element))
}

// first is the index of the first element that passes all filters. One is made when there is none.
func (s *solver) first(list place, filters []filter) (int, bool) {
	for range 2 {
		entries, _ := list.list()
		for i, element := range entries {
			if s.passes(element, filters) {
				return i, true
			}
		}
		if !s.insert(list, filters) {
			return 0, false
		}
	}
	return 0, false
}

// each makes a condition true or false for the elements that pass, and reports how many did.
func (s *solver) each(list place, filters []filter, f filter, want bool) (count int, solved bool) {
	entries, _ := list.list()
	solved = true
	for i := range entries {
		element, ok := elementAt(list, i)
		if !ok || !s.passes(element, filters) {
			continue
		}
		count++
		element = s.with(f.variable, element, func() { solved = s.solve(f.condition, want) && solved })
		// What was reverted in the meantime has replaced the list by a copy.
		if current, _ := list.list(); i < len(current) {
			current[i] = element
		}
	}
	return count, solved
}

func elementAt(list place, i int) (any, bool) {
	entries, _ := list.list()
	if i >= len(entries) {
		return nil, false
	}
	return entries[i], true
}

func (s *solver) exists(c ast.CallExpr, want bool) bool {
	f, ok := filterOf(c)
	if !ok {
		return false
	}
	list, filters, ok := s.ranged(c.Target())
	if !ok {
		return false
	}
	if want {
		return s.insert(list, append(filters, f))
	}
	count, solved := s.each(list, filters, f, false)
	if _, found := list.list(); count == 0 && !found {
		return list.set([]any{})
	}
	return solved
}

func (s *solver) all(c ast.CallExpr, want bool) bool {
	f, ok := filterOf(c)
	if !ok {
		return false
	}
	list, filters, ok := s.ranged(c.Target())
	if !ok {
		return false
	}
	if count, solved := s.each(list, filters, f, want); count > 0 {
		return solved
	}
	return want && s.insert(list, append(filters, f))
}

// sizeOf is the list whose size an expression is.
func sizeOf(e ast.Expr) (ast.Expr, bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "size" {
		return nil, false
	}
	c := e.AsCall()
	if c.IsMemberFunction() {
		return c.Target(), true
	}
	if len(c.Args()) != 1 {
		return nil, false
	}
	return c.Args()[0], true
}

// resize brings the number of elements of a list, or of those that pass its filters, to at least and at most
// some number; -1 is any.
func (s *solver) resize(e ast.Expr, least, most int) bool {
	list, filters, ok := s.ranged(e)
	if !ok {
		return false
	}
	if len(filters) > 0 {
		return least == 1 && s.insert(list, filters)
	}
	entries, _ := list.list()
	for len(entries) < least && len(entries) < 100 {
		entries = append(entries, marker)
	}
	if most >= 0 && len(entries) > most {
		entries = entries[:most]
	}
	return list.set(entries)
}
