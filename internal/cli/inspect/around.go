package inspect

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/acceptance"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lint"
	"github.com/headgate-dev/headgate/internal/offline"
)

// around is what there is beside the objects of units, and what keeps that from being known.
type around struct {
	acceptance.Surroundings

	// absent say what may hold anything: which units are not rendered, and why.
	absent []string
	// broken are those which cannot be rendered, but whose files can be read.
	broken []string
	// opaque is set if any of them may declare units.
	opaque bool
	// written is what files hold that units read which cannot be rendered; nil if there is none.
	written *written
}

// surroundings are what there is beside the objects of units. What a unit would declare that cannot be rendered is in the files of the
// repository: what none of these holds is missing all the same.
func surroundings(w *offline.Walk) (around, error) {
	var a around
	for i := range w.Units {
		u := &w.Units[i]
		if u.Unit.Target.Cluster == "" {
			a.Namespaces = append(a.Namespaces, u.Namespaces...)
		}
		switch {
		case u.Rendered():
		case u.Err != nil && u.Written:
			a.broken = append(a.broken, u.Unit.ID.String()+" cannot be rendered")
		case u.Err != nil:
			a.absent = append(a.absent, u.Unit.ID.String()+" cannot be rendered")
			a.opaque = a.opaque || u.Chart == (dialect.Origin{})
		default:
			a.absent = append(a.absent, u.Unit.ID.String()+" is not rendered")
			a.opaque = a.opaque || u.Elsewhere != ""
		}
	}
	for _, b := range w.Broken() {
		if b.Err != nil {
			a.absent = append(a.absent, b.ID.String()+" generates nothing")
			a.opaque = true
		}
	}
	broken := len(a.broken) > 0
	if !broken || w.Dir == "" {
		a.Blind, a.opaque = broken || len(a.absent) > 0, a.opaque || broken
		return a, nil
	}
	var err error
	if a.written, err = readWritten(shorter(w.Dir)); err != nil {
		return a, err
	}
	a.Maybe = a.written.objects
	if a.written.defines != "" {
		a.absent = append(a.absent, a.written.defines+" cannot be read")
	}
	a.Blind = len(a.absent) > 0
	return a, nil
}

// certain reports whether a finding is certain, given that something lacks which a unit may declare that is unknown to the end.
func (a around) certain(f dialect.Finding) bool {
	if f.Lacks == (engine.ObjectID{}) {
		return true
	}
	// Charts declare no units, but all else.
	return !a.opaque && (!f.Perhaps || len(a.absent) == 0) && (a.written == nil || !a.written.may(f.Lacks))
}

// skips says how many checks could not be made, and why, or nothing.
func (a around) skips(checks int) string {
	why := slices.Concat(a.absent, a.broken)
	if checks == 0 || len(why) == 0 {
		return ""
	}
	was, more := " was", ""
	if checks > 1 {
		was = "s were"
	}
	if others := len(why) - 1; others > 0 {
		more = fmt.Sprintf(" (and %d more)", others)
	}
	return fmt.Sprintf("%d check%s skipped, since %s%s", checks, was, why[0], more)
}

// written is what the files of a repository hold, whatever becomes of them.
type written struct {
	objects []*unstructured.Unstructured
	// words are the names in documents that are no YAML, and defines the file of one that may define a kind.
	words   map[string]bool
	defines string
	// affixed is set if something adds to names.
	affixed bool
}

var (
	nameInText = regexp.MustCompile(`\bname:[ \t]*["']?([^\s"',}]+)`)
	affix      = regexp.MustCompile(`\bname(Prefix|Suffix):`)
	separator  = regexp.MustCompile(`(?m)^---`)
)

func readWritten(dir string) (*written, error) {
	found, err := filesBelow(dir)
	if err != nil {
		return nil, err
	}
	for _, k := range found.kustomizations {
		found.names = append(found.names, kustomizationIn(k))
	}
	out := &written{words: map[string]bool{}}
	for _, name := range found.names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out.affixed = out.affixed || affix.Match(data)
		for _, text := range separator.Split(string(data), -1) {
			out.read(name, text)
		}
	}
	return out, nil
}

// read enters a document.
func (w *written) read(file, text string) {
	documents, _, err := lint.Read(file, []byte(text))
	for _, d := range documents {
		o := &unstructured.Unstructured{Object: d.Object}
		w.objects = append(w.objects, o)
	}
	if err == nil {
		return
	}
	if strings.Contains(text, "CustomResourceDefinition") {
		w.defines = file
	}
	for _, m := range nameInText.FindAllStringSubmatch(text, -1) {
		w.words[m[1]] = true
		space := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		space.SetName(m[1])
		w.objects = append(w.objects, space)
	}
}

// may reports whether something written may become an object.
func (w *written) may(id engine.ObjectID) bool {
	if w.words[id.Name] {
		return true
	}
	return slices.ContainsFunc(w.objects, func(o *unstructured.Unstructured) bool {
		name := o.GetName()
		same := name == id.Name || strings.Contains(name, "$") || w.affixed && strings.Contains(id.Name, name)
		return same && o.GroupVersionKind().GroupKind() == id.GroupKind()
	})
}
