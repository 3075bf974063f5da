package render

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/headgate-dev/headgate/internal/source"
)

// mounts is where what was fetched stands in the file system that kustomize sees, each tree in a directory of its own.
const mounts = "/remote"

// mount is a tree that was fetched.
type mount struct {
	name string
	tree *source.Tree
	// shown is what it is called in messages; repository and ref are those of a repository.
	shown, repository, ref string
	// depth is how many kustomizations that were fetched lead to it, itself among them.
	depth int
}

// mount makes what was fetched part of the file system and returns where it is. from is what names it.
func (f *treeFS) mount(r Remote, got *Fetched, from *mount) (string, error) {
	what, shown := r.URL, r.Shown()
	if got.Repository != "" {
		// Directories of one repository are in one place, so that cycles are found.
		what = got.Repository + "?ref=" + got.Ref
		shown = strings.TrimSuffix(Remote{URL: what}.Shown(), "?ref=")
	}
	sum := sha256.Sum256([]byte(what + "\x00" + got.Tree.Digest()))
	m := &mount{
		name: hex.EncodeToString(sum[:8]), tree: got.Tree, shown: shown, repository: got.Repository, ref: got.Ref, depth: 1,
	}
	if from != nil {
		m.depth = from.depth + 1
	}
	if m.depth > mostNested {
		return "", fmt.Errorf("remote bases are nested deeper than %d", mostNested)
	}
	if known := f.mounted[m.name]; known != nil {
		known.depth = min(known.depth, m.depth)
	} else {
		f.mounted[m.name] = m
	}
	return path.Join(mounts, m.name, got.Path), nil
}

// place finds the tree in which a path is, and the path there. The mount is nil in the source.
func (f *treeFS) place(p string) (m *mount, rel string, err error) {
	clean := path.Clean(p)
	if !path.IsAbs(clean) {
		clean = path.Join(root, clean)
	}
	if rest, in := strings.CutPrefix(clean, mounts+"/"); in {
		name, rel, _ := strings.Cut(rest, "/")
		if m = f.mounted[name]; m != nil {
			return m, rel, nil
		}
	}
	rel, in := strings.CutPrefix(clean, root)
	if !in || rel != "" && rel[0] != '/' {
		return nil, "", f.refuse(fmt.Errorf("path %q is outside the source", p))
	}
	return nil, strings.TrimPrefix(rel, "/"), nil
}

// top is the directory in which a tree stands.
func (m *mount) top() string {
	if m == nil {
		return root
	}
	return path.Join(mounts, m.name)
}

// key is how what lies at a path is known beside the source: as in the source, or from its root.
func (m *mount) key(rel string) string {
	if m == nil {
		return rel
	}
	return path.Join(m.top(), rel)
}

// mountAt is the one in which a file is, by its key; nil in the source.
func (f *treeFS) mountAt(key string) *mount {
	rest, in := strings.CutPrefix(key, mounts+"/")
	if !in {
		return nil
	}
	name, _, _ := strings.Cut(rest, "/")
	return f.mounted[name]
}

// reveal has an error name what was fetched by its address.
func (f *treeFS) reveal(err error) error {
	located := (*Error)(nil)
	if err == nil || len(f.mounted) == 0 || !errors.As(err, &located) {
		return err
	}
	text := located.Err.Error()
	if shown := f.shown(text); shown != text {
		return &Error{File: f.shown(located.File), Object: located.Object, Field: f.shown(located.Field), Err: errors.New(shown)}
	}
	return &Error{File: f.shown(located.File), Object: located.Object, Field: f.shown(located.Field), Err: located.Err}
}

// shown replaces the places of what was fetched in a text.
func (f *treeFS) shown(text string) string {
	for name, m := range f.mounted {
		place := strings.TrimPrefix(mounts, "/") + "/" + name
		if !strings.Contains(text, place) {
			continue
		}
		for strings.Contains(text, "../"+place) || strings.Contains(text, "/"+place) {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "../"+place, place), "/"+place, place)
		}
		text = strings.ReplaceAll(text, place+"/", m.shown+": ")
		text = strings.ReplaceAll(text, place, m.shown)
	}
	return text
}
