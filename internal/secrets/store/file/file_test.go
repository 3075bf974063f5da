package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/file"
)

const content = `
text: plain
team/db: {password: p, port: 5432, "a.b": dotted}
team:
    web: {token: t}
nothing: null
sections:
    dev: {text: of dev}
`

// seal writes an encrypted file and returns its path with the keys that open it.
func seal(t *testing.T, path, text string, keys *decrypt.Keys, recipient string) *decrypt.Keys {
	t.Helper()
	if keys == nil {
		identity, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		if keys, err = decrypt.ParseAge([]byte(identity.String())); err != nil {
			t.Fatal(err)
		}
		recipient = identity.Recipient().String()
	}
	closed, err := decrypttest.Encrypt([]byte(text), decrypt.YAML, "", recipient)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, closed)
	return keys
}

// write replaces a file as editors do.
func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, config file.Config) *file.Client {
	t.Helper()
	client, err := file.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestGet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets.yaml")
	keys := seal(t, path, content, nil, "")
	client := open(t, file.Config{Path: path, Keys: keys})
	for name, tc := range map[string]struct {
		ref  store.Ref
		want string
		is   error
	}{
		"Text":       {store.Ref{Key: "text"}, "plain", nil},
		"Exact":      {store.Ref{Key: "team/db", Property: "password"}, "p", nil},
		"Number":     {store.Ref{Key: "team/db", Property: "port"}, "5432", nil},
		"Dotted":     {store.Ref{Key: "team/db", Property: "a.b"}, "dotted", nil},
		"Nested":     {store.Ref{Key: "/team/web", Property: "token"}, "t", nil},
		"Object":     {store.Ref{Key: "team/web"}, `{"token":"t"}`, nil},
		"NoProperty": {store.Ref{Key: "team/web", Property: "x"}, "", store.ErrNoProperty},
		"Missing":    {store.Ref{Key: "team/none"}, "", store.ErrNotFound},
		"Null":       {store.Ref{Key: "nothing"}, "", store.ErrNotFound},
		"Version":    {store.Ref{Key: "text", Version: "1"}, "", store.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Get(t.Context(), tc.ref)
			if string(got) != tc.want || !errors.Is(err, tc.is) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
			}
		})
	}
	section := open(t, file.Config{Path: path, Keys: keys, Section: "sections/dev"})
	if got, err := section.Get(t.Context(), store.Ref{Key: "text"}); err != nil || string(got) != "of dev" {
		t.Errorf("of a section: %q, %v", got, err)
	}
	if has, err := client.Exists(t.Context(), store.PushRef{Key: "text"}); !has || err != nil {
		t.Errorf("what is there: %v, %v", has, err)
	}
	if has, err := client.Exists(t.Context(), store.PushRef{Key: "none"}); has || err != nil {
		t.Errorf("what is not there: %v, %v", has, err)
	}
	for name, err := range map[string]error{"Push": client.Push(t.Context(), store.PushRef{}, nil), "Delete": client.Delete(t.Context(), store.PushRef{})} {
		if !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMapAndFind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets.yaml")
	client := open(t, file.Config{Path: path, Keys: seal(t, path, content, nil, "")})
	got, err := client.Map(t.Context(), store.Ref{Key: "team/db"})
	if diff := cmp.Diff(map[string][]byte{"password": []byte("p"), "port": []byte("5432"), "a.b": []byte("dotted")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	got, err = client.Find(t.Context(), store.Find{Name: "^te"})
	if diff := cmp.Diff(map[string][]byte{"text": []byte("plain"), "team": []byte(`{"web":{"token":"t"}}`), "team/db": []byte(`{"a.b":"dotted","password":"p","port":5432}`)}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	got, err = client.Find(t.Context(), store.Find{Path: "team"})
	if diff := cmp.Diff(map[string][]byte{"web": []byte(`{"token":"t"}`)}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := client.Find(t.Context(), store.Find{Tags: map[string]string{"a": "b"}}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("tags: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	sealed, clear, list := filepath.Join(dir, "sealed.yaml"), filepath.Join(dir, "clear.yaml"), filepath.Join(dir, "list.yaml")
	keys := seal(t, sealed, content, nil, "")
	write(t, clear, []byte("a: s3cret\n"))
	write(t, list, []byte("- s3cret\n"))
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := decrypt.ParseAge([]byte(other.String()))
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]file.Config{
		"Clear":     {Path: clear, Keys: keys},
		"List":      {Path: list, Clear: true},
		"WrongKeys": {Path: sealed, Keys: wrong},
		"NoKeys":    {Path: sealed},
		"Missing":   {Path: filepath.Join(dir, "none.yaml"), Keys: keys},
		"Directory": {Path: dir + "/x.yaml/..yaml", Keys: keys},
		"Section":   {Path: sealed, Keys: keys, Section: "text"},
	} {
		if err := open(t, config).Check(t.Context()); err == nil || strings.Contains(err.Error(), "s3cret") || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := open(t, file.Config{Path: clear, Clear: true}).Get(t.Context(), store.Ref{Key: "a"}); err != nil || string(got) != "s3cret" {
		t.Errorf("a file in clear that is permitted: %q, %v", got, err)
	}
	if _, err := file.New(file.Config{Path: "secrets.txt"}); err == nil {
		t.Error("a file of another format is taken")
	}
}

func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets.yaml")
	write(t, path, []byte("a: 1\n"))
	client := open(t, file.Config{Path: path, Clear: true})
	ctx, cancel := context.WithCancel(t.Context())
	changes, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- client.Watch(ctx, func() { changes <- struct{}{} }) }()
	<-changes
	if got, err := client.Get(t.Context(), store.Ref{Key: "a"}); err != nil || string(got) != "1" {
		t.Errorf("%q, %v", got, err)
	}
	write(t, path, []byte("a: 2\n"))
	<-changes
	if got, err := client.Get(t.Context(), store.Ref{Key: "a"}); err != nil || string(got) != "2" {
		t.Errorf("after a change: %q, %v", got, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	<-changes
	if _, err := client.Get(t.Context(), store.Ref{Key: "a"}); err == nil {
		t.Error("a file that is gone has values")
	}
	write(t, path, []byte("a: 3\n"))
	<-changes
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
