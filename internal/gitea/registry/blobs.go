package registry

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// link makes a complete upload a blob of its image; the caller holds the lock.
func (r *Registry) link(to target, u *upload, digest string) error {
	one := r.imageOf(to)
	if _, there := one.Blobs[digest]; there {
		r.aborted(u)
		return nil
	}
	if r.stored[digest] == 0 {
		if err := u.spool.keep(digest); err != nil {
			r.aborted(u)
			r.prune(one)
			return err
		}
	} else {
		u.spool.discard()
	}
	u.ended = true
	delete(r.uploads, u.id)
	r.add(one, digest, u.size)
	return nil
}

// loose is a blob for which no manifest has come yet.
type loose struct{ name, digest string }

// add has an image use stored content; the caller holds the lock.
func (r *Registry) add(one *image, digest string, size int64) {
	r.stored[digest]++
	one.Blobs[digest] = size
	r.loose[loose{one.key(), digest}] = time.Now()
}

// tidy deletes blobs whose manifest never came; the caller holds the lock.
func (r *Registry) tidy() {
	for at, since := range r.loose {
		if time.Since(since) <= idle {
			continue
		}
		delete(r.loose, at)
		one := r.images[at.name]
		if one == nil {
			continue
		}
		if size, there := one.Blobs[at.digest]; there {
			delete(one.Blobs, at.digest)
			r.used[one.Owner] -= weight(size)
			r.unlink(at.digest)
			r.prune(one)
		}
	}
}

// mount links a blob of another image that the account may read.
func (r *Registry) mount(ctx context.Context, to target, who Account, digest, from string) bool {
	source, valid := named(target{}, strings.Split(from, "/"))
	if !valid {
		return false
	}
	owner, known := r.cfg.Accounts.Owner(ctx, source.owner)
	if !known || !r.permits(ctx, who, owner, Pull) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	there := r.images[source.name()]
	if there == nil {
		return false
	}
	size, has := there.Blobs[digest]
	if !has {
		return false
	}
	one := r.imageOf(to)
	if _, again := one.Blobs[digest]; again {
		return true
	}
	if r.charged(to.owner, weight(size)) != nil {
		r.prune(one)
		return false
	}
	r.add(one, digest, size)
	return true
}

// blob serves one, whole or in ranges.
func (r *Registry) blob(w http.ResponseWriter, req *http.Request, to target) {
	if !r.has(to.name(), to.reference) {
		fail(w, http.StatusNotFound, "BLOB_UNKNOWN", "the image has no such blob")
		return
	}
	content, err := r.medium.open(to.reference)
	if err != nil {
		r.failed(w, err, "reading a blob")
		return
	}
	defer content.Close()
	w.Header().Set("Docker-Content-Digest", to.reference)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("ETag", `"`+to.reference+`"`)
	http.ServeContent(w, req, "", epoch, content)
}
