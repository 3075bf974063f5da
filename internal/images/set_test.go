package images_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/images"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func chosen() map[string]images.Image {
	return map[string]images.Image{
		"ns:app":    {Name: "reg.io/app", Tag: "v2"},
		"ns:dated":  {Name: "reg.io/dated", Tag: "20240101"},
		"ns:minor":  {Name: "reg.io/minor", Tag: "1.10"},
		"ns:pinned": {Name: "reg.io/app", Tag: "v2", Digest: digest},
	}
}

const (
	mark    = ` # {"$imagepolicy": "ns:app"}`
	markTag = ` # {"$imagepolicy": "ns:app:tag"}`
)

func TestSet(t *testing.T) {
	cases := map[string]struct {
		reason, file, want string
		notes              string
	}{
		"whole":           {"an image", "image: reg.io/app:v1" + mark + "\n", "image: reg.io/app:v2" + mark + "\n", ""},
		"name":            {"its name", "n: x # {\"$imagepolicy\": \"ns:app:name\"}\n", "n: reg.io/app # {\"$imagepolicy\": \"ns:app:name\"}\n", ""},
		"tag":             {"its tag", "t: v1" + markTag + "\n", "t: v2" + markTag + "\n", ""},
		"digest":          {"its digest", "d: sha256:0 # {\"$imagepolicy\": \"ns:pinned:digest\"}\n", "d: " + digest + " # {\"$imagepolicy\": \"ns:pinned:digest\"}\n", ""},
		"pinned":          {"with its digest", "i: x # {\"$imagepolicy\": \"ns:pinned\"}\n", "i: reg.io/app:v2@" + digest + " # {\"$imagepolicy\": \"ns:pinned\"}\n", ""},
		"no digest":       {"a digest that there is not", "d: old # {\"$imagepolicy\": \"ns:app:digest\"}\n", "", "line 1: policy ns:app has no digest"},
		"bad part":        {"a part that there is not", "d: old # {\"$imagepolicy\": \"ns:app:tags\"}\n", "", "not in :tags"},
		"double quotes":   {"they stay", `image: "a:1"` + mark, `image: "reg.io/app:v2"` + mark, ""},
		"single quotes":   {"they stay", `image: 'it''s'` + mark, `image: 'reg.io/app:v2'` + mark, ""},
		"hash in quotes":  {"the comment begins after the value", `image: "a#b \" # {" ` + mark, `image: "reg.io/app:v2" ` + mark, ""},
		"number":          {"what would be a number is quoted", "t: v1 # {\"$imagepolicy\": \"ns:minor:tag\"}\n", "t: \"1.10\" # {\"$imagepolicy\": \"ns:minor:tag\"}\n", ""},
		"number before":   {"a number becomes a text", "t: 1.9 # {\"$imagepolicy\": \"ns:minor:tag\"}\n", "t: \"1.10\" # {\"$imagepolicy\": \"ns:minor:tag\"}\n", ""},
		"date":            {"and what is only digits", "t: 'x' # {\"$imagepolicy\": \"ns:dated:tag\"}\n", "t: '20240101' # {\"$imagepolicy\": \"ns:dated:tag\"}\n", ""},
		"list":            {"an item of a list", "images:\n- a" + mark + "\n- b\n", "images:\n- reg.io/app:v2" + mark + "\n- b\n", ""},
		"flow map":        {"the last value of the line", "{name: c, image: 'a:1'}" + mark + "\n", "{name: c, image: 'reg.io/app:v2'}" + mark + "\n", ""},
		"flow list":       {"with the ends after it", "a: [[x, {image: a:1}]]" + mark + "\n", "a: [[x, {image: reg.io/app:v2}]]" + mark + "\n", ""},
		"flow lines":      {"a list over lines", "a: [\n  x," + mark + "\n  y\n]\n", "a: [\n  reg.io/app:v2," + mark + "\n  y\n]\n", ""},
		"line ends":       {"they stay", "a: 1\r\nimage:  x  " + mark + "  \r\n\r\n# end\r\n", "a: 1\r\nimage:  reg.io/app:v2  " + mark + "  \r\n\r\n# end\r\n", ""},
		"documents":       {"each for itself", "---\na: x" + mark + "\n---\n# c\nb:   x" + mark + "\n...\n", "---\na: reg.io/app:v2" + mark + "\n---\n# c\nb:   reg.io/app:v2" + mark + "\n...\n", ""},
		"anchor":          {"it stays", "a: &x old" + mark + "\nb: *x\n", "a: &x reg.io/app:v2" + mark + "\nb: *x\n", ""},
		"alias":           {"the anchor is where it says what it is", "a: &x old\nb: *x" + mark + "\n", "", "line 2: its value is the alias *x"},
		"tagged":          {"a tag of YAML stays", "a: !!str old" + mark + "\n", "a: !!str reg.io/app:v2" + mark + "\n", ""},
		"tagged number":   {"a text is no number", "a: !!int 1" + mark + "\n", "", "would change more"},
		"wide letters":    {"columns are letters", "{ä: \"ü\", image: x}" + mark + "\n", "{ä: \"ü\", image: reg.io/app:v2}" + mark + "\n", ""},
		"byte order mark": {"it is no letter", "\ufeffimage: x" + mark + "\n", "\ufeffimage: reg.io/app:v2" + mark + "\n", ""},
		"block":           {"a text over lines", "a: |" + mark + "\n  text\n", "", "line 1: its value is not a single word"},
		"empty":           {"no value", "a:" + mark + "\n", "", "line 1: its value is not a single word"},
		"in a text":       {"a marker in a text is none", "a: |\n  image: x" + mark + "\n", "", ""},
		"above":           {"a comment of its own is none", "# {\"$imagepolicy\": \"ns:app\"}\nimage: x\n", "", ""},
		"other comment":   {"some other comment", "image: x # see \"$imagepolicy\"\n", "", ""},
		"no space":        {"a comment begins after a blank", "image: x# {\"$imagepolicy\": \"ns:app\"}\n", "", "not valid YAML"},
		"unknown":         {"a policy of others", "image: x # {\"$imagepolicy\": \"other:app\"}\n", "", ""},
		"same":            {"nothing to change", "image: \"reg.io/app:v2\"" + mark + "\n", "", ""},
		"not yaml":        {"a file of something else", "image: {x" + mark + "\n", "", "not valid YAML"},
		"template":        {"a template of a chart", "{{ if .x }}\nimage: x" + mark + "\n{{ end }}\n", "", "not valid YAML"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := images.Set([]byte(tc.file), chosen())
			if diff := cmp.Diff(tc.want, string(got.Data)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if notes := strings.Join(got.Notes, "; "); (tc.notes == "") != (notes == "") || !strings.Contains(notes, tc.notes) {
				t.Errorf("%s: notes are %q, want %q", tc.reason, notes, tc.notes)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	file := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: apps}\nspec:\n  image: a:1" + mark + "\n  tag: v1" + markTag +
		"\n---\nother: a:1" + mark + "\nlast: x # {\"$imagepolicy\": \"ns:gone\"}\n"
	edit := images.Set([]byte(file), chosen())
	web := images.ObjectID{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Namespace: "apps"}
	image := images.Change{OldValue: "a:1", NewValue: "reg.io/app:v2", Setter: "ns:app"}
	tag := images.Change{OldValue: "v1", NewValue: "v2", Setter: "ns:app:tag"}
	want := images.ObjectChanges{web: {image, tag}, {}: {image}}
	if diff := cmp.Diff(want, edit.Changes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"ns:app": true, "ns:gone": true}, edit.Policies); diff != "" {
		t.Error(diff)
	}
	var result images.Result
	result.Add("a.yaml", edit.Changes)
	if diff := cmp.Diff([]images.Change{image, tag}, result.Changes()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, result.Objects()); diff != "" {
		t.Error(diff)
	}
	const text = `{{ .AutomationObject }}: {{ .Values.who | upper }}
{{ range $file, $_ := .Changed.FileChanges }}{{ $file }} {{ end }}
{{ range $o, $changes := .Changed.Objects }}{{ $o.Kind }}/{{ $o.Name }}{{ range $changes }} {{ .OldValue }} -> {{ .NewValue }}{{ end }};{{ end }}`
	message, err := images.Message(text, images.Subject{
		AutomationObject: images.Name{Namespace: "ns", Name: "auto"}, Changed: result, Values: map[string]string{"who": "me"},
	})
	wanted := "ns/auto: ME\na.yaml \n/ a:1 -> reg.io/app:v2;Deployment/web a:1 -> reg.io/app:v2 v1 -> v2;"
	if err != nil || message != wanted {
		t.Errorf("got %q, %v", message, err)
	}
}

func TestMessage(t *testing.T) {
	cases := map[string]struct{ reason, text, want, fails string }{
		"default": {"without a template", "", "Update from image update automation", ""},
		"removed": {"what Flux removed", "{{ .Updated.Images }}", "", "removed '.Updated' field"},
		"result":  {"and the other one", "{{ .Changed.ImageResult }}", "", "removed '.Changed.ImageResult' field"},
		"parse":   {"what is no template", "{{ if }}", "", "spec.git.commit.messageTemplate"},
		"clock":   {"what depends on when it runs", "{{ now }}", "", `function "now" not defined`},
		"long":    {"what is too long", `{{ repeat 100000 "x" }}`, "", "exceeds 65536 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := images.Message(tc.text, images.Subject{})
			if got != tc.want || (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: got %q, %v", tc.reason, got, err)
			}
		})
	}
}

// FuzzSet searches for files in which an edit moves something else, or does not end.
func FuzzSet(f *testing.F) {
	f.Add("image: a:1" + mark + "\n")
	f.Add("a: [x, {b: 'c'}]" + mark + "\r\n---\nb: \"x\"" + markTag)
	f.Add("{ä: &a !!str x}" + mark + "\u2028y: *a" + mark)
	f.Add("? a: b" + mark + "\n: |\n  c" + mark)
	f.Fuzz(func(t *testing.T, text string) {
		edit := images.Set([]byte(text), chosen())
		if edit.Data == nil {
			if len(edit.Changes) > 0 {
				t.Fatal("there are changes and no file")
			}
			return
		}
		if bytes.Count(edit.Data, []byte("\n")) != strings.Count(text, "\n") {
			t.Fatalf("lines came or went:\n%q\n%q", text, edit.Data)
		}
		if again := images.Set(edit.Data, chosen()); again.Data != nil {
			t.Fatalf("a second edit changes more:\n%q\n%q\n%q", text, edit.Data, again.Data)
		}
		if !bytes.HasSuffix([]byte(text), edit.Data[bytes.LastIndex(edit.Data, []byte(images.Token)):]) {
			t.Fatalf("what follows the last marker moved:\n%q\n%q", text, edit.Data)
		}
	})
}
