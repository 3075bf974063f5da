package feed_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/source"
)

// charts is a repository of charts; asked counts requests for its index, sent those that it answered with one.
type charts struct {
	url         string
	version     atomic.Value
	asked, sent atomic.Int64
}

func serveCharts(t *testing.T) *charts {
	t.Helper()
	c := &charts{}
	c.version.Store("1.0.0")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, in := r.BasicAuth(); in && password != token {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		c.asked.Add(1)
		tag := fmt.Sprintf("%q", c.version.Load())
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		c.sent.Add(1)
		w.Header().Set("ETag", tag)
		fmt.Fprintf(w, "apiVersion: v1\nentries:\n  web:\n  - {name: web, version: %s, urls: [web.tgz]}\n", c.version.Load())
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// TestOneIndex has readers of one repository of charts share its index, and readers with another login have their own.
func TestOneIndex(t *testing.T) {
	c, f := serveCharts(t), feed.New()
	first, second, other := &reader{}, &reader{}, &reader{}
	since := time.Now()
	get := func(r feed.Reader, password string, since time.Time) (feed.IndexResult, error) {
		o := source.IndexOptions{URL: c.url}
		if password != "" {
			o.Username, o.Password = user, password
		}
		return f.Index(t.Context(), r, feed.Index{Options: o, Share: "ns", Since: since})
	}
	counts := func(reason string, asked, sent int64) {
		t.Helper()
		if c.asked.Load() != asked || c.sent.Load() != sent {
			t.Errorf("%s: the index was requested %d times and sent %d times, want %d and %d", reason, c.asked.Load(), c.sent.Load(), asked, sent)
		}
	}
	must := func(got feed.IndexResult, err error) feed.IndexResult {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	a, b := must(get(first, "", since)), must(get(second, "", since))
	counts("two readers", 1, 1)
	if a.Index != b.Index || !a.Began.Equal(b.Began) {
		t.Error("the same index is in memory twice")
	}
	must(get(first, "", time.Now()))
	counts("nothing new", 2, 1)
	c.version.Store("1.1.0")
	must(get(first, "", time.Now()))
	counts("a new version", 3, 2)
	heard, times := second.last()
	if times != 2 || heard.Index() == nil {
		t.Fatalf("another reader was notified %d times", times)
	}
	if v, err := must(get(second, "", heard.Began)).Find("web", "*"); err != nil || v.Version != "1.1.0" {
		t.Errorf("another reader has version %q: %v", v.Version, err)
	}
	counts("what a reader was notified of", 3, 2)
	if _, err := heard.Revision(mainBranch); err == nil {
		t.Error("a repository of charts has a branch")
	}
	if _, err := get(other, "wrong", since); !errors.Is(err, source.ErrAuth) {
		t.Errorf("a wrong login got %v", err)
	}
	must(get(other, token, since))
	counts("another login", 4, 3)
	if _, times := other.last(); times != 0 {
		t.Error("a reader was notified of what others read with another login")
	}
}
