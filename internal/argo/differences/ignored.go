package differences

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Field is a field that may differ.
type Field struct {
	// Desired is the field in the desired object, and Live the same one in the live object. They differ where elements of
	// a list are in other places. One is nil where the list has no such element there.
	Desired, Live engine.Pointer
	// InDesired and InLive are true where the field is there.
	InDesired, InLive bool
	// Lists are those that the field lies in, the outermost first.
	Lists []List
}

// Atomic is the outermost list around the field that cannot be owned in part, and false if there is none. A field in
// one cannot be left out of what is applied: the list is written with it or without.
func (f Field) Atomic() (List, bool) {
	i := slices.IndexFunc(f.Lists, List.byIndex)
	if i < 0 {
		return List{}, false
	}
	return f.Lists[i], true
}

// Ignored are the fields of an object that may differ, each once and in the order of the rules, in neither object only
// where the other one has it.
//
// An object that is not there has none: what it is created with is what the source says, whole. The error names the
// expressions that could not be evaluated; the fields of the other rules are there all the same.
func (r ObjectRules) Ignored(ctx context.Context, desired, live *unstructured.Unstructured) ([]Field, error) {
	if r.Empty() || desired == nil || live == nil {
		return nil, nil
	}
	p := pair{desired: desired.Object, live: live.Object, shape: managed(live)}
	var errs []error
	for _, pointer := range r.pointers {
		p.match([]engine.Pointer{pointer}, []engine.Pointer{pointer})
	}
	for _, e := range r.expressions {
		ofDesired, err := e.paths(ctx, desired.Object)
		ofLive, otherErr := e.paths(ctx, live.Object)
		if err = errors.Join(err, otherErr); err != nil {
			errs = append(errs, firstOf(err))
			continue
		}
		p.match(ofDesired, ofLive)
	}
	if len(r.managers) > 0 {
		p.managedBy(managed(live, r.managers...))
	}
	return p.fields, errors.Join(errs...)
}

// firstOf is one of the errors that an expression gave for two objects.
func firstOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

// pair are two objects whose fields are brought together.
type pair struct {
	desired, live map[string]any
	// shape is what is managed in the live object.
	shape  *fieldpath.Set
	fields []Field
	seen   map[string]bool
}

// match brings together the fields that one rule names in each object. In a list whose elements are known by their
// places, fields belong together that the rule names in both, at the same place or else in the same order.
func (p *pair) match(ofDesired, ofLive []engine.Pointer) {
	unreachable := func(in map[string]any) func(engine.Pointer) bool {
		return func(path engine.Pointer) bool { return !mayHold(in, path) }
	}
	ofDesired = slices.DeleteFunc(slices.Clone(ofDesired), unreachable(p.desired))
	left := slices.DeleteFunc(slices.Clone(ofLive), unreachable(p.live))
	var alone []Field
	for _, path := range ofDesired {
		other, lists := p.counterpart(path, true)
		f := Field{Desired: path, Live: other, Lists: lists}
		i := slices.IndexFunc(left, func(l engine.Pointer) bool { return slices.Equal(l, other) })
		_, guessed := f.Atomic()
		switch {
		case i >= 0:
			left = slices.Delete(left, i, i+1)
			p.add(f)
		case !guessed:
			p.add(f)
		default:
			alone = append(alone, f)
		}
	}
	var rest []Field
	for _, path := range left {
		other, lists := p.counterpart(path, false)
		f := Field{Desired: other, Live: path, Lists: lists}
		if _, guessed := f.Atomic(); guessed {
			rest = append(rest, f)
			continue
		}
		p.add(f)
	}
	p.inOrder(alone, rest)
}

// inOrder brings together what is left over: in the same order where it is as many fields on both sides.
func (p *pair) inOrder(ofDesired, ofLive []Field) {
	for i, f := range ofDesired {
		f.Live = nil
		if len(ofDesired) == len(ofLive) {
			f.Live = ofLive[i].Live
		}
		p.add(f)
	}
	if len(ofDesired) == len(ofLive) {
		return
	}
	for _, f := range ofLive {
		f.Desired = nil
		p.add(f)
	}
}

// managedBy adds the fields of some managers in which the objects differ. What both have alike needs no rule, and what
// only one has is not theirs.
func (p *pair) managedBy(set *fieldpath.Set) {
	set.Leaves().Iterate(func(path fieldpath.Path) {
		inLive, ok := resolve(path, p.live)
		if !ok || len(inLive) == 0 {
			return
		}
		other, lists := p.counterpart(inLive, false)
		if other == nil {
			return
		}
		mine, desires := other.Lookup(p.desired)
		theirs, there := inLive.Lookup(p.live)
		if desires && there && !equal(mine, theirs) {
			p.add(Field{Desired: other, Live: inLive, Lists: lists})
		}
	})
}

// add adds a field that one of the objects has.
func (p *pair) add(f Field) {
	if f.Desired != nil {
		_, f.InDesired = f.Desired.Lookup(p.desired)
	}
	if f.Live != nil {
		_, f.InLive = f.Live.Lookup(p.live)
	}
	key := f.Desired.String() + "\x00" + f.Live.String()
	if p.seen[key] || !f.InDesired && !f.InLive {
		return
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[key] = true
	p.fields = append(p.fields, f)
}

// counterpart is where the field of one object is in the other, whether it is there or not, nil where a list has no
// such element.
func (p *pair) counterpart(path engine.Pointer, fromDesired bool) (engine.Pointer, []List) {
	var from, to any = p.desired, p.live
	if !fromDesired {
		from, to = to, from
	}
	set, owned, found := p.shape, false, true
	other := make(engine.Pointer, 0, len(path))
	var lists []List
	for depth, part := range path {
		element := fieldName(part)
		list, isList := from.([]any)
		if !isList {
			m, _ := from.(map[string]any)
			from = m[part]
			m, isMap := to.(map[string]any)
			found = found && (isMap || to == nil)
			to = m[part]
			other = append(other, part)
		} else {
			l := listOf(set, owned)
			l.Depth = depth
			lists = append(lists, l)
			item, i, _ := at(list, part)
			in, _ := to.([]any)
			j := l.find(item, in, i)
			if j >= 0 && l.find(in[j], list, j) != i {
				j = -1 // it is several elements' over here
			}
			from, to = item, nil
			if found = found && j >= 0; found {
				to = in[j]
				other = append(other, indexOf(j))
			}
			element = l.element(liveOf(from, to, fromDesired), i)
		}
		owned, set = set.Members.Has(element), set.WithPrefix(element)
	}
	if !found {
		return nil, lists
	}
	return other, lists
}

// mayHold is true where an object has the field, or could have it without another element in a list.
func mayHold(value any, path engine.Pointer) bool {
	for _, part := range path {
		switch v := value.(type) {
		case nil:
			return true
		case map[string]any:
			value = v[part]
		case []any:
			item, _, there := at(v, part)
			if !there {
				return false
			}
			value = item
		default:
			return false
		}
	}
	return true
}

// liveOf is the element of the live object, which has the defaults of its keys.
func liveOf(from, to any, fromDesired bool) any {
	if fromDesired && to != nil {
		return to
	}
	return from
}
