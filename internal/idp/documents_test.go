package idp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocuments(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	for name, tc := range map[string]struct {
		reason, text  string
		names, failed []string
	}{
		"Byte order mark": {reason: "editors put one first", text: "\ufeff" + app("a", "{}"), names: []string{"a"}},
		"Others":          {reason: "other objects and text are left out", text: "just text\n---\nkind: Application\nmetadata: {name: b}\n---\n[1]\n---\n" + appSet("c", "{}"), names: []string{"c"}},
		"Versions":        {reason: "the server knows which versions it has", text: strings.Replace(app("a", "{}"), "v1alpha1", "v1", 1), names: []string{"a"}},
		"Namespace":       {reason: "a namespace has to be one", text: strings.Replace(app("a", "{}"), "{name: a}", "{name: a, namespace: a/b}", 1), failed: []string{"document 1 in line 1: Application/a: metadata.namespace"}},
		"Spec":            {reason: "so does a spec", text: app("a", "5") + "---\n" + app("b", "{}"), names: []string{"b"}, failed: []string{"document 1 in line 1: Application/a: spec is missing"}},
		"Aliases":         {reason: "aliases do not multiply what is read", text: bomb + "---\n" + app("a", "{}"), names: []string{"a"}, failed: []string{"document 1 in line 1: yaml: document contains excessive aliasing"}},
		"Many":            {reason: "documents are counted", text: strings.Repeat("---\na: b\n", maxDocuments+1), failed: []string{"there are more than 1000 documents"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects, failed := Documents([]byte(tc.text))
			var names []string
			for _, o := range objects {
				names = append(names, o.GetName())
			}
			if diff := cmp.Diff(tc.names, names); diff != "" || len(failed) != len(tc.failed) {
				t.Fatalf("%s: %v (-want +got):\n%s", tc.reason, failed, diff)
			}
			for i, err := range failed {
				if !strings.HasPrefix(err.Error(), tc.failed[i]) {
					t.Errorf("%s: %v", tc.reason, err)
				}
			}
		})
	}
}

// FuzzDocuments reads anything. What is read has a kind and a name, can be written as JSON, and does not change when each address is replaced
// on its own; after each has been replaced by something else, there is not one of them.
func FuzzDocuments(f *testing.F) {
	f.Add([]byte(app("shop", one("cnoe://web"))))
	f.Add([]byte("kind: [\n---\n" + appSet("set", `{generators: [{matrix: {generators: [{git: {repoURL: "cnoe://a"}}]}}], templatePatch: "a: cnoe://x\n"}`)))
	f.Add([]byte("\ufeff" + app("v", `{source: {helm: {values: "# cnoe://none\na: cnoe://x # y\nb: [\"cnoe://y{{.z}}\"]", valueFiles: ["cnoe://x/v.yaml"]}}}`)))
	f.Add([]byte("&a [*a, *a]\n---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: 5}\nspec: 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, _ := Documents(data)
		for _, o := range objects {
			if o.GetName() == "" || (o.GetKind() != applicationKind && o.GetKind() != applicationSetKind) {
				t.Errorf("%q is %s/%s", data, o.GetKind(), o.GetName())
			}
			before, err := o.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			spec, _ := o.Object["spec"].(map[string]any)
			found := occurrences(spec)
			if after, err := o.MarshalJSON(); err != nil || string(before) != string(after) {
				t.Errorf("the object is changed (-before +after), error %v:\n%s", err, cmp.Diff(string(before), string(after)))
			}
			for _, at := range found {
				if !strings.HasPrefix(at.address, Scheme) || !strings.HasPrefix(at.field, "spec.") {
					t.Errorf("%q has the address %+v", data, at)
				}
			}
			replaceAll(spec, func(occurrence) string { return "x" })
			if left := occurrences(spec); len(left) > 0 {
				text, _ := json.Marshal(spec)
				t.Errorf("%v are left in %s", left, text)
			}
		}
	})
}
