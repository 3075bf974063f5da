package source

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// The time that a fetch has when nothing is declared, and at most: what a tenant declares does not keep others waiting for
// longer.
const (
	defaultTimeout = time.Minute
	mostTimeout    = 10 * time.Minute
)

// Deadline is the time that a fetch has for which some is declared, or none.
func Deadline(declared time.Duration) time.Duration {
	return min(cmp.Or(declared, defaultTimeout), mostTimeout)
}

// Limits bound how much one source may hold.
type Limits struct {
	// Files is the largest number of files, Bytes the largest sum of their sizes.
	Files int
	Bytes int64
}

// errOversized is something in a repository that is larger than may be.
var errOversized = errors.New("too large")

// DefaultLimits are enough for large repositories and stop a decompression bomb.
func DefaultLimits() Limits { return Limits{Files: 200_000, Bytes: 1 << 30} }

// Sizes of single files: the largest whose content is kept in memory, the largest that a source may
// hold, and the longest target of a symbolic link.
const (
	inMemory = 1 << 20
	maxFile  = 100 << 20
	maxLink  = 4096
)

// budget counts what a source holds against its limits.
type budget struct {
	limits Limits
	files  int
	bytes  int64
}

func (b *budget) take(name string, size int64) error {
	b.files++
	b.bytes += size
	switch {
	case size > maxFile:
		return fmt.Errorf("file %q has %d bytes, more than %d; exclude it by spec.ignore or a %s file",
			name, size, int64(maxFile), ignoreFile)
	case b.files > b.limits.Files:
		return fmt.Errorf("the source has more than %d files; exclude some by spec.ignore or a %s file",
			b.limits.Files, ignoreFile)
	case b.bytes > b.limits.Bytes:
		return fmt.Errorf("the source has more than %d bytes; exclude some by spec.ignore or a %s file",
			b.limits.Bytes, ignoreFile)
	default:
		return nil
	}
}
