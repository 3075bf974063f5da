package expression

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// Bounds of one evaluation. The limit of costs counts steps; the functions of extensions cost a step each, however much they do, and
// are bounded by the size of their arguments and results.
const (
	costLimit = 1_000_000
	// textLimit is how large the arguments or the result of a function may be, in bytes; an element counts as elementSize of them.
	textLimit   = 4 << 20
	elementSize = 16
	// pairLimit is how many pairs of elements a function of sets may compare.
	pairLimit = 1 << 20
	// timeLimit is how long an evaluation may take; interruptEvery how many iterations may pass before that is noticed.
	timeLimit      = time.Second
	interruptEvery = 10
)

// extended are the functions of extensions. What they cost is counted, and before they are called, what they would cost.
var extended = []string{
	"charAt", "indexOf", "join", "lastIndexOf", "lowerAscii", "replace", "split", "substring", "trim", "upperAscii", "format", "strings.quote",
	"reverse", "sets.contains", "sets.equivalent", "sets.intersects", "base64.encode", "base64.decode",
}

// bounded are the extensions with their functions replaced by those that refuse arguments which are too large.
func bounded() ([]cel.EnvOption, error) {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders(),
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, err
	}
	for _, name := range extended {
		declared, known := env.Functions()[name]
		if !known {
			return nil, fmt.Errorf("the function %s is unknown", name)
		}
		bindings, err := declared.Bindings()
		if err != nil {
			return nil, err
		}
		for _, o := range declared.OverloadDecls() {
			at := slices.IndexFunc(bindings, func(b *functions.Overload) bool { return b.Operator == o.ID() })
			if at < 0 {
				return nil, fmt.Errorf("the function %s has no implementation of %s", name, o.ID())
			}
			overload := cel.Overload
			if o.IsMemberFunction() {
				overload = cel.MemberOverload
			}
			options = append(options, cel.Function(name, overload(o.ID(), o.ArgTypes(), o.ResultType(), bind(name, len(o.ArgTypes()), bindings[at]))))
		}
	}
	return options, nil
}

// bind calls an implementation unless its arguments are too large.
func bind(name string, arity int, to *functions.Overload) cel.OverloadOpt {
	switch arity {
	case 1:
		return cel.UnaryBinding(func(arg ref.Val) ref.Val {
			if err := affordable(name, arg); err != nil {
				return types.WrapErr(err)
			}
			if to.Unary == nil {
				return to.Function(arg)
			}
			return to.Unary(arg)
		})
	case 2:
		return cel.BinaryBinding(func(a, b ref.Val) ref.Val {
			if err := affordable(name, a, b); err != nil {
				return types.WrapErr(err)
			}
			if to.Binary == nil {
				return to.Function(a, b)
			}
			return to.Binary(a, b)
		})
	default:
		return cel.FunctionBinding(func(args ...ref.Val) ref.Val {
			if err := affordable(name, args...); err != nil {
				return types.WrapErr(err)
			}
			return to.Function(args...)
		})
	}
}

// affordable reports that a call would be too large.
func affordable(name string, args ...ref.Val) error {
	large := func(n, limit int) error {
		if n > limit {
			return fmt.Errorf("%s: its arguments are too large", name)
		}
		return nil
	}
	switch name {
	case "sets.contains", "sets.equivalent", "sets.intersects":
		return large(length(args[0])*max(1, length(args[1])), pairLimit)
	case "replace":
		text, from, to := length(args[0]), length(args[1]), length(args[2])
		return large(text+(text/max(1, from)+1)*to, textLimit)
	case "join":
		return large(sizeOf(args[0])+length(args[0])*sizeOf(args[len(args)-1]), textLimit)
	default:
		n := 0
		for _, arg := range args {
			n += sizeOf(arg)
		}
		return large(n, textLimit)
	}
}

// length is that of a text, or how many elements a value has.
func length(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	case traits.Sizer:
		if n, ok := v.Size().(types.Int); ok {
			return int(n)
		}
	}
	return 1
}

// sizeOf is how large a value is with all that it holds, which may be the same things again and again, or more than the limit.
func sizeOf(v ref.Val) int {
	left := textLimit + 1
	measure(v, &left)
	return textLimit + 1 - left
}

func measure(v ref.Val, left *int) {
	if *left <= 0 {
		return
	}
	*left -= elementSize
	switch v := v.(type) {
	case types.String, types.Bytes:
		*left -= length(v)
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True && *left > 0; {
			key := it.Next()
			measure(key, left)
			measure(v.Get(key), left)
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True && *left > 0; {
			measure(it.Next(), left)
		}
	}
}

// costs counts what functions of extensions cost by what they take and give; the library knows the others.
type costs struct{}

// CallCost is what a call cost.
func (costs) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	if !slices.Contains(extended, function) {
		return nil
	}
	n := 1 + length(result)
	for _, arg := range args {
		n += length(arg)
	}
	if len(args) == 2 && length(args[0]) > 0 && function[0] == 's' && len(function) > 5 && function[:5] == "sets." {
		n += length(args[0]) * length(args[1])
	}
	cost := uint64(n) //nolint:gosec // lengths are not negative
	return &cost
}
