// Package feed follows repositories for all dialects: each once for all who read it.
//
// What is read with the same credentials from the same address is one remote: one clone, one list of references at a
// time, one transfer for each commit, one index of charts, whatever declares it. When one reader has the references listed, the others are
// notified, so that a repository is polled as often as its most eager reader wants, and no more. Fetches wait for slots, of which no
// namespace and no host has all.
//
// The key of a remote holds a digest of the credentials and of what is trusted: a reader with others has a remote of its
// own, and nothing of this one. What a reader selects of a commit, and whose signatures it demands, is not part of the
// key: that is done with what was fetched, for each reader again.
//
// The package refuses to know what is read, and why: intervals, waits after failures, statuses and artifacts are the
// dialects'. It holds no secret but in what is being fetched.
package feed

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// slots bound what is fetched at a time, most what one namespace, or one host, has of them.
const (
	slots = 16
	most  = 8
)

// Reader is who reads a repository. Readers are compared, and have to be pointers.
type Reader interface {
	// Listed is called when another reader has requested what there is. It must not block, and not call the Feed.
	Listed(l Listing)
}

// Listing is what a repository has at a time.
type Listing struct {
	// Began is when it was requested.
	Began time.Time

	references *source.References
	index      *source.Index
}

// Revision is that of the commit that is selected, in a repository of Git.
func (l Listing) Revision(ref source.GitRef) (string, error) {
	if l.references == nil {
		return "", errors.New("not a repository of Git")
	}
	return l.references.Revision(ref)
}

// Tag tells the annotated tag apart that is selected, by its name and its hash; it is empty if none is.
func (l Listing) Tag(ref source.GitRef) string {
	if l.references == nil {
		return ""
	}
	return l.references.Tag(ref)
}

// Index is that of a Helm repository, nil for another one.
func (l Listing) Index() *source.Index { return l.index }

// identity is what two readers of one remote have in common.
type identity [sha256.Size]byte

// Feed is safe for concurrent use.
type Feed struct {
	slots *rounds.Slots
	// seal is the key of the digests: what credentials they are of cannot be tried out elsewhere.
	seal []byte
	wg   sync.WaitGroup

	mu      sync.Mutex
	remotes map[identity]*remote
	reads   map[Reader]*remote
}

// New returns a Feed that follows nothing yet. It makes a request when a reader does.
func New() *Feed {
	f := &Feed{
		slots: rounds.NewBoundedSlots(slots, most), seal: make([]byte, sha256.Size),
		remotes: map[identity]*remote{}, reads: map[Reader]*remote{},
	}
	// It never fails.
	_, _ = rand.Read(f.seal)
	return f
}

// Take waits for a slot to fetch from an address, for a share such as a namespace. It is given back by End. There is none,
// and ok is false, when ctx ends before.
func (f *Feed) Take(ctx context.Context, share, address string) (turn *rounds.Turn, ok bool) {
	return f.slots.TakeAt(ctx, share, hostOf(address))
}

// hostOf is the host of an address, empty when it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// join returns the remote of a reader from now on.
func (f *Feed) join(reader Reader, id identity) *remote {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, known := f.remotes[id]
	if !known {
		r = &remote{feed: f, id: id, turn: make(chan struct{}, 1), readers: map[Reader]bool{}}
		f.remotes[id] = r
	}
	if f.reads[reader] != r {
		f.leave(reader)
		f.reads[reader], r.readers[reader] = r, true
	}
	return r
}

// Leave ends the reading of a reader. What nothing reads any more is deleted.
func (f *Feed) Leave(reader Reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leave(reader)
}

// leave is Leave for a caller that holds the lock.
func (f *Feed) leave(reader Reader) {
	r, reads := f.reads[reader]
	if !reads {
		return
	}
	delete(f.reads, reader)
	delete(r.readers, reader)
	if len(r.readers) == 0 {
		delete(f.remotes, r.id)
		f.wg.Go(r.end)
	}
}

// Wait waits until what nothing reads any more is deleted.
func (f *Feed) Wait() { f.wg.Wait() }

// others are the readers of a remote but one.
func (f *Feed) others(r *remote, but Reader) []Reader {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Reader
	for one := range r.readers {
		if one != but {
			all = append(all, one)
		}
	}
	return all
}

// gitIdentity is that of a repository of Git.
func (f *Feed) gitIdentity(o source.GitOptions) identity {
	switch {
	case strings.HasPrefix(o.URL, "ssh:"):
		return f.digest("ssh", o.URL, o.Proxy, string(o.Identity), o.Password, string(o.KnownHosts))
	case o.App != nil:
		a := o.App.AppConfig
		return f.digest("app", o.URL, o.Proxy, a.ID, a.InstallationID, a.InstallationOwner, a.PrivateKey, a.BaseURL,
			string(o.CAFile), string(o.ClientCert), string(o.ClientKey))
	}
	return f.digest("git", o.URL, o.Proxy, o.Username, o.Password, o.BearerToken, string(o.CAFile), string(o.ClientCert), string(o.ClientKey))
}

// digest is that of where something is fetched from, and of all that decides what is given and believed there.
func (f *Feed) digest(parts ...string) identity {
	sum := hmac.New(sha256.New, f.seal)
	for _, part := range parts {
		_ = binary.Write(sum, binary.BigEndian, uint64(len(part)))
		_, _ = sum.Write([]byte(part))
	}
	return identity(sum.Sum(nil))
}
