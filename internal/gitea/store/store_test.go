package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitea/store"
)

var key = bytes.Repeat([]byte{7}, 32)

func open(t *testing.T, dir string, key []byte) *store.Store {
	t.Helper()
	s, err := store.Open(dir, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fill(d *store.Data) error {
	d.Accounts = append(d.Accounts, store.Account{ID: d.Next(), Name: "Ann"})
	d.Repositories = append(d.Repositories, store.Repository{ID: d.Next(), Owner: 1, Name: "app"}, store.Repository{ID: d.Next(), Owner: 1, Name: "shown", Mirror: "a mirror"})
	d.Hooks = append(d.Hooks,
		store.Hook{ID: d.Next(), Secrets: store.Secrets{URL: "http://user:hunter2@example.com", Secret: "swordfish"}},
		store.Hook{ID: d.Next(), Repository: 3},
	)
	return nil
}

func read(s *store.Store) store.Data {
	var all store.Data
	s.Read(func(d *store.Data) { all = *d })
	return all
}

func TestRestart(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, key).Write(fill); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "gitea.json"))
	if err != nil || bytes.Contains(content, []byte("hunter2")) || bytes.Contains(content, []byte("swordfish")) {
		t.Errorf("the file has a secret in clear, or %v:\n%s", err, content)
	}
	got := read(open(t, dir, key))
	if _, owner, ok := got.Repository("ANN", "App"); !ok || owner.Name != "Ann" {
		t.Errorf("ANN/App is not there after a restart: %+v", got)
	}
	if len(got.Repositories) != 1 || len(got.Hooks) != 1 || got.Hooks[0].Secrets.Secret != "swordfish" {
		t.Errorf("kept %+v, want one repository and one hook with its secret", got)
	}
	if got.Next() != 6 {
		t.Error("an ID is given twice")
	}
	for name, other := range map[string][]byte{"Other": bytes.Repeat([]byte{8}, 32), "None": nil} {
		if _, err := store.Open(dir, other); err == nil {
			t.Errorf("%s: opened with another key", name)
		}
	}
}

func TestWithoutKey(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	if err := s.Write(fill); err != nil {
		t.Fatal(err)
	}
	if got := read(s); len(got.Hooks) != 2 {
		t.Errorf("hooks in memory: %+v", got.Hooks)
	}
	if got := read(open(t, dir, nil)); len(got.Hooks) != 0 {
		t.Errorf("hooks on disk without a key: %+v", got.Hooks)
	}
}

// TestDisk has a change that cannot be written undone.
func TestDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir, key)
	if err := s.Write(fill); err != nil {
		t.Fatal(err)
	}
	before := read(s)
	if err := os.Rename(dir, dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(fill); err == nil {
		t.Error("a change was kept that is not on disk")
	}
	if diff := cmp.Diff(before, read(s)); diff != "" {
		t.Errorf("after a change that failed (-want +got):\n%s", diff)
	}
	if err := os.Rename(dir+"-gone", dir); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	if err := s.Write(func(d *store.Data) error { d.Accounts[0].Name = "Eve"; return refused }); !errors.Is(err, refused) {
		t.Errorf("error %v, want %v", err, refused)
	}
	if got := read(s).Accounts[0].Name; got != "Ann" {
		t.Errorf("a refused change was kept: %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "gitea.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir, key); err == nil {
		t.Error("a broken file was opened")
	}
}

func TestPasswords(t *testing.T) {
	hash, err := store.HashPassword("right")
	if err != nil {
		t.Fatal(err)
	}
	if !store.CheckPassword(hash, "right") || store.CheckPassword(hash, "wrong") || store.CheckPassword("", "") {
		t.Error("passwords are not told apart")
	}
}
