package source_test

import (
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/headgate-dev/headgate/internal/source"
)

// s3Server is a server that speaks S3, with one bucket "flux". It lets in who signs with its key.
type s3Server struct {
	*httptest.Server
	backend *s3mem.Backend
	key     string
	mu      sync.Mutex
	got     []string
}

func newS3Server(t *testing.T, key string, tls bool) *s3Server {
	t.Helper()
	s := &s3Server{backend: s3mem.New(), key: key}
	if err := s.backend.CreateBucket("flux"); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(s.backend).Server()
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), s.key) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<?xml version="1.0"?><Error><Code>InvalidAccessKeyId</Code><Message>who is that?</Message></Error>`)
			return
		}
		if key, ok := strings.CutPrefix(r.URL.Path, "/flux/"); ok && key != "" {
			s.mu.Lock()
			s.got = append(s.got, key)
			s.mu.Unlock()
		}
		handler.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *s3Server) put(t *testing.T, key, data string) {
	t.Helper()
	about := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
	if _, err := s.backend.PutObject("flux", key, about, strings.NewReader(data), int64(len(data)), nil); err != nil {
		t.Fatal(err)
	}
}

func (s *s3Server) remove(t *testing.T, key string) {
	t.Helper()
	if _, err := s.backend.DeleteObject("flux", key); err != nil {
		t.Fatal(err)
	}
}

// downloads are the objects that were downloaded since the last time, sorted.
func (s *s3Server) downloads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	slices.Sort(got)
	return got
}

func (s *s3Server) options() source.BucketOptions {
	return source.BucketOptions{
		Endpoint: s.Listener.Addr().String(), Bucket: "flux", Region: "us-east-1", Insecure: true,
		Access: source.Access{Username: s.key, Password: "hunter2"},
	}
}

func TestFetchBucket(t *testing.T) {
	s := newS3Server(t, "AKIAFLUX", false)
	s.put(t, "apps/a.yaml", "a: 1")
	s.put(t, "apps/b.yaml", "b: 1")
	s.put(t, "logo.png", "no defaults are left out")
	s.put(t, "apps/secret.txt", "x")
	s.put(t, "apps/note.md", "x")
	s.put(t, ".sourceignore", "*.txt\n*.md\n")
	s.put(t, "empty/", "")
	own := "!note.md"
	o := s.options()
	o.Ignore = &own
	first, err := source.FetchBucket(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apps/a.yaml", "apps/b.yaml", "apps/note.md", "logo.png"}, first.Tree.Paths()); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	sum := sha256.New()
	for _, p := range first.Tree.Paths() {
		fmt.Fprintf(sum, "%s %s\n", p, strings.Trim(first.Objects[p], `"`))
	}
	if want := fmt.Sprintf("sha256:%x", sum.Sum(nil)); first.Revision != want || len(first.Objects) != 4 {
		t.Errorf("revision %s, want %s of %v", first.Revision, want, first.Objects)
	}
	s.downloads()

	again, err := source.FetchBucket(t.Context(), o, first)
	if err != nil || !again.Unchanged || again.Tree != first.Tree || again.Revision != first.Revision {
		t.Errorf("again: %+v, %v", again, err)
	}
	if diff := cmp.Diff([]string{".sourceignore"}, s.downloads()); diff != "" {
		t.Errorf("a look downloads (-want +got):\n%s", diff)
	}

	s.put(t, "apps/a.yaml", "a: 2")
	s.put(t, "apps/c.yaml", "c: 1")
	s.remove(t, "logo.png")
	next, err := source.FetchBucket(t.Context(), o, again)
	if err != nil || next.Unchanged {
		t.Fatalf("next: %+v, %v", next, err)
	}
	if diff := cmp.Diff([]string{".sourceignore", "apps/a.yaml", "apps/c.yaml"}, s.downloads()); diff != "" {
		t.Errorf("a change downloads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"apps/a.yaml", "apps/b.yaml", "apps/c.yaml", "apps/note.md"}, next.Tree.Paths()); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	was, _ := first.Tree.File("apps/b.yaml")
	if is, _ := next.Tree.File("apps/b.yaml"); is != was {
		t.Error("an object that did not change is not shared")
	}

	// What an earlier process fetched is known by its revision and its tree.
	kept, err := source.FetchBucket(t.Context(), o, &source.BucketResult{Revision: next.Revision, Tree: next.Tree})
	if err != nil || !kept.Unchanged || len(kept.Objects) != 4 {
		t.Errorf("kept: %+v, %v", kept, err)
	}
}

func TestFetchBucketByPrefix(t *testing.T) {
	s := newS3Server(t, "AKIAFLUX", false)
	for i := range 40 {
		s.put(t, fmt.Sprintf("apps/%02d.yaml", i), fmt.Sprint(i))
	}
	s.put(t, "other/x.yaml", "x")
	s.put(t, "apps/left.out", "x")
	s.put(t, ".sourceignore", "left.out")
	o := s.options()
	o.Prefix = "apps/"
	got, err := source.FetchBucket(t.Context(), o, nil)
	if err != nil || got.Tree.Len() != 40 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range 40 {
		f, ok := got.Tree.File(fmt.Sprintf("apps/%02d.yaml", i))
		if !ok {
			t.Fatalf("object %d is missing", i)
		}
		if data, err := f.Read(); err != nil || string(data) != fmt.Sprint(i) {
			t.Errorf("object %d holds %q: %v", i, data, err)
		}
	}
}

func TestFetchBucketFails(t *testing.T) {
	s := newS3Server(t, "AKIAFLUX", false)
	s.put(t, "a.yaml", "a")
	for reason, test := range map[string]struct {
		change func(*source.BucketOptions)
		want   []error
	}{
		"nothing wrong":      {func(*source.BucketOptions) {}, nil},
		"another key":        {func(o *source.BucketOptions) { o.Username = "AKIAWRONG" }, []error{source.ErrPull, source.ErrAuth}},
		"nobody":             {func(o *source.BucketOptions) { o.Username, o.Password = "", "" }, []error{source.ErrPull, source.ErrAuth}},
		"another bucket":     {func(o *source.BucketOptions) { o.Bucket = "gone" }, []error{source.ErrPull, source.ErrReference}},
		"no name":            {func(o *source.BucketOptions) { o.Bucket = "../flux" }, []error{source.ErrURL}},
		"a URL":              {func(o *source.BucketOptions) { o.Endpoint = "https://me:hunter2@host" }, []error{source.ErrURL}},
		"no endpoint":        {func(o *source.BucketOptions) { o.Endpoint = "" }, []error{source.ErrURL}},
		"nobody there":       {func(o *source.BucketOptions) { o.Endpoint = "127.0.0.1:1" }, []error{source.ErrPull}},
		"a proxy of nowhere": {func(o *source.BucketOptions) { o.Proxy = "http://me:hunter2@127.0.0.1:1" }, []error{source.ErrPull}},
	} {
		o := s.options()
		test.change(&o)
		got, err := source.FetchBucket(t.Context(), o, nil)
		if (err == nil) != (test.want == nil) || err != nil && got != nil {
			t.Errorf("%s: %+v, error %v", reason, got, err)
		}
		for _, want := range test.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: error %v, want %v", reason, err, want)
			}
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a credential: %v", reason, err)
		}
	}
	s.put(t, "dir/../../escape.yaml", "x")
	if got, err := source.FetchBucket(t.Context(), s.options(), nil); err == nil {
		t.Errorf("a key that leaves the tree: %v", got.Tree.Paths())
	}
}

func TestFetchBucketByTLS(t *testing.T) {
	s := newS3Server(t, "", true)
	s.put(t, "a.yaml", "a")
	o := s.options()
	o.Username, o.Password, o.Insecure = "", "", false
	if _, err := source.FetchBucket(t.Context(), o, nil); !errors.Is(err, source.ErrPull) {
		t.Errorf("an unknown certificate: %v", err)
	}
	o.CAFile = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if got, err := source.FetchBucket(t.Context(), o, nil); err != nil || got.Tree.Len() != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
