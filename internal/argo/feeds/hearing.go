package feeds

import (
	"errors"
	"time"

	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/source"
)

// hearing is what a reader knows of its remote by others, and how new it wants to have it. The lock of the reader is for
// it, too.
type hearing struct {
	// wished is when a fetch was requested last; used is when the references were requested that were used last.
	wished, used time.Time
	// due is when the next fetch is, if none is requested before.
	due time.Time
	// passing is set during a pass. What is heard then waits for its end, which may have found the same.
	passing bool
	heard   *feed.Listing
}

// since is how new a fetch has to be, and the newest request that one which is as new answers.
func (o *reader) since() (asked uint64, since time.Time) {
	asked, since = o.feeds.asked.newest()
	o.mu.Lock()
	defer o.mu.Unlock()
	if since.Before(o.wished) {
		since = o.wished
	}
	if !since.After(o.used) {
		since = o.used.Add(1)
	}
	return asked, since
}

// heardOf notes when the references were requested by which a fetch went.
func (o *reader) heardOf(began time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if began.After(o.used) {
		o.used = began
	}
}

// rests is how long there is nothing to fetch, since another reader has done so.
func (o *reader) rests() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state.Err != nil || o.wished.After(o.used) {
		return 0
	}
	return time.Until(o.due)
}

// Listed takes what another reader of the same repository has found.
func (o *reader) Listed(l feed.Listing) {
	o.mu.Lock()
	o.heard = &l
	o.mu.Unlock()
	o.hear()
}

// listen is called around passes.
func (o *reader) listen(now bool) {
	o.mu.Lock()
	o.passing = !now
	o.mu.Unlock()
	if now {
		o.hear()
	}
}

// hear has a revision fetched of which another reader found something else than there is; the same is as good as a fetch
// of its own.
func (o *reader) hear() {
	every := o.feeds.cfg.Settings().Reconciliation.Every
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.heard
	if o.passing || l == nil {
		return
	}
	o.heard = nil
	if !o.state.Settled || o.key.Fixed() || !l.Began.After(o.used) {
		return
	}
	if found, tag, err := o.find(l); err == nil && o.state.Err == nil && found == o.state.Revision && tag == o.state.Signatures.TagID() {
		o.state.Fetched, o.used = l.Began, l.Began
		if every > 0 {
			o.due = l.Began.Add(every)
		}
		return
	}
	if o.wished.Before(l.Began) {
		o.wished = l.Began
	}
	o.feeds.passes.Wake(o.key)
}

// find is the revision in a listing, with the annotated tag by which it is selected.
func (o *reader) find(l *feed.Listing) (revision, tag string, err error) {
	if index := l.Index(); index != nil {
		v, err := index.Find(o.key.Chart, o.key.Revision)
		return v.Version, "", err
	}
	for _, ref := range refs(o.key.Revision, o.key.TagPrefix) {
		if revision, err = l.Revision(ref); !errors.Is(err, source.ErrReference) {
			tag = l.Tag(ref)
			break
		}
	}
	return shaOf(revision), tag, err
}

var _ feed.Reader = (*reader)(nil)
