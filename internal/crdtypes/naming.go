package crdtypes

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// item is a structure or an enum that needs a name.
type item struct {
	name *string
	uses *[]use
	seen bool
	next []*field
}

// name gives all types their names, and returns the contents of NamesFile. Names that previous has stay. A type has the name of its
// property, unless others of another structure would have that as well: then the name of the type around it comes before.
func (t *types) name(previous map[string]string) []byte {
	items := t.collect()
	taken := map[string]bool{"Definitions": true, "GroupVersion": true}
	for _, r := range t.roots {
		taken[r.kind.typeName] = true
	}
	wanted := map[string]int{}
	for _, it := range items {
		wanted[it.wish()]++
	}
	for _, it := range items {
		for _, u := range *it.uses {
			if kept := previous[u.id()]; kept != "" && !taken[kept] {
				*it.name, taken[kept] = kept, true
				break
			}
		}
		// A name depends on that of the type around, which comes earlier in the list.
		if *it.name == "" {
			*it.name = unique(taken, it.choose(wanted, taken))
		}
	}
	for _, e := range t.sortedEnums() {
		e.nameConstants(taken)
	}
	return namesOf(items)
}

// collect are the types that need names, in the order in which they are reached from the kinds.
func (t *types) collect() []*item {
	byLeaf := map[any]*item{}
	var items []*item
	reach := func(parent *string, fields []*field) []*item {
		var reached []*item
		for _, f := range fields {
			leaf, element := f.typ.leaf()
			it := itemOf(byLeaf, leaf)
			if it == nil {
				continue
			}
			*it.uses = append(*it.uses, use{parent, f.wire, element})
			if !it.seen {
				it.seen = true
				items, reached = append(items, it), append(reached, it)
			}
		}
		return reached
	}
	var queue []*item
	for _, r := range t.roots {
		queue = append(queue, reach(&r.kind.typeName, r.fields)...)
	}
	for len(queue) > 0 {
		it := queue[0]
		queue = append(queue[1:], reach(it.name, it.next)...)
	}
	for _, r := range t.roots {
		t.mark(r.kind.typeName, r.fields, map[*structure]bool{})
	}
	return items
}

// mark notes of every type which kinds have it.
func (t *types) mark(kind string, fields []*field, seen map[*structure]bool) {
	for _, f := range fields {
		leaf, _ := f.typ.leaf()
		switch leaf.form {
		case enumForm:
			if !slices.Contains(leaf.enum.kinds, kind) {
				leaf.enum.kinds = append(leaf.enum.kinds, kind)
			}
		case structForm:
			if !seen[leaf.object] {
				seen[leaf.object] = true
				leaf.object.kinds = append(leaf.object.kinds, kind)
				t.mark(kind, leaf.object.fields, seen)
			}
		}
	}
}

func itemOf(byLeaf map[any]*item, leaf reference) *item {
	var key any
	var it *item
	switch leaf.form {
	case structForm:
		key, it = leaf.object, &item{name: &leaf.object.name, uses: &leaf.object.uses, next: leaf.object.fields}
	case enumForm:
		key, it = leaf.enum, &item{name: &leaf.enum.name, uses: &leaf.enum.uses}
	default:
		return nil
	}
	if byLeaf[key] == nil {
		byLeaf[key] = it
	}
	return byLeaf[key]
}

// wish is the name that most uses would give, the first of several.
func (it *item) wish() string {
	count, best := map[string]int{}, ""
	for _, u := range *it.uses {
		count[u.wish()]++
	}
	for _, u := range *it.uses {
		if best == "" || count[u.wish()] > count[best] {
			best = u.wish()
		}
	}
	return best
}

func (u use) wish() string {
	if u.element {
		return exported(singular(u.property))
	}
	return exported(u.property)
}

func (u use) id() string { return *u.parent + "." + u.property }

// vague are names that say nothing without the type around.
var vague = []string{
	"Action", "Auth", "Condition", "Config", "Data", "Format", "Item", "Key", "Kind", "Level", "Match", "Metadata", "Method", "Mode", "Name",
	"Operator", "Option", "Options", "Phase", "Policy", "Protocol", "Reason", "Ref", "Reference", "Scope", "Service", "Settings", "Source", "Spec",
	"State", "Status", "Strategy", "Target", "Type", "Value", "Version",
}

// choose is a name for a type without one. Specs and statuses have the name of their kind before them.
func (it *item) choose(wanted map[string]int, taken map[string]bool) string {
	wish := it.wish()
	if wanted[wish] == 1 && !taken[wish] && !slices.Contains(vague, wish) {
		return wish
	}
	// The shortest name around: the spec of SecretStore and of ClusterSecretStore is SecretStoreSpec.
	around := ""
	for _, u := range *it.uses {
		if u.wish() == wish && *u.parent != "" && (around == "" || len(*u.parent) < len(around)) {
			around = *u.parent
		}
	}
	return strings.TrimSuffix(around, "Spec") + wish
}

func (t *types) sortedEnums() []*enum {
	return slices.SortedFunc(maps.Values(t.enums), func(a, b *enum) int { return strings.Compare(a.name, b.name) })
}

func (t *types) sortedStructures() []*structure {
	return slices.SortedFunc(maps.Values(t.byKey), func(a, b *structure) int { return strings.Compare(a.name, b.name) })
}

func (e *enum) nameConstants(taken map[string]bool) {
	if e.name == "" {
		return
	}
	for _, value := range e.values {
		word := ""
		if all := words(value); len(all) > 0 {
			word = exported(value)
			if all[0][0] >= '0' && all[0][0] <= '9' {
				word = strings.TrimPrefix(word, "X")
			}
		}
		if strings.HasPrefix(value, "-") || strings.HasPrefix(value, "!") {
			word = "Not" + word
		}
		e.constants = append(e.constants, unique(taken, e.name+cmp.Or(word, "Value")))
	}
}

// namesOf is the contents of NamesFile.
func namesOf(items []*item) []byte {
	var lines []string
	for _, it := range items {
		for _, u := range *it.uses {
			lines = append(lines, u.id()+" "+*it.name+"\n")
		}
	}
	slices.Sort(lines)
	return []byte("# Names of types, by the fields that have them. \"headgate import\" reads this file, so that names stay.\n" + strings.Join(slices.Compact(lines), ""))
}

func parseNames(data []byte) (map[string]string, error) {
	names := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cut := strings.LastIndex(line, " ")
		if cut < 0 || exported(line[cut+1:]) != line[cut+1:] {
			return nil, fmt.Errorf("line %d: want a field and the name of its type", n)
		}
		names[line[:cut]] = line[cut+1:]
	}
	return names, lines.Err()
}
