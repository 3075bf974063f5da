package render

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/headgate-dev/headgate/internal/source"
)

// mostTexts bounds the size of the files that are read for what they mention, oneText that of each.
const (
	mostTexts = 16 << 20
	oneText   = 2 << 20
)

// entryInText is what may be a path in a kustomization.
var entryInText = regexp.MustCompile(`[^\s"'\[\]{},]+`)

// Texts are the contents of the files from which a unit may be made that is at some paths of a tree, whether it can be rendered or
// not: what is below them, and what kustomizations there name. They are read as texts, so that a mistake in one of them hides
// nothing. Without paths, they are those of all files.
func Texts(tree *source.Tree, paths ...string) []string {
	t := texts{tree: tree, seen: map[string]bool{}}
	if len(paths) == 0 {
		for _, p := range tree.Paths() {
			t.enter(p)
		}
	}
	for _, p := range paths {
		t.enter(path.Clean("/" + p)[1:])
	}
	return t.found
}

// texts is the search for Texts.
type texts struct {
	tree  *source.Tree
	seen  map[string]bool
	found []string
	size  int64
}

// enter reads a file, or what belongs to a directory.
func (t *texts) enter(p string) {
	p, err := t.tree.Resolve(p)
	if err != nil || t.seen[p] {
		return
	}
	t.seen[p] = true
	if f, is := t.tree.File(p); is {
		t.read(f)
		return
	}
	names, _ := t.tree.Entries(p)
	at := slices.IndexFunc(names, func(name string) bool { return slices.Contains(konfig.RecognizedKustomizationFileNames(), name) })
	if at < 0 {
		for _, name := range names {
			t.enter(path.Join(p, name))
		}
		return
	}
	for _, entry := range entryInText.FindAllString(t.text(path.Join(p, names[at])), -1) {
		_, file, _ := strings.Cut(entry, "=")
		for _, named := range []string{strings.TrimPrefix(entry, "-"), file} {
			if next := path.Join(p, named); named != "" && next != p && !strings.HasPrefix(next, "..") {
				t.enter(next)
			}
		}
	}
}

// text is the content of a file that is also read for what it names.
func (t *texts) text(p string) string {
	before := len(t.found)
	t.enter(p)
	if len(t.found) == before {
		return ""
	}
	return t.found[before]
}

func (t *texts) read(f *source.File) {
	if f.Link != "" || f.Size > oneText || t.size+f.Size > mostTexts {
		return
	}
	data, err := f.Read()
	if err != nil {
		return
	}
	t.size += f.Size
	t.found = append(t.found, string(data))
}
