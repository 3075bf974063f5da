package source_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

func app() source.Key {
	return source.Key{Kind: "GitRepository", Namespace: "flux-system", Name: "app"}
}

func store(t *testing.T, dir, base string) *source.Store {
	t.Helper()
	s, err := source.NewStore(dir, base)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(t *testing.T, method, url string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

func TestStoreServesArtifacts(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewServer(nil)
	defer server.Close()
	s := store(t, dir, server.URL)
	server.Config.Handler = s
	var told []source.Key
	s.Subscribe(func(k source.Key) { told = append(told, k) })
	now := time.Now().Truncate(time.Second)

	var all []*source.Artifact
	for i := range 4 {
		a, err := s.Put(app(), fmt.Sprintf("main@sha1:%d", i), tree(t, map[string]string{"a": fmt.Sprint(i)}), now.Add(time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	for i, a := range all {
		want := http.StatusNotFound
		if i >= 2 {
			want = http.StatusOK
		}
		status, body := get(t, http.MethodGet, a.URL)
		if status != want {
			t.Errorf("artifact %d: status %d, want %d", i, status, want)
		}
		if status != http.StatusOK {
			continue
		}
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(body)); got != a.Digest || int64(len(body)) != a.Size {
			t.Errorf("artifact %d: digest %s, %d bytes; want %s, %d", i, got, len(body), a.Digest, a.Size)
		}
		if got, err := source.Unpack(bytes.NewReader(body), source.DefaultLimits()); err != nil || got.Digest() != a.Tree.Digest() {
			t.Errorf("artifact %d: %v", i, err)
		}
	}
	last := all[3]
	if !strings.HasPrefix(last.Path, "gitrepository/flux-system/app/") || last.URL != server.URL+"/"+last.Path {
		t.Errorf("path %q, URL %q", last.Path, last.URL)
	}
	if status, body := get(t, http.MethodHead, last.URL); status != http.StatusOK || len(body) > 0 {
		t.Errorf("HEAD: status %d, %d bytes", status, len(body))
	}
	if status, _ := get(t, http.MethodPost, last.URL); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", status)
	}
	if err := s.Delete(app()); err != nil {
		t.Fatal(err)
	}
	if status, _ := get(t, http.MethodGet, last.URL); status != http.StatusNotFound {
		t.Errorf("after Delete: status %d", status)
	}
	if _, ok := s.Get(app()); ok {
		t.Error("after Delete there is an artifact")
	}
	if diff := cmp.Diff([]source.Key{app(), app(), app(), app(), app()}, told); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestStoreServesNothingElse(t *testing.T) {
	dir := t.TempDir()
	s := store(t, filepath.Join(dir, "store"), "")
	write(t, dir, "outside.tar.gz", "x")
	write(t, dir, "store/gitrepository/ns/app/notes.txt", "x")
	server := httptest.NewServer(s)
	defer server.Close()
	hash := strings.Repeat("0", 32) + ".tar.gz"
	for _, path := range []string{
		"/", "/secret", "/large", "/gitrepository/ns/app/", "/gitrepository/ns/app/notes.txt", "/../outside.tar.gz",
		"/gitrepository/../../" + hash, "/gitrepository/%2e%2e/%2e%2e/" + hash, "/gitrepository/ns/..%2f..%2fx/" + hash, "/gitrepository/ns/app/" + hash,
	} {
		if status, _ := get(t, http.MethodGet, server.URL+path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
}

func TestStoreAfterRestart(t *testing.T) {
	dir := t.TempDir()
	first := store(t, dir, "http://one")
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	big := strings.Repeat("x", 2<<20)
	put, err := first.Put(app(), "main@sha1:1", tree(t, map[string]string{"a": "1", "big": big, "link": "->/etc"}), now)
	if err != nil {
		t.Fatal(err)
	}
	second := store(t, dir, "http://two")
	if _, ok := second.Get(app()); ok {
		t.Error("an artifact was there before it was loaded")
	}
	got, err := second.Load(app(), put.Revision, put.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if got.Tree.Digest() != put.Tree.Digest() || got.Path != put.Path || got.Size != put.Size || !got.LastUpdate.Equal(now) {
		t.Errorf("loaded %+v, stored %+v", got, put)
	}
	f, _ := got.Tree.File("big")
	if data, err := f.Read(); err != nil || string(data) != big {
		t.Errorf("the large file has %d bytes: %v", len(data), err)
	}
	if _, err := second.Load(app(), put.Revision, "sha256:other"); err == nil {
		t.Error("an archive with another digest was loaded")
	}
	if _, err := second.Load(app(), "main@sha1:2", put.Digest); err == nil {
		t.Error("an archive that was never stored was loaded")
	}
	// Who knows the revision only does not know the URL.
	other := store(t, t.TempDir(), "http://one")
	if elsewhere, err := other.Put(app(), put.Revision, put.Tree, now); err != nil || elsewhere.Path == put.Path {
		t.Errorf("the path %q can be guessed: %v", put.Path, err)
	}
}

func TestStoreIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := store(t, dir, "")
	if _, err := s.Put(app(), "r", tree(t, map[string]string{"a": "1"}), time.Now()); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStoreRefusesNames(t *testing.T) {
	dir := t.TempDir()
	s := store(t, filepath.Join(dir, "store"), "")
	write(t, dir, "keep/x", "x")
	for _, key := range []source.Key{
		{},
		{Kind: "GitRepository", Namespace: "ns"},
		{Kind: "GitRepository", Namespace: "..", Name: ".."},
		{Kind: "..", Namespace: "keep", Name: "x"},
		{Kind: "a/b", Namespace: "ns", Name: "x"},
		{Group: "a/../../..", Kind: "b", Namespace: "ns", Name: "x"},
	} {
		if _, err := s.Put(key, "r", tree(t, nil), time.Now()); err == nil {
			t.Errorf("%v was stored", key)
		}
		if err := s.Delete(key); err == nil {
			t.Errorf("%v was deleted", key)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "keep/x")); err != nil {
		t.Error(err)
	}
}

// TestStoreTellsGroupsApart keeps a bucket of Flux's and one of a cloud's, of the same name, side by side.
func TestStoreTellsGroupsApart(t *testing.T) {
	s := store(t, t.TempDir(), "")
	paths := map[string]string{}
	for group, want := range map[string]string{
		"source.toolkit.fluxcd.io": "bucket/ns/x/", "s3.cloud.example.org": "bucket.s3.cloud.example.org/ns/x/",
	} {
		key := source.Key{Group: group, Kind: "Bucket", Namespace: "ns", Name: "x"}
		a, err := s.Put(key, "r", tree(t, map[string]string{"a": group}), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if paths[group] = a.Path; !strings.HasPrefix(a.Path, want) {
			t.Errorf("%v is kept at %s, want below %s", key, a.Path, want)
		}
	}
	if err := s.Delete(source.Key{Group: "s3.cloud.example.org", Kind: "Bucket", Namespace: "ns", Name: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, there := s.Get(source.Key{Group: "source.toolkit.fluxcd.io", Kind: "Bucket", Namespace: "ns", Name: "x"}); !there {
		t.Error("the bucket of the other group is gone as well")
	}
}

func TestStoreSweepsWhatAKilledProcessLeft(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join("large", ".new-old")
	write(t, dir, filepath.Join(old, "objects/x"), "x")
	write(t, dir, "large/.new-young", "x")
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, old), long, long); err != nil {
		t.Fatal(err)
	}
	store(t, dir, "")
	if _, err := os.Stat(filepath.Join(dir, old)); err == nil {
		t.Error("an old file was left")
	}
	if _, err := os.Stat(filepath.Join(dir, "large/.new-young")); err != nil {
		t.Error("a young file was deleted")
	}
}

// TestStoreKeepsNames stores other content at the same revision, as a source does that includes others.
func TestStoreKeepsNames(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	s := store(t, t.TempDir(), server.URL)
	server.Config.Handler = s
	now := time.Now()
	before, err := s.Put(app(), "r", tree(t, map[string]string{"a": "1"}), now)
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.Put(app(), "r", tree(t, map[string]string{"a": "2"}), now.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if after.URL == before.URL || after.Digest == before.Digest {
		t.Fatalf("another content has the URL %s and the digest %s again", after.URL, after.Digest)
	}
	for _, a := range []*source.Artifact{before, after} {
		status, body := get(t, http.MethodGet, a.URL)
		if sum := sha256.Sum256(body); status != http.StatusOK || fmt.Sprintf("sha256:%x", sum) != a.Digest {
			t.Errorf("%s has status %d and not the digest of its artifact", a.URL, status)
		}
	}
}
