package appset

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// maxWeight bounds what goes into a function of templates, and what comes out: bytes of text, and items.
const maxWeight = 1 << 20

// maxProduct bounds the product of the two heaviest arguments of functions that may multiply them.
const maxProduct = 1 << 24

// maxCount bounds the numbers of functions that make as many of something.
const maxCount = 100_000

var errWeight = fmt.Errorf("a value has more than %d KiB, or contains itself", maxWeight>>10)

// multiplying are functions whose result may have the size of the product of their arguments.
func multiplying() []string {
	return []string{
		"repeat", "indent", "nindent", "replace", "join", "wrap", "wrapWith", "regexReplaceAll", "regexReplaceAllLiteral",
		"mustRegexReplaceAll", "mustRegexReplaceAllLiteral",
	}
}

// comparing are functions that compare each item with each other one.
func comparing() []string { return []string{"uniq", "mustUniq", "without", "mustWithout"} }

// counting are functions that make as many of something as a number says.
func counting() []string {
	return []string{"until", "untilStep", "seq", "repeat", "indent", "nindent", "randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes"}
}

// costs are functions that ask for much work, with what a call counts in steps.
func costs() map[string]int {
	return map[string]int{
		"genPrivateKey": 200_000, "genCA": 200_000, "genCAWithKey": 50_000, "genSelfSignedCert": 200_000, "genSelfSignedCertWithKey": 50_000,
		"genSignedCert": 200_000, "genSignedCertWithKey": 50_000, "buildCustomCert": 50_000, "bcrypt": 250_000, "htpasswd": 250_000,
		"derivePassword": 250_000,
	}
}

// measured is a function of which a call counts as steps, and whose arguments and results have bounds. It has the
// same parameters, and returns an error beside its result.
func measured(m *meter, name string, function any) any {
	inner := reflect.ValueOf(function)
	kind := inner.Type()
	var in []reflect.Type
	for i := range kind.NumIn() {
		in = append(in, kind.In(i))
	}
	failure := reflect.TypeFor[error]()
	cost := max(1, costs()[name])
	check := arguments{
		counts: slices.Contains(counting(), name), multiplies: slices.Contains(multiplying(), name), compares: slices.Contains(comparing(), name),
		matches: strings.HasPrefix(strings.ToLower(strings.TrimPrefix(name, "must")), "regex") && name != "regexQuoteMeta",
	}
	outer := reflect.FuncOf(in, []reflect.Type{kind.Out(0), failure}, kind.IsVariadic())
	return reflect.MakeFunc(outer, func(args []reflect.Value) []reflect.Value {
		work, err := check.check(args)
		if err == nil {
			err = m.spend(min(cost+work, maxSteps+1))
		}
		if err != nil {
			return []reflect.Value{reflect.Zero(kind.Out(0)), reflect.ValueOf(&err).Elem()}
		}
		var results []reflect.Value
		if kind.IsVariadic() {
			results = inner.CallSlice(args)
		} else {
			results = inner.Call(args)
		}
		if len(results) == 1 {
			results = append(results, reflect.Zero(failure))
		}
		if results[1].IsNil() && weigh(results[0]) > maxWeight {
			err = errWeight
			results[1] = reflect.ValueOf(&err).Elem()
		}
		return results
	}).Interface()
}

// arguments says what is asked of the arguments of a function.
type arguments struct{ counts, multiplies, compares, matches bool }

// perStep is how many bytes or items are handled in the time of a step, and perMatch how many instructions of a regular expression.
const perStep, perMatch = 512, 64

// check refuses arguments that are too heavy, and reports how many steps they take.
func (a arguments) check(args []reflect.Value) (steps int, err error) {
	first, second, sum := 1, 1, 0
	for _, arg := range flat(args) {
		weight := weigh(arg)
		if sum += weight; sum > maxWeight {
			return 0, errWeight
		}
		if number, ok := integer(arg); ok && a.counts {
			if number > maxCount || number < -maxCount {
				return 0, fmt.Errorf("%d is more than %d", number, maxCount)
			}
			weight = max(1, number)
		}
		if weight > first {
			first, second = weight, first
		} else {
			second = max(second, weight)
		}
	}
	switch {
	case a.multiplies && first*second > maxProduct:
		return 0, errWeight
	case a.compares:
		return sum / perStep * sum, nil
	case a.matches && len(args) > 1 && args[0].Kind() == reflect.String:
		each, err := patterns.Steps(args[0].String())
		if err == nil {
			_, err = patterns.Regexp(args[0].String())
		}
		return each * sum / perMatch, err
	}
	return sum / perStep, nil
}

// flat are arguments, those of a variadic function one by one.
func flat(args []reflect.Value) []reflect.Value {
	if len(args) == 0 || args[len(args)-1].Kind() != reflect.Slice {
		return args
	}
	all := slices.Clone(args[:len(args)-1])
	rest := args[len(args)-1]
	if rest.Len() > maxWeight {
		return args
	}
	for i := range rest.Len() {
		all = append(all, rest.Index(i))
	}
	return all
}

func integer(value reflect.Value) (int, bool) {
	for value.Kind() == reflect.Interface && !value.IsNil() {
		value = value.Elem()
	}
	if value.CanInt() {
		return int(value.Int()), true
	}
	return 0, false
}

// weigh is how much there is in a value. It stops soon after the bound.
func weigh(value reflect.Value) int {
	s := scale{left: maxWeight}
	s.put(value, 0)
	return maxWeight - s.left
}

type scale struct{ left int }

// maxDepth bounds how deep values are nested. One that contains itself is deeper.
const maxDepth = 1000

func (s *scale) put(value reflect.Value, depth int) {
	if s.left < 0 {
		return
	}
	if depth > maxDepth {
		s.left = -1
		return
	}
	s.left--
	switch value.Kind() {
	case reflect.String:
		s.left -= value.Len()
	case reflect.Interface, reflect.Pointer:
		if !value.IsNil() && value.Kind() == reflect.Interface {
			s.put(value.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		if kind := value.Type().Elem().Kind(); kind == reflect.Uint8 {
			s.left -= value.Len()
			return
		}
		for i := 0; i < value.Len() && s.left >= 0; i++ {
			s.put(value.Index(i), depth+1)
		}
	case reflect.Map:
		for entries := value.MapRange(); s.left >= 0 && entries.Next(); {
			s.put(entries.Key(), depth+1)
			s.put(entries.Value(), depth+1)
		}
	}
}
