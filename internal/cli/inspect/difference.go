package inspect

import (
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// differenceOf compares two states of an object that a unit declares.
func differenceOf(of *dialect.OfflineUnit, declared, before, after *unstructured.Unstructured) string {
	without, holdsSecret := of.Shown[engine.IDOf(declared)]
	if !holdsSecret {
		return difference(before, after)
	}
	b, a := bare(before), bare(after)
	if cmp.Equal(b.Object, a.Object) {
		return ""
	}
	hide(b.Object, declared.Object, without.Object)
	hide(a.Object, declared.Object, without.Object)
	if lines := difference(b, a); lines != "" {
		return lines
	}
	return valuesDiffer
}

// valuesDiffer is all that is said of values that are secret.
const valuesDiffer = "    values differ"

// difference compares two states of an object, without what the server sets.
func difference(before, after *unstructured.Unstructured) string {
	secret := before.GetKind() == "Secret"
	b, a := bare(before), bare(after)
	if cmp.Equal(b.Object, a.Object) {
		return ""
	}
	if secret {
		b, a = masked(b), masked(a)
		if cmp.Equal(b.Object, a.Object) {
			return valuesDiffer
		}
	}
	return lineDiff(b, a)
}

func bare(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	delete(u.Object, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	return u
}

// lineDiff lists the lines of the YAML that go and that come.
func lineDiff(before, after *unstructured.Unstructured) string {
	b, errB := yaml.Marshal(before.Object)
	a, errA := yaml.Marshal(after.Object)
	if errA != nil || errB != nil {
		return "    values cannot be printed"
	}
	old, now := strings.Split(strings.TrimSpace(string(b)), "\n"), strings.Split(strings.TrimSpace(string(a)), "\n")
	var out []string
	for _, step := range edits(old, now) {
		out = append(out, "    "+step)
	}
	return strings.Join(out, "\n")
}

// edits returns the shortest list of lines to delete and to add, by the longest common subsequence.
func edits(old, now []string) []string {
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if old[i] == now[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(old) || j < len(now) {
		switch {
		case i < len(old) && j < len(now) && old[i] == now[j]:
			i, j = i+1, j+1
		case j == len(now) || (i < len(old) && common[i+1][j] >= common[i][j+1]):
			out = append(out, "- "+old[i])
			i++
		default:
			out = append(out, "+ "+now[j])
			j++
		}
	}
	return out
}
