package gitserver_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

// TestHistory reads commits and tags without files, over the client that is given.
func TestHistory(t *testing.T) {
	s := serve(t)
	last := commit(t, s.work, "last\nof them\n\nbody", map[string]string{"dir/new.yaml": "n\n", "dir/deep/x": "x\n", "a.yaml": "a: 2\n"})
	git(t, s.work, "push", "-q", as(s.server.URL("app"), writer, writerToken), "HEAD:refs/heads/history")
	o := s.options(source.GitRef{})
	requests := 0
	o.HTTP = &http.Client{Transport: counting(func(q *http.Request) { requests++ })}
	listed, err := source.ListGit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if head, has := listed.Head("history"); !has || head != last {
		t.Errorf("the branch is at %s, want %s", head, last)
	}
	if _, has := listed.Head("none"); has {
		t.Error("a branch is there that is not")
	}
	var tag source.ListedTag
	for _, one := range listed.Tags() {
		if one.Name == "v1.2.0" {
			tag = one
		}
	}
	if tag.Commit != s.commits["two"] || tag.ID == tag.Commit {
		t.Errorf("the tag is %+v", tag)
	}
	h, err := source.FetchHistory(t.Context(), o, source.HistoryOptions{Wants: []string{last, tag.ID}, Depth: 2, Trees: true})
	if err != nil {
		t.Fatal(err)
	}
	if requests == 0 {
		t.Error("the client that was given was not used")
	}
	c, has := h.Commit(last)
	if !has || c.Subject != "last of them" || c.Author != "a <a@example.com>" || c.Date.IsZero() || c.Parent == "" {
		t.Errorf("the commit is %+v", c)
	}
	if a, annotated := h.Annotation(tag.ID); !annotated || a.Subject != "annotated" || a.Date.IsZero() {
		t.Errorf("the annotation is %+v", a)
	}
	if _, annotated := h.Annotation(last); annotated {
		t.Error("a commit is no annotation")
	}
	if diff := cmp.Diff([]string{"a.yaml", "dir/deep/x", "dir/new.yaml"}, changes(t, h, last)); diff != "" {
		t.Error(diff)
	}
	stopped := 0
	if err := h.Changes(last, func(string) bool { stopped++; return false }); err != nil || stopped != 1 {
		t.Errorf("it was called %d times after it had seen enough: %v", stopped, err)
	}
}

func changes(t *testing.T, h *source.History, id string) []string {
	t.Helper()
	var paths []string
	if err := h.Changes(id, func(path string) bool { paths = append(paths, path); return true }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// TestHistoryWithoutFilters reads from a server that sends files as well, a change that replaces a file by a directory, and the first commit.
func TestHistoryWithoutFilters(t *testing.T) {
	s := serve(t)
	first := git(t, s.work, "rev-list", "--max-parents=0", "HEAD")
	git(t, s.work, "rm", "-q", "a.yaml")
	last := commit(t, s.work, "replaced", map[string]string{"a.yaml/inside": "x\n"})
	git(t, s.work, "push", "-q", as(s.server.URL("app"), writer, writerToken), "HEAD:refs/heads/history")
	git(t, filepath.Join(s.server.Dir("app")), "config", "uploadpack.allowFilter", "false")
	o := s.options(source.GitRef{})
	o.HTTP = http.DefaultClient
	h, err := source.FetchHistory(t.Context(), o, source.HistoryOptions{Wants: []string{last}, Depth: 100})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.yaml", "a.yaml/inside"}, changes(t, h, last)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a.yaml", "dir/b.yaml"}, changes(t, h, first)); diff != "" {
		t.Error(diff)
	}
	shallow, err := source.FetchHistory(t.Context(), o, source.HistoryOptions{Wants: []string{last}, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := shallow.Changes(last, func(string) bool { return true }); err == nil || !strings.Contains(err.Error(), "parent") {
		t.Errorf("without the parent: %v", err)
	}
	o.Password = "wrong"
	if _, err := source.FetchHistory(t.Context(), o, source.HistoryOptions{Wants: []string{last}, Depth: 1}); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// counting sees the requests of a client.
type counting func(*http.Request)

func (c counting) RoundTrip(q *http.Request) (*http.Response, error) {
	c(q)
	return http.DefaultTransport.RoundTrip(q)
}
