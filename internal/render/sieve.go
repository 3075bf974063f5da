package render

import (
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// What is left out of a build, as passed to Options.LeaveOut.
const (
	// LeftRemote is an entry of a kustomization that is somewhere else than in the tree.
	LeftRemote = "Remote"
	// LeftPatch is a patch for something that what stands in for a chart or a base does not have.
	LeftPatch = "Patch"
)

// sieve takes patches out of kustomizations on their way to kustomize. A nil sieve takes none.
type sieve struct {
	// patches are those that were read, in their order, and known the same by their keys.
	patches []patchEntry
	known   map[string]bool
	// out are the keys of those that are taken out.
	out map[string]bool
	// stands is set once something stood in for a chart, or a base was left out.
	stands bool
	// made are the manifests of charts that were inflated.
	made map[string][]byte
}

// patchEntry is an entry of a kustomization that patches.
type patchEntry struct{ key, name string }

// patchFields are the fields of a kustomization that hold patches.
var patchFields = []string{"patches", "patchesStrategicMerge", "patchesJson6902"}

// pass notes the patches of a kustomization, and takes out those that are to be left out. What cannot be read stays
// as it is, for kustomize to refuse.
func (s *sieve) pass(rel string, data []byte) []byte {
	if s == nil {
		return data
	}
	content := map[string]any{}
	if err := yaml.Unmarshal(data, &content); err != nil {
		return data
	}
	took := false
	for _, field := range patchFields {
		entries, ok := content[field].([]any)
		if !ok {
			continue
		}
		var left []any
		for i, entry := range entries {
			if s.takes(rel, field, i, entry) {
				took = true
			} else {
				left = append(left, entry)
			}
		}
		content[field] = left
	}
	if !took {
		return data
	}
	out, err := yaml.Marshal(content)
	if err != nil {
		return data
	}
	return out
}

// takes notes a patch and reports whether it is left out.
func (s *sieve) takes(rel, field string, i int, entry any) bool {
	text, err := json.Marshal(entry)
	if err != nil {
		return false
	}
	key := rel + "\x00" + string(text)
	if !s.known[key] {
		s.known[key] = true
		s.patches = append(s.patches, patchEntry{key, fmt.Sprintf("%s: %s[%d]%s", rel, field, i, targetOf(text))})
	}
	return s.out[key]
}

// targetOf names what a patch is for, as far as it says.
func targetOf(entry []byte) string {
	var patch types.Patch
	if err := json.Unmarshal(entry, &patch); err != nil {
		return ""
	}
	switch {
	case patch.Target != nil:
		return fmt.Sprintf(" for %s %q", patch.Target.Kind, patch.Target.Name)
	case patch.Path != "":
		return fmt.Sprintf(" (%s)", patch.Path)
	}
	return ""
}

// without builds again without patches that nothing can be done with: first without any, and then with each that
// does no harm. The first failure is returned when it is not about patches.
func (s *sieve) without(failure error, told func(what, entry string), build func() (*Result, error)) (*Result, error) {
	for {
		before := len(s.patches)
		for _, p := range s.patches {
			s.out[p.key] = true
		}
		_, err := build()
		if err == nil {
			break
		}
		if len(s.patches) == before {
			return nil, failure
		}
		// More of them were read this time.
	}
	for _, p := range slices.Clone(s.patches) {
		delete(s.out, p.key)
		if _, err := build(); err != nil {
			s.out[p.key] = true
		}
	}
	result, err := build()
	if err == nil {
		for _, p := range s.patches {
			if s.out[p.key] {
				told(LeftPatch, p.name)
			}
		}
	}
	return result, err
}

func newSieve() *sieve {
	return &sieve{known: map[string]bool{}, out: map[string]bool{}, made: map[string][]byte{}}
}

// inflated are the manifests that are known already.
func (s *sieve) inflated() map[string][]byte {
	if s == nil {
		return map[string][]byte{}
	}
	return s.made
}

// leftOut reports a remote entry, and records it.
func (s *sieve) leftOut(told func(what, entry string)) func(entry string) {
	return func(entry string) {
		s.stands = true
		told(LeftRemote, entry)
	}
}

// PatchWithStandIn is Patch for what stands in for a chart: patches that fail are left out, and told.
func (r *Renderer) PatchWithStandIn(manifests []byte, patches []types.Patch, images []types.Image, told func(entry string)) ([]byte, error) {
	out, err := r.Patch(manifests, patches, images)
	if err == nil {
		return out, nil
	}
	if out, err = r.Patch(manifests, nil, images); err != nil {
		return nil, err
	}
	var kept []types.Patch
	for i, p := range patches {
		with := append(slices.Clone(kept), p)
		patched, err := r.Patch(manifests, with, images)
		if err != nil {
			text, _ := json.Marshal(p)
			told(fmt.Sprintf("patches[%d]%s", i, targetOf(text)))
			continue
		}
		kept, out = with, patched
	}
	return out, nil
}
