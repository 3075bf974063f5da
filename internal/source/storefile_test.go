package source_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

// packed is a tar.gz of files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, _, err := source.Pack(tree(t, files), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStoreServesFiles(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewServer(nil)
	defer server.Close()
	s := store(t, dir, server.URL)
	server.Config.Handler = s
	data := packed(t, map[string]string{"podinfo/Chart.yaml": "name: podinfo"})
	metadata := map[string]string{"org.opencontainers.image.revision": "main@sha1:abc"}
	key := source.Key{Kind: "HelmChart", Namespace: "apps", Name: "podinfo"}
	now := time.Now().Truncate(time.Second)
	put, err := s.PutFile(key, "6.5.0+1", "podinfo-6.5.0+1.tgz", data, metadata, now)
	if err != nil {
		t.Fatal(err)
	}
	metadata["later"] = "change"

	// A process that comes later knows what the status of the object says.
	loaded, err := store(t, dir, server.URL).LoadWith(key, put.Revision, put.Digest, put.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*source.Artifact{"stored": put, "loaded": loaded} {
		status, body := get(t, http.MethodGet, a.URL)
		if status != http.StatusOK || !bytes.Equal(body, data) {
			t.Errorf("%s: status %d, %d bytes", name, status, len(body))
		}
		if a.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(data)) || a.Size != int64(len(data)) || !a.LastUpdate.Equal(now) {
			t.Errorf("%s: digest %s, %d bytes, time %v", name, a.Digest, a.Size, a.LastUpdate)
		}
		if diff := cmp.Diff(map[string]string{"org.opencontainers.image.revision": "main@sha1:abc"}, a.Metadata); diff != "" {
			t.Errorf("%s: metadata (-want +got):\n%s", name, diff)
		}
		if !strings.HasSuffix(a.Path, "-podinfo-6.5.0+1.tgz") || a.Tree != nil {
			t.Errorf("%s: path %q, tree %v", name, a.Path, a.Tree)
		}
		if got, err := a.File.Read(); err != nil || !bytes.Equal(got, data) || a.File.Path != "podinfo-6.5.0+1.tgz" {
			t.Errorf("%s: file %q: %v", name, a.File.Path, err)
		}
		opened, err := a.Open()
		if err != nil || opened.Digest() != tree(t, map[string]string{"podinfo/Chart.yaml": "name: podinfo"}).Digest() {
			t.Errorf("%s: opened: %v", name, err)
		}
		if again, _ := a.Open(); again != opened {
			t.Errorf("%s: it is unpacked twice", name)
		}
	}
	if _, err := s.Load(key, put.Revision, "sha256:"+strings.Repeat("0", 64)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another digest was loaded: %v", err)
	}
	for _, hidden := range []string{"secret", path.Dir(put.Path), path.Dir(put.Path) + "/" + strings.Repeat("0", 32) + "-x.tgz"} {
		if status, _ := get(t, http.MethodGet, server.URL+"/"+hidden); status != http.StatusNotFound {
			t.Errorf("%s is served with status %d", hidden, status)
		}
	}
}

func TestStoreOpensTreesOnly(t *testing.T) {
	s := store(t, t.TempDir(), "")
	a, err := s.PutFile(app(), "r", "layer.bin", []byte("no archive"), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open(); err == nil || !strings.Contains(err.Error(), "layer.bin") {
		t.Errorf("what is no archive was opened: %v", err)
	}
	kept, err := s.PutTree(app(), "r", tree(t, map[string]string{"a": "1"}), map[string]string{"k": "v"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := kept.Open(); err != nil || opened != kept.Tree || kept.Metadata["k"] != "v" {
		t.Errorf("a tree opens as %v, metadata %v: %v", opened, kept.Metadata, err)
	}
	described, err := s.Describe(app(), map[string]string{"k": "w"})
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := s.Get(app()); now != described || now.Metadata["k"] != "w" || kept.Metadata["k"] != "v" || now.URL != kept.URL || now.Tree != kept.Tree {
		t.Errorf("with other metadata it is %+v", now)
	}
	if _, err := s.Describe(source.Key{Kind: "Bucket", Namespace: "a", Name: "b"}, nil); err == nil {
		t.Error("metadata of nothing was kept")
	}
}

func TestStoreKeepsLastFiles(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	s := store(t, t.TempDir(), server.URL)
	server.Config.Handler = s
	now := time.Now()
	var all []*source.Artifact
	for i := range 4 {
		a, err := s.PutFile(app(), fmt.Sprint(i), "layer.tgz", []byte{byte(i)}, nil, now.Add(time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	for i, want := range []int{http.StatusNotFound, http.StatusNotFound, http.StatusOK, http.StatusOK} {
		if status, _ := get(t, http.MethodGet, all[i].URL); status != want {
			t.Errorf("file %d has status %d, want %d", i, status, want)
		}
	}
}

func TestStoreRefusesNamesOfFiles(t *testing.T) {
	s := store(t, t.TempDir(), "")
	for _, name := range []string{"", ".", "..", "a/b", "../a", ".hidden", "a b", "a\x00", strings.Repeat("a", 201)} {
		if _, err := s.PutFile(app(), "r", name, nil, nil, time.Now()); err == nil {
			t.Errorf("a file %q was stored", name)
		}
	}
}

func TestStoreRefusesWhatChanged(t *testing.T) {
	dir := t.TempDir()
	s := store(t, dir, "")
	files := source.Key{Kind: "HelmChart", Namespace: "apps", Name: "podinfo"}
	file, err := s.PutFile(files, "1", "podinfo.tgz", packed(t, map[string]string{"a": "1"}), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Put(app(), "1", tree(t, map[string]string{"a": "1"}), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for key, a := range map[source.Key]*source.Artifact{files: file, app(): kept} {
		if _, err := store(t, dir, "").Load(key, a.Revision, a.Digest); err != nil {
			t.Errorf("%s: %v", a.Path, err)
		}
		write(t, dir, a.Path, string(packed(t, map[string]string{"a": "2"})))
		if _, err := store(t, dir, "").Load(key, a.Revision, a.Digest); err == nil || !strings.Contains(err.Error(), "digest") {
			t.Errorf("%s was changed and loaded: %v", a.Path, err)
		}
	}
}
