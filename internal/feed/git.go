package feed

import (
	"context"
	"time"

	"github.com/headgate-dev/headgate/internal/source"
)

// Git is a request for a commit.
type Git struct {
	// Options say what is fetched, and how. Listed and Clone are set by the feed.
	Options source.GitOptions
	// Share is whose slots are taken, such as a namespace.
	Share string
	// Since is how old the references may be by which a commit is selected: requested then, or later.
	Since time.Time
	// Previous is the revision that the reader has, if its options are those of then, and Tree what it has, if anything.
	Previous string
	Tree     *source.Tree
}

// Result is what a fetch found.
type Result struct {
	*source.GitResult
	// Began is when the references were requested by which it was found, or when that failed.
	Began time.Time
	// Requested is set when something was requested of the server for it.
	Requested bool
}

// Git fetches a commit for a reader, which has to leave in the end. What others have fetched is not fetched again. The
// result says when it began also if there is an error. No error holds a credential.
func (f *Feed) Git(ctx context.Context, reader Reader, q Git) (Result, error) {
	v, err := f.visit(ctx, reader, f.gitIdentity(q.Options), request{q.Share, q.Options.URL, q.Since, q.Options.Timeout})
	if err != nil {
		return Result{}, err
	}
	defer v.end()
	return (&gitVisit{q, v}).run()
}

// gitVisit serves a request for a commit.
type gitVisit struct {
	Git
	*visit
}

func (v *gitVisit) run() (Result, error) {
	r := v.remote
	v.Options.Timeout, v.Options.Clone = v.timeout, &r.clone
	out := Result{Began: time.Now()}
	if v.Options.Ref.Commit == "" {
		var err error
		if out.Requested, err = v.list(); err != nil {
			return out, err
		}
		out.Began, v.Options.Listed = r.listed.began, r.references
		if r.listed.err != nil {
			return out, r.listed.err
		}
	}
	if v.Options.Unchanged(v.Previous, v.Tree) {
		out.GitResult = &source.GitResult{Revision: v.Previous, Tree: v.Tree, Unchanged: true}
		return out, nil
	}
	if out.GitResult = r.trees.get(v.Options); out.GitResult != nil {
		return out, nil
	}
	if r.slowOf == revisionOf(v.Options) && r.slow.serves(v.request) {
		return out, r.slow.err
	}
	var err error
	out.GitResult, err = v.fetch()
	out.Requested = out.Requested || err != nil || out.Transferred
	return out, err
}

// list has the references listed, unless that was done in time, and reports whether they were requested. What came of it is in
// the remote; the error is why nothing was requested, or did not matter.
func (v *gitVisit) list() (requested bool, err error) {
	r := v.remote
	if r.listed.serves(v.request) {
		return false, nil
	}
	if err := v.start(); err != nil {
		return false, err
	}
	began := time.Now()
	references, err := source.ListGit(v.ctx, v.Options)
	if v.parent.Err() != nil {
		// It is over for this reader alone.
		return true, context.Cause(v.parent)
	}
	r.listed = v.attempt(began, err)
	r.references = references
	if err == nil {
		v.notify(Listing{Began: began, references: references})
	}
	return true, nil
}

// revisionOf is what is selected, empty if there is none.
func revisionOf(o source.GitOptions) string {
	listed := o.Listed
	if listed == nil {
		listed = &source.References{}
	}
	revision, err := listed.Revision(o.Ref)
	if err != nil {
		return ""
	}
	return revision
}

// fetch reads a commit, and transfers what is not here.
func (v *gitVisit) fetch() (*source.GitResult, error) {
	if err := v.start(); err != nil {
		return nil, err
	}
	r, selected := v.remote, revisionOf(v.Options)
	began, previous, tree := time.Now(), v.Previous, v.Tree
	if tree == nil {
		// It is of another reader, whose selection may differ.
		previous, tree = "", r.trees.any()
	}
	got, err := source.FetchGit(v.ctx, v.Options, previous, tree)
	if err != nil {
		if v.parent.Err() == nil && v.ctx.Err() != nil && selected != "" {
			r.slow, r.slowOf = v.attempt(began, err), selected
		}
		return nil, err
	}
	if got.Revision != selected {
		// It has moved since it was listed, and the list is too old for others.
		r.listed = attempt{}
	}
	r.trees.put(v.Options, got)
	return got, nil
}
