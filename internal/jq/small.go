package jq

import (
	"slices"

	"github.com/itchyny/gojq"
)

// maxCommas bounds the commas of a small expression: what follows is evaluated for each side.
const maxCommas = 6

// Small reports whether an expression is a chain of fields, elements, iterations and comparisons, which takes as long as reading the object
// a few times, whatever that is.
func Small(q *gojq.Query) bool {
	left := maxCommas
	return small(q, &left)
}

func small(q *gojq.Query, commas *int) bool {
	if q.Meta != nil || len(q.Imports)+len(q.FuncDefs)+len(q.Patterns) > 0 {
		return false
	}
	switch {
	case q.Op == gojq.OpPipe:
		return small(q.Left, commas) && small(q.Right, commas)
	case q.Op == gojq.OpComma:
		*commas--
		return *commas >= 0 && small(q.Left, commas) && small(q.Right, commas)
	case q.Term == nil:
		return false
	}
	t := q.Term
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeIndex:
	case gojq.TermTypeFunc:
		if t.Func.Name != "select" || len(t.Func.Args) != 1 || !comparison(t.Func.Args[0]) {
			return false
		}
	case gojq.TermTypeQuery:
		if !small(t.Query, commas) {
			return false
		}
	default:
		return false
	}
	return suffixes(t, true)
}

// suffixes reports whether what follows a term goes down only; iterates permits iterations.
func suffixes(t *gojq.Term, iterates bool) bool {
	for _, suffix := range t.SuffixList {
		if suffix.Iter && !iterates || suffix.Index != nil && !index(suffix.Index) {
			return false
		}
	}
	return t.Index == nil || index(t.Index)
}

// comparison is a condition that gives one value, over fields and constants.
func comparison(q *gojq.Query) bool {
	if q.Meta != nil || len(q.Imports)+len(q.FuncDefs)+len(q.Patterns) > 0 {
		return false
	}
	if slices.Contains([]gojq.Operator{gojq.OpAnd, gojq.OpOr, gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe}, q.Op) {
		return comparison(q.Left) && comparison(q.Right)
	}
	if q.Term == nil {
		return false
	}
	switch t := q.Term; t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeIndex:
		return suffixes(t, false)
	case gojq.TermTypeNumber, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNull:
		return len(t.SuffixList) == 0
	case gojq.TermTypeString:
		return len(t.SuffixList) == 0 && len(t.Str.Queries) == 0
	case gojq.TermTypeQuery:
		return len(t.SuffixList) == 0 && comparison(t.Query)
	}
	return false
}

// index is the name of a field, or the number of an element.
func index(i *gojq.Index) bool {
	switch {
	case i.IsSlice || i.End != nil:
		return false
	case i.Start != nil:
		term := i.Start.Term
		return term != nil && len(term.SuffixList) == 0 && (term.Type == gojq.TermTypeNumber || term.Type == gojq.TermTypeString && len(term.Str.Queries) == 0)
	default:
		return i.Str == nil || len(i.Str.Queries) == 0
	}
}
