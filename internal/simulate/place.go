package simulate

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// place is where a value is, or could be, in a status.
type place struct {
	get    func() (any, bool)
	set    func(any) bool
	remove func() bool
}

func (p place) list() ([]any, bool) {
	value, _ := p.get()
	list, ok := value.([]any)
	return list, ok
}

// place finds where the value of an expression is. There is none for calculations.
func (s *solver) place(e ast.Expr) (place, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return s.variable(e.AsIdent()), true
	case ast.SelectKind:
		return s.fieldOf(e.AsSelect().Operand(), e.AsSelect().FieldName())
	case ast.CallKind:
		return s.placeOfCall(e.AsCall())
	default:
		return place{}, false
	}
}

func (s *solver) placeOfCall(c ast.CallExpr) (place, bool) {
	switch c.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		index := c.Args()[1]
		if index.Kind() != ast.LiteralKind {
			return place{}, false
		}
		switch at := index.AsLiteral().Value().(type) {
		case string:
			return s.fieldOf(c.Args()[0], at)
		case int64:
			return s.elementOf(c.Args()[0], int(at))
		}
	case "orValue", "value", "lowerAscii", "trim":
		if c.IsMemberFunction() {
			return s.place(c.Target())
		}
	case "dyn", "string":
		if len(c.Args()) == 1 {
			return s.place(c.Args()[0])
		}
	}
	return place{}, false
}

func (s *solver) variable(name string) place {
	return place{
		get: func() (any, bool) {
			value, found := s.vars[name]
			return value, found
		},
		set: func(value any) bool {
			if s.locals[name] {
				s.vars[name] = value
			}
			return s.locals[name]
		},
		remove: func() bool { return false },
	}
}

// supposable reports whether a value is a simulated one that may be changed.
func (s *solver) supposable(value any) bool {
	text, is := value.(string)
	return is && s.supposing && marked(text)
}

func (s *solver) fieldOf(operand ast.Expr, name string) (place, bool) {
	above, ok := s.place(operand)
	if !ok {
		return place{}, false
	}
	fields := func() map[string]any {
		value, _ := above.get()
		m, _ := value.(map[string]any)
		return m
	}
	return place{
		get: func() (any, bool) {
			value, found := fields()[name]
			return value, found
		},
		set: func(value any) bool {
			m := fields()
			if m == nil {
				m = map[string]any{}
			}
			// What is above says whether it may be changed, even where it is there already.
			if !s.supposable(m[name]) && !above.set(m) {
				return false
			}
			m[name] = value
			return true
		},
		remove: func() bool {
			m := fields()
			if m == nil || !above.set(m) {
				return false
			}
			delete(m, name)
			return true
		},
	}, true
}

// elementOf is the place of an element of a list. That of a filtered list is the first one that passes, which is
// made when there is none.
func (s *solver) elementOf(operand ast.Expr, at int) (place, bool) {
	list, filters, ok := s.ranged(operand)
	if !ok {
		return place{}, false
	}
	if len(filters) > 0 {
		if at, ok = s.first(list, filters); !ok {
			return place{}, false
		}
	}
	return place{
		get: func() (any, bool) {
			if entries, _ := list.list(); at >= 0 && at < len(entries) {
				return entries[at], true
			}
			return nil, false
		},
		set: func(value any) bool {
			entries, _ := list.list()
			if at < 0 || at > len(entries) {
				return false
			}
			if at == len(entries) {
				entries = append(entries, value)
			}
			supposable := s.supposable(entries[at])
			entries[at] = value
			return supposable || list.set(entries)
		},
		remove: func() bool { return false },
	}, true
}
