package steps

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// planted is an entry of a repository: a file, a link or the commit of a nested repository.
type planted struct {
	mode filemode.FileMode
	text string
}

// plant writes a commit of entries into a repository of the server, past all that Git would refuse to add, and has main name it.
func (f *forge) plant(t *testing.T, name string, entries map[string]planted) (url string) {
	t.Helper()
	if err := f.server.CreateRepo(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	repo, err := git.PlainOpen(f.server.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	head := committed(t, repo, entries)
	if err := repo.Storer.SetReference(plumbing.NewHashReference("refs/heads/main", head)); err != nil {
		t.Fatal(err)
	}
	return f.server.URL(name)
}

func committed(t *testing.T, repo *git.Repository, entries map[string]planted) plumbing.Hash {
	t.Helper()
	who := object.Signature{Name: "mallory", Email: "mallory@example.org", When: time.Unix(1700000000, 0)}
	return encoded(t, repo, &object.Commit{Author: who, Committer: who, Message: "x\n", TreeHash: treeOf(t, repo, entries)})
}

// treeOf writes the directories of entries, which have their paths.
func treeOf(t *testing.T, repo *git.Repository, entries map[string]planted) plumbing.Hash {
	t.Helper()
	tree, below := &object.Tree{}, map[string]map[string]planted{}
	for name, p := range entries {
		if first, rest, deeper := strings.Cut(name, "/"); deeper {
			if below[first] == nil {
				below[first] = map[string]planted{}
			}
			below[first][rest] = p
			continue
		}
		entry := object.TreeEntry{Name: name, Mode: p.mode, Hash: plumbing.NewHash(p.text)}
		if p.mode != filemode.Submodule {
			entry.Hash = blobOf(t, repo, plumbing.BlobObject, []byte(p.text))
		}
		tree.Entries = append(tree.Entries, entry)
	}
	for name, inner := range below {
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: treeOf(t, repo, inner)})
	}
	slices.SortFunc(tree.Entries, func(a, b object.TreeEntry) int {
		as := func(e object.TreeEntry) string { return e.Name + map[bool]string{true: "/"}[e.Mode == filemode.Dir] }
		return strings.Compare(as(a), as(b))
	})
	return encoded(t, repo, tree)
}

func encoded(t *testing.T, repo *git.Repository, what object.Object) plumbing.Hash {
	t.Helper()
	o := repo.Storer.NewEncodedObject()
	if err := what.Encode(o); err != nil {
		t.Fatal(err)
	}
	hash, err := repo.Storer.SetEncodedObject(o)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func blobOf(t *testing.T, repo *git.Repository, kind plumbing.ObjectType, data []byte) plumbing.Hash {
	t.Helper()
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	if _, err := o.Write(data); err != nil {
		t.Fatal(err)
	}
	hash, err := repo.Storer.SetEncodedObject(o)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// trap are the entries of a repository that has another one among its files, whose settings name a program: Git runs it once it takes the
// directory sub for a nested repository, which the link leads it to.
func trap(t *testing.T, program string) map[string]planted {
	t.Helper()
	dir := t.TempDir()
	repo, err := git.PlainInit(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	inner := committed(t, repo, map[string]planted{"a": {filemode.Regular, "hello\n"}})
	var known bytes.Buffer
	if err := index.NewEncoder(&known).Encode(&index.Index{Version: 2, Entries: []*index.Entry{
		{Name: "a", Mode: filemode.Regular, Hash: blobOf(t, repo, plumbing.BlobObject, []byte("hello\n"))},
	}}); err != nil {
		t.Fatal(err)
	}
	entries := map[string]planted{
		"fake/HEAD":            {filemode.Regular, "ref: refs/heads/main\n"},
		"fake/refs/heads/main": {filemode.Regular, inner.String() + "\n"},
		"fake/info/attributes": {filemode.Regular, "* filter=x\n"},
		"fake/index":           {filemode.Regular, known.String()},
		"fake/config":          {filemode.Regular, fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../wt\n[filter \"x\"]\n\tclean = \"%s; cat\"\n", program)},
		"wt/a":                 {filemode.Regular, "hello\n"},
		"gitlink":              {filemode.Symlink, "sub/.git"},
		"sub":                  {filemode.Submodule, inner.String()},
	}
	objects := os.DirFS(dir)
	if err := fs.WalkDir(objects, "objects", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(objects, name)
		entries["fake/"+name] = planted{filemode.Regular, string(data)}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestHostileRepository clones a repository that would have Git run a program, and does with it what promotions do.
func TestHostileRepository(t *testing.T) {
	f := serve(t)
	mark := filepath.Join(t.TempDir(), "mark")
	url := f.plant(t, "evil", trap(t, "touch "+mark))
	for name, second := range map[string]struct{ uses, config, want string }{
		"Through the link": {"file-write", `{"path": "./repo/gitlink", "contents": "gitdir: ../fake\n", "overwrite": true}`, `"repo/gitlink" is a symbolic link`},
		"By its name":      {"file-write", `{"path": "./repo/sub/.git", "contents": "gitdir: ../fake\n"}`, "Git's own"},
		"In capitals":      {"file-write", `{"path": "./repo/sub/.GIT", "contents": "gitdir: ../fake\n"}`, "Git's own"},
		"Short":            {"file-write", `{"path": "./repo/sub/git~1", "contents": "gitdir: ../fake\n"}`, "Git's own"},
		"Ignored letters":  {"file-write", `{"path": "./repo/sub/.g\u200cit", "contents": "gitdir: ../fake\n"}`, "Git's own"},
		"A copy":           {"copy", `{"inPath": "./repo/fake", "outPath": "./repo/sub/.git"}`, "Git's own"},
		"A copy to a link": {"copy", `{"inPath": "./repo/fake/HEAD", "outPath": "./repo/gitlink"}`, `"repo/gitlink" is a symbolic link`},
		"A path of clone":  {"git-clone", fmt.Sprintf(`{"repoURL": %q, "checkout": [{"branch": "main", "path": "elsewhere/.git"}]}`, url), "Git's own"},
	} {
		t.Run(name, func(t *testing.T) {
			w := f.run(t, f.work(t, "p"), "git-clone", clone(url, "main", false))
			if result := f.try(t, w, second.uses, second.config); !result.Terminal || !strings.Contains(result.Message, second.want) {
				t.Errorf("the step is %s: %q, want %q", result.Status, result.Message, second.want)
			}
			put(t, w, "repo/values.yaml", "a: 1\n")
			w = f.run(t, w, "git-commit", `{"path": "./repo", "message": "x"}`)
			f.run(t, w, "git-push", `{"path": "./repo", "targetBranch": "x"}`)
			if _, err := os.Lstat(mark); err == nil {
				t.Error("a program of the repository ran")
				_ = os.Remove(mark)
			}
		})
	}
}

// TestForcedGitFile has the file of a nested repository there by other means than a step: nothing is committed, and nothing runs.
func TestForcedGitFile(t *testing.T) {
	f := serve(t)
	mark := filepath.Join(t.TempDir(), "mark")
	url := f.plant(t, "evil", trap(t, "touch "+mark))
	for _, name := range []string{"sub/.git", "wt/.git", "wt/.GIT"} {
		w := f.run(t, f.work(t, "p"), "git-clone", clone(url, "main", false))
		put(t, w, "repo/"+name, "gitdir: ../fake\n")
		result := f.try(t, w, "git-commit", `{"path": "./repo", "message": "x"}`)
		if !result.Terminal || !strings.Contains(result.Message, strings.TrimSuffix(name, "/.git")) {
			t.Errorf("a commit with %s is %s: %s", name, result.Status, result.Message)
		}
		if _, err := os.Lstat(mark); err == nil {
			t.Fatal("a program of the repository ran")
		}
	}
}

// TestLinks has steps read and write by paths that a link of a repository is a part of.
func TestLinks(t *testing.T) {
	f := serve(t)
	url := f.plant(t, "links", map[string]planted{
		"dir/file.yaml":          {filemode.Regular, "a: 1\n"},
		"dir/file.json":          {filemode.Regular, "{\"a\": 1}\n"},
		"dir/kustomization.yaml": {filemode.Regular, "resources: []\n"},
		"dir/Chart.yaml":         {filemode.Regular, "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: n, repository: r, version: 1.0.0}]\n"},
		"up":                     {filemode.Symlink, "dir"},
		"out":                    {filemode.Symlink, "."},
		"far/link.yaml":          {filemode.Symlink, "../dir/file.yaml"},
		"far/link.json":          {filemode.Symlink, "../dir/file.json"},
		"far/kustomization.yaml": {filemode.Symlink, "../dir/kustomization.yaml"},
		"far/Chart.yaml":         {filemode.Symlink, "../dir/Chart.yaml"},
	})
	const outputs, updates = `"outputs": [{"name": "a", "fromExpression": "a"}]`, `"updates": [{"key": "a", "value": 2}]`
	const images, charts = `"images": [{"image": "a", "tag": "1"}]`, `"charts": [{"repository": "r", "name": "n", "version": "2.0.0"}]`
	for name, c := range map[string]struct{ uses, config, link string }{
		"json-parse":                 {"json-parse", `{"path": "repo/far/link.json", ` + outputs + `}`, "repo/far/link.json"},
		"json-parse below":           {"json-parse", `{"path": "repo/up/file.json", ` + outputs + `}`, "repo/up"},
		"yaml-parse":                 {"yaml-parse", `{"path": "repo/far/link.yaml", ` + outputs + `}`, "repo/far/link.yaml"},
		"yaml-parse below":           {"yaml-parse", `{"path": "repo/up/file.yaml", ` + outputs + `}`, "repo/up"},
		"json-update":                {"json-update", `{"path": "repo/far/link.json", ` + updates + `}`, "repo/far/link.json"},
		"json-update below":          {"json-update", `{"path": "repo/up/file.json", ` + updates + `}`, "repo/up"},
		"yaml-update":                {"yaml-update", `{"path": "repo/far/link.yaml", ` + updates + `}`, "repo/far/link.yaml"},
		"yaml-update below":          {"yaml-update", `{"path": "repo/up/file.yaml", ` + updates + `}`, "repo/up"},
		"kustomize-set-image":        {"kustomize-set-image", `{"path": "repo/far", ` + images + `}`, "repo/far/kustomization.yaml"},
		"kustomize-set-image below":  {"kustomize-set-image", `{"path": "repo/up", ` + images + `}`, "repo/up"},
		"kustomize-build":            {"kustomize-build", `{"path": "repo/up", "outPath": "built.yaml"}`, "repo/up"},
		"kustomize-build to":         {"kustomize-build", `{"path": "repo/dir", "outPath": "repo/far/link.yaml"}`, "repo/far/link.yaml"},
		"kustomize-build to below":   {"kustomize-build", `{"path": "repo/dir", "outPath": "repo/up/built.yaml"}`, "repo/up"},
		"helm-update-chart":          {"helm-update-chart", `{"path": "repo/far", ` + charts + `}`, "repo/far/Chart.yaml"},
		"helm-update-chart below":    {"helm-update-chart", `{"path": "repo/up", ` + charts + `}`, "repo/up"},
		"helm-template":              {"helm-template", `{"path": "repo/up", "outPath": "rendered.yaml"}`, "repo/up"},
		"helm-template of values":    {"helm-template", `{"path": "chart", "outPath": "rendered.yaml", "valuesFiles": ["repo/far/link.yaml"]}`, "repo/far/link.yaml"},
		"helm-template to":           {"helm-template", `{"path": "chart", "outPath": "repo/far/link.yaml"}`, "repo/far/link.yaml"},
		"helm-template to directory": {"helm-template", `{"path": "chart", "outPath": "repo/up"}`, "repo/up"},
		"copy":                       {"copy", `{"inPath": "repo/far/link.yaml", "outPath": "copied"}`, "repo/far/link.yaml"},
		"copy below":                 {"copy", `{"inPath": "repo/up", "outPath": "copied"}`, "repo/up"},
		"copy to":                    {"copy", `{"inPath": "repo/dir/file.yaml", "outPath": "repo/far/link.yaml"}`, "repo/far/link.yaml"},
		"copy to below":              {"copy", `{"inPath": "chart", "outPath": "repo/up"}`, "repo/up"},
		"delete below":               {"delete", `{"path": "repo/up/file.yaml"}`, "repo/up"},
		"file-write":                 {"file-write", `{"path": "repo/far/link.yaml", "contents": "", "overwrite": true}`, "repo/far/link.yaml"},
		"file-write below":           {"file-write", `{"path": "repo/up/new", "contents": ""}`, "repo/up"},
		"file-write again below":     {"file-write", `{"path": "repo/out/out/up/new", "contents": ""}`, "repo/out"},
	} {
		t.Run(name, func(t *testing.T) {
			w := f.run(t, f.work(t, "p"), "git-clone", clone(url, "main", false))
			put(t, w, "chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
			put(t, w, "chart/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
			result := f.try(t, w, c.uses, c.config)
			if want := fmt.Sprintf("%q is a symbolic link", c.link); !result.Terminal || !strings.Contains(result.Message, want) {
				t.Errorf("it is %s: %q, want %q", result.Status, result.Message, want)
			}
			if commit := f.try(t, w, "git-commit", `{"path": "./repo", "message": "x"}`); commit.Status != plan.StepSkipped {
				t.Errorf("a commit afterwards is %s: %s", commit.Status, commit.Message)
			}
		})
	}
	w := f.run(t, f.work(t, "p"), "git-clone", clone(url, "main", false))
	w = f.run(t, w, "delete", `{"path": "repo/up"}`)
	if get(t, w, "repo/dir/file.yaml") == "" {
		t.Error("deleting a link deleted what it leads to")
	}
	if commit := f.try(t, w, "git-commit", `{"path": "./repo", "message": "x"}`); commit.Status != plan.StepSucceeded {
		t.Errorf("deleting a link is %s: %s", commit.Status, commit.Message)
	}
}

// TestLinksOutOfACheckout has a repository name files of another one, to be rendered as its own. A link that nothing renders is no matter.
func TestLinksOutOfACheckout(t *testing.T) {
	f := serve(t)
	for name, c := range map[string]struct{ link, want string }{
		"Within":   {"../dir/file.yaml", ""},
		"Another":  {"../../other/images.json", "outside the source"},
		"Absolute": {"/etc/passwd", "outside the source"},
	} {
		t.Run(name, func(t *testing.T) {
			url := f.plant(t, strings.ToLower(name), map[string]planted{
				"dir/file.yaml":          {filemode.Regular, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
				"far/kustomization.yaml": {filemode.Regular, "resources: [link.yaml]\n"},
				"far/link.yaml":          {filemode.Symlink, c.link},
				"unused":                 {filemode.Symlink, "../../elsewhere"},
			})
			w := f.run(t, f.work(t, "p"), "git-clone", clone(url, "main", false))
			w = f.run(t, w, "git-clone", fmt.Sprintf(`{"repoURL": %q, "checkout": [{"branch": "main", "path": "other"}]}`, f.url))
			result := f.try(t, w, "kustomize-build", `{"path": "repo/far", "outPath": "out.yaml"}`)
			if (c.want == "") != (result.Status == plan.StepSucceeded) || !strings.Contains(result.Message, c.want) {
				t.Errorf("it is %s: %q, want %q", result.Status, result.Message, c.want)
			}
		})
	}
}
