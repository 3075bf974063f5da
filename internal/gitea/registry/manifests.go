package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

const (
	// maxManifest bounds a manifest, in bytes.
	maxManifest = 4 << 20
	// maxVersions bounds the tags and digests of one image.
	maxVersions = 10_000
)

// putManifest takes a manifest whose parts are there.
func (r *Registry) putManifest(w http.ResponseWriter, req *http.Request, to target, login string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxManifest))
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		fail(w, http.StatusRequestEntityTooLarge, "MANIFEST_INVALID", fmt.Sprintf("a manifest has %d bytes at most", maxManifest))
		return
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "MANIFEST_INVALID", "the manifest was not received completely")
		return
	}
	sum := sha256.Sum256(body)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	if digestName.MatchString(to.reference) && to.reference != digest {
		fail(w, http.StatusBadRequest, "DIGEST_INVALID", "the manifest has the digest "+digest)
		return
	}
	made, err := describe(req.Header.Get("Content-Type"), body)
	if err != nil {
		fail(w, http.StatusBadRequest, "MANIFEST_INVALID", err.Error())
		return
	}
	req.Header.Set("Content-Type", made.MediaType)
	r.mu.Lock()
	refused := r.accept(req, to, accepted{made, digest, body, login})
	r.mu.Unlock()
	if refused != nil {
		refused(w)
		return
	}
	if one, there := r.Get(req.Context(), to.owner, to.image, to.reference); there {
		r.event(req.Context(), Event{Action: "created", Owner: to.owner, Package: one, Doer: login})
	}
	if made.subject != "" {
		w.Header().Set("OCI-Subject", made.subject)
	}
	w.Header().Set("Location", "/v2/"+to.name()+"/manifests/"+digest)
	w.Header().Set("Docker-Content-Digest", digest)
	w.WriteHeader(http.StatusCreated)
}

// accepted is a manifest that is well-formed.
type accepted struct {
	described
	digest string
	body   []byte
	login  string
}

// accept adds a manifest to its image, or returns how to refuse it; the caller holds the lock.
func (r *Registry) accept(req *http.Request, to target, got accepted) func(http.ResponseWriter) {
	one := r.imageOf(to)
	defer r.prune(one)
	for _, blob := range got.Blobs {
		if _, there := one.Blobs[blob]; !there {
			return func(w http.ResponseWriter) {
				fail(w, http.StatusNotFound, "MANIFEST_BLOB_UNKNOWN", "the image has no blob "+blob)
			}
		}
	}
	if _, again := one.Versions[to.reference]; !again && len(one.Versions) >= maxVersions {
		return func(w http.ResponseWriter) {
			fail(w, http.StatusForbidden, "DENIED", fmt.Sprintf("an image has %d tags and digests at most", maxVersions))
		}
	}
	_, known := one.Manifests[got.digest]
	if !known {
		if err := r.store(to.owner, got); err != nil {
			return func(w http.ResponseWriter) { r.failed(w, err, "storing a manifest") }
		}
	}
	if said := r.forward(req, to, got.body); said.status != http.StatusCreated {
		if !known {
			r.used[to.owner] -= weight(got.Size)
			r.unlink(got.digest)
		}
		return said.send
	}
	for _, blob := range got.foreign {
		if _, there := one.Blobs[blob]; there {
			got.Blobs = append(got.Blobs, blob)
		}
	}
	one.Manifests[got.digest] = got.manifest
	for _, blob := range got.Blobs {
		delete(r.loose, loose{one.key(), blob})
	}
	r.tag(one, to.reference, got.digest, got.login)
	if err := r.save(one); err != nil {
		// The next change writes this one as well.
		return func(w http.ResponseWriter) { r.failed(w, err, "storing what the image has") }
	}
	return nil
}

// store keeps the content of a manifest; the caller holds the lock.
func (r *Registry) store(owner string, got accepted) error {
	if err := r.charged(owner, weight(got.Size)); err != nil {
		return err
	}
	if r.stored[got.digest] == 0 {
		if err := r.spooled(got.digest, got.body); err != nil {
			r.used[owner] -= weight(got.Size)
			return err
		}
	}
	r.stored[got.digest]++
	return nil
}

func (r *Registry) spooled(digest string, body []byte) error {
	to, err := r.medium.spool()
	if err != nil {
		return err
	}
	if _, err = to.Write(body); err == nil {
		err = to.settle()
	}
	if err == nil {
		err = to.keep(digest)
	}
	if err != nil {
		to.discard()
	}
	return err
}

// forward hands a manifest to the registry behind this one.
func (r *Registry) forward(req *http.Request, to target, body []byte) *answer {
	with := req.Clone(req.Context())
	with.Body, with.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	to.part = partManifests
	return r.ask(with, to)
}

// tag has a tag or a digest mean a manifest. What the tag meant before remains, by its digest: pods may still run it.
func (r *Registry) tag(one *image, reference, digest, login string) {
	before, had := one.Versions[reference]
	if had && before.Digest == digest {
		return
	}
	r.lastID++
	one.Versions[reference] = version{ID: r.lastID, Digest: digest, Created: time.Now().UTC(), Creator: login}
	if had && !one.named(before.Digest) {
		one.Versions[before.Digest] = before
	}
}

// named reports whether a version has a digest.
func (i *image) named(digest string) bool {
	for _, one := range i.Versions {
		if one.Digest == digest {
			return true
		}
	}
	return false
}

// deleteManifest deletes a tag, or all that has a digest.
func (r *Registry) deleteManifest(w http.ResponseWriter, req *http.Request, to target, login string) {
	found, err := r.drop(req.Context(), to, login)
	switch {
	case err != nil:
		r.failed(w, err, "storing what the image has")
	case !found:
		fail(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "the image has no such tag or digest")
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// drop deletes the versions that a reference means.
func (r *Registry) drop(ctx context.Context, to target, login string) (bool, error) {
	r.mu.Lock()
	one := r.images[to.name()]
	if one == nil {
		r.mu.Unlock()
		return false, nil
	}
	gone := map[string]version{}
	for name, v := range one.Versions {
		if name == to.reference || v.Digest == to.reference {
			gone[name] = v
			delete(one.Versions, name)
			if !digestName.MatchString(name) {
				r.withdraw(ctx, to, name)
			}
		}
	}
	if len(gone) == 0 {
		r.mu.Unlock()
		return false, nil
	}
	r.collect(ctx, to, one)
	err := r.save(one)
	r.mu.Unlock()
	for name, v := range gone {
		r.event(ctx, Event{Action: "deleted", Owner: to.owner, Package: r.show(ctx, one.Owner, one.Name, name, v), Doer: login})
	}
	return true, err
}

// withdraw has the registry behind this one forget a tag or a digest.
func (r *Registry) withdraw(ctx context.Context, to target, reference string) {
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodDelete, "/", nil)
	if err != nil {
		return
	}
	to.part, to.reference = partManifests, reference
	r.ask(req, to)
}

// collect drops manifests that nothing names, and the blobs that only they had; the caller holds the lock.
func (r *Registry) collect(ctx context.Context, to target, one *image) {
	var dropped []string
	for again := true; again; {
		again = false
		for digest, m := range one.Manifests {
			if one.named(digest) || one.within(digest) {
				continue
			}
			delete(one.Manifests, digest)
			dropped = append(dropped, m.Blobs...)
			r.withdraw(ctx, to, digest)
			r.used[one.Owner] -= weight(m.Size)
			r.unlink(digest)
			again = true
		}
	}
	held := one.held()
	for _, blob := range dropped {
		size, there := one.Blobs[blob]
		if !there || held[blob] {
			continue
		}
		delete(one.Blobs, blob)
		r.used[one.Owner] -= weight(size)
		r.unlink(blob)
	}
}

// held are the blobs that manifests have.
func (i *image) held() map[string]bool {
	held := map[string]bool{}
	for _, m := range i.Manifests {
		for _, blob := range m.Blobs {
			held[blob] = true
		}
	}
	return held
}

// within reports whether a manifest is part of an index.
func (i *image) within(digest string) bool {
	for _, m := range i.Manifests {
		if slices.Contains(m.Manifests, digest) {
			return true
		}
	}
	return false
}
