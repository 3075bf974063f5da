package source

import (
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// TestQuota bounds what a repository brings together with its submodules: each case is that of one that is almost at a limit.
func TestQuota(t *testing.T) {
	dir := t.TempDir()
	if _, err := git.PlainInit(dir, true); err != nil {
		t.Fatal(err)
	}
	q := newQuota()
	repo, err := openBounded(dir, q)
	if err != nil {
		t.Fatal(err)
	}
	stored := func(kind plumbing.ObjectType, size int) plumbing.Hash {
		t.Helper()
		o := repo.Storer.NewEncodedObject()
		o.SetType(kind)
		w, err := o.Writer()
		if err == nil {
			_, err = w.Write(make([]byte, size))
		}
		if err != nil {
			t.Fatal(err)
		}
		hash, err := repo.Storer.SetEncodedObject(o)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	small := stored(plumbing.BlobObject, 10)
	root := &object.Tree{Entries: []object.TreeEntry{{Name: "a.yaml", Mode: filemode.Regular, Hash: small}}}
	o := repo.Storer.NewEncodedObject()
	if err := root.Encode(o); err != nil {
		t.Fatal(err)
	}
	hash, err := repo.Storer.SetEncodedObject(o)
	if err != nil {
		t.Fatal(err)
	}
	if root, err = repo.TreeObject(hash); err != nil {
		t.Fatal(err)
	}
	sent := func(n int) error {
		w, err := repo.Storer.(*bounded).PackfileWriter()
		if err != nil {
			return err
		}
		_, err = w.Write(make([]byte, n))
		// What was written is no pack, which is not what this is about.
		_ = w.Close()
		return err
	}
	all := KeepAll
	none, err := readRules(nil, &all, nil)
	if err != nil {
		t.Fatal(err)
	}
	big := stored(plumbing.TreeObject, maxObject+1)
	cases := map[string]struct {
		reason string
		full   quota
		do     func(r *remote) error
		want   string
	}{
		"packs": {"what servers send is counted while they do", quota{packed: mostPacked - 10}, func(*remote) error { return sent(11) }, "the server sends more than 2147483648 bytes, submodules included"},
		"paths": {"the names of files, read or not", quota{paths: mostPathBytes - 5}, func(r *remote) error { _, _, err := r.entries(t.Context(), root); return err }, "more than 134217728 bytes together"},
		"path":  {"one name", quota{}, func(*remote) error { return q.path(strings.Repeat("a/", 3000)) }, "has 6000 bytes, more than 4096"},
		"files": {"files of submodules count with those of the repository", quota{budget: budget{files: DefaultLimits().Files}}, func(*remote) error {
			_, err := (&blobReader{root: root, taken: &q.budget}).file(blob{"a.yaml", root.Entries[0]})
			return err
		}, "more than 200000 files"},
		"included": {"and those that are included", quota{budget: budget{bytes: DefaultLimits().Bytes}}, func(*remote) error {
			_, err := include(nil, []inclusion{{NewFile("x", 0o644, []byte("x")), "other"}}, none, &q.budget)
			return err
		}, "more than 1073741824 bytes"},
		"object": {"a directory that names more than any machine can hold", quota{}, func(*remote) error { _, err := repo.TreeObject(big); return err }, "has 67108865 bytes, more than 67108864"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := &remote{quota: q, options: GitOptions{RecurseSubmodules: true}, nesting: 1}
			*q = *newQuota()
			if c.do(r) != nil && name != "path" && name != "object" {
				t.Fatalf("%s: it fails without being at the limit", c.reason)
			}
			limits := q.limits
			*q = c.full
			q.limits = limits
			if err := c.do(r); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.reason, err, c.want)
			}
		})
	}
	if q.modules = mostModules; q.module() == nil {
		t.Error("there is no bound of submodules")
	}
}
