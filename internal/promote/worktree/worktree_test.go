package worktree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
)

// everything writes files of all kinds, and a nested repository.
func everything(t *testing.T) func(dir string) {
	return func(dir string) {
		files(t, map[string]string{"a.yaml": "a\n", "apps/web/b": "b\n", "apps/web/deep/c": "c\n", "apps/other/d": "d\n", "apps/e": "e\n", "run.sh": "#!/bin/sh\n", ".gitignore": "*.log\n/out/\n", "kept.log": "tracked\n"})(dir)
		if err := errors.Join(os.Chmod(filepath.Join(dir, "run.sh"), 0o700), os.Symlink("../a.yaml", filepath.Join(dir, "apps/link"))); err != nil {
			t.Fatal(err)
		}
	}
}

func seedEverything(t *testing.T, f *forge) (dir string) {
	t.Helper()
	dir = f.t.TempDir()
	f.git(dir, "init", "-q")
	everything(t)(dir)
	f.git(dir, "add", "--all", "--force")
	f.git(dir, "update-index", "--add", "--cacheinfo", "160000,0123456789012345678901234567890123456789,nested")
	f.git(dir, "commit", "-q", "-m", "seed")
	f.git(dir, "tag", "-a", "v1", "-m", "v1")
	f.git(dir, "push", "-q", f.server.Dir("deploy"), "main", "v1")
	return dir
}

// TestCheckout writes and commits files of all kinds: nothing is lost by it, and what is not checked out stays.
func TestCheckout(t *testing.T) {
	f := serve(t)
	dir := seedEverything(t, f)
	all := map[string]string{
		"a.yaml": "a\n", "apps/web/b": "b\n", "apps/web/deep/c": "c\n", "apps/other/d": "d\n", "apps/e": "e\n", "run.sh": "run #!/bin/sh\n",
		".gitignore": "*.log\n/out/\n", "kept.log": "tracked\n", "apps/link": "-> ../a.yaml", "nested": "empty",
	}
	before := f.listed("main")
	id := f.git(dir, "rev-parse", "HEAD")
	for name, ref := range map[string]Ref{"Branch": {Branch: "main"}, "Default": {}, "Tag": {Tag: "v1"}, "Commit": {Commit: id}} {
		c := f.clone(ref)
		if diff := cmp.Diff(all, found(t, c.dir)); diff != "" || c.repo.Head() != id {
			t.Errorf("%s: %s: the files (-want +got):\n%s", name, c.repo.Head(), diff)
		}
		if changed, err := c.repo.Commit(t.Context(), c.root, "nothing", Author{"a", "b"}); err != nil || changed {
			t.Errorf("%s: a commit without a change: %v, %v", name, changed, err)
		}
	}
	c := f.clone(Ref{Branch: "main"}, "apps/web")
	want := map[string]string{}
	for name, text := range all {
		if name != "apps/other/d" {
			want[name] = text
		}
	}
	if diff := cmp.Diff(want, found(t, c.dir)); diff != "" {
		t.Errorf("the files of a sparse checkout (-want +got):\n%s", diff)
	}
	c.put(map[string]string{"apps/web/new": "new\n", "noise.log": "x", "out/x": "x", "apps/web/out/y": "y", "kept.log": "changed\n"})
	c.again()
	c.commit("\n  more  \n\n\n\ntext\n")
	c.pushed("main")
	after := slices.Sorted(slices.Values(append(before, "100644 apps/web/new", "100644 apps/web/out/y")))
	if diff := cmp.Diff(after, f.listed("main")); diff != "" {
		t.Errorf("the commit (-want +got):\n%s", diff)
	}
	if got := f.ask("log", "-1", "--format=%B|%an|%ae", "main"); got != "  more\n\ntext\n|Headgate|no-reply@example.org" {
		t.Errorf("the commit says %q", got)
	}
	if got := f.ask("show", "main:kept.log"); got != "changed" {
		t.Errorf("a file that is ignored and tracked is %q", got)
	}
	f.ask("fsck", "--strict")
}

// TestNested keeps the entry of a nested repository, deletes it with its directory, and commits nothing below it.
func TestNested(t *testing.T) {
	f := serve(t)
	seedEverything(t, f)
	c := f.clone(Ref{Branch: "main"})
	c.put(map[string]string{"nested/file": "x"})
	if _, err := c.repo.Commit(t.Context(), c.root, "x", Author{"a", "b"}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), `"nested" is a nested repository`) {
		t.Errorf("a file in it: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(c.dir, "nested")); err != nil {
		t.Fatal(err)
	}
	c.commit("without")
	c.pushed("main")
	if slices.ContainsFunc(f.listed("main"), func(one string) bool { return strings.HasSuffix(one, "nested") }) {
		t.Error("it is still there")
	}
}

// TestOutsideOfSparse refuses to commit beside the directories of a checkout, also under a name that differs by case alone.
func TestOutsideOfSparse(t *testing.T) {
	f := serve(t)
	f.seed(everything(t))
	for name, want := range map[string]string{"apps/other/x": `"apps/other" is outside`, "Apps/web/x": `"Apps" is outside`, "apps/OTHER": `"apps/OTHER" is, or is on other file systems, "apps/other"`, "apps/other": `"apps/other" is`} {
		c := f.clone(Ref{Branch: "main"}, "apps/web")
		c.put(map[string]string{name: "x"})
		if _, err := c.repo.Commit(t.Context(), c.root, "x", Author{"a", "b"}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// plant has main name a commit whose directory has these entries, past all that Git would refuse.
func (f *forge) plant(entries ...object.TreeEntry) {
	f.t.Helper()
	repo, err := git.PlainOpen(f.server.Dir("deploy"))
	if err != nil {
		f.t.Fatal(err)
	}
	keep := func(write func(o plumbing.EncodedObject) error) plumbing.Hash {
		o := &plumbing.MemoryObject{}
		if err := write(o); err != nil {
			f.t.Fatal(err)
		}
		hash, err := repo.Storer.SetEncodedObject(o)
		if err != nil {
			f.t.Fatal(err)
		}
		return hash
	}
	text := keep(func(o plumbing.EncodedObject) error {
		o.SetType(plumbing.BlobObject)
		w, err := o.Writer()
		if err != nil {
			return err
		}
		_, err = w.Write([]byte("x"))
		return err
	})
	tree := keep(func(o plumbing.EncodedObject) error {
		o.SetType(plumbing.TreeObject)
		w, err := o.Writer()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Hash.IsZero() {
				e.Hash = text
			}
			if _, err := fmt.Fprintf(w, "%o %s\x00%s", e.Mode, e.Name, e.Hash[:]); err != nil {
				return err
			}
		}
		return nil
	})
	who := Author{"mallory", "m@example.org"}.signature()
	head := keep((&object.Commit{Author: who, Committer: who, Message: "x", TreeHash: tree}).Encode)
	if err := repo.Storer.SetReference(plumbing.NewHashReference("refs/heads/main", head)); err != nil {
		f.t.Fatal(err)
	}
}

// TestHostileNames refuses trees whose names are not those of files, or are Git's own.
func TestHostileNames(t *testing.T) {
	f := serve(t)
	for _, name := range []string{".git", ".GIT", "git~1", ".g\u200cit", "..", ".", "a/b", "../x", ".git "} {
		for _, mode := range []filemode.FileMode{filemode.Regular, filemode.Symlink, filemode.Submodule} {
			f.plant(object.TreeEntry{Name: name, Mode: mode})
			c, err := f.tryClone(Ref{Branch: "main"})
			if !errors.Is(err, ErrRefused) {
				t.Errorf("%q with mode %s: %v", name, mode, err)
			}
			if all := found(t, c.dir); len(all) > 0 {
				t.Errorf("%q with mode %s wrote %v", name, mode, all)
			}
		}
	}
	f.plant(object.TreeEntry{Name: "a", Mode: filemode.Symlink}, object.TreeEntry{Name: "a", Mode: filemode.Regular})
	if _, err := f.tryClone(Ref{Branch: "main"}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "twice") {
		t.Errorf("two of one name: %v", err)
	}
}

// TestFolds refuses names that are one name on the file system, and takes a file for the one of the commit.
func TestFolds(t *testing.T) {
	f := serve(t)
	f.plant(object.TreeEntry{Name: "A", Mode: filemode.Symlink}, object.TreeEntry{Name: "a", Mode: filemode.Regular})
	c := f.clone(Ref{Branch: "main"})
	head, err := c.repo.commit(c.repo.record.Head)
	if err != nil {
		t.Fatal(err)
	}
	w := c.repo.writer(t.Context(), c.root)
	if w.folds {
		t.Skip("the file system of the test ignores case")
	}
	w.folds = true
	if _, err := w.named(head.TreeHash, "."); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "one name") {
		t.Errorf("two names that are one: %v", err)
	}
	for _, pair := range [][2]string{{"README", "readme"}, {"straße", "STRASSE"}, {"\u00e9", "e\u0301"}, {"a\u200cb", "ab"}} {
		if folded(pair[0]) != folded(pair[1]) {
			t.Errorf("%q and %q are two names", pair[0], pair[1])
		}
	}
}

// TestMissing names what a repository does not have, and no login.
func TestMissing(t *testing.T) {
	f := serve(t)
	if _, err := f.tryClone(Ref{}); !errors.Is(err, ErrMissing) {
		t.Errorf("an empty repository: %v", err)
	}
	dir := f.seed(files(t, map[string]string{"a": "1"}))
	first := f.git(dir, "rev-parse", "HEAD")
	f.more(dir, "more", files(t, map[string]string{"a": "2"}))
	if c := f.clone(Ref{Commit: first}); found(t, c.dir)["a"] != "1" {
		t.Error("a commit within the history has other files")
	}
	for name, ref := range map[string]Ref{"Branch": {Branch: "none"}, "Tag": {Tag: "none"}, "Commit": {Commit: strings.Repeat("1", 40)}} {
		if _, err := f.tryClone(ref); !errors.Is(err, ErrMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.remote.Password = "wr0ng"
	if _, err := f.tryClone(Ref{}); err == nil || strings.Contains(err.Error(), "wr0ng") || !strings.Contains(err.Error(), "authentication") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestBounds refuses more than a server may send.
func TestBounds(t *testing.T) {
	pack := func(count uint32, object ...byte) io.Reader {
		head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("PACK"), 2), count)
		return strings.NewReader(string(append(head, object...)))
	}
	// An object of four bits and six groups of seven says that it has 2^45 bytes.
	large := []byte{0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	for name, from := range map[string]io.Reader{"Objects": pack(maxObjects + 1), "Bytes": pack(1, large...)} {
		if _, err := measure(t.Context(), from); !errors.Is(err, errLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	body := &boundedBody{io.NopCloser(strings.NewReader("12345")), 4, 4}
	if _, err := io.ReadAll(body); !errors.Is(err, errLarge) {
		t.Errorf("a response that is too long: %v", err)
	}
	followed := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.String(), http.StatusFound)
	}))
	defer server.Close()
	if _, err := (Remote{URL: server.URL + "/r.git", Client: server.Client()}).Connect(t.Context()); err == nil || followed {
		t.Errorf("a redirect is followed: %v, %v", followed, err)
	}
}
