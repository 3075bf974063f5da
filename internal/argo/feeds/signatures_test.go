package feeds_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/source"
)

// pgpKey is a key, with its identity and its public part in armor.
func pgpKey(t *testing.T) (*openpgp.Entity, string, string) {
	t.Helper()
	entity, err := openpgp.NewEntity("dev", "", "dev@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	return entity, entity.PrimaryKey.KeyIdString(), armored(t, entity)
}

func armored(t *testing.T, entity *openpgp.Entity) string {
	t.Helper()
	var ring bytes.Buffer
	w, err := armor.Encode(&ring, openpgp.PublicKeyType, nil)
	if err == nil {
		err = entity.Serialize(w)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return ring.String()
}

// TestSignatures has what was fetched be verified by keys that come, change and go, without another fetch.
func TestSignatures(t *testing.T) {
	w := start(t, nil)
	plain := w.git("rev-parse", "HEAD")
	mine, id, public := pgpKey(t)
	_, otherID, otherPublic := pgpKey(t)
	gone, goneID, _ := pgpKey(t)
	repo, err := gogit.PlainOpen(w.work)
	if err != nil {
		t.Fatal(err)
	}
	who := &object.Signature{Name: "dev", Email: "dev@example.com", When: time.Now()}
	tag := func(name, of string, key *openpgp.Entity) {
		t.Helper()
		if _, err := repo.CreateTag(name, plumbing.NewHash(of), &gogit.CreateTagOptions{Tagger: who, Message: name, SignKey: key}); err != nil {
			t.Fatal(err)
		}
	}
	sign := func(branch string, key *openpgp.Entity) string {
		t.Helper()
		tree, err := repo.Worktree()
		if err != nil {
			t.Fatal(err)
		}
		hash, err := tree.Commit(branch, &gogit.CommitOptions{Author: who, SignKey: key, AllowEmptyCommits: true})
		if err != nil {
			t.Fatal(err)
		}
		w.git("branch", branch)
		return hash.String()
	}
	tag("signed", plain, mine)
	tag("unsigned", plain, nil)
	signed := sign("by-mine", mine)
	tag("plain-of-signed", signed, nil)
	revoked := sign("by-gone", gone)
	w.git("update-ref", "refs/tags/renamed", "refs/tags/signed")
	w.git("tag", "light", signed)
	w.git("checkout", "-q", "main")
	w.push("main", "by-mine", "by-gone", "signed", "unsigned", "plain-of-signed", "renamed", "light")
	if err := gone.RevokeKey(packet.KeyCompromised, "", nil); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{id: public, goneID: armored(t, gone)}
	for name, c := range map[string]struct {
		reason, revision string
		keys             map[string]string
		result, key      string
		shown            string
	}{
		"Commit":     {"a signed commit", "by-mine", keys, source.Good, id, signed},
		"SHA":        {"named by its hash", signed, keys, source.Good, id, signed},
		"Unsigned":   {"a commit without a signature", plain, keys, source.Unsigned, "", plain},
		"Removed":    {"the key was removed", "by-mine", map[string]string{otherID: otherPublic}, source.MissingKey, id, signed},
		"No keys":    {"there are no keys", "by-mine", nil, source.MissingKey, id, signed},
		"Other name": {"an entry is of another key than it says", "by-mine", map[string]string{otherID: public}, source.MissingKey, id, signed},
		"Revoked":    {"the owner has revoked the key", "by-gone", keys, source.RevokedKey, goneID, revoked},
		"Tag":        {"a signed tag of a commit that is not signed", "signed", keys, source.Good, id, "signed"},
		"Plain tag":  {"of an annotated tag its own signature counts, not that of the commit", "plain-of-signed", keys, source.Unsigned, "", "plain-of-signed"},
		"Light tag":  {"a tag that is only a name is as good as the commit", "light", keys, source.Good, id, signed},
		"Renamed":    {"an old tag that was pushed as a newer one", "renamed", keys, "the tag was signed as 'signed'", id, "renamed"},
	} {
		t.Run(name, func(t *testing.T) {
			k := w.key(c.revision)
			w.feeds.Want(name, []feeds.Key{k})
			got := w.until(k, c.revision, has).Signatures.Signatory(c.keys)
			if got.Result != c.result || got.Key != c.key || got.Revision != c.shown || !strings.HasSuffix(got.By, ">") {
				t.Errorf("%s: %+v, want %q by %q of %s", c.reason, got, c.result, c.key, c.shown)
			}
		})
	}

	// The same commit gets a signed tag of the same name: that is news, though no file changed.
	k := w.key("unsigned")
	w.feeds.Want("again", []feeds.Key{k})
	w.until(k, "the tag without a signature", has)
	w.git("tag", "-d", "unsigned")
	tag("unsigned", plain, mine)
	w.push("+unsigned")
	w.feeds.Refresh([]feeds.Key{k})
	w.until(k, "the tag with a signature", func(s feeds.State) bool { return s.Signatures.Signatory(keys).Result == source.Good })
}
