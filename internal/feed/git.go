package feed

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// The time that a fetch has, when nothing is declared, and at most: what a tenant declares does not keep a slot for longer.
const (
	usualTimeout = time.Minute
	mostTimeout  = 10 * time.Minute
)

// within is the time that a fetch has for which some is declared, or none.
func within(declared time.Duration) time.Duration {
	return min(cmp.Or(declared, usualTimeout), mostTimeout)
}

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

// remote is a repository as it is reached with some credentials.
type remote struct {
	feed *Feed
	id   identity
	// readers belong to the lock of the feed.
	readers map[Reader]bool

	// turn is held by the reader that is served. What follows belongs to it.
	turn   chan struct{}
	clone  source.Clone
	listed attempt
	// slow is the last transfer that took too long.
	slow attempt
	// trees are what was read.
	trees trees
}

// attempt is a request that was made.
type attempt struct {
	references *source.References
	began      time.Time
	err        error
	// late is the timeout that was exceeded, zero when there was a response; revision is what was waited for.
	late     time.Duration
	revision string
}

// serves tells whether an attempt is as good as one that is made now.
func (a *attempt) serves(since time.Time, timeout time.Duration) bool {
	return !a.began.IsZero() && !a.began.Before(since) && (a.late == 0 || a.late >= timeout)
}

// Git fetches a commit for a reader, which has to leave in the end. What others have fetched is not fetched again. The
// result says when it began also if there is an error. No error holds a credential.
func (f *Feed) Git(ctx context.Context, reader Reader, q Git) (Result, error) {
	r := f.join(reader, q.Options)
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	defer func() { <-r.turn }()
	v := &visit{Git: q, remote: r, reader: reader, parent: ctx, timeout: within(q.Options.Timeout)}
	defer v.end()
	return v.run()
}

// end deletes what is kept.
func (r *remote) end() {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	// What cannot be deleted now is when the directory is.
	_ = r.clone.Close()
}

// visit is a request as it is served.
type visit struct {
	Git
	remote  *remote
	reader  Reader
	timeout time.Duration
	// parent ends with the reader; ctx ends in time, too. It is nil until something is requested of the server.
	parent, ctx context.Context
	stop        context.CancelFunc
	turn        *rounds.Turn
}

// start takes a slot, and has time begin.
func (v *visit) start() error {
	if v.ctx != nil {
		return nil
	}
	turn, ok := v.remote.feed.Take(v.parent, v.Share, v.Options.URL)
	if !ok {
		return context.Cause(v.parent)
	}
	v.turn = turn
	v.ctx, v.stop = context.WithTimeoutCause(v.parent, v.timeout, fmt.Errorf("timed out after %s", v.timeout))
	return nil
}

func (v *visit) end() {
	if v.ctx != nil {
		v.stop()
		v.turn.End()
	}
}

func (v *visit) run() (Result, error) {
	r := v.remote
	v.Options.Timeout, v.Options.Clone = v.timeout, &r.clone
	out := Result{Began: time.Now()}
	if v.Options.Ref.Commit == "" {
		var err error
		if out.Requested, err = v.list(); err != nil {
			return out, err
		}
		out.Began, v.Options.Listed = r.listed.began, r.listed.references
		if r.listed.err != nil {
			return out, r.listed.err
		}
	}
	if v.Options.Unchanged(v.Previous, v.Tree) {
		out.GitResult = &source.GitResult{Revision: v.Previous, Tree: v.Tree, Unchanged: true}
		return out, nil
	}
	if tree, message := r.trees.get(v.Options); tree != nil {
		out.GitResult = &source.GitResult{Revision: revisionOf(v.Options), Tree: tree, CommitMessage: message}
		return out, nil
	}
	if r.slow.revision == revisionOf(v.Options) && r.slow.serves(v.Since, v.timeout) {
		return out, r.slow.err
	}
	var err error
	out.GitResult, err = v.fetch()
	out.Requested = out.Requested || err != nil || out.Transferred
	return out, err
}

// list has the references listed, unless that was done in time, and tells whether they were requested. What came of it is in
// the remote; the error is why nothing was requested, or did not matter.
func (v *visit) list() (requested bool, err error) {
	r := v.remote
	if r.listed.serves(v.Since, v.timeout) {
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
	r.listed = attempt{references: references, began: began, err: err}
	if v.ctx.Err() != nil {
		r.listed.late = v.timeout
	}
	if err != nil {
		return true, nil
	}
	for _, one := range r.feed.others(r, v.reader) {
		one.Listed(Listing{references, began})
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
func (v *visit) fetch() (*source.GitResult, error) {
	if err := v.start(); err != nil {
		return nil, err
	}
	r, selected := v.remote, revisionOf(v.Options)
	began, previous, tree := time.Now(), v.Previous, v.Tree
	if tree == nil {
		// It is of another reader, who may select something else.
		previous, tree = "", r.trees.any()
	}
	got, err := source.FetchGit(v.ctx, v.Options, previous, tree)
	if err != nil {
		if v.parent.Err() == nil && v.ctx.Err() != nil && selected != "" {
			r.slow = attempt{began: began, err: err, late: v.timeout, revision: selected}
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
