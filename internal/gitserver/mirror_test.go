package gitserver_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// mirror makes and syncs a mirror of a folder.
func mirror(t *testing.T, s *gitserver.Server, path string) (*gitserver.Mirror, string) {
	t.Helper()
	m, err := s.Mirror(t.Context(), "copy", path)
	if err != nil {
		t.Fatal(err)
	}
	return m, refresh(t, m)
}

func refresh(t *testing.T, m *gitserver.Mirror) string {
	t.Helper()
	revision, _, err := m.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// fingerprint is all that a folder holds: names, modes, times and contents.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		sum := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		found[name] = fmt.Sprint(info.Mode(), info.ModTime(), sum)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestMirrorShowsTheWorkingCopy(t *testing.T) {
	const a, b = "a: 1\n", "b: 1\n"
	base := map[string]string{"a.yaml": a, "dir/b.yaml": b}
	with := func(changes map[string]string) map[string]string {
		files := map[string]string{}
		for _, m := range []map[string]string{base, changes} {
			for name, content := range m {
				if files[name] = content; content == "" {
					delete(files, name)
				}
			}
		}
		return files
	}
	cases := map[string]struct {
		reason string
		// change is done to the working copy, which is in dir; it returns the folder to show.
		change func(t *testing.T, dir string) string
		branch string
		want   map[string]string
		// clean says that the commit is shown that is checked out.
		clean bool
	}{
		"clean": {
			reason: "a working copy without changes shows its commit",
			branch: "main", want: base, clean: true,
		},
		"dirty": {
			reason: "changed, new, staged and deleted files are shown as they are",
			change: func(t *testing.T, dir string) string {
				write(t, dir, "a.yaml", "a: 2\n")
				write(t, dir, "new/c.yaml", "c: 1\n")
				write(t, dir, "staged.yaml", "s: 1\n")
				git(t, dir, "add", "staged.yaml")
				write(t, dir, "staged.yaml", "s: 2\n")
				if err := os.Remove(filepath.Join(dir, "dir/b.yaml")); err != nil {
					t.Fatal(err)
				}
				return dir
			},
			branch: "main",
			want:   with(map[string]string{"a.yaml": "a: 2\n", "new/c.yaml": "c: 1\n", "staged.yaml": "s: 2\n", "dir/b.yaml": ""}),
		},
		"same size at once": {
			reason: "a change that neither the size nor a coarse time tells is seen",
			change: func(t *testing.T, dir string) string {
				commit(t, dir, "second", map[string]string{"a.yaml": "a: 5\n"})
				write(t, dir, "a.yaml", "a: 6\n")
				return dir
			},
			branch: "main", want: with(map[string]string{"a.yaml": "a: 6\n"}),
		},
		"ignored": {
			reason: "what .gitignore or info/exclude name is not shown",
			change: func(t *testing.T, dir string) string {
				write(t, dir, ".gitignore", "*.secret\n")
				write(t, dir, "x.secret", "s\n")
				write(t, dir, ".git/info/exclude", "y.excluded\n")
				write(t, dir, "y.excluded", "s\n")
				return dir
			},
			branch: "main", want: with(map[string]string{".gitignore": "*.secret\n"}),
		},
		"other branch": {
			reason: "the branch that is checked out is the one that is shown",
			change: func(t *testing.T, dir string) string {
				git(t, dir, "checkout", "-q", "-b", "feature/x")
				return dir
			},
			branch: "feature/x", want: base, clean: true,
		},
		"detached": {
			reason: "without a branch it is main",
			change: func(t *testing.T, dir string) string {
				git(t, dir, "checkout", "-q", "--detach")
				return dir
			},
			branch: "main", want: base, clean: true,
		},
		"linked working copy": {
			reason: "a second working copy of a repository is shown by itself",
			change: func(t *testing.T, dir string) string {
				linked := filepath.Join(filepath.Dir(dir), "linked")
				git(t, dir, "worktree", "add", "-q", "-b", "linked", linked)
				write(t, linked, "only-here.yaml", "x: 1\n")
				return linked
			},
			branch: "linked", want: with(map[string]string{"only-here.yaml": "x: 1\n"}),
		},
		"shallow": {
			reason: "a repository without its whole history can be shown",
			change: func(t *testing.T, dir string) string {
				commit(t, dir, "second", map[string]string{"a.yaml": "a: 2\n"})
				shallow := filepath.Join(filepath.Dir(dir), "shallow")
				git(t, "", "clone", "-q", "--depth=1", "file://"+dir, shallow)
				return shallow
			},
			branch: "main", want: with(map[string]string{"a.yaml": "a: 2\n"}), clean: true,
		},
		"sparse": {
			reason: "what is deliberately not checked out is no deletion",
			change: func(t *testing.T, dir string) string {
				git(t, dir, "sparse-checkout", "set", "--no-cone", "/a.yaml")
				return dir
			},
			branch: "main", want: base, clean: true,
		},
		"split index": {
			reason: "an index in two files is read",
			change: func(t *testing.T, dir string) string {
				git(t, dir, "update-index", "--split-index")
				write(t, dir, "a.yaml", "a: 2\n")
				return dir
			},
			branch: "main", want: with(map[string]string{"a.yaml": "a: 2\n"}),
		},
		"nested repositories": {
			reason: "a repository inside, with commits or without, is left out",
			change: func(t *testing.T, dir string) string {
				git(t, dir, "init", "-q", "empty")
				write(t, dir, "empty/x", "x")
				git(t, dir, "init", "-q", "full")
				commit(t, filepath.Join(dir, "full"), "in it", map[string]string{"x": "x"})
				return dir
			},
			branch: "main", want: base, clean: true,
		},
		"submodule": {
			reason: "a changed submodule is shown as it was committed",
			change: func(t *testing.T, dir string) string {
				git(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "file://"+workingCopy(t), "sub")
				git(t, dir, "commit", "-q", "-m", "submodule")
				commit(t, filepath.Join(dir, "sub"), "in it", map[string]string{"x": "x"})
				return dir
			},
			branch: "main", clean: true,
		},
		"in a submodule": {
			reason: "a submodule is a working copy too",
			change: func(t *testing.T, dir string) string {
				git(t, dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "file://"+workingCopy(t), "sub")
				return filepath.Join(dir, "sub")
			},
			branch: "main", want: base, clean: true,
		},
		"link": {
			reason: "a symbolic link to a working copy is that working copy",
			change: func(t *testing.T, dir string) string {
				link := filepath.Join(filepath.Dir(dir), "link")
				if err := os.Symlink(dir, link); err != nil {
					t.Fatal(err)
				}
				return link
			},
			branch: "main", want: base, clean: true,
		},
		"folder": {
			reason: "a folder of a working copy is shown by itself, without what is ignored",
			change: func(t *testing.T, dir string) string {
				write(t, dir, ".gitignore", "*.secret\n")
				write(t, dir, "dir/x.secret", "s\n")
				write(t, dir, "dir/c.yaml", "c: 1\n")
				return filepath.Join(dir, "dir")
			},
			branch: "main", want: map[string]string{"b.yaml": b, "c.yaml": "c: 1\n"},
		},
		"empty folder": {
			reason: "a folder that holds nothing shows nothing",
			change: func(t *testing.T, dir string) string {
				folder := filepath.Join(dir, "nothing")
				if err := os.Mkdir(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				return folder
			},
			branch: "main", want: map[string]string{},
		},
		"ignored folder": {
			reason: "a folder that the working copy ignores is a plain one",
			change: func(t *testing.T, dir string) string {
				write(t, dir, ".gitignore", "out/\n")
				write(t, dir, "out/c.yaml", "c: 1\n")
				return filepath.Join(dir, "out")
			},
			branch: "main", want: map[string]string{"c.yaml": "c: 1\n"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, dir := start(t), workingCopy(t)
			path := dir
			if c.change != nil {
				path = c.change(t, dir)
			}
			before := fingerprint(t, dir)
			m, revision := mirror(t, s, path)
			if got := m.Branch(); got != c.branch {
				t.Errorf("%s: branch %q, want %q", c.reason, got, c.branch)
			}
			if c.want != nil {
				if diff := cmp.Diff(c.want, show(t, s, "copy", c.branch)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			}
			if head := git(t, path, "rev-parse", "HEAD"); (head == revision) != c.clean {
				t.Errorf("%s: revision %s, checked out is %s", c.reason, revision, head)
			}
			git(t, "", "clone", "-q", as(s.URL("copy"), reader, readerToken), filepath.Join(t.TempDir(), "full"))
			if again, changed, err := m.Sync(t.Context()); err != nil || changed || again != revision {
				t.Errorf("%s: a second sync gave %s, %v, %v", c.reason, again, changed, err)
			}
			if diff := cmp.Diff(before, fingerprint(t, dir)); diff != "" {
				t.Errorf("%s: the working copy was changed (-before +after):\n%s", c.reason, diff)
			}
		})
	}
}

func TestMirrorOfPlainAndEmpty(t *testing.T) {
	cases := map[string]struct {
		reason string
		make   func(t *testing.T, dir string)
		want   map[string]string
	}{
		"plain": {
			reason: "a plain folder is shown without what it ignores",
			make: func(t *testing.T, dir string) {
				write(t, dir, "a.yaml", "a: 1\n")
				write(t, dir, ".gitignore", "ignored\n")
				write(t, dir, "ignored/x", "x\n")
			},
			want: map[string]string{"a.yaml": "a: 1\n", ".gitignore": "ignored\n"},
		},
		"empty":        {reason: "an empty folder shows nothing", make: func(*testing.T, string) {}, want: map[string]string{}},
		"plain nested": {reason: "repositories in a plain folder are left out", make: func(t *testing.T, dir string) { git(t, dir, "init", "-q", "x") }, want: map[string]string{}},
		"unborn": {
			reason: "a repository without commits shows its files",
			make: func(t *testing.T, dir string) {
				git(t, dir, "init", "-q", "-b", "main")
				write(t, dir, "a.yaml", "a: 1\n")
			},
			want: map[string]string{"a.yaml": "a: 1\n"},
		},
		"unborn and empty": {
			reason: "a repository with nothing at all shows nothing",
			make:   func(t *testing.T, dir string) { git(t, dir, "init", "-q", "-b", "main") },
			want:   map[string]string{},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, dir := start(t), t.TempDir()
			c.make(t, dir)
			before := fingerprint(t, dir)
			m, revision := mirror(t, s, dir)
			if diff := cmp.Diff(c.want, show(t, s, "copy", "main")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			write(t, dir, "more.yaml", "m: 1\n")
			if refresh(t, m) == revision {
				t.Errorf("%s: a new file was not seen", c.reason)
			}
			if err := os.Remove(filepath.Join(dir, "more.yaml")); err != nil {
				t.Fatal(err)
			}
			if again := refresh(t, m); again != revision {
				t.Errorf("%s: equal contents gave %s and %s", c.reason, revision, again)
			}
			after := fingerprint(t, dir)
			delete(before, dir)
			delete(after, dir)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("%s: the folder was changed (-before +after):\n%s", c.reason, diff)
			}
		})
	}
}

func TestMirrorRunsNothingOfTheUser(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	dir := workingCopy(t)
	script := "#!/bin/sh\necho \"$0\" >>" + marker + "\ncat\n"
	for _, hook := range []string{"post-index-change", "pre-commit", "post-commit", "reference-transaction", "fsmonitor"} {
		write(t, dir, ".git/hooks/"+hook, script)
		if err := os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	monitor := filepath.Join(dir, ".git/hooks/fsmonitor")
	git(t, dir, "init", "-q", "nested")
	commit(t, filepath.Join(dir, "nested"), "in it", map[string]string{"x": "x"})
	for _, repo := range []string{dir, filepath.Join(dir, "nested")} {
		git(t, repo, "config", "filter.evil.clean", monitor)
		git(t, repo, "config", "core.fsmonitor", monitor)
	}
	write(t, dir, ".gitattributes", "*.yaml filter=evil\n")
	write(t, dir, "a.yaml", "a: 2\n")
	s := start(t)
	m, _ := mirror(t, s, dir)
	write(t, dir, "a.yaml", "a: 3\n")
	refresh(t, m)
	if ran, err := os.ReadFile(marker); err == nil {
		t.Errorf("the user's programs ran:\n%s", ran)
	}
	if got := show(t, s, "copy", "main")["a.yaml"]; got != "a: 3\n" {
		t.Errorf("a.yaml is %q", got)
	}
}

func TestMirrorFollowsTheUser(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	m, _ := mirror(t, s, dir)

	write(t, dir, "a.yaml", "a: 2\n")
	dirty := refresh(t, m)
	git(t, dir, "commit", "-q", "-a", "-m", "second")
	if got, head := refresh(t, m), git(t, dir, "rev-parse", "HEAD"); got != head || got == dirty {
		t.Errorf("after a commit the mirror shows %s, want %s", got, head)
	}
	// A client that knows the previous revision can still fetch it.
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, "", "init", "-q", clone)
	git(t, clone, "fetch", "-q", "--depth=1", as(s.URL("copy"), reader, readerToken), dirty)
	if listed := git(t, "", "ls-remote", as(s.URL("copy"), reader, readerToken)); strings.Contains(listed, dirty) {
		t.Errorf("an old revision is listed:\n%s", listed)
	}

	git(t, dir, "checkout", "-q", "-b", "feature")
	write(t, dir, "a.yaml", "a: 3\n")
	feature := refresh(t, m)
	if m.Branch() != "feature" {
		t.Errorf("branch %q, want feature", m.Branch())
	}
	git(t, dir, "checkout", "-q", "-B", "other")
	other := refresh(t, m)
	if other == feature {
		t.Error("another branch has the same commit of ours")
	}
	want := map[string]string{"HEAD": other, "refs/heads/main": other, "refs/heads/other": other, "refs/heads/feature": git(t, dir, "rev-parse", "feature")}
	got := map[string]string{}
	for line := range strings.Lines(git(t, "", "ls-remote", as(s.URL("copy"), reader, readerToken))) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		got[name] = hash
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	// In the middle of a rebase there is no branch.
	git(t, dir, "checkout", "-q", "--detach")
	if refresh(t, m); m.Branch() != "other" {
		t.Errorf("branch %q, want other", m.Branch())
	}
}

// TestMirrorShowsTags serves the tags of a working copy, those with messages too, and tells when one changes.
func TestMirrorShowsTags(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	first := git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "tag", "1.0.0")
	commit(t, dir, "second", map[string]string{"a.yaml": "a: 2\n"})
	m, _ := mirror(t, s, dir)
	git(t, dir, "tag", "-a", "-m", "a release", "nested/1.1.0")
	revision, changed, err := m.Sync(t.Context())
	if err != nil || !changed || revision != git(t, dir, "rev-parse", "HEAD") {
		t.Errorf("after a new tag the mirror shows %s, changed %v: %v", revision, changed, err)
	}
	if again, changed, err := m.Sync(t.Context()); again != revision || changed || err != nil {
		t.Errorf("nothing changed, and the mirror shows %s, changed %v: %v", again, changed, err)
	}
	listed := func() map[string]string {
		got := map[string]string{}
		for line := range strings.Lines(git(t, "", "ls-remote", "--tags", as(s.URL("copy"), reader, readerToken))) {
			hash, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got[strings.TrimPrefix(name, "refs/tags/")] = hash
		}
		return got
	}
	want := map[string]string{"1.0.0": first, "nested/1.1.0": git(t, dir, "rev-parse", "nested/1.1.0"), "nested/1.1.0^{}": revision}
	if diff := cmp.Diff(want, listed()); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if got := show(t, s, "copy", "1.0.0"); got["a.yaml"] != "a: 1\n" {
		t.Errorf("the tag holds %q", got)
	}
	// Moved, packed and deleted ones.
	git(t, dir, "tag", "-f", "1.0.0", "HEAD")
	git(t, dir, "tag", "-d", "nested/1.1.0")
	git(t, dir, "pack-refs", "--all")
	refresh(t, m)
	if diff := cmp.Diff(map[string]string{"1.0.0": revision}, listed()); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	// The commits of the user's show the whole working copy, not a folder of it.
	folder, err := s.Mirror(t.Context(), "folder", filepath.Join(dir, "dir"))
	if err != nil {
		t.Fatal(err)
	}
	refresh(t, folder)
	if out := git(t, "", "ls-remote", "--tags", as(s.URL("folder"), reader, readerToken)); out != "" {
		t.Errorf("a folder has tags:\n%s", out)
	}
}

// TestMirrorShowsBranches shows the working copy under the branch that is checked out, and under another one that others read; every
// other branch is shown as it is.
func TestMirrorShowsBranches(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	git(t, dir, "branch", "staging")
	git(t, dir, "checkout", "-q", "-b", "pr-7")
	m, err := s.Mirror(t.Context(), "copy", dir)
	if err != nil {
		t.Fatal(err)
	}
	m.ShowAs(t.Context(), "main")
	write(t, dir, "a.yaml", "a: 7\n")
	refresh(t, m)
	shown := func(branches ...string) map[string]string {
		got := map[string]string{}
		for _, branch := range branches {
			got[branch] = show(t, s, "copy", branch)["a.yaml"]
		}
		return got
	}
	want := map[string]string{"pr-7": "a: 7\n", "main": "a: 7\n", "staging": "a: 1\n"}
	if diff := cmp.Diff(want, shown("pr-7", "main", "staging")); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
	// Commits of the other branches are shown; those of the one that others read are not.
	git(t, dir, "commit", "-q", "-a", "-m", "changed")
	git(t, dir, "branch", "-f", "staging", "HEAD")
	git(t, dir, "branch", "new", "main")
	refresh(t, m)
	want = map[string]string{"pr-7": "a: 7\n", "main": "a: 7\n", "staging": "a: 7\n", "new": "a: 1\n"}
	if diff := cmp.Diff(want, shown("pr-7", "main", "staging", "new")); diff != "" {
		t.Errorf("branches after commits (-want +got):\n%s", diff)
	}
	// What is checked out now is shown under its name, and what was is shown as it is.
	git(t, dir, "checkout", "-q", "new")
	git(t, dir, "branch", "-D", "staging")
	write(t, dir, "a.yaml", "a: 8\n")
	refresh(t, m)
	want = map[string]string{"pr-7": "a: 8\n", "main": "a: 8\n", "new": "a: 8\n"}
	if diff := cmp.Diff(want, shown("pr-7", "main", "new")); diff != "" {
		t.Errorf("branches after a checkout (-want +got):\n%s", diff)
	}
	if out := git(t, "", "ls-remote", as(s.URL("copy"), reader, readerToken), "refs/heads/staging"); out != "" {
		t.Errorf("a branch that is gone is shown: %s", out)
	}
}

// TestMirrorWithoutBranch shows a working copy that is on no branch under the one that others read.
func TestMirrorWithoutBranch(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	git(t, dir, "checkout", "-q", "--detach")
	git(t, dir, "branch", "-D", "main")
	m, err := s.Mirror(t.Context(), "copy", dir)
	if err != nil {
		t.Fatal(err)
	}
	m.ShowAs(t.Context(), "master")
	refresh(t, m)
	if got := git(t, "", "ls-remote", as(s.URL("copy"), reader, readerToken)); m.Branch() != "master" || strings.Contains(got, "refs/heads/main") || !strings.Contains(got, "refs/heads/master") {
		t.Errorf("it is on %q, and shows\n%s", m.Branch(), got)
	}
}

func TestMirrorKeepsFilteredFilesAsCommitted(t *testing.T) {
	// Large files are often kept elsewhere by a filter: the commit holds a pointer, the working copy
	// the content.
	dir := workingCopy(t)
	git(t, dir, "config", "filter.elsewhere.clean", "sh -c 'cat >/dev/null; echo pointer'")
	git(t, dir, "config", "filter.elsewhere.smudge", "sh -c 'cat >/dev/null; echo content'")
	write(t, dir, ".gitattributes", "*.bin filter=elsewhere\n")
	write(t, dir, "x.bin", "content\n")
	// Git looks twice at what changed in the moment in which the index was written.
	earlier := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "x.bin"), earlier, earlier); err != nil {
		t.Fatal(err)
	}
	head := commit(t, dir, "large", nil)
	s := start(t)
	m, revision := mirror(t, s, dir)
	if revision != head {
		t.Errorf("a clean working copy shows %s, want %s", revision, head)
	}
	write(t, dir, "a.yaml", "a: 2\n")
	refresh(t, m)
	if got := show(t, s, "copy", "main"); got["x.bin"] != "pointer\n" || got["a.yaml"] != "a: 2\n" {
		t.Errorf("files %q", got)
	}
}

func TestMirrorOfSparseIndex(t *testing.T) {
	dir := workingCopy(t)
	head := commit(t, dir, "more", map[string]string{"other/c.yaml": "c: 1\n", "other/deep/d.yaml": "d: 1\n"})
	git(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "dir")
	m, revision := mirror(t, start(t), dir)
	if revision != head {
		t.Errorf("a clean working copy shows %s, want %s", revision, head)
	}
	write(t, dir, "dir/b.yaml", "b: 2\n")
	if refresh(t, m) == head {
		t.Error("a change was not seen")
	}
}

func TestMirrorIgnoresWhatTheAccountIgnores(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	for name, set := range map[string]func(){
		"default list": func() { write(t, home, ".config/git/ignore", "*.private\n") },
		"named list": func() {
			write(t, home, "list", "*.private\n")
			write(t, home, ".gitconfig", "[core]\n\texcludesFile = ~/list\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(filepath.Join(home, ".config")); err != nil {
				t.Fatal(err)
			}
			set()
			dir := workingCopy(t)
			write(t, dir, "x.private", "s\n")
			if _, revision := mirror(t, start(t), dir); revision != git(t, dir, "rev-parse", "HEAD") {
				t.Error("an ignored file is shown")
			}
		})
	}
}

func TestMirrorRefuses(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, "", "clone", "-q", "--bare", dir, bare)
	sha256 := filepath.Join(t.TempDir(), "sha256")
	git(t, "", "init", "-q", "--object-format=sha256", sha256)
	for name, path := range map[string]string{
		"missing": filepath.Join(dir, "none"), "file": filepath.Join(dir, "a.yaml"), "bare": bare,
		"inside .git": filepath.Join(dir, ".git"), "sha256": sha256,
	} {
		if _, err := s.Mirror(t.Context(), "copy", path); err == nil {
			t.Errorf("%s: %q was mirrored", name, path)
		}
	}
	if _, err := s.Mirror(t.Context(), "copy", dir); err != nil {
		t.Fatal(err)
	}
	out, err := tryGit(dir, "push", "-q", as(s.URL("copy"), writer, writerToken), "main:pushed")
	if err == nil || !strings.Contains(out, "working copy") {
		t.Errorf("a push to a mirror ended with %v: %s", err, out)
	}
}

func TestMirrorUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	s, dir := start(t), workingCopy(t)
	m, _ := mirror(t, s, dir)
	write(t, dir, "closed.yaml", "x: 1\n")
	if err := os.Chmod(filepath.Join(dir, "closed.yaml"), 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Sync(t.Context()); err == nil || !strings.Contains(err.Error(), "closed.yaml") {
		t.Errorf("the error does not name the file: %v", err)
	}
}

func TestRemotes(t *testing.T) {
	dir := workingCopy(t)
	git(t, dir, "remote", "add", "origin", "https://user:secret@example.com/org/repo.git")
	git(t, dir, "remote", "add", "fork", "git@example.com:me/repo.git")
	m, err := start(t).Mirror(t.Context(), "copy", dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"https://example.com/org/repo.git", "git@example.com:me/repo.git"}
	if diff := cmp.Diff(want, m.Remotes(t.Context())); diff != "" {
		t.Errorf("remotes (-want +got):\n%s", diff)
	}
}

func TestSyncAfterInterruption(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	m, _ := mirror(t, s, dir)
	for i := range 10 {
		write(t, dir, "a.yaml", fmt.Sprintf("a: %d\n", i+2))
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*3*time.Millisecond)
		_, _, _ = m.Sync(ctx)
		cancel()
		refresh(t, m)
	}
	if got := show(t, s, "copy", "main")["a.yaml"]; got != "a: 11\n" {
		t.Errorf("a.yaml is %q", got)
	}
}

// TestMirrorNamesChanges names the files of a save, in a working copy and in a plain folder.
func TestMirrorNamesChanges(t *testing.T) {
	s := start(t)
	for name, dir := range map[string]string{"a working copy": workingCopy(t), "a plain folder": t.TempDir()} {
		write(t, dir, "a.yaml", "a: 1\n")
		write(t, dir, "gone.yaml", "a: 1\n")
		m, before := mirror(t, s, dir)
		if m.Revision() != before {
			t.Errorf("%s: it serves %s, want %s", name, m.Revision(), before)
		}
		write(t, dir, "a.yaml", "a: changed\n")
		write(t, dir, "in/new file.yaml", "b: 1\n")
		if err := os.Remove(filepath.Join(dir, "gone.yaml")); err != nil {
			t.Fatal(err)
		}
		after := refresh(t, m)
		files, err := m.Changed(t.Context(), before, after)
		if diff := cmp.Diff([]string{"a.yaml", "gone.yaml", "in/new file.yaml"}, files); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if files, err := m.Changed(t.Context(), after, after); len(files) > 0 || err != nil {
			t.Errorf("%s: nothing changed, but %q: %v", name, files, err)
		}
	}
}

// TestUnrecorded counts what a clone of the repository would lack.
func TestUnrecorded(t *testing.T) {
	s := start(t)
	dir := workingCopy(t)
	of := func(shown string) string {
		t.Helper()
		m, err := s.Mirror(t.Context(), "copy", shown)
		if err != nil {
			t.Fatal(err)
		}
		refresh(t, m)
		u, err := m.Unrecorded(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return u.String()
	}
	if got := of(dir); got != "" {
		t.Errorf("everything is committed: %q", got)
	}
	write(t, dir, "a.yaml", "a: 2\n")
	write(t, dir, "staged.yaml", "a: 1\n")
	git(t, dir, "add", "staged.yaml")
	write(t, dir, "dir/new.yaml", "a: 1\n")
	write(t, dir, ".gitignore", "ignored.yaml\n")
	write(t, dir, "ignored.yaml", "a: 1\n")
	if got, want := of(dir), "2 changed, 2 untracked: a cluster will not see .gitignore, dir/new.yaml"; got != want {
		t.Errorf("the working copy: %q, want %q", got, want)
	}
	if got, want := of(filepath.Join(dir, "dir")), "1 untracked: a cluster will not see new.yaml"; got != want {
		t.Errorf("a folder of it: %q, want %q", got, want)
	}
	if got := of(t.TempDir()); got != "" {
		t.Errorf("a plain folder: %q", got)
	}
}
