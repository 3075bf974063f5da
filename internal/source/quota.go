package source

import (
	"fmt"
	"io"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Bounds of what a repository may bring, with its submodules: what they send, how much the names of their files are, and how
// many submodules there are. An object that is no file is read as a whole.
const (
	mostPacked    = 2 << 30
	mostPathBytes = 128 << 20
	maxPath       = 4096
	mostModules   = 256
	maxObject     = 64 << 20
)

// quota counts what one fetch takes, that of submodules and of what is included together.
type quota struct {
	budget
	packed, paths int64
	modules       int
}

func newQuota() *quota { return &quota{budget: budget{limits: DefaultLimits()}} }

// path counts the name of a file, whether it is read or not.
func (q *quota) path(name string) error {
	q.paths += int64(len(name))
	switch {
	case len(name) > maxPath:
		return fmt.Errorf("path %q... has %d bytes, more than %d", name[:64], len(name), maxPath)
	case q.paths > mostPathBytes:
		return fmt.Errorf("the paths of its files have more than %d bytes together", mostPathBytes)
	}
	return nil
}

// module counts a submodule.
func (q *quota) module() error {
	if q.modules++; q.modules > mostModules {
		return fmt.Errorf("it has more than %d submodules, those of submodules included", mostModules)
	}
	return nil
}

// bounded is the storage of a clone, in which nothing is larger than may be.
type bounded struct {
	*filesystem.Storage
	quota *quota
}

// openBounded opens the repository in a directory.
func openBounded(dir string, q *quota) (*git.Repository, error) {
	repo, err := git.PlainOpen(dir)
	if err != nil {
		return nil, err
	}
	stored, is := repo.Storer.(*filesystem.Storage)
	if !is {
		return nil, fmt.Errorf("%T is no storage on disk", repo.Storer)
	}
	return git.Open(&bounded{stored, q}, nil)
}

// EncodedObject returns an object, which is held in memory.
func (b *bounded) EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	most := int64(maxObject)
	if kind == plumbing.BlobObject {
		most = maxFile
	}
	if size, err := b.EncodedObjectSize(hash); err == nil && size > most {
		return nil, fmt.Errorf("%w: %s has %d bytes, more than %d", errOversized, hash, size, most)
	}
	return b.Storage.EncodedObject(kind, hash)
}

// PackfileWriter takes what a server sends.
func (b *bounded) PackfileWriter() (io.WriteCloser, error) {
	w, err := b.Storage.PackfileWriter()
	if err != nil {
		return nil, err
	}
	return &packWriter{w, b.quota}, nil
}

// packWriter counts what a server sends while it does.
type packWriter struct {
	io.WriteCloser
	quota *quota
}

func (w *packWriter) Write(p []byte) (int, error) {
	if w.quota.packed += int64(len(p)); w.quota.packed > mostPacked {
		return 0, fmt.Errorf("%w: the server sends more than %d bytes, submodules included", errOversized, int64(mostPacked))
	}
	return w.WriteCloser.Write(p)
}
