package idp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzDocuments reads anything. What is read has a kind and a name, can be written as JSON, and does not change when each address is replaced
// by itself; after each has been replaced by something else, there is none of them.
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
