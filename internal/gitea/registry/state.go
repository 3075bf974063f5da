package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// file is where an image is recorded.
func (i *image) file() string {
	sum := sha256.Sum256([]byte(i.key()))
	return hex.EncodeToString(sum[:]) + ".json"
}

// save records an image; the caller holds the lock.
func (r *Registry) save(one *image) error {
	r.prune(one)
	on, is := r.medium.(*disk)
	if !is {
		return nil
	}
	if len(one.Versions) == 0 {
		err := os.Remove(filepath.Join(on.images, one.file()))
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	content, err := json.Marshal(one)
	if err != nil {
		return err
	}
	return on.write(one.file(), content)
}

// load reads what a previous process recorded. An image whose record or content is damaged is reported and left out; content
// that no image has is deleted, unless a record could not be read, which may name it.
func (r *Registry) load(ctx context.Context, from *disk) error {
	entries, err := os.ReadDir(from.images)
	if err != nil {
		return err
	}
	whole := true
	for _, entry := range entries {
		if err := r.restore(ctx, from, entry.Name()); err != nil {
			whole = false
			r.cfg.Log.Error(err, "an image was not restored", "file", filepath.Join(from.images, entry.Name()))
		}
	}
	if !whole {
		return nil
	}
	files, err := os.ReadDir(from.blobs)
	if err != nil {
		return err
	}
	for _, entry := range files {
		if r.stored["sha256:"+entry.Name()] == 0 {
			os.Remove(filepath.Join(from.blobs, entry.Name()))
		}
	}
	return nil
}

// restore reads one image.
func (r *Registry) restore(ctx context.Context, from *disk, name string) error {
	content, err := os.ReadFile(filepath.Join(from.images, name))
	if err != nil {
		return err
	}
	var one image
	if err := json.Unmarshal(content, &one); err != nil {
		return err
	}
	to, valid := named(target{}, strings.Split(one.key(), "/"))
	if !valid || one.file() != name {
		return fmt.Errorf("it is not the record of the image %q", one.key())
	}
	for digest, m := range one.Manifests {
		for _, part := range append([]string{digest}, m.Blobs...) {
			if !digestName.MatchString(part) {
				return fmt.Errorf("%q is not a digest", part)
			}
		}
	}
	held := one.held()
	if err := r.replay(ctx, from, to, &one); err != nil {
		return err
	}
	for digest, size := range one.Blobs {
		if !held[digest] {
			// The manifest that it was pushed for never came.
			delete(one.Blobs, digest)
			continue
		}
		r.stored[digest]++
		r.used[one.Owner] += weight(size)
	}
	for digest, m := range one.Manifests {
		r.stored[digest]++
		r.used[one.Owner] += weight(m.Size)
	}
	for _, v := range one.Versions {
		r.lastID = max(r.lastID, v.ID)
	}
	r.images[one.key()] = &one
	return nil
}

// replay hands the manifests of an image to the registry behind this one: an index after what it consists of.
func (r *Registry) replay(ctx context.Context, from *disk, to target, one *image) error {
	done := map[string]bool{}
	for len(done) < len(one.Manifests) {
		before := len(done)
		for digest, m := range one.Manifests {
			if done[digest] || !one.ready(m, done) {
				continue
			}
			if err := r.put(ctx, from, to.at(digest), digest, m.MediaType); err != nil {
				return err
			}
			done[digest] = true
		}
		if len(done) == before {
			return fmt.Errorf("an index of the image %q lacks what it consists of", one.key())
		}
	}
	for name, v := range one.Versions {
		if err := r.put(ctx, from, to.at(name), v.Digest, one.Manifests[v.Digest].MediaType); err != nil {
			return err
		}
	}
	return nil
}

// ready reports whether all that an index consists of is there, as far as it ever was.
func (i *image) ready(m manifest, done map[string]bool) bool {
	for _, part := range m.Manifests {
		if _, had := i.Manifests[part]; had && !done[part] {
			return false
		}
	}
	return true
}

func (r *Registry) put(ctx context.Context, from *disk, to target, digest, media string) error {
	content, err := from.open(digest)
	if err != nil {
		return err
	}
	defer content.Close()
	body, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, "/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", media)
	if said := r.forward(req, to, body); said.status != http.StatusCreated || said.header.Get("Docker-Content-Digest") != digest {
		return fmt.Errorf("the manifest %s of the image %q is damaged", digest, to.name())
	}
	return nil
}
