package compose

import (
	"fmt"
	"path"
	"slices"

	"github.com/headgate-dev/headgate/internal/source"
)

// view is a tree without symbolic links: a link is replaced by its target. A link that names nothing
// in the tree, or a directory that it is in itself, is left out.
type view struct {
	files map[string]*source.File
	dirs  map[string]bool
	// paths are those of the files, listed those of the directories; both are sorted.
	paths, listed []string

	tree *source.Tree
	// seen counts entries, those that links name among them.
	seen int
}

// maxEntries bounds what symbolic links can multiply.
const maxEntries = 1_000_000

func newView(tree *source.Tree) (*view, error) {
	v := &view{files: make(map[string]*source.File, tree.Len()), dirs: map[string]bool{"": true}, tree: tree}
	if err := v.add("", "", nil); err != nil {
		return nil, err
	}
	for p := range v.files {
		v.paths = append(v.paths, p)
	}
	for p := range v.dirs {
		if p != "" {
			v.listed = append(v.listed, p)
		}
	}
	slices.Sort(v.paths)
	slices.Sort(v.listed)
	return v, nil
}

// add enters what a directory of the tree holds at another path. Within are the directories of the tree
// that it was reached through by links.
func (v *view) add(dir, at string, within []string) error {
	v.dirs[at] = true
	names, _ := v.tree.Entries(dir)
	for _, name := range names {
		if v.seen++; v.seen > maxEntries {
			return fmt.Errorf("with the targets of its symbolic links, it has more than %d entries", maxEntries)
		}
		p, to := path.Join(dir, name), path.Join(at, name)
		f, file := v.tree.File(p)
		var err error
		switch {
		case !file:
			err = v.add(p, to, within)
		case f.Link != "":
			err = v.follow(p, to, within)
		default:
			v.files[to] = moved(f, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *view) follow(link, to string, within []string) error {
	named, err := v.tree.Resolve(link)
	if err != nil {
		return nil
	}
	if f, file := v.tree.File(named); file {
		v.files[to] = moved(f, to)
		return nil
	}
	circle := named == "" || below(link, named) || slices.ContainsFunc(within, func(dir string) bool {
		return dir == named || below(dir, named)
	})
	if _, dir := v.tree.Entries(named); !dir || circle {
		return nil
	}
	return v.add(named, to, append(slices.Clone(within), named))
}

// moved returns a file at another path.
func moved(f *source.File, p string) *source.File {
	if f.Path == p {
		return f
	}
	return source.NewLazyFile(p, f.Mode, f.Size, f.Digest, f.Read)
}
