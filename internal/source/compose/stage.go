package compose

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/headgate-dev/headgate/internal/source"
)

// stage is what an artifact holds so far.
type stage struct {
	files map[string]*source.File
	// dirs counts the files below each directory.
	dirs  map[string]int
	bytes int64
}

func newStage() *stage { return &stage{files: map[string]*source.File{}, dirs: map[string]int{}} }

// put enters a file, over the one that is there.
func (s *stage) put(p string, f *source.File) error {
	if s.dirs[p] > 0 {
		return fmt.Errorf("%q is a directory in the artifact", p)
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, file := s.files[dir]; file {
			return fmt.Errorf("%q is a file in the artifact, not a directory", dir)
		}
	}
	before, taken := s.files[p]
	if taken {
		s.bytes -= before.Size
	} else {
		s.count(p)
	}
	s.files[p] = moved(f, p)
	s.bytes += f.Size
	limits := source.DefaultLimits()
	if len(s.files) > limits.Files || s.bytes > limits.Bytes {
		return fmt.Errorf("the artifact has more than %d files or %d bytes", limits.Files, limits.Bytes)
	}
	return nil
}

func (s *stage) count(p string) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		s.dirs[dir]++
	}
	s.dirs[""]++
}

// room is how much more an artifact may hold.
func (s *stage) room() source.Limits {
	limits := source.DefaultLimits()
	return source.Limits{Files: limits.Files - len(s.files), Bytes: limits.Bytes - s.bytes}
}

func (s *stage) tree() (*source.Tree, error) {
	files := make([]*source.File, 0, len(s.files))
	for _, f := range s.files {
		files = append(files, f)
	}
	return source.NewTree(files)
}

// isArchive tells by the name of a file whether it can be extracted.
func isArchive(p string) bool {
	p = strings.ToLower(p)
	return strings.HasSuffix(p, ".tar.gz") || strings.HasSuffix(p, ".tgz")
}

// extract adds the contents of an archive, without what its symbolic links name outside it.
func (c *Composer) extract(f *source.File, dir string, to *stage) error {
	data, err := f.Read()
	if err != nil {
		return err
	}
	tree, err := source.UnpackInto(c.spill, bytes.NewReader(data), to.room())
	if err != nil {
		return err
	}
	held, err := newView(tree)
	if err != nil {
		return err
	}
	for _, p := range held.paths {
		if err := to.put(path.Join(dir, p), held.files[p]); err != nil {
			return err
		}
	}
	return nil
}
