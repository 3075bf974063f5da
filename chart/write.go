package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
)

// listFile is the list of the files that synth wrote to a directory, in it. Only these are ever removed or overwritten.
const listFile = ".headgate-synth.json"

// Changes are what a Write did, or would do: paths in the output directory, sorted.
type Changes struct {
	Added, Changed, Removed []string
	// Unchanged is how many files were as they should be.
	Unchanged int
}

// None says that nothing differed.
func (c Changes) None() bool { return len(c.Added)+len(c.Changed)+len(c.Removed) == 0 }

// Output is a directory that files are written to.
type Output struct {
	// Dir is made if it is not there.
	Dir string
	// Check compares and writes nothing.
	Check bool
	// Partial leaves files of an earlier Write which are not among the new ones, as only some charts were synthesized.
	Partial bool
}

// writtenFiles is the list in an output directory.
type writtenFiles struct {
	Comment string   `json:"comment"`
	Files   []string `json:"files"`
}

// Write brings the directory to the state that files describe: files that are other or new are written, and those of an earlier Write
// that are not among them are removed. A file that synth did not write is never touched; one that is in the way is an error, and then
// nothing is written.
func (o Output) Write(files []File) (Changes, error) {
	plan, err := o.planned(files)
	if err != nil {
		return Changes{}, fmt.Errorf("writing to %s: %w", o.Dir, err)
	}
	if o.Check || (plan.changes.None() && plan.listed) {
		return plan.changes, nil
	}
	if err := o.carryOut(plan); err != nil {
		return Changes{}, fmt.Errorf("writing to %s: %w", o.Dir, err)
	}
	return plan.changes, nil
}

// outputPlan is what a Write does.
type outputPlan struct {
	changes Changes
	write   []File
	list    []string
	// listed says that the list is up to date.
	listed bool
}

func (o Output) planned(files []File) (outputPlan, error) {
	dir := directory{}
	root, err := os.OpenRoot(o.Dir)
	switch {
	case err == nil:
		defer root.Close() //nolint:errcheck // it was only read
		dir.root = root
	case !errors.Is(err, fs.ErrNotExist):
		return outputPlan{}, err
	}
	return o.plan(dir, files)
}

func (o Output) plan(dir directory, files []File) (outputPlan, error) {
	earlier, err := dir.earlier()
	if err != nil {
		return outputPlan{}, err
	}
	p := outputPlan{}
	current := map[string]bool{}
	for _, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." || f.Path == listFile {
			return p, fmt.Errorf("%q is not the name of a file in the directory", f.Path)
		}
		current[f.Path] = true
		if err := dir.compare(&p, f, earlier); err != nil {
			return p, err
		}
	}
	for name := range earlier {
		switch {
		case current[name]:
		case o.Partial:
			current[name] = true
		default:
			if _, err := dir.read(name); err == nil {
				p.changes.Removed = append(p.changes.Removed, name)
			}
		}
	}
	slices.Sort(p.changes.Added)
	slices.Sort(p.changes.Changed)
	slices.Sort(p.changes.Removed)
	p.list = slices.Sorted(maps.Keys(current))
	p.listed = slices.Equal(p.list, slices.Sorted(maps.Keys(earlier)))
	return p, nil
}

// compare notes what a file needs.
func (d directory) compare(p *outputPlan, f File, earlier map[string]bool) error {
	data, err := d.read(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.changes.Added = append(p.changes.Added, f.Path)
	case err != nil:
		return err
	case bytes.Equal(data, f.Data):
		p.changes.Unchanged++
		return nil
	case !earlier[f.Path]:
		return fmt.Errorf("%s exists and was not written by synth; remove it, or choose another directory", f.Path)
	default:
		p.changes.Changed = append(p.changes.Changed, f.Path)
	}
	p.write = append(p.write, f)
	return nil
}

// directory is the output directory, out of which no link leads; without a root it is not there yet.
type directory struct{ root *os.Root }

func (d directory) read(name string) ([]byte, error) {
	if d.root == nil {
		return nil, fs.ErrNotExist
	}
	return d.root.ReadFile(name)
}

// earlier are the files that an earlier Write has written.
func (d directory) earlier() (map[string]bool, error) {
	data, err := d.read(listFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]bool{}, nil
	}
	if err != nil {
		return nil, err
	}
	var list writtenFiles
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading %s: %w; delete it to forget which files synth wrote", listFile, err)
	}
	names := map[string]bool{}
	for _, name := range list.Files {
		if !fs.ValidPath(name) {
			return nil, fmt.Errorf("%s names %q, which is not in the directory; delete it to forget which files synth wrote", listFile, name)
		}
		names[name] = true
	}
	return names, nil
}

// carryOut writes before it removes, and the list of both before and after first, so that no file is forgotten if it is interrupted.
func (o Output) carryOut(p outputPlan) error {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil { //nolint:gosec // manifests are no secret, and other accounts serve them
		return err
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // every write has been checked
	if err := writeList(root, append(slices.Clone(p.list), p.changes.Removed...)); err != nil {
		return err
	}
	for rest := p.write; len(rest) > 0; {
		folder := path.Dir(rest[0].Path)
		same := slices.IndexFunc(rest, func(f File) bool { return path.Dir(f.Path) != folder })
		if same < 0 {
			same = len(rest)
		}
		if err := writeFolder(root, folder, rest[:same]); err != nil {
			return err
		}
		rest = rest[same:]
	}
	for _, name := range p.changes.Removed {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// A folder that is empty then goes with it; another one stays, since Remove refuses it.
		for dir := path.Dir(name); dir != "." && root.Remove(dir) == nil; {
			dir = path.Dir(dir)
		}
	}
	return writeList(root, p.list)
}

// writeFolder writes files of one folder, which is opened once.
func writeFolder(root *os.Root, folder string, files []File) error {
	if err := root.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	within, err := root.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer within.Close() //nolint:errcheck // every write has been checked
	for _, f := range files {
		if err := within.WriteFile(path.Base(f.Path), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writeList(root *os.Root, names []string) error {
	names = slices.Clone(names)
	slices.Sort(names)
	list := writtenFiles{Comment: "files that synth wrote, and removes when they are no longer described", Files: slices.Compact(names)}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return root.WriteFile(listFile, append(data, '\n'), 0o644)
}
