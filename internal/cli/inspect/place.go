package inspect

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lint"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/render"
)

// fails adds a finding about what cannot be rendered: at the file that is wrong if the error names one, else at the field of the unit.
func (t *tree) fails(w *offline.Walk, unit engine.UnitID, err error) {
	f := lint.Finding{Severity: "error", Rule: ruleUnit, Unit: unit.String(), Message: "it cannot be rendered: " + err.Error()}
	here := *t
	if u, known := w.Find(unit); known {
		here.index = t.index.Near(readBy(w, u))
	}
	if !here.locate(&f, w.Dir, err) {
		f.File, f.Line = t.unit(w, unit, fieldOf(w, unit, err))
	}
	t.findings = append(t.findings, f)
}

// locate gives a finding the place in a file that an error names, and the words for it there; false if the error names none.
func (t *tree) locate(f *lint.Finding, dir string, err error) bool {
	var at *render.Error
	if !errors.As(err, &at) {
		return false
	}
	if at.File != "" && isFile(dir, at.File) {
		f.File, f.Line = shorter(filepath.Join(dir, filepath.FromSlash(at.File))), max(at.Line, 1)
		f.Message = (&render.Error{Object: at.Object, Field: at.Field, Err: at.Err}).Error()
		return true
	}
	if at.File != "" || at.Object == "" {
		return false
	}
	file, line, found := t.index.Named(at.Object, at.Quotes)
	if found {
		f.File, f.Line, f.Object, f.Message = file, line, at.Object, (&render.Error{Field: at.Field, Err: at.Err}).Error()
	}
	return found
}

// readBy is the directory that a unit reads.
func readBy(w *offline.Walk, u *dialect.OfflineUnit) string {
	for _, field := range [][]string{{"spec", "path"}, {"spec", "source", "path"}} {
		if u.Object == nil {
			break
		}
		if dir, _, _ := unstructured.NestedString(u.Object.Object, field...); dir != "" {
			return shorter(filepath.Join(w.Dir, filepath.FromSlash(dir)))
		}
	}
	return ""
}

// isFile reports whether there is a file below a directory.
func isFile(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	return dir != "" && err == nil && info.Mode().IsRegular()
}

// fieldAtStart is the field of a unit that an error begins with, and what it says behind the field.
var fieldAtStart = regexp.MustCompile(`^(?:.*?: )??(spec(?:\.\w+|\[\d+\])+)(?: \([^)]*\))?: (.*)$`)

// fieldOf is the field of a unit that an error is about, as far as it says so.
func fieldOf(w *offline.Walk, unit engine.UnitID, err error) string {
	if u, known := w.Find(unit); known && u.Object != nil && strings.Contains(err.Error(), "the repository declares no ") {
		for _, field := range []string{"sourceRef", "chartRef", "chart"} {
			if _, there, _ := unstructured.NestedFieldNoCopy(u.Object.Object, "spec", field); there {
				return "spec." + field
			}
		}
	}
	m := fieldAtStart.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	switch missing := errors.Is(err, render.ErrPathNotFound); {
	case m == nil && missing:
		return "spec.path"
	case m == nil:
		return ""
	case missing || strings.HasPrefix(m[2], "path"):
		return m[1] + ".path"
	default:
		return m[1]
	}
}

// unit is where a unit is declared, or what that was generated from: the line of a field of it.
func (t *tree) unit(w *offline.Walk, id engine.UnitID, field string) (file string, line int) {
	u, known := w.Find(id)
	if !known {
		file, line, _ = t.index.Find(stubOf(id.Object()), field)
		return file, line
	}
	if u.Object != nil {
		if file, line, found := t.index.Find(u.Object.Object, field); found {
			return file, line
		}
	}
	for _, object := range above(w, u) {
		if file, line, found := t.index.Find(object, ""); found {
			return file, line
		}
	}
	return "", 0
}

// above are the objects that lead to a unit, the nearest first.
func above(w *offline.Walk, u *dialect.OfflineUnit) []map[string]any {
	var all []map[string]any
	for range len(w.Units) { // a root may declare itself
		if u.Maker != nil {
			all = append(all, u.Maker.Object)
		}
		parent, known := w.Find(u.Parent)
		if !known || parent.Object == nil {
			break
		}
		all, u = append(all, parent.Object.Object), parent
	}
	return all
}

// stubOf is an object of which only its identity is known.
func stubOf(id engine.ObjectID) map[string]any {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(strings.TrimPrefix(id.Group+"/v1", "/"))
	o.SetKind(id.Kind)
	o.SetNamespace(id.Namespace)
	o.SetName(id.Name)
	return o.Object
}
