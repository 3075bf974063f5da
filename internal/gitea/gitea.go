// Package gitea serves Git repositories with the API of Gitea, as far as clients of GitOps tools use it: users, organisations,
// tokens, repositories, files, branches, pull requests, webhooks.
//
// It decides who has access: public repositories are read by anyone, all else takes credentials. It refuses pushes to
// repositories that mirror a directory, and says why; requests above the quotas; and endpoints that it does not have, as Gitea
// refuses them. It has no pages for browsers.
package gitea

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/gitea/bare"
	"github.com/headgate-dev/headgate/internal/gitea/hooks"
	"github.com/headgate-dev/headgate/internal/gitea/store"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/guard"
)

// Version is that of the Gitea whose API this is.
const Version = "1.26.0"

// Config is what a Server needs.
type Config struct {
	// Dir keeps accounts and repositories; a Server in the same directory later has them again.
	Dir string
	// Root is the URL under which clients reach the server, without a slash at the end.
	Root string
	// Key, of 32 bytes, encrypts URLs and secrets of hooks in Dir. Without it, hooks end with the process.
	Key []byte
	// Client delivers events to hooks; without one nothing is delivered.
	Client *http.Client
	// Quota bounds what is stored; fields that are zero have defaults.
	Quota Quota
	Guard guard.Guard
	Log   logr.Logger
}

// Quota bounds what is stored.
type Quota struct {
	// Repository is that of one repository, in bytes; 512 MiB by default.
	Repository int64
	// Images is that of the images of one owner, in bytes; zero takes registry.DefaultQuota.
	Images int64
	// Repositories is how many one owner may have; 500 by default. Accounts bounds users and organisations, 500 by default.
	Repositories, Accounts int
	// Each bounds the tokens of a user and the hooks of a repository, an owner or the system; 100 by default.
	Each int
	// Pulls bounds the pull requests of a repository; 5000 by default.
	Pulls int
}

func (q Quota) orDefaults() Quota {
	or := func(n *int, otherwise int) {
		if *n == 0 {
			*n = otherwise
		}
	}
	or(&q.Repositories, 500)
	or(&q.Accounts, 500)
	or(&q.Each, 100)
	or(&q.Pulls, 5000)
	if q.Repository == 0 {
		q.Repository = 512 << 20
	}
	return q
}

// Server is the handler of everything that the Git server serves.
type Server struct {
	cfg    Config
	store  *store.Store
	owned  *gitserver.Owned
	events *hooks.Dispatcher
	api    *http.ServeMux
	// salt makes the cache of passwords useless to those who read the memory of this process later.
	salt [32]byte

	mu      sync.Mutex
	mounted map[string]http.Handler
	ledgers map[int64]*ledger
	proven  map[[32]byte]int64
	unknown map[string]bool
	changed []func(owner, name string)
	images  []func(owner, name string)
	// hashing bounds how many passwords are checked at a time.
	hashing chan struct{}
}

// New returns a Server. Deliveries end with the context.
func New(ctx context.Context, cfg Config) (*Server, error) {
	cfg.Quota = cfg.Quota.orDefaults()
	cfg.Root = strings.TrimSuffix(cfg.Root, "/")
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Dir = dir
	s := &Server{
		cfg: cfg, mounted: map[string]http.Handler{}, ledgers: map[int64]*ledger{}, proven: map[[32]byte]int64{}, unknown: map[string]bool{},
		hashing: make(chan struct{}, 2),
	}
	if s.store, err = store.Open(dir, cfg.Key); err != nil {
		return nil, err
	}
	if _, err := rand.Read(s.salt[:]); err != nil {
		return nil, err
	}
	if s.owned, err = gitserver.NewOwned(logr.NewContext(ctx, cfg.Log), s); err != nil {
		return nil, err
	}
	if cfg.Client != nil {
		s.events = hooks.New(ctx, hooks.Config{Directory: s, Client: cfg.Client, Guard: cfg.Guard, Log: cfg.Log})
	}
	s.api = s.routes()
	return s, nil
}

// Mount serves further paths by another handler: those that begin with the prefix.
func (s *Server) Mount(prefix string, handler http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mounted[prefix] = handler
}

// OnChange has f called after branches or tags of a repository changed, by a push or by the API.
func (s *Server) OnChange(f func(owner, name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = append(s.changed, f)
}

// OnImage has f called after an image was pushed to the registry, or deleted there, with the owner and the name of its package.
func (s *Server) OnImage(f func(owner, name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images = append(s.images, f)
}

// ServeHTTP serves a request of a git client or of one of the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var mounted http.Handler
	longest := 0
	for prefix, handler := range s.mounted {
		if strings.HasPrefix(r.URL.Path, prefix) && len(prefix) > longest {
			mounted, longest = handler, len(prefix)
		}
	}
	s.mu.Unlock()
	switch {
	case mounted != nil:
		mounted.ServeHTTP(w, r)
	case r.URL.Path == "/" || r.URL.Path == "/api/healthz":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "Headgate serves Git repositories and the API of Gitea here; see "+s.cfg.Root+"/api/v1/version")
	case strings.HasPrefix(r.URL.Path, "/api/"):
		s.api.ServeHTTP(w, r)
	case s.owned.Matches(r):
		s.owned.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// EnsureAdmin has an administrator exist who has this password.
func (s *Server) EnsureAdmin(name, email, password string) error {
	if err := checkName(name); err != nil {
		return err
	}
	var known store.Account
	s.store.Read(func(d *store.Data) { known, _ = d.Account(name) })
	if known.Admin && store.CheckPassword(known.Password, password) {
		return nil
	}
	hash, err := store.HashPassword(password)
	if err != nil {
		return err
	}
	s.forget()
	return s.store.Write(func(d *store.Data) error {
		for i := range d.Accounts {
			if strings.EqualFold(d.Accounts[i].Name, name) {
				d.Accounts[i].Admin, d.Accounts[i].Password = true, hash
				return nil
			}
		}
		d.Accounts = append(d.Accounts, store.Account{ID: d.Next(), Name: name, Email: email, Admin: true, Password: hash, Created: now()})
		return nil
	})
}

// Mirror is a bare repository elsewhere, which shows a directory.
type Mirror struct {
	// Owner is a user or organisation that there is.
	Owner, Name string
	// Dir is the bare repository, Branch its only branch.
	Dir, Branch string
	// Reason is what pushes are refused with.
	Reason string
	// Private has only the owner and administrators read it.
	Private bool
}

// Show lists a mirror. It is not kept: the next process shows it again. A repository that accepts pushes and has its name is an error.
func (s *Server) Show(m Mirror) error {
	if err := checkName(m.Name); err != nil {
		return err
	}
	return s.store.Write(func(d *store.Data) error {
		old, _, there := d.Repository(m.Owner, m.Name)
		if there && old.Mirror == "" {
			return fmt.Errorf("repository %s/%s: %w, and accepts pushes; rename or delete it", m.Owner, m.Name, store.ErrExists)
		}
		of, ok := d.Account(m.Owner)
		if !ok {
			return fmt.Errorf("owner %q: %w", m.Owner, store.ErrNotFound)
		}
		if !there {
			old = store.Repository{ID: d.Next(), Owner: of.ID, Name: m.Name, Created: now(), Updated: now()}
			d.Repositories = append(d.Repositories, old)
		}
		for i := range d.Repositories {
			if r := &d.Repositories[i]; r.ID == old.ID {
				r.Dir, r.DefaultBranch, r.Mirror, r.Private = m.Dir, m.Branch, m.Reason, m.Private
			}
		}
		return nil
	})
}

// Hide ends what Show began.
func (s *Server) Hide(owner, name string) error {
	return s.store.Write(func(d *store.Data) error {
		found, _, ok := d.Repository(owner, name)
		if ok && found.Mirror != "" {
			forgetRepository(d, found.ID)
		}
		return nil
	})
}

// Changed tells the server that a repository which it shows has changed, so that hooks hear of it.
func (s *Server) Changed(ctx context.Context, owner, name string) error {
	at, err := s.find(owner, name)
	if err != nil {
		return err
	}
	return s.note(ctx, at, at.owner)
}

// place is a repository with its owner.
type place struct {
	store.Repository
	owner store.Account
	git   bare.Repository
}

func (p place) full() string { return p.owner.Name + "/" + p.Name }

var errNoRepository = errors.New("repository")

// find finds a repository, for any client.
func (s *Server) find(owner, name string) (place, error) {
	var at place
	var ok bool
	s.store.Read(func(d *store.Data) { at.Repository, at.owner, ok = d.Repository(owner, name) })
	if !ok {
		return place{}, fmt.Errorf("%w %s/%s: %w", errNoRepository, owner, name, store.ErrNotFound)
	}
	at.git = bare.Repository(s.dirOf(at.Repository))
	return at, nil
}

func (s *Server) dirOf(r store.Repository) string {
	if r.Dir != "" {
		return r.Dir
	}
	return filepath.Join(s.cfg.Dir, "repositories", strconv.FormatInt(r.ID, 10)+".git")
}

// room is how many bytes a repository may grow.
func (s *Server) room(at place) (int64, error) {
	size, err := at.git.Size()
	if err != nil {
		return 0, err
	}
	left := s.cfg.Quota.Repository - size
	if left <= 0 {
		return 0, fmt.Errorf("repository %s has %d bytes of the %d that it may have: %w; delete it, or raise the quota", at.full(), size, s.cfg.Quota.Repository, store.ErrLimit)
	}
	return left, nil
}

func (s *Server) removeDir(id int64) error {
	return os.RemoveAll(filepath.Join(s.cfg.Dir, "repositories", strconv.FormatInt(id, 10)+".git"))
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
