package gitserver_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/headgate-dev/headgate/internal/source"
)

// signing is a PGP key, and its public part in armor.
func signing(t *testing.T) (*openpgp.Entity, []byte) {
	t.Helper()
	entity, err := openpgp.NewEntity("dev", "", "dev@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	var ring bytes.Buffer
	w, err := armor.Encode(&ring, openpgp.PublicKeyType, nil)
	if err == nil {
		err = entity.Serialize(w)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return entity, ring.Bytes()
}

func TestFetchVerifies(t *testing.T) {
	s := serve(t)
	key, ring := signing(t)
	_, other := signing(t)
	repo, err := gogit.PlainOpen(s.work)
	if err != nil {
		t.Fatal(err)
	}
	work, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.work, "version.yaml"), []byte("signed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	who := &object.Signature{Name: "dev", Email: "dev@example.com", When: time.Now()}
	hash, err := work.Commit("signed", &gogit.CommitOptions{All: true, Author: who, SignKey: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.CreateTag("v9.0.0", hash, &gogit.CreateTagOptions{Tagger: who, Message: "nine", SignKey: key}); err != nil {
		t.Fatal(err)
	}
	git(t, s.work, "update-ref", "refs/tags/v10.0.0", "refs/tags/v9.0.0")
	git(t, s.work, "update-ref", "refs/tags/renamed/v9.0.0", "refs/tags/v9.0.0")
	s.push(t, "main", "--tags")
	keys := map[string][]byte{"author.asc": ring}
	id := key.PrimaryKey.KeyIdString()
	cases := map[string]struct {
		reason string
		ref    source.GitRef
		verify source.Verification
		want   []string
		err    error
	}{
		"commit":          {"a signed commit", source.GitRef{Branch: "main"}, source.Verification{Commit: true, Keys: keys}, []string{"commit '" + hash.String() + "' with key '" + id}, nil},
		"tag":             {"a signed tag", source.GitRef{Tag: "v9.0.0"}, source.Verification{Tag: true, Keys: keys}, []string{"tag 'v9.0.0@"}, nil},
		"renamed":         {"a signed tag under another name", source.GitRef{Tag: "v10.0.0"}, source.Verification{Tag: true, Keys: keys}, nil, source.ErrTagName},
		"renamed, both":   {"so it is where the commit is signed too", source.GitRef{SemVer: ">=10"}, source.Verification{Tag: true, Commit: true, Keys: keys}, nil, source.ErrTagName},
		"renamed, below":  {"the whole name counts", source.GitRef{Name: "refs/tags/renamed/v9.0.0"}, source.Verification{Tag: true, Keys: keys}, nil, source.ErrTagName},
		"renamed, HEAD":   {"a tag that need not be signed may have any name", source.GitRef{Tag: "v10.0.0"}, source.Verification{Commit: true, Keys: keys}, []string{"commit '"}, nil},
		"both":            {"both, by a range", source.GitRef{SemVer: "9.x"}, source.Verification{Tag: true, Commit: true, Keys: keys}, []string{"tag 'v9.0.0@", "commit '"}, nil},
		"one of the keys": {"the key is one of several", source.GitRef{Branch: "main"}, source.Verification{Commit: true, Keys: map[string][]byte{"a": other, "b": ring}}, []string{"commit '"}, nil},
		"other key":       {"another key", source.GitRef{Branch: "main"}, source.Verification{Commit: true, Keys: map[string][]byte{"a": other}}, nil, source.ErrCommitSignature},
		"no key":          {"no key", source.GitRef{Tag: "v9.0.0"}, source.Verification{Tag: true}, nil, source.ErrTagSignature},
		"bad key":         {"a key that is none", source.GitRef{Branch: "main"}, source.Verification{Commit: true, Keys: map[string][]byte{"a": []byte("PGP")}}, nil, source.ErrCommitSignature},
		"unsigned commit": {"a commit without a signature", source.GitRef{Branch: "side"}, source.Verification{Commit: true, Keys: keys}, nil, source.ErrCommitSignature},
		"unsigned tag":    {"a tag without a signature", source.GitRef{Tag: "v1.2.0"}, source.Verification{Tag: true, Keys: keys}, nil, source.ErrUnsigned},
		"light tag":       {"a tag that is only a name", source.GitRef{Tag: "v1.0.0"}, source.Verification{Tag: true, Keys: keys}, nil, source.ErrUnsigned},
		"no tag":          {"a branch where a tag is to be verified", source.GitRef{Branch: "main"}, source.Verification{Tag: true, Keys: keys}, nil, source.ErrNoTag},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := s.options(c.ref)
			o.Verify = &c.verify
			got, err := source.FetchGit(t.Context(), o, "", nil)
			if !errors.Is(err, c.err) || (err != nil) != (c.err != nil) {
				t.Fatalf("%s: error %v, want %v", c.reason, err, c.err)
			}
			if err != nil {
				return
			}
			if len(got.Verified) != len(c.want) {
				t.Fatalf("%s: verified %q, want %q", c.reason, got.Verified, c.want)
			}
			for i := range c.want {
				if !strings.HasPrefix(got.Verified[i], c.want[i]) {
					t.Errorf("%s: verified %q, want %q", c.reason, got.Verified[i], c.want[i])
				}
			}
		})
	}
}
