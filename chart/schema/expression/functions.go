package expression

import (
	"net/netip"
	"net/url"
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// functions are those that Kubernetes adds to the language.
type functions struct{}

// CompileOptions declares them.
func (functions) CompileOptions() []cel.EnvOption {
	list := cel.ListType(cel.DynType)
	return []cel.EnvOption{
		cel.Function("isURL", cel.Overload("is_url", []*cel.Type{cel.StringType}, cel.BoolType, cel.UnaryBinding(isURL))),
		cel.Function("isIP", cel.Overload("is_ip", []*cel.Type{cel.StringType}, cel.BoolType, cel.UnaryBinding(isIP))),
		cel.Function("isCIDR", cel.Overload("is_cidr", []*cel.Type{cel.StringType}, cel.BoolType, cel.UnaryBinding(isCIDR))),
		cel.Function("find", cel.MemberOverload("find", []*cel.Type{cel.StringType, cel.StringType}, cel.StringType, cel.BinaryBinding(find))),
		cel.Function("findAll", cel.MemberOverload("find_all", []*cel.Type{cel.StringType, cel.StringType}, cel.ListType(cel.StringType), cel.BinaryBinding(findAll))),
		cel.Function("isSorted", cel.MemberOverload("is_sorted", []*cel.Type{list}, cel.BoolType, cel.UnaryBinding(isSorted))),
		cel.Function("sum", cel.MemberOverload("sum", []*cel.Type{list}, cel.DynType, cel.UnaryBinding(sum))),
		cel.Function("min", cel.MemberOverload("min", []*cel.Type{list}, cel.DynType, cel.UnaryBinding(func(l ref.Val) ref.Val { return extreme(l, -1) }))),
		cel.Function("max", cel.MemberOverload("max", []*cel.Type{list}, cel.DynType, cel.UnaryBinding(func(l ref.Val) ref.Val { return extreme(l, 1) }))),
	}
}

// ProgramOptions are none.
func (functions) ProgramOptions() []cel.ProgramOption { return nil }

func text(v ref.Val) string {
	s, _ := v.Value().(string)
	return s
}

func isURL(v ref.Val) ref.Val {
	parsed, err := url.ParseRequestURI(text(v))
	return types.Bool(err == nil && (parsed.IsAbs() || parsed.Path != ""))
}

func isIP(v ref.Val) ref.Val {
	_, err := netip.ParseAddr(text(v))
	return types.Bool(err == nil)
}

func isCIDR(v ref.Val) ref.Val {
	_, err := netip.ParsePrefix(text(v))
	return types.Bool(err == nil)
}

func find(v, pattern ref.Val) ref.Val {
	re, err := regexp.Compile(text(pattern))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.String(re.FindString(text(v)))
}

func findAll(v, pattern ref.Val) ref.Val {
	re, err := regexp.Compile(text(pattern))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(text(v), -1))
}

// items calls visit for each item with the one before; an answer ends it.
func items(v ref.Val, visit func(previous, item ref.Val) ref.Val) ref.Val {
	list, ok := v.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	var previous ref.Val
	for it := list.Iterator(); it.HasNext() == types.True; {
		item := it.Next()
		if answer := visit(previous, item); answer != nil {
			return answer
		}
		previous = item
	}
	return nil
}

// compare is the order of two values: -1, 0, 1 or an error.
func compare(a, b ref.Val) ref.Val {
	comparer, ok := a.(traits.Comparer)
	if !ok {
		return types.MaybeNoSuchOverloadErr(a)
	}
	return comparer.Compare(b)
}

func isSorted(v ref.Val) ref.Val {
	answer := items(v, func(previous, item ref.Val) ref.Val {
		if previous == nil {
			return nil
		}
		switch order := compare(previous, item); {
		case types.IsError(order):
			return order
		case order == types.IntOne:
			return types.False
		}
		return nil
	})
	if answer == nil {
		return types.True
	}
	return answer
}

func sum(v ref.Val) ref.Val {
	var total ref.Val = types.IntZero
	answer := items(v, func(previous, item ref.Val) ref.Val {
		if previous == nil {
			total = item
			return nil
		}
		adder, ok := total.(traits.Adder)
		if !ok {
			return types.MaybeNoSuchOverloadErr(total)
		}
		total = adder.Add(item)
		return nil
	})
	if answer != nil {
		return answer
	}
	return total
}

// extreme is the smallest or largest item.
func extreme(v ref.Val, sign types.Int) ref.Val {
	var best ref.Val
	answer := items(v, func(_, item ref.Val) ref.Val {
		if best == nil {
			best = item
			return nil
		}
		order := compare(item, best)
		if types.IsError(order) {
			return order
		}
		if order == sign {
			best = item
		}
		return nil
	})
	switch {
	case answer != nil:
		return answer
	case best == nil:
		return types.NewErr("an empty list has no smallest and no largest item")
	}
	return best
}
