package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/source"
)

// ReadSet is what a render read of its tree, with what it found there: files and their digests,
// directories and their entries, and paths at which there was nothing.
type ReadSet struct {
	seen map[string]string
}

// Kinds of questions to a tree; each is asked of a path.
const (
	askPath = "path:"
	askList = "list:"
)

// ask answers a question with a text that changes when the answer does.
func ask(tree *source.Tree, question string) string {
	p, list := strings.CutPrefix(question, askList)
	p = strings.TrimPrefix(p, askPath)
	resolved, err := tree.Resolve(p)
	if err != nil {
		return "error " + err.Error()
	}
	if list {
		names, _ := tree.Entries(resolved)
		return "entries " + strings.Join(names, "\x00")
	}
	if f, ok := tree.File(resolved); ok {
		return "file " + f.Digest
	}
	if _, ok := tree.Entries(resolved); ok {
		return "directory"
	}
	return "nothing"
}

// Unchanged reports whether a render of tree would read the same.
func (r ReadSet) Unchanged(tree *source.Tree) bool {
	for question, answer := range r.seen {
		if ask(tree, question) != answer {
			return false
		}
	}
	return true
}

// Paths returns the paths of the files that were read, sorted.
func (r ReadSet) Paths() []string {
	var paths []string
	for question, answer := range r.seen {
		if p, ok := strings.CutPrefix(question, askPath); ok && strings.HasPrefix(answer, "file ") {
			paths = append(paths, p)
		}
	}
	return slices.Sorted(slices.Values(paths))
}

func (r ReadSet) clone() ReadSet { return ReadSet{seen: maps.Clone(r.seen)} }

// Digest is the hex SHA-256 of what was read and what was found there. It is the same for two renders that read the
// same.
func (r ReadSet) Digest() string {
	sum := sha256.New()
	for _, question := range slices.Sorted(maps.Keys(r.seen)) {
		fmt.Fprintf(sum, "%q %q\n", question, r.seen[question])
	}
	return hex.EncodeToString(sum.Sum(nil))
}
