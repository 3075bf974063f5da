package feed

import (
	"fmt"
	"strings"
	"weak"

	"github.com/headgate-dev/headgate/internal/source"
)

// trees are what was read of a remote, for as long as a reader has it: the same tree is in memory once, and files that trees
// have in common are.
type trees map[selection]read

// selection is what a tree is made of: a commit, the annotated tag that selected it, and what is taken of it.
type selection struct{ commit, tag, taken string }

// read is what was read of a commit.
type read struct {
	tree       weak.Pointer[source.Tree]
	message    string
	signatures *source.Signatures
}

// result is what was read, nil if no reader has it any more.
func (r read) result(revision string) *source.GitResult {
	tree := r.tree.Value()
	if tree == nil {
		return nil
	}
	return &source.GitResult{Revision: revision, Tree: tree, CommitMessage: r.message, Signatures: r.signatures}
}

// selectionOf is what options select at a revision. Others than files of the commit, and signatures that are verified, are
// of the reader alone.
func selectionOf(o source.GitOptions, revision, tag string) (s selection, shared bool) {
	if revision == "" || len(o.Include) > 0 || o.Verify != nil || o.Ref.Commit != "" && o.Ref.Branch != "" {
		return s, false
	}
	ignore := "defaults"
	if o.Ignore != nil {
		ignore = "rules " + *o.Ignore
	}
	taken := fmt.Sprintf("%q %q %v", ignore, o.Sparse, o.RecurseSubmodules)
	return selection{revision[strings.LastIndexByte(revision, ':')+1:], tag, taken}, true
}

// get is what options select, nil unless a reader has it.
func (t trees) get(o source.GitOptions) *source.GitResult {
	revision, tag := revisionOf(o), ""
	if o.Listed != nil {
		tag = o.Listed.Tag(o.Ref)
	}
	s, shared := selectionOf(o, revision, tag)
	if !shared {
		return nil
	}
	return t[s].result(revision)
}

// any is a tree that a reader has, if one does.
func (t trees) any() *source.Tree {
	for _, one := range t {
		if tree := one.tree.Value(); tree != nil {
			return tree
		}
	}
	return nil
}

// put notes what was read. What no reader has any more is forgotten.
func (t *trees) put(o source.GitOptions, got *source.GitResult) {
	if *t == nil {
		*t = trees{}
	}
	for s, one := range *t {
		if one.tree.Value() == nil {
			delete(*t, s)
		}
	}
	if s, shared := selectionOf(o, got.Revision, got.Signatures.TagID()); shared && !got.Unchanged {
		(*t)[s] = read{weak.Make(got.Tree), got.CommitMessage, got.Signatures}
	}
}
