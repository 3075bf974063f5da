package bare_test

import (
	"errors"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitea/bare"
)

var someone = bare.Person{Name: "A <b>", Email: "a@example.com"}

func create(t *testing.T) bare.Repository {
	t.Helper()
	r, err := bare.New(t.Context(), filepath.Join(t.TempDir(), "1.git"), "main")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func change(branch, onto string, files ...bare.File) bare.Change {
	return bare.Change{Branch: branch, Onto: onto, Message: "change", Author: someone, Committer: someone, Files: files}
}

func write(t *testing.T, r bare.Repository, c bare.Change) string {
	t.Helper()
	id, err := r.Write(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func add(name, content string) bare.File {
	return bare.File{Operation: bare.Add, Path: name, Content: []byte(content)}
}

func TestFiles(t *testing.T) {
	r := create(t)
	first := write(t, r, change("main", "", add("a/b.yaml", "b: 1\n\n"), add("c", "")))
	entry, err := r.Entry(t.Context(), first, "a/b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := r.Blob(t.Context(), entry); err != nil || string(content) != "b: 1\n\n" {
		t.Errorf("read %q, %v: want what was written", content, err)
	}
	moved := bare.File{Operation: bare.Update, Path: "d/e.yaml", From: "a/b.yaml", ID: entry.ID, Content: []byte("b: 2\n")}
	second := write(t, r, change("main", "", moved))
	var names []string
	for _, folder := range []string{"", "d"} {
		listed, err := r.List(t.Context(), second, folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range listed {
			names = append(names, one.Type+" "+one.Path)
		}
	}
	if diff := cmp.Diff([]string{"blob c", "tree d", "blob d/e.yaml"}, names); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	commit, err := r.Commit(t.Context(), second)
	if err != nil || commit.Author.Name != "A b" || strings.TrimSpace(commit.Message) != "change" || len(commit.Parents) != 1 {
		t.Errorf("commit %+v, %v", commit, err)
	}
	added, removed, _, err := r.Changed(t.Context(), second)
	if diff := cmp.Diff([][]string{{"d/e.yaml"}, {"a/b.yaml"}}, [][]string{added, removed}); diff != "" || err != nil {
		t.Errorf("changed paths, %v (-want +got):\n%s", err, diff)
	}
}

func TestRefusedWrites(t *testing.T) {
	r := create(t)
	write(t, r, change("main", "", add("a/b", "x")))
	cases := map[string]struct {
		change bare.Change
		want   error
	}{
		"Exists":       {change("main", "", add("a/b", "y")), bare.ErrExists},
		"Folder":       {change("main", "", add("a", "y")), bare.ErrInvalid},
		"ThroughFile":  {change("main", "", add("a/b/c", "y")), bare.ErrInvalid},
		"Missing":      {change("main", "", bare.File{Operation: bare.Update, Path: "z"}), bare.ErrNotFound},
		"WrongBlob":    {change("main", "", bare.File{Operation: bare.Delete, Path: "a/b", ID: bare.Zero}), bare.ErrMismatch},
		"NoBranch":     {change("none", "", add("z", "y")), bare.ErrNotFound},
		"BranchExists": {change("main", "main/x", add("z", "y")), bare.ErrExists},
		"Escape":       {change("main", "", add("../z", "y")), bare.ErrInvalid},
		"Settings":     {change("main", "", add("x/.GIT/config", "y")), bare.ErrInvalid},
		"Large":        {change("main", "", add("z", strings.Repeat("x", bare.MaxFile+1))), bare.ErrInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := r.Write(t.Context(), c.change); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// TestRace has two writers that know the same commit: one of them loses, and nothing is lost of the other's.
func TestRace(t *testing.T) {
	r := create(t)
	write(t, r, change("main", "", add("base", "x")))
	results := make(chan error, 4)
	for _, name := range []string{"a", "b", "c", "d"} {
		go func() {
			_, err := r.Write(t.Context(), change("main", "", add(name, name)))
			results <- err
		}()
	}
	won := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.Is(err, bare.ErrMoved):
			t.Errorf("a lost race ends with %v, want %v", err, bare.ErrMoved)
		}
	}
	head, err := r.Branch(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := r.List(t.Context(), head, "")
	if err != nil || won == 0 || len(entries) != won+1 {
		t.Errorf("%d writers won, and the branch has %d files, %v", won, len(entries), err)
	}
}

func TestMerges(t *testing.T) {
	r := create(t)
	base := write(t, r, change("main", "", add("a", "1\n")))
	entry, err := r.Entry(t.Context(), base, "a")
	if err != nil {
		t.Fatal(err)
	}
	update := func(content string) bare.File {
		return bare.File{Operation: bare.Update, Path: "a", ID: entry.ID, Content: []byte(content)}
	}
	clean := write(t, r, change("main", "clean", add("b", "2\n")))
	conflict := write(t, r, change("main", "conflict", update("2\n")))
	if id, err := r.Join(t.Context(), bare.Join{Branch: "main", Head: clean, Style: bare.FastForward}); err != nil || id != clean {
		t.Errorf("a fast-forward gives %s, %v, want %s", id, err, clean)
	}
	write(t, r, change("main", "", update("3\n")))
	if err := r.Mergeable(t.Context(), "refs/heads/main", conflict); !errors.Is(err, bare.ErrConflict) {
		t.Errorf("a conflict is %v, want %v", err, bare.ErrConflict)
	}
	for _, style := range []string{bare.Merge, bare.Squash, bare.FastForward} {
		if _, err := r.Join(t.Context(), bare.Join{Branch: "main", Head: conflict, Style: style}); !errors.Is(err, bare.ErrConflict) {
			t.Errorf("%s of a conflict: %v, want %v", style, err, bare.ErrConflict)
		}
	}
	for style, parents := range map[string]int{bare.Merge: 2, bare.Squash: 1} {
		if err := r.CreateBranch(t.Context(), style, base); err != nil {
			t.Fatal(err)
		}
		other := write(t, r, change(style, "to-"+style, add("c", "3\n")))
		write(t, r, change(style, "", add("d", "4\n")))
		id, err := r.Join(t.Context(), bare.Join{Branch: style, Head: other, Style: style, Message: "joined", Author: someone, Committer: someone})
		if err != nil {
			t.Fatal(err)
		}
		commit, err := r.Commit(t.Context(), id)
		if err != nil || len(commit.Parents) != parents {
			t.Errorf("%s has parents %v, %v, want %d", style, commit.Parents, err, parents)
		}
		if entries, err := r.List(t.Context(), id, ""); err != nil || len(entries) != 3 {
			t.Errorf("%s has files %v, %v, want three", style, entries, err)
		}
	}
}

func FuzzCleanPath(f *testing.F) {
	for _, seed := range []string{"a/b", "/a/", "../a", "a/../../b", ".git/config", "a/.GIT. /x", "git~1", "a\x00b", "a//b", "\u200c.git"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		clean, err := bare.CleanPath(name)
		if err != nil {
			return
		}
		if !filepath.IsLocal(clean) || path.IsAbs(clean) || strings.ContainsAny(clean, "\x00\n\\") {
			t.Errorf("%q became %q, which leaves the repository", name, clean)
		}
		if again, err := bare.CleanPath(clean); err != nil || again != clean {
			t.Errorf("%q became %q, and that %q, %v", name, clean, again, err)
		}
		for part := range strings.SplitSeq(clean, "/") {
			if strings.EqualFold(part, ".git") {
				t.Errorf("%q has a folder of git's", clean)
			}
		}
	})
}
