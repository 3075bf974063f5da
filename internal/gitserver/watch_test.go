package gitserver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// watch watches a mirror until the test ends, and returns the revisions that it shows.
func watch(t testing.TB, m *gitserver.Mirror) <-chan string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	revisions, ended := make(chan string, 100), make(chan error, 1)
	go func() {
		ended <- m.Watch(ctx, func(r string) { revisions <- r }, func(err error) { t.Error(err) })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return revisions
}

func next(t testing.TB, revisions <-chan string, after string) string {
	t.Helper()
	select {
	case r := <-revisions:
		return r
	case <-time.After(20 * time.Second):
		t.Fatalf("nothing was shown after %s", after)
		return ""
	}
}

func TestWatch(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	commit(t, dir, "rules", map[string]string{".gitignore": "ignored/\n"})
	write(t, dir, "ignored/x", "x")
	m, err := s.Mirror(t.Context(), "copy", dir)
	if err != nil {
		t.Fatal(err)
	}
	revisions := watch(t, m)
	seen := map[string]bool{next(t, revisions, "the start"): true}
	steps := []struct {
		name string
		do   func()
	}{
		{"a saved file", func() { write(t, dir, "a.yaml", "a: 2\n") }},
		{"a file in a folder", func() { write(t, dir, "dir/b.yaml", "b: 2\n") }},
		{"a file in new folders", func() { write(t, dir, "x/y/z/c.yaml", "c: 1\n") }},
		{"a change in a new folder", func() { write(t, dir, "x/y/z/c.yaml", "c: 2\n") }},
		{"a save by renaming", func() {
			write(t, dir, ".a.yaml.swp", "a: 3\n")
			if err := os.Rename(filepath.Join(dir, ".a.yaml.swp"), filepath.Join(dir, "a.yaml")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a renamed folder", func() {
			if err := os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "w")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a change in the renamed folder", func() { write(t, dir, "w/y/z/c.yaml", "c: 3\n") }},
		{"a deleted folder", func() {
			if err := os.RemoveAll(filepath.Join(dir, "w")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a commit", func() { git(t, dir, "add", "-A"); git(t, dir, "commit", "-q", "-m", "second") }},
		{"a commit without a change of files", func() { git(t, dir, "commit", "-q", "--allow-empty", "-m", "third") }},
		{"a checkout", func() { git(t, dir, "checkout", "-q", "--detach", "HEAD~2") }},
	}
	for _, step := range steps {
		step.do()
		r := next(t, revisions, step.name)
		// One step may show itself in parts.
		for want := refresh(t, m); r != want; {
			seen[r] = true
			r = next(t, revisions, step.name)
		}
		if seen[r] && step.name != "a checkout" {
			t.Errorf("%s shows an old revision", step.name)
		}
		seen[r] = true
	}
	before := refresh(t, m)
	git(t, dir, "tag", "-a", "-m", "a release", "nested/1.0.0")
	if r := next(t, revisions, "a tag"); r != before {
		t.Errorf("a tag shows %s, want %s", r, before)
	}
	write(t, dir, "ignored/y", "y")
	write(t, dir, "ignored/sub/z", "z")
	write(t, dir, "last.yaml", "l: 1\n")
	r := next(t, revisions, "the last file")
	if got := show(t, s, "copy", m.Branch()); got["last.yaml"] == "" || got["ignored/y"] != "" {
		t.Errorf("revision %s shows %q", r, got)
	}
}

func TestWatchOfPlainFolder(t *testing.T) {
	dir := t.TempDir()
	m, err := start(t).Mirror(t.Context(), "copy", dir)
	if err != nil {
		t.Fatal(err)
	}
	revisions := watch(t, m)
	empty := next(t, revisions, "the start")
	write(t, dir, "sub/a.yaml", "a: 1\n")
	if r := next(t, revisions, "a file"); r == empty {
		t.Error("a new file shows nothing new")
	}
}

// BenchmarkSave measures the time from a saved file to its revision, in a repository of 300 files.
func BenchmarkSave(b *testing.B) {
	dir := b.TempDir()
	if out, err := tryGit(dir, "init", "-q", "-b", "main"); err != nil {
		b.Fatal(out)
	}
	for i := range 300 {
		name := filepath.Join(dir, fmt.Sprintf("d%d", i%30), fmt.Sprintf("f%d.yaml", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("a: 1\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		if out, err := tryGit(dir, args...); err != nil {
			b.Fatal(out)
		}
	}
	s, err := gitserver.Start(b.Context(), gitserver.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Stop(context.Background()) })
	m, err := s.Mirror(b.Context(), "copy", dir)
	if err != nil {
		b.Fatal(err)
	}
	revisions := watch(b, m)
	next(b, revisions, "the start")
	i := 0
	for b.Loop() {
		i++
		if err := os.WriteFile(filepath.Join(dir, "d7", "f7.yaml"), fmt.Appendf(nil, "a: %d\n", i+1), 0o600); err != nil {
			b.Fatal(err)
		}
		next(b, revisions, "a save")
	}
}

// TestFetchAfterSave fetches at once what was saved, though changes are gathered before they are shown.
func TestFetchAfterSave(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	m, err := s.Mirror(t.Context(), "copy", dir)
	if err != nil {
		t.Fatal(err)
	}
	next(t, watch(t, m), "the start")
	for i := range 5 {
		write(t, dir, "a.yaml", fmt.Sprintf("a: save %d\n", i))
		clone := t.TempDir()
		git(t, "", "clone", "-q", as(s.URL("copy"), reader, readerToken), clone)
		if text, err := os.ReadFile(filepath.Join(clone, "a.yaml")); err != nil || string(text) != fmt.Sprintf("a: save %d\n", i) {
			t.Errorf("after save %d a clone has %q: %v", i, text, err)
		}
	}
}
