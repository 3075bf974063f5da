// Package bases fetches what kustomizations name outside their source: directories of repositories, and files of web servers.
//
// What was fetched belongs to the unit that reads it, and goes when the unit does, or reads it no more. Repositories are those
// of package feed: with its slots, and one clone for all who read with the same credentials. What is named by a commit is fetched
// once; anything else again for each render that is to be newer. When that fails the render fails, as with the upstreams: an older
// copy would hide that what is declared cannot be read.
//
// It refuses to render, to know a dialect, and to give credentials to an address: those are the dialect's.
package bases

import (
	"sync"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// Reach is how the addresses of a unit are reached, and with whose credentials.
type Reach interface {
	// Git returns where a repository is fetched instead, and the login there.
	Git(address string) (source.GitOptions, error)
	// File returns where a file is fetched instead, and the login there.
	File(address string) (instead string, access source.Access, err error)
}

// Unit is who reads.
type Unit struct {
	// Owner is the name by which it is forgotten, Share whose slots are taken.
	Owner, Share string
	Reach        Reach
}

// Store holds what was fetched, by the units that read it. It is safe for concurrent use.
type Store struct {
	feed  *feed.Feed
	spill string

	mu      sync.Mutex
	readers map[string]*Reader
}

// New returns a Store that has nothing. Files that are too large for memory are kept in a directory.
func New(f *feed.Feed, spill string) *Store {
	return &Store{feed: f, spill: spill, readers: map[string]*Reader{}}
}

// Reader is what fetches for a unit, the same one until that is forgotten.
func (s *Store) Reader(u Unit) *Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.readers[u.Owner]
	if r == nil {
		r = &Reader{store: s, held: map[render.Remote]*held{}}
		s.readers[u.Owner] = r
	}
	r.mu.Lock()
	r.unit = u
	r.mu.Unlock()
	return r
}

// Forget releases everything that a unit has read.
func (s *Store) Forget(owner string) {
	s.mu.Lock()
	r := s.readers[owner]
	delete(s.readers, owner)
	s.mu.Unlock()
	if r != nil {
		r.close()
	}
}

// Close releases everything.
func (s *Store) Close() {
	s.mu.Lock()
	all := s.readers
	s.readers = map[string]*Reader{}
	s.mu.Unlock()
	for _, r := range all {
		r.close()
	}
}

// Rewriter reports where a URL is fetched from instead.
type Rewriter interface{ Rewritten(url string) string }

// Anonymous reaches addresses by the rules for fetches, and without a login.
type Anonymous struct {
	Rules Rewriter
	// Egress is where servers may be: anywhere by default.
	Egress egress.Rules
}

// Git is where a repository is fetched.
func (a Anonymous) Git(address string) (source.GitOptions, error) {
	return source.GitOptions{URL: a.Rules.Rewritten(address), Egress: a.Egress}, nil
}

// File is where a file is fetched.
func (a Anonymous) File(address string) (instead string, access source.Access, err error) {
	return a.Rules.Rewritten(address), source.Access{Egress: a.Egress}, nil
}
