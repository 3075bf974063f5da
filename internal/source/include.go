package source

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Inclusion is a part of another source that is copied into a tree.
type Inclusion struct {
	// Name is that of the other source, for errors.
	Name string
	Tree *Tree
	// From is a directory or a file there, empty for all; To is where it goes. Neither leaves its tree.
	From, To string
}

// ErrInclude is an inclusion that cannot be made.
var ErrInclude = errors.New("including another source")

// inclusion is a file that is included, at its new path.
type inclusion struct {
	file *File
	from string
}

// copies are the files that are included.
func copies(inclusions []Inclusion) ([]inclusion, error) {
	var all []inclusion
	for _, i := range inclusions {
		files, err := i.files()
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrInclude, i.Name, err)
		}
		for _, f := range files {
			all = append(all, inclusion{f, i.Name})
		}
	}
	return all, nil
}

// include adds what is included to files, without what the rules leave out. A file never replaces
// another one.
func include(files []*File, included []inclusion, rules *rules, spent *budget) ([]*File, error) {
	if len(included) == 0 {
		return files, nil
	}
	taken := make(map[string]string, len(files))
	for _, f := range files {
		taken[f.Path] = "the repository itself"
	}
	for _, i := range included {
		if rules.leaveOut(i.file.Path) {
			continue
		}
		if by, there := taken[i.file.Path]; there {
			return nil, fmt.Errorf("%w: %q: path %q is already used by %s", ErrInclude, i.from, i.file.Path, by)
		}
		if err := spent.take(i.file.Path, i.file.Size); err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrInclude, i.from, err)
		}
		taken[i.file.Path] = fmt.Sprintf("%q", i.from)
		files = append(files, i.file)
	}
	return files, nil
}

// inside cleans a path so that it names something below the root; empty is the root.
func inside(p string) string { return path.Clean("/" + p)[1:] }

// files are what is included, at its new paths.
func (i Inclusion) files() ([]*File, error) {
	from, err := i.Tree.Resolve(i.From)
	if err != nil {
		return nil, err
	}
	to := inside(i.To)
	if f, ok := i.Tree.File(from); ok {
		if to == "" {
			return nil, fmt.Errorf("fromPath %q is a file, but toPath names no file", i.From)
		}
		return []*File{f.at(to)}, nil
	}
	if _, ok := i.Tree.Entries(from); !ok {
		return nil, fmt.Errorf("fromPath %q does not exist in its artifact", i.From)
	}
	c := &copier{tree: i.Tree}
	err = c.directory(from, to, from, 0)
	return c.files, err
}

// copier copies directories of a tree.
type copier struct {
	tree  *Tree
	files []*File
	// seen counts entries, links that are followed among them.
	seen int
}

// directory copies dir to another path. Links within root, which is copied as a whole, stay links.
// What others name takes their place, and one that names nothing is left out, as in the artifacts of
// Flux.
func (c *copier) directory(dir, to, root string, links int) error {
	names, _ := c.tree.Entries(dir)
	for _, name := range names {
		if c.seen++; c.seen > DefaultLimits().Files {
			return fmt.Errorf("it has more than %d entries", DefaultLimits().Files)
		}
		p, at := path.Join(dir, name), path.Join(to, name)
		f, ok := c.tree.File(p)
		switch {
		case !ok:
			if err := c.directory(p, at, root, links); err != nil {
				return err
			}
		case f.Link == "" || !path.IsAbs(f.Link) && within(path.Join(dir, f.Link), root):
			c.files = append(c.files, f.at(at))
		default:
			if err := c.follow(p, at, links); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow copies what a link names.
func (c *copier) follow(link, at string, links int) error {
	named, err := c.tree.Resolve(link)
	if err != nil {
		return nil
	}
	if f, ok := c.tree.File(named); ok {
		c.files = append(c.files, f.at(at))
		return nil
	}
	if links == maxLinks {
		return fmt.Errorf("symbolic link %q: too many links", link)
	}
	return c.directory(named, at, named, links+1)
}

// within reports whether p is dir or lies in it.
func within(p, dir string) bool {
	return dir == "" && p != ".." && !strings.HasPrefix(p, "../") || p == dir || strings.HasPrefix(p, dir+"/")
}
