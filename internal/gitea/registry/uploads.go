package registry

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// maxUploads bounds the uploads in progress of one user.
	maxUploads = 32
	// idle is for how long an upload may wait for its next part.
	idle = time.Hour
)

var errQuota = errors.New("the quota of the owner is exhausted: delete images that are not needed")

// block is what content takes beside its bytes, so that what is small is counted as well.
const block = 4096

func weight(size int64) int64 { return size + block }

// upload is a blob that is on its way.
type upload struct {
	id, name, owner, login string
	touched                time.Time // under the lock of the registry

	mu    sync.Mutex
	spool spool
	hash  hash.Hash
	size  int64
	ended bool
}

// charge adds bytes to what an owner uses.
func (r *Registry) charge(owner string, bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.charged(owner, bytes)
}

// charged is charge for a caller that holds the lock.
func (r *Registry) charged(owner string, bytes int64) error {
	if r.used[owner]+bytes > r.cfg.Quota {
		return errQuota
	}
	r.used[owner] += bytes
	return nil
}

// metered writes to an upload within the quota.
type metered struct {
	r *Registry
	u *upload
}

func (m metered) Write(content []byte) (int, error) {
	if err := m.r.charge(m.u.owner, int64(len(content))); err != nil {
		return 0, err
	}
	m.u.size += int64(len(content))
	m.u.hash.Write(content)
	return m.u.spool.Write(content)
}

// upload serves the parts of an upload.
func (r *Registry) upload(w http.ResponseWriter, req *http.Request, to target, who Account) {
	if to.reference == "" {
		r.begin(w, req, to, who)
		return
	}
	u := r.resume(to, who.Login)
	if u == nil {
		fail(w, http.StatusNotFound, "BLOB_UPLOAD_UNKNOWN", "there is no such upload")
		return
	}
	if !u.mu.TryLock() {
		fail(w, http.StatusRequestedRangeNotSatisfiable, "BLOB_UPLOAD_INVALID", "another part of the upload is in progress")
		return
	}
	defer u.mu.Unlock()
	switch {
	case u.ended:
		fail(w, http.StatusNotFound, "BLOB_UPLOAD_UNKNOWN", "there is no such upload")
	case req.Method == http.MethodGet:
		progress(w, u, http.StatusNoContent)
	case req.Method == http.MethodDelete:
		r.abort(u)
		w.WriteHeader(http.StatusNoContent)
	case req.Method == http.MethodPatch:
		if r.take(w, req, u) {
			progress(w, u, http.StatusAccepted)
		}
	case req.Method == http.MethodPut:
		if r.take(w, req, u) {
			r.finish(w, req, to, u)
		}
	default:
		fail(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "the method is not supported here")
	}
}

// begin starts an upload, takes a blob as a whole, or from another image.
func (r *Registry) begin(w http.ResponseWriter, req *http.Request, to target, who Account) {
	if req.Method != http.MethodPost {
		fail(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "an upload begins with POST")
		return
	}
	query := req.URL.Query()
	if digest := query.Get("mount"); digest != "" && r.mount(req.Context(), to, who, digest, query.Get("from")) {
		stored(w, to, digest)
		return
	}
	u, err := r.start(to, who.Login)
	if err != nil {
		r.failed(w, err, "beginning an upload")
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !query.Has("digest") {
		progress(w, u, http.StatusAccepted)
		return
	}
	if r.take(w, req, u) {
		r.finish(w, req, to, u)
	}
}

var errTooMany = fmt.Errorf("%d uploads of the account are in progress", maxUploads)

func (r *Registry) start(to target, login string) (*upload, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	busy := 0
	for _, u := range r.uploads {
		if time.Since(u.touched) > idle && u.mu.TryLock() {
			r.aborted(u)
			u.mu.Unlock()
		} else if u.login == login {
			busy++
		}
	}
	if busy >= maxUploads {
		return nil, errTooMany
	}
	r.tidy()
	if err := r.charged(to.owner, weight(0)); err != nil {
		return nil, err
	}
	spool, err := r.medium.spool()
	if err != nil {
		r.used[to.owner] -= weight(0)
		return nil, err
	}
	u := &upload{id: rand.Text(), name: to.name(), owner: to.owner, login: login, touched: time.Now(), spool: spool, hash: sha256.New()}
	r.uploads[u.id] = u
	return u, nil
}

// resume finds an upload. It belongs to the image and the user that it was begun for.
func (r *Registry) resume(to target, login string) *upload {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.uploads[to.reference]
	if u == nil || u.name != to.name() || u.login != login {
		return nil
	}
	u.touched = time.Now()
	return u
}

// take reads the body of a request. An upload of which a part fails is over.
func (r *Registry) take(w http.ResponseWriter, req *http.Request, u *upload) bool {
	if given := req.Header.Get("Content-Range"); given != "" {
		var first, last int64
		if n, err := fmt.Sscanf(strings.TrimPrefix(given, "bytes "), "%d-%d", &first, &last); err != nil || n != 2 || first != u.size {
			w.Header().Set("Range", span(u))
			fail(w, http.StatusRequestedRangeNotSatisfiable, "BLOB_UPLOAD_INVALID", "the part does not follow what was received")
			return false
		}
	}
	if _, err := io.Copy(metered{r, u}, req.Body); err != nil {
		r.abort(u)
		r.failed(w, err, "receiving a blob")
		return false
	}
	return true
}

// finish stores a blob that is complete.
func (r *Registry) finish(w http.ResponseWriter, req *http.Request, to target, u *upload) {
	digest := req.URL.Query().Get("digest")
	if got := "sha256:" + hex.EncodeToString(u.hash.Sum(nil)); got != digest {
		r.abort(u)
		fail(w, http.StatusBadRequest, "DIGEST_INVALID", "the content has the digest "+got)
		return
	}
	if err := u.spool.settle(); err != nil {
		r.abort(u)
		r.failed(w, err, "storing a blob")
		return
	}
	r.mu.Lock()
	err := r.link(to, u, digest)
	r.mu.Unlock()
	if err != nil {
		r.failed(w, err, "storing a blob")
		return
	}
	stored(w, to, digest)
}

// abort ends an upload and returns its bytes; aborted is that for a caller that holds the lock of the registry.
func (r *Registry) abort(u *upload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aborted(u)
}

func (r *Registry) aborted(u *upload) {
	if u.ended {
		return
	}
	u.ended = true
	u.spool.discard()
	r.used[u.owner] -= weight(u.size)
	delete(r.uploads, u.id)
}

// failed answers when content could not be taken. What the machine says of its files goes to the log.
func (r *Registry) failed(w http.ResponseWriter, err error, doing string) {
	switch {
	case errors.Is(err, errQuota):
		fail(w, http.StatusRequestEntityTooLarge, "DENIED", err.Error())
	case errors.Is(err, errTooMany):
		fail(w, http.StatusTooManyRequests, "TOOMANYREQUESTS", err.Error())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		r.cfg.Log.Error(err, "the registry of images has no room left", "at", doing)
		fail(w, http.StatusInsufficientStorage, "DENIED", "the disk of the registry is full; make room where its state is, and push again")
	default:
		r.cfg.Log.Error(err, "the registry of images failed", "at", doing)
		fail(w, http.StatusInternalServerError, "UNKNOWN", doing+" failed; the log of the server says why")
	}
}

func progress(w http.ResponseWriter, u *upload, status int) {
	w.Header().Set("Location", "/v2/"+u.name+"/blobs/uploads/"+u.id)
	w.Header().Set("Docker-Upload-Uuid", u.id)
	w.Header().Set("Range", span(u))
	w.WriteHeader(status)
}

func span(u *upload) string { return fmt.Sprintf("0-%d", max(u.size-1, 0)) }

func stored(w http.ResponseWriter, to target, digest string) {
	w.Header().Set("Location", "/v2/"+to.name()+"/blobs/"+digest)
	w.Header().Set("Docker-Content-Digest", digest)
	w.WriteHeader(http.StatusCreated)
}
