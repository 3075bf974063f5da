package similar

import "testing"

func TestClosest(t *testing.T) {
	fields := []string{"image", "imagePullPolicy", "name", "ports", "replicas"}
	for word, want := range map[string]string{
		"replica": "replicas", "Replicas": "replicas", "imgae": "image", "imagePullpolicy": "imagePullPolicy", "port": "ports",
		"imagePolicy": "", "zone": "", "x": "", "": "", "prots": "ports", "volumes": "",
	} {
		if got := Closest(word, fields); got != want {
			t.Errorf("closest to %q is %q, want %q", word, got, want)
		}
	}
}

// FuzzEdits holds what a distance is: none to itself, and the same both ways.
func FuzzEdits(f *testing.F) {
	f.Add("replicas", "replica")
	f.Add("ab", "ba")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 100 || len(b) > 100 {
			t.Skip()
		}
		there, back := Edits(a, b, 200), Edits(b, a, 200)
		if there != back || (there == 0) != (a == b) || there > max(len(a), len(b)) {
			t.Errorf("from %q to %q are %d edits, back are %d", a, b, there, back)
		}
	})
}
