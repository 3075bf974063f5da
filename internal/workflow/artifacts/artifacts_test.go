package artifacts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/egress"
)

func open(t *testing.T, dir string) *Places {
	t.Helper()
	limits := Limits{Bytes: 1 << 20, Files: 50}
	store, err := OpenStore(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	return &Places{Store: store, Limits: limits}
}

// TestStore is about who gets a content, and when it is deleted.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir).Store
	put := func(owner types.UID, text string) v1alpha1.LocalArtifact {
		t.Helper()
		local, err := s.Put(owner, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return *local
	}
	get := func(owner types.UID, local v1alpha1.LocalArtifact) (string, error) {
		r, err := s.Get(owner, local)
		if err != nil {
			return "", err
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		return string(data), err
	}
	both, one := put("a", "both"), put("a", "one")
	put("b", "both")
	if got, err := get("b", both); got != "both" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := get("b", one); !errors.Is(err, ErrNone) {
		t.Errorf("a workflow gets the content of another one: %v", err)
	}
	for _, owner := range []types.UID{"", "..", "a/b", "*"} {
		if _, err := s.Put(owner, strings.NewReader("x")); err == nil {
			t.Errorf("owner %q is accepted", owner)
		}
	}
	if _, err := get("a", v1alpha1.LocalArtifact{Digest: "sha256:../../x"}); err == nil {
		t.Error("a path is a digest")
	}
	if _, err := s.Put("a", strings.NewReader(strings.Repeat("x", 1<<20+1))); !errors.Is(err, errLarge) {
		t.Errorf("a content beyond the limit: %v", err)
	}
	file := filepath.Join(dir, contents, strings.TrimPrefix(both.Digest, algorithm))
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info, err)
	}
	if err := s.Forget("a"); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, contents)); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	if err := os.WriteFile(file, []byte("else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := get("b", both); err == nil {
		t.Error("a content that was changed is read")
	}
	for _, left := range []string{"abc", ".new-1"} {
		if err := os.WriteFile(filepath.Join(dir, contents, left), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir).Store
	if left, _ := os.ReadDir(filepath.Join(dir, contents)); len(left) != 1 {
		t.Errorf("left by a killed process: %v", left)
	}
}

// archive is a compressed archive of entries.
func archive(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, h := range entries {
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = w.Write(make([]byte, h.Size))
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHostileArchives are downloads that would leave their directory, or fill the disk.
func TestHostileArchives(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	many := make([]tar.Header, 60)
	for i := range many {
		many[i] = tar.Header{Name: strings.Repeat("x", i+1), Typeflag: tar.TypeReg}
	}
	file := func(name string, size int64) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size}
	}
	for name, entries := range map[string][]tar.Header{
		"Parent":      {file("../outside", 3)},
		"Absolute":    {file(outside, 3)},
		"Link":        {{Name: "a", Typeflag: tar.TypeSymlink, Linkname: outside}, file("a", 3)},
		"LinkedDir":   {{Name: "a", Typeflag: tar.TypeSymlink, Linkname: filepath.Dir(outside)}, file("a/outside", 3)},
		"LinkAbove":   {{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "../.."}, file("a/outside", 3)},
		"HardLink":    {{Name: "a", Typeflag: tar.TypeLink, Linkname: outside}},
		"HardAbove":   {{Name: "a", Typeflag: tar.TypeLink, Linkname: "../../outside"}},
		"Device":      {{Name: "a", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 5}},
		"OnlyALink":   {{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}},
		"Many":        many,
		"Large":       {file("a", 900<<10), file("b", 900<<10)},
		"LargeInside": {file("a", 1<<20+1)},
	} {
		t.Run(name, func(t *testing.T) {
			data := archive(t, entries...)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }))
			defer server.Close()
			dir := t.TempDir()
			p := open(t, filepath.Join(dir, "store"))
			a := v1alpha1.Artifact{Name: "a", ArtifactLocation: v1alpha1.ArtifactLocation{HTTP: &v1alpha1.HTTPArtifact{URL: server.URL}}}
			if err := p.Put(context.Background(), "u", a, nil, filepath.Join(dir, "in")); err == nil {
				t.Error("it is accepted")
			}
			if data, _ := os.ReadFile(outside); string(data) != "as it was" {
				t.Errorf("a file outside has %q", data)
			}
		})
	}
}

// TestElsewhere is about what the server of a download learns, and what an error says.
func TestElsewhere(t *testing.T) {
	var seen string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen += r.Header.Get("X-Token") + r.Header.Get("Authorization")
		if r.URL.Path == "/there" {
			http.Redirect(w, r, "/on?sig=hush", http.StatusFound)
			return
		}
		http.Error(w, "no", http.StatusTeapot)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/there?sig=hush", http.StatusFound)
	}))
	defer server.Close()
	dir := t.TempDir()
	a := v1alpha1.Artifact{Name: "a", ArtifactLocation: v1alpha1.ArtifactLocation{HTTP: &v1alpha1.HTTPArtifact{
		URL: server.URL + "/here?token=hush", Headers: []v1alpha1.HTTPArtifactHeader{{Name: "X-Token", Value: "hush"}},
	}}}
	err := open(t, filepath.Join(dir, "store")).Put(context.Background(), "u", a, nil, filepath.Join(dir, "in"))
	if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "418") {
		t.Errorf("the error is %v", err)
	}
	if seen != "" {
		t.Errorf("another server got %q", seen)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	fine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/login", http.StatusFound)
		}
	}))
	defer fine.Close()
	if err := (&Places{}).Upload(context.Background(), &v1alpha1.HTTPArtifact{URL: fine.URL}, nil, file); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a file that was not taken counts as sent: %v", err)
	}
	for _, where := range []v1alpha1.ArtifactLocation{
		{HTTP: &v1alpha1.HTTPArtifact{URL: "file:///etc/passwd"}}, {Git: &v1alpha1.GitArtifact{Repo: "file:///etc"}}, {Git: &v1alpha1.GitArtifact{Repo: server.URL, Fetch: []string{"x"}}}, {},
	} {
		a.ArtifactLocation = where
		if err := open(t, filepath.Join(dir, "store")).Put(context.Background(), "u", a, nil, filepath.Join(dir, "in")); err == nil {
			t.Errorf("%+v is accepted", where)
		}
	}
}

// TestEgress has artifacts of others on this machine: they are neither fetched nor sent there, nor is a repository.
func TestEgress(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	policy, err := egress.Run{Remote: true}.Policy()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	places := open(t, filepath.Join(dir, "store"))
	places.Egress = policy.Requests
	for name, where := range map[string]v1alpha1.ArtifactLocation{
		"HTTP": {HTTP: &v1alpha1.HTTPArtifact{URL: server.URL}}, "Git": {Git: &v1alpha1.GitArtifact{Repo: server.URL + "/x.git"}},
	} {
		err := places.Put(t.Context(), "u", v1alpha1.Artifact{Name: "a", ArtifactLocation: where}, nil, filepath.Join(dir, "in"+name))
		if err == nil || !strings.Contains(err.Error(), "the address is not permitted") {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := places.Upload(t.Context(), &v1alpha1.HTTPArtifact{URL: server.URL}, nil, file); !errors.Is(err, egress.ErrRefused) || reached > 0 {
		t.Errorf("an output is sent: %v, reached %d times", err, reached)
	}
}
