package managed

import (
	"slices"
	"testing"

	"github.com/headgate-dev/headgate/internal/engine"
)

// TestReaders wakes readers for what they do not know, once, and not for what they have read or written themselves.
func TestReaders(t *testing.T) {
	reader := Key{Kind: "Object", Name: "a"}
	home, other := &Edges{}, &Edges{}
	at := place{home, engine.ObjectID{Kind: "ConfigMap", Namespace: "apps", Name: "c"}}
	all := place{home, engine.ObjectID{Kind: "ConfigMap", Namespace: "apps", Name: AnyName}}
	elsewhere := place{other, at.ObjectID}
	reads := func(one place, version string) func(*readers) bool {
		return func(r *readers) bool {
			r.enter(reader, one)
			r.knows(reader, one, version)
			return false
		}
	}
	heard := func(version string, gone bool) func(*readers) bool {
		return func(r *readers) bool { return slices.Contains(r.changed(at, version, gone), reader) }
	}
	wrote := func(before, after string) func(*readers) bool {
		return func(r *readers) bool {
			r.wrote(reader, at, before, after)
			return false
		}
	}
	begin := func(r *readers) bool {
		r.begin(reader)
		return false
	}
	end := func(r *readers) bool { return r.end(reader, true) }
	fails := func(r *readers) bool { return r.end(reader, false) }
	forget := func(r *readers) bool {
		r.forget(reader)
		return false
	}
	for name, tc := range map[string]struct {
		reason string
		// steps are made in order; the last one says whether the reader is woken, no other one does.
		steps []func(*readers) bool
		woken bool
	}{
		"Changed":      {"a later version is news", []func(*readers) bool{begin, reads(at, "9"), end, heard("10", false)}, true},
		"Known":        {"the version that was read is not", []func(*readers) bool{begin, reads(at, "9"), end, heard("9", false)}, false},
		"Late":         {"nor is an earlier one, however late it comes", []func(*readers) bool{begin, reads(at, "10"), end, heard("9", false)}, false},
		"Gone":         {"an object that goes is", []func(*readers) bool{begin, reads(at, "9"), end, heard("10", true)}, true},
		"GoneBefore":   {"one that was created again since is not gone", []func(*readers) bool{begin, reads(at, "12"), end, heard("10", true)}, false},
		"Absent":       {"one that comes is", []func(*readers) bool{begin, reads(at, ""), end, heard("1", false)}, true},
		"AbsentGone":   {"one that was not there does not go", []func(*readers) bool{begin, reads(at, ""), end, heard("1", true)}, false},
		"Waits":        {"a pass in progress is not woken", []func(*readers) bool{begin, reads(at, "9"), heard("10", false)}, false},
		"Told":         {"it is told at its end", []func(*readers) bool{begin, reads(at, "9"), heard("10", false), end}, true},
		"ToldFailed":   {"also when it fails", []func(*readers) bool{begin, reads(at, "9"), heard("10", false), fails}, true},
		"ReadAfter":    {"unless it has read that since", []func(*readers) bool{begin, reads(at, "9"), heard("10", false), reads(at, "10"), end}, false},
		"Own":          {"or written it: the answer may come after the notice", []func(*readers) bool{begin, reads(at, "9"), heard("10", false), wrote("9", "10"), end}, false},
		"OwnBefore":    {"or before", []func(*readers) bool{begin, reads(at, "9"), wrote("9", "10"), heard("10", false), end}, false},
		"OwnLate":      {"or after the pass", []func(*readers) bool{begin, reads(at, "9"), wrote("9", "10"), end, heard("10", false)}, false},
		"Between":      {"what another one wrote in between is not taken for its own", []func(*readers) bool{begin, reads(at, "9"), wrote("10", "11"), heard("10", false), end}, true},
		"BetweenLate":  {"nor when the notice comes later", []func(*readers) bool{begin, reads(at, "9"), wrote("10", "11"), end, heard("10", false)}, true},
		"Created":      {"what it created is its own", []func(*readers) bool{begin, reads(at, ""), heard("9", false), wrote("", "9"), end}, false},
		"CreatedGone":  {"and its end is news", []func(*readers) bool{begin, reads(at, ""), wrote("", "9"), heard("9", false), heard("10", true), end}, true},
		"Last":         {"the last notice counts", []func(*readers) bool{begin, reads(at, ""), heard("9", false), heard("10", true), end}, false},
		"Again":        {"what a pass heard is forgotten by the next one", []func(*readers) bool{begin, reads(at, "9"), heard("10", false), begin, reads(at, "10"), end}, false},
		"NoMore":       {"what a whole pass has not read is not followed any more", []func(*readers) bool{begin, reads(at, "9"), end, begin, end, heard("10", false)}, false},
		"StillFailed":  {"what one that failed has not read is", []func(*readers) bool{begin, reads(at, "9"), end, begin, fails, heard("10", false)}, true},
		"Forgotten":    {"a reader that is gone follows nothing", []func(*readers) bool{begin, reads(at, "9"), forget, heard("10", false)}, false},
		"ForgottenYet": {"and begins to follow nothing", []func(*readers) bool{begin, forget, reads(at, "9"), heard("10", false)}, false},
		"List":         {"a change of any object of a list is news", []func(*readers) bool{begin, reads(all, "9"), end, heard("10", false)}, true},
		"Listed":       {"unless the list has it", []func(*readers) bool{begin, reads(all, "9"), end, heard("8", false)}, false},
		"Elsewhere":    {"an object of another cluster is another one", []func(*readers) bool{begin, reads(elsewhere, "9"), end, heard("10", false)}, false},
		"NoNumber":     {"of versions that are no numbers, any other one is news", []func(*readers) bool{begin, reads(at, "b"), end, heard("a", false)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReaders()
			for i, step := range tc.steps {
				if woken, last := step(r), i == len(tc.steps)-1; woken != (last && tc.woken) {
					t.Errorf("%s: after step %d woken is %t", tc.reason, i+1, woken)
				}
			}
		})
	}
}
