// Package compose makes trees from parts of other trees, as the copy operations of an ArtifactGenerator
// say. It takes values and returns values: the same trees and operations give the same tree, and nothing
// that an operation names lies outside the given trees.
package compose

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/headgate-dev/headgate/internal/source"
)

// Strategy says what becomes of a file at a path that is taken already.
type Strategy string

// The strategies of Flux; an empty one is Overwrite.
const (
	Overwrite Strategy = "Overwrite"
	// Merge lays the mappings of a YAML file over those of the file that is there, as Helm does with values.
	Merge Strategy = "Merge"
	// Extract copies what archives hold instead of the archives.
	Extract Strategy = "Extract"
)

// Copy is one operation.
type Copy struct {
	// From is "@ALIAS/PATH": a file, a directory or a pattern in a source. To is "@artifact/PATH".
	From, To string
	// Exclude are patterns of what is left out.
	Exclude  []string
	Strategy Strategy
}

// Composer composes trees from the same sources.
type Composer struct {
	spill   string
	sources map[string]*view
}

// New returns a composer of sources, which are known by their aliases. Large files of archives are kept in
// the directory spill, or in memory when that is empty.
func New(sources map[string]*source.Tree, spill string) (*Composer, error) {
	c := &Composer{spill: spill, sources: make(map[string]*view, len(sources))}
	for alias, tree := range sources {
		v, err := newView(tree)
		if err != nil {
			return nil, fmt.Errorf("reading source %q: %w", alias, err)
		}
		c.sources[alias] = v
	}
	return c, nil
}

// Compose carries out operations in their order, a later one over an earlier one. Its errors name the
// operation and the field.
func (c *Composer) Compose(operations []Copy) (*source.Tree, error) {
	staged := newStage()
	for i, operation := range operations {
		if err := c.copy(operation, staged); err != nil {
			return nil, fmt.Errorf("copy[%d].%w", i, err)
		}
	}
	return staged.tree()
}

// Check reads operations as far as that takes no sources. Its errors are those of Compose.
func Check(operations []Copy, aliases map[string]bool) error {
	for i, operation := range operations {
		r, err := read(operation)
		if err == nil && !aliases[r.alias] {
			err = noSource(r.alias)
		}
		if err != nil {
			return fmt.Errorf("copy[%d].%w", i, err)
		}
	}
	return nil
}

func noSource(alias string) error { return fmt.Errorf("from: no source has the alias %q", alias) }

func (c *Composer) copy(operation Copy, to *stage) error {
	r, err := read(operation)
	if err != nil {
		return err
	}
	from, known := c.sources[r.alias]
	if !known {
		return noSource(r.alias)
	}
	chosen, err := r.choose(from)
	if err != nil {
		return fmt.Errorf("from: %w in source %q", err, r.alias)
	}
	for _, p := range chosen {
		if err := c.put(r, from.files[p], to); err != nil {
			return fmt.Errorf("to: copying %q: %w", p, err)
		}
	}
	return nil
}

// put copies one file of a source.
func (c *Composer) put(r *request, f *source.File, to *stage) error {
	if r.strategy == Extract {
		return c.extract(f, r.to, to)
	}
	at := r.target(f.Path, to)
	if at == "" {
		return errors.New("a file needs a name; end the path with the name or with /")
	}
	if r.strategy == Merge {
		if below, taken := to.files[at]; taken {
			merged, err := merge(below, f)
			if err != nil {
				return err
			}
			return to.put(at, merged)
		}
	}
	return to.put(at, f)
}

// target is where a file goes.
func (r *request) target(p string, to *stage) string {
	switch r.strip {
	case p:
		// The one file that was named: into a directory under its own name, else under the name that was given.
		if r.into || to.dirs[r.to] > 0 {
			return path.Join(r.to, path.Base(p))
		}
		return r.to
	case "":
		return path.Join(r.to, p)
	default:
		return path.Join(r.to, strings.TrimPrefix(p, r.strip+"/"))
	}
}
