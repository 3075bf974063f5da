package inspect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/causes"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lint"
)

// written is where the working copy declares an object, in parentheses; empty where it does not, or where there is none.
func (w *explainer) written(ctx context.Context, id engine.ObjectID) string {
	return w.writtenField(ctx, id, "")
}

// writtenField is written with the line of a field.
func (w *explainer) writtenField(ctx context.Context, id engine.ObjectID, field string) string {
	if id == (engine.ObjectID{}) {
		return ""
	}
	return placed(w.index(ctx).Find(stubOf(id), field))
}

// declaredAt is written for a unit or a source. Of files of several clusters that each declare one of its name, it is in the one below the path of the
// unit that declares it here.
func (w *explainer) declaredAt(ctx context.Context, u *unstructured.Unstructured) string {
	files, object := w.index(ctx), stubOf(engine.IDOf(u))
	if _, _, found := files.Find(object, ""); !found {
		return ""
	}
	dir := ""
	if owner, owned := w.OwnerOf(u); owned {
		if by, err := owner.Get(ctx, w.client); err == nil {
			dir = strings.TrimPrefix(cmp.Or(dialect.Text(by, "spec", "path"), dialect.Text(by, "spec", "source", "path")), "./")
		}
	}
	return placed(files.FindBelow(object, dir))
}

// failedAt is where the objects are declared that a unit failed at, with the line of the field that was refused. Dialects that name causes
// themselves do so with their objects.
func (w *explainer) failedAt(ctx context.Context, u *unstructured.Unstructured, depth int) {
	s := w.Catalogue.StateOf(u)
	if _, names := w.Of(console.GroupKindOf(u)).(dialect.Causing); names || waits(s) {
		return
	}
	ids := namedIn(s.Message)
	for _, id := range ids[:min(len(ids), maxCauses)] {
		_, said, _ := strings.Cut(s.Message, id.String()+": ")
		said, _, _ = strings.Cut(said, "; ")
		if file, line, found := w.index(ctx).Find(stubOf(id), refusedField(said)); found {
			w.print(depth, "%s is declared in %s:%d", id, file, line)
		}
	}
}

// refusedField is the field that a message about an object says was refused first; empty where it says none.
func refusedField(said string) string {
	_, after, _ := strings.Cut(said, "refused as invalid: ")
	field, _, named := strings.Cut(after, ": ")
	if !named || strings.Contains(field, " ") {
		return ""
	}
	return field
}

func placed(file string, line int, found bool) string {
	if !found {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", file, line)
}

// index is what the working copy declares.
func (w *explainer) index(ctx context.Context) *lint.Index {
	if w.files == nil {
		w.files = lint.NewIndex(w.documents(ctx))
	}
	return w.files
}

// documents are those of the working copy that an embedded cluster serves, by their paths in it.
func (w *explainer) documents(ctx context.Context) []lint.Document {
	dir := workingCopy(ctx, w.Globals, w.client)
	if dir == "" {
		return nil
	}
	found, err := filesBelow(dir)
	if err != nil {
		return nil
	}
	documents := documentsOf(found.names, nil)
	for i := range documents {
		if path, err := filepath.Rel(dir, documents[i].File); err == nil {
			documents[i].File = path
		}
	}
	return documents
}

// advise remembers the command that helps with what a unit says of files, where these are on this machine.
func (w *explainer) advise(ctx context.Context, s dialect.State) {
	if w.try != "" || !aboutFiles(s) {
		return
	}
	if dir := workingCopy(ctx, w.Globals, w.client); dir != "" {
		w.try = "headgate validate " + typed(dir)
	}
}

// aboutFiles reports whether a unit failed at a file or a field that is to be corrected there. A key that is missing is in none.
func aboutFiles(s dialect.State) bool {
	if causes.LacksKey(s.Message) {
		return false
	}
	switch engine.Reason(s.Reason) {
	case engine.ReasonBuildFailed, engine.ReasonInvalid, engine.ReasonUnsupported:
		return true
	}
	for _, words := range []string{"ComparisonError: ", "InvalidSpecError: ", "refused as invalid", ".yaml: ", ".yml: "} {
		if strings.Contains(s.Message, words) {
			return true
		}
	}
	return false
}

// typed is a directory as a person would type it in a shell.
func typed(dir string) string {
	if here, err := os.Getwd(); err == nil && here == dir {
		return "."
	}
	if strings.ContainsAny(dir, " \t'\"$\\") {
		return strconv.Quote(dir)
	}
	return dir
}
