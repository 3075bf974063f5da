// Package registry is the registry of OCI images at /v2 as Gitea has one: images OWNER/NAME, docker's token flow, and the part
// of the package API that lists and deletes them.
//
// Manifests are served by the registry of go-containerregistry, of which this room is the guard: it knows who asks, checks
// names and content, keeps blobs and what refers to them, with a state directory across restarts, and counts bytes. What
// can be read through one image is only what was pushed to it. The room refuses to know how accounts are stored, content whose
// digest or references are wrong, bytes beyond the quota, and to show passwords and tokens.
package registry

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	inner "github.com/google/go-containerregistry/pkg/registry"
)

// Access is what a request does with the images of an owner.
type Access string

// What accounts may be permitted.
const (
	Pull   Access = "pull"
	Push   Access = "push"
	Delete Access = "delete"
)

// Account is who makes a request.
type Account struct {
	// Login is the name of the user; empty for anyone.
	Login string
	// ReadOnly is set for a token that permits no more than to pull.
	ReadOnly bool
	// Public is set for a token that has access to no more than what everyone can read.
	Public bool
}

// Accounts are the users and organisations that there are.
type Accounts interface {
	// Authenticate returns a user by a password or a token.
	Authenticate(ctx context.Context, user, password string) (who Account, ok bool)
	// Owner returns the name of a user or organisation as it is written; upper and lower case are the same.
	Owner(ctx context.Context, name string) (written string, ok bool)
	// Permits reports whether a user, or anyone if login is empty, has access to the images of an owner.
	Permits(ctx context.Context, login, owner string, access Access) bool
	// Shape is a user or organisation as the API shows it.
	Shape(ctx context.Context, name string) any
}

// Sink takes events.
type Sink interface {
	// Package is called when a version of an image was pushed or deleted. It must not wait.
	Package(ctx context.Context, event Event)
}

// Event says what happened to a version of an image.
type Event struct {
	// Action is created or deleted, as Gitea has it.
	Action string
	// Owner is the name of the owner, in any case.
	Owner string
	// Package is the version as the API shows it.
	Package Package
	// Doer is the login of the user by whom it happened.
	Doer string
}

// Config is what a Registry needs.
type Config struct {
	Accounts Accounts
	Sink     Sink
	// Dir is where images are kept; empty keeps them in memory.
	Dir string
	// Quota bounds what the images of one owner take, in bytes, with uploads in progress; zero takes
	// DefaultQuota, or DefaultMemoryQuota without a directory.
	Quota int64
	// URL is the address of the server as clients know it; empty takes that of each request.
	URL string
	Log logr.Logger
}

// What the images of one owner may take, in bytes.
const (
	DefaultQuota       = 10 << 30
	DefaultMemoryQuota = 1 << 30
)

// Registry serves images.
type Registry struct {
	cfg    Config
	inner  http.Handler
	medium medium
	tokens tokens

	mu      sync.Mutex
	images  map[string]*image
	stored  map[string]int // by how many links a stored content is used
	used    map[string]int64
	uploads map[string]*upload
	loose   map[loose]time.Time
	lastID  int64
}

// New returns a Registry with the images that its directory has.
func New(ctx context.Context, cfg Config) (*Registry, error) {
	if cfg.Quota == 0 && cfg.Dir == "" {
		cfg.Quota = DefaultMemoryQuota
	}
	if cfg.Quota == 0 {
		cfg.Quota = DefaultQuota
	}
	r := &Registry{
		cfg:     cfg,
		inner:   inner.New(inner.Logger(log.New(io.Discard, "", 0)), inner.WithReferrersSupport(true)),
		medium:  newMemory(),
		images:  map[string]*image{},
		stored:  map[string]int{},
		used:    map[string]int64{},
		uploads: map[string]*upload{},
		loose:   map[loose]time.Time{},
	}
	if _, err := rand.Read(r.tokens.key[:]); err != nil {
		return nil, err
	}
	if cfg.Dir == "" {
		return r, nil
	}
	disk, err := openDisk(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the directory of images %q: %w", cfg.Dir, err)
	}
	r.medium = disk
	if err := r.load(ctx, disk); err != nil {
		return nil, fmt.Errorf("reading the directory of images %q: %w", cfg.Dir, err)
	}
	return r, nil
}

// ServeHTTP serves the paths below /v2.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	if req.URL.Path == tokenPath {
		r.issue(w, req)
		return
	}
	to, known := parse(req.URL.Path)
	if !known {
		fail(w, http.StatusNotFound, "NAME_INVALID", "there is no such path, or the name of the image is not OWNER/NAME")
		return
	}
	who, ok := r.admit(w, req, to)
	if !ok {
		return
	}
	r.route(w, req, to, who)
}

func (r *Registry) route(w http.ResponseWriter, req *http.Request, to target, who Account) {
	reads := req.Method == http.MethodGet || req.Method == http.MethodHead
	switch {
	case to.part == partRoot && reads:
		w.WriteHeader(http.StatusOK)
	case to.part == partCatalog && reads:
		r.catalog(w, req, who)
	case to.part == partTags && reads:
		r.tags(w, req, to)
	case to.part == partUploads:
		r.upload(w, req, to, who)
	case to.part == partBlobs && reads:
		r.blob(w, req, to)
	case (to.part == partReferrers || to.part == partManifests) && reads:
		r.read(w, req, to)
	case to.part == partManifests && req.Method == http.MethodPut:
		r.putManifest(w, req, to, who.Login)
	case to.part == partManifests && req.Method == http.MethodDelete:
		r.deleteManifest(w, req, to, who.Login)
	default:
		fail(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "the method is not supported here")
	}
}

// event notifies the sink.
func (r *Registry) event(ctx context.Context, what Event) {
	if r.cfg.Sink != nil {
		r.cfg.Sink.Package(context.WithoutCancel(ctx), what)
	}
}

// version is a tag, or the digest of a manifest without one.
type version struct {
	ID      int64     `json:"id"`
	Digest  string    `json:"digest"`
	Created time.Time `json:"created"`
	Creator string    `json:"creator"`
}

// manifest is what an image or an index consists of.
type manifest struct {
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`
	// Blobs are the digests of what it has, Manifests those of an index.
	Blobs     []string `json:"blobs,omitempty"`
	Manifests []string `json:"manifests,omitempty"`
}

// image is all that was pushed to one name.
type image struct {
	// Owner is in lower case.
	Owner string `json:"owner"`
	Name  string `json:"name"`
	// Blobs are the sizes of what it has, by digest.
	Blobs     map[string]int64    `json:"blobs"`
	Manifests map[string]manifest `json:"manifests"`
	Versions  map[string]version  `json:"versions"`
}

func (i *image) key() string { return i.Owner + "/" + i.Name }

// imageOf is that of a name, made if there is none; the caller holds the lock.
func (r *Registry) imageOf(to target) *image {
	one := r.images[to.name()]
	if one == nil {
		one = &image{Owner: to.owner, Name: to.image, Blobs: map[string]int64{}, Manifests: map[string]manifest{}, Versions: map[string]version{}}
		r.images[to.name()] = one
	}
	return one
}

// prune forgets an image that has nothing; the caller holds the lock.
func (r *Registry) prune(one *image) {
	if len(one.Versions)+len(one.Blobs) == 0 {
		delete(r.images, one.key())
	}
}

// has reports whether an image has a blob.
func (r *Registry) has(name, digest string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.images[name]
	if one == nil {
		return false
	}
	_, there := one.Blobs[digest]
	return there
}

// knows reports whether an image has a manifest by a digest or a tag.
func (r *Registry) knows(to target) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.images[to.name()]
	if one == nil {
		return false
	}
	_, tagged := one.Versions[to.reference]
	_, digested := one.Manifests[to.reference]
	return tagged || digested || to.part == partReferrers
}

// read answers with a manifest, or with what refers to one.
func (r *Registry) read(w http.ResponseWriter, req *http.Request, to target) {
	if !r.knows(to) {
		fail(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "the image has no such tag or digest")
		return
	}
	r.ask(req, to).send(w)
}

// unlink drops a use of stored content; the caller holds the lock.
func (r *Registry) unlink(digest string) {
	r.stored[digest]--
	if r.stored[digest] > 0 {
		return
	}
	delete(r.stored, digest)
	if err := r.medium.remove(digest); err != nil && !os.IsNotExist(err) {
		r.cfg.Log.Error(err, "content of images was not deleted", "digest", digest)
	}
}
