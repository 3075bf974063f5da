package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

const page = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

// TestPush pushes to branches that have moved in all ways.
func TestPush(t *testing.T) {
	changed := strings.Replace
	for name, c := range map[string]struct {
		theirs func(f *forge, dir string)
		ours   map[string]string
		branch string
		want   map[string]string
		// commits are the subjects that the branch has then, the newest first.
		commits  string
		conflict string
	}{
		"Not moved":       {ours: map[string]string{"new": "x"}, want: map[string]string{"a": page, "b": "b\n", "new": "x"}, commits: "ours seed"},
		"Another branch":  {ours: map[string]string{"new": "x"}, branch: "other", want: map[string]string{"a": page, "b": "b\n", "new": "x"}, commits: "ours seed"},
		"Another file":    {theirs: theirs(map[string]string{"c/d": "c"}), ours: map[string]string{"b": "B\n"}, want: map[string]string{"a": page, "b": "B\n", "c/d": "c"}, commits: "ours theirs seed"},
		"Other lines":     {theirs: theirs(map[string]string{"a": changed(page, "9", "nine", 1)}), ours: map[string]string{"a": changed(page, "1", "one", 1)}, want: map[string]string{"a": changed(changed(page, "1", "one", 1), "9", "nine", 1), "b": "b\n"}, commits: "ours theirs seed"},
		"The same lines":  {theirs: theirs(map[string]string{"a": changed(page, "5", "five", 1)}), ours: map[string]string{"a": changed(page, "5", "V", 1)}, conflict: `"a"`},
		"The same change": {theirs: theirs(map[string]string{"b": "B\n"}), ours: map[string]string{"b": "B\n"}, want: map[string]string{"a": page, "b": "B\n"}, commits: "theirs seed"},
		"Added twice":     {theirs: theirs(map[string]string{"new": "1"}), ours: map[string]string{"new": "2"}, conflict: `"new"`},
		"Deleted, changed": {theirs: func(f *forge, dir string) {
			f.more(dir, "theirs", func(dir string) { _ = os.Remove(filepath.Join(dir, "b")) })
		}, ours: map[string]string{"b": "B\n"}, conflict: `"b"`},
		"Deleted": {theirs: func(f *forge, dir string) {
			f.more(dir, "theirs", func(dir string) { _ = os.Remove(filepath.Join(dir, "b")) })
		}, ours: map[string]string{"c": "c"}, want: map[string]string{"a": page, "c": "c"}, commits: "ours theirs seed"},
		"File, directory": {theirs: theirs(map[string]string{"new/x": "1"}), ours: map[string]string{"new": "2"}, conflict: `"new"`},
		"Merged": {theirs: func(f *forge, dir string) {
			f.git(dir, "checkout", "-q", "-b", "feature", "HEAD")
			f.more(dir, "feature", files(f.t, map[string]string{"c": "c"}))
			f.git(dir, "checkout", "-q", "main")
			f.git(dir, "merge", "-q", "--no-ff", "-m", "merge", "feature")
			f.more(dir, "theirs", files(f.t, map[string]string{"d": "d"}))
		}, ours: map[string]string{"b": "B\n"}, want: map[string]string{"a": page, "b": "B\n", "c": "c", "d": "d"}, commits: "ours theirs merge feature seed"},
		"Behind": {theirs: func(f *forge, dir string) {
			f.git(dir, "push", "-q", f.server.Dir("deploy"), "main:old")
			f.more(dir, "theirs", files(f.t, map[string]string{"c": "c"}))
		}, branch: "old", ours: map[string]string{"b": "B\n"}, want: map[string]string{"a": page, "b": "B\n"}, commits: "ours seed"},
		"Unrelated": {theirs: func(f *forge, dir string) {
			f.git(dir, "checkout", "-q", "--orphan", "gh-pages")
			f.git(dir, "rm", "-q", "-r", "-f", ".")
			f.more(dir, "pages", files(f.t, map[string]string{"index": "x"}))
		}, branch: "gh-pages", ours: map[string]string{"c": "c"}, want: map[string]string{"a": page, "b": "b\n", "c": "c", "index": "x"}, commits: "ours seed pages"},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t)
			dir := f.seed(files(t, map[string]string{"a": page, "b": "b\n"}))
			copied := f.clone(Ref{Branch: "main"})
			if c.theirs != nil {
				c.theirs(f, dir)
			}
			copied.put(c.ours)
			copied.commit("ours")
			branch := c.branch
			if branch == "" {
				branch = "main"
			}
			err := copied.push(branch)
			if c.conflict != "" {
				if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), c.conflict) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, found(t, copied.dir)); diff != "" {
				t.Errorf("the files (-want +got):\n%s", diff)
			}
			if got := strings.ReplaceAll(f.ask("log", "--topo-order", "--format=%s", branch), "\n", " "); got != c.commits {
				t.Errorf("the commits are %q, want %q", got, c.commits)
			}
			if got := f.ask("rev-parse", branch); got != copied.repo.Head() {
				t.Errorf("the branch has %s, and the checkout %s", got, copied.repo.Head())
			}
			f.ask("fsck", "--strict")
			// As after a process that ended before it recorded this.
			copied.again()
			copied.pushed(branch)
			if got := f.ask("rev-parse", branch); got != copied.repo.Head() {
				t.Errorf("pushing again has the branch at %s, and the checkout at %s", got, copied.repo.Head())
			}
			copied.put(map[string]string{"z": "z"})
			copied.commit("z")
			copied.pushed(branch)
		})
	}
}

func theirs(all map[string]string) func(f *forge, dir string) {
	return func(f *forge, dir string) { f.more(dir, "theirs", files(f.t, all)) }
}

// TestPushForward has a branch be pushed to another one, whose commits it has all.
func TestPushForward(t *testing.T) {
	f := serve(t)
	dir := f.seed(files(t, map[string]string{"a": "1"}))
	f.git(dir, "checkout", "-q", "-b", "dev")
	f.more(dir, "first", files(t, map[string]string{"a": "2"}))
	f.more(dir, "second", files(t, map[string]string{"a": "3"}))
	c := f.clone(Ref{Branch: "dev"})
	c.pushed("main")
	if f.ask("rev-parse", "main") != f.ask("rev-parse", "dev") {
		t.Error("main does not have what dev has")
	}
}

// TestPushSeveral puts all commits of a branch that another one does not have on top of it.
func TestPushSeveral(t *testing.T) {
	f := serve(t)
	dir := f.seed(files(t, map[string]string{"a": "1"}))
	f.git(dir, "checkout", "-q", "-b", "dev")
	f.more(dir, "first", files(t, map[string]string{"a": "2"}))
	f.more(dir, "second", files(t, map[string]string{"a": "3"}))
	f.git(dir, "checkout", "-q", "-B", "main", "main")
	f.more(dir, "apart", files(t, map[string]string{"b": "1"}))
	c := f.clone(Ref{Branch: "dev"})
	c.put(map[string]string{"c": "1"})
	c.commit("ours")
	c.pushed("main")
	if got := strings.ReplaceAll(f.ask("log", "--format=%s", "main"), "\n", " "); got != "ours second first apart seed" {
		t.Errorf("the commits are %q", got)
	}
	if diff := cmp.Diff(map[string]string{"a": "3", "b": "1", "c": "1"}, found(t, c.dir)); diff != "" {
		t.Errorf("the files (-want +got):\n%s", diff)
	}
}

// TestBegin pushes a branch that was not there, and puts it on top of one that is there meanwhile.
func TestBegin(t *testing.T) {
	for _, meanwhile := range []bool{false, true} {
		f := serve(t)
		if meanwhile {
			f.seed(files(t, map[string]string{"a": "1"}))
		}
		repo, err := Create(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := repo.Begin("main", Author{"a", "b"}); err != nil {
			t.Fatal(err)
		}
		c := &copied{forge: f, repo: repo, dir: t.TempDir()}
		if c.root, err = os.OpenRoot(c.dir); err != nil {
			t.Fatal(err)
		}
		c.put(map[string]string{"b": "1"})
		c.commit("ours")
		c.pushed("main")
		want := map[bool]string{false: "ours Initial commit of main", true: "ours seed"}[meanwhile]
		if got := strings.ReplaceAll(f.ask("log", "--format=%s", "main"), "\n", " "); got != want {
			t.Errorf("the commits are %q, want %q", got, want)
		}
		if err := c.root.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUncommitted does not push what would have to change files that were not committed.
func TestUncommitted(t *testing.T) {
	for name, c := range map[string]struct {
		there map[string]string
		want  string
	}{
		"Another":    {map[string]string{"c": "c"}, ""},
		"Changed":    {map[string]string{"b": "changed"}, `"b" was changed and not committed`},
		"In the way": {map[string]string{"theirs": "mine"}, `"theirs" was changed and not committed`},
		"The same":   {map[string]string{"theirs": "x"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t)
			dir := f.seed(files(t, map[string]string{"a": "1", "b": "1"}))
			copied := f.clone(Ref{Branch: "main"})
			f.more(dir, "theirs", files(t, map[string]string{"b": "2", "theirs": "x"}))
			copied.put(map[string]string{"a": "2"})
			copied.commit("ours")
			copied.put(c.there)
			before := f.ask("rev-parse", "main")
			err := copied.push("main")
			if (err != nil) != (c.want != "") || c.want != "" && (!errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), c.want) || before != f.ask("rev-parse", "main")) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestRecover completes what a process that ended had begun, wherever it was.
func TestRecover(t *testing.T) {
	f := serve(t)
	dir := f.seed(files(t, map[string]string{"a": "1", "b": "1", "d/e": "1", "f": "1"}))
	first := f.clone(Ref{Branch: "main"})
	f.more(dir, "theirs", func(dir string) {
		files(t, map[string]string{"a": "2", "n/m": "2"})(dir)
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, "d")), os.Remove(filepath.Join(dir, "f")), os.Symlink("a", filepath.Join(dir, "f"))); err != nil {
			t.Fatal(err)
		}
	})
	want := map[string]string{"a": "2", "b": "1", "n/m": "2", "f": "-> a", "own": "x"}
	for name, half := range map[string]func(dir string){
		"Nothing": func(string) {},
		"Some":    files(t, map[string]string{"a": "2", "n/m": "2"}),
		"Half":    files(t, map[string]string{"n/m": ""}),
		"Deleted": func(dir string) {
			_ = errors.Join(os.RemoveAll(filepath.Join(dir, "d")), os.Remove(filepath.Join(dir, "f")))
		},
		"Everything": func(dir string) {
			f.git(dir, "--git-dir", f.server.Dir("deploy"), "--work-tree", dir, "checkout", "-q", "-f", "main", "--", ".")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := f.clone(Ref{Commit: first.repo.Head()})
			c.put(map[string]string{"own": "x"})
			server, err := f.remote.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tip := plumbing.NewHash(server.Branch("main"))
			if err := c.repo.deepen(t.Context(), server, tip); err != nil {
				t.Fatal(err)
			}
			half(c.dir)
			c.repo.record.Moving = tip
			if err := c.repo.save(); err != nil {
				t.Fatal(err)
			}
			c.again()
			if err := c.repo.Recover(t.Context(), c.root); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, found(t, c.dir)); diff != "" || c.repo.Head() != tip.String() {
				t.Errorf("%s: the files (-want +got):\n%s", c.repo.Head(), diff)
			}
			c.again()
			c.commit("own")
		})
	}
}
