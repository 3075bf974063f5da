package source

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Signatures are those of what was fetched. They can be verified at any time, by the keys of then.
type Signatures struct {
	// Commit is what was fetched.
	Commit Signed
	// Tag is the annotated tag that selected it, nil if none did.
	Tag *Signed
}

// Signed is a commit or an annotated tag, signed or not.
type Signed struct {
	// Hash is that of the object.
	Hash string
	// Reference is the name by which a tag was selected, Name the one that it was made with; both are empty for a commit.
	Reference, Name string
	// By is its author, as Git names people.
	By string

	signature string
	text      []byte
}

// Signatory is who signed something, in the words of Argo CD.
type Signatory struct {
	// Revision is the hash of the commit, or the name of the tag.
	Revision string
	// By is the author.
	By string
	// Result is Good, or why the signature does not count.
	Result string
	// Key is the identity of the key that signed, Primary that of the key which it belongs to.
	Key, Primary string
}

// Results of verifying a signature.
const (
	Good             = "signed"
	BadSignature     = "bad signature"
	ExpiredSignature = "expired signature"
	ExpiredKey       = "signed with expired key"
	RevokedKey       = "signed with revoked key"
	MissingKey       = "signed with key not in keyring"
	Unsigned         = "unsigned"
)

// maxSigned bounds the text of a commit that is kept for its signature, in bytes. A signature of more is a bad one.
const maxSigned = 1 << 20

// signaturesOf are the signatures of a commit, and of the annotated tag that selected it.
func signaturesOf(repo *git.Repository, t target, commit *object.Commit) (*Signatures, error) {
	var out Signatures
	var err error
	if out.Commit, err = newSigned(commit, commit.PGPSignature, commit.Hash, commit.Author); err != nil || t.full || t.offered == t.hash {
		return &out, err
	}
	tag, err := repo.TagObject(t.offered)
	if err != nil {
		return nil, fmt.Errorf("reading tag %q: %w", t.reference.Short(), err)
	}
	one, err := newSigned(tag, tag.PGPSignature, tag.Hash, tag.Tagger)
	one.Reference, one.Name = t.reference.Short(), tag.Name
	out.Tag = &one
	return &out, err
}

func newSigned(s signed, signature string, hash plumbing.Hash, by object.Signature) (Signed, error) {
	out := Signed{Hash: hash.String(), By: fmt.Sprintf("%s <%s>", by.Name, by.Email), signature: strings.TrimSpace(signature)}
	if out.signature == "" {
		return out, nil
	}
	text, err := unsigned(s)
	if len(text) <= maxSigned {
		out.text = text
	}
	return out, err
}

// TagID tells the annotated tag apart that selected what was fetched, by its name and its hash; it is empty if none did.
func (s *Signatures) TagID() string {
	if s == nil || s.Tag == nil {
		return ""
	}
	return tagID(s.Tag.Reference, s.Tag.Hash)
}

func tagID(name, hash string) string { return name + "@" + hash }

// Signatory verifies the signature that counts: that of the annotated tag that selected the commit, else that of the commit. The
// keys are armored, by their identities; an entry with another key than it says holds none. What is unknown is not signed.
func (s *Signatures) Signatory(keys map[string]string) Signatory {
	if s == nil {
		return Signatory{Result: Unsigned}
	}
	one, out := s.Commit, Signatory{Revision: s.Commit.Hash, By: s.Commit.By}
	if s.Tag != nil {
		one, out = *s.Tag, Signatory{Revision: s.Tag.Reference, By: s.Tag.By}
	}
	out.Result, out.Key, out.Primary = one.verify(ring(keys))
	if out.Result == Good && one.Name != one.Reference {
		// Otherwise an old tag could be pushed again as the newest version.
		out.Result = fmt.Sprintf("the tag was signed as '%s'", one.Name)
	}
	return out
}

// ring reads keys.
func ring(keys map[string]string) openpgp.EntityList {
	var all openpgp.EntityList
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		entities, err := openpgp.ReadArmoredKeyRing(strings.NewReader(keys[id]))
		if err != nil {
			continue
		}
		for _, e := range entities {
			if strings.EqualFold(KeyID(id), e.PrimaryKey.KeyIdString()) {
				all = append(all, e)
			}
		}
	}
	return all
}

// KeyID is the short form of the identity or the fingerprint of a PGP key, empty if it is neither.
func KeyID(text string) string {
	if strings.Trim(text, "0123456789abcdefABCDEF") != "" || len(text) != 16 && len(text) != 40 {
		return ""
	}
	return strings.ToUpper(text[len(text)-16:])
}

// verify is how a signature stands, and by which key it was made.
func (s Signed) verify(ring openpgp.EntityList) (result, key, primary string) {
	switch {
	case s.signature == "":
		return Unsigned, "", ""
	case strings.HasPrefix(s.signature, sshArmor):
		return MissingKey, "", ""
	case strings.Count(s.signature, "-----BEGIN ") > 1 || len(s.text) == 0:
		// Of several it would not be clear who signed it.
		return BadSignature, "", ""
	}
	issuer, err := issuerOf(s.signature)
	if err != nil {
		return BadSignature, "", ""
	}
	signer, err := openpgp.CheckArmoredDetachedSignature(ring, strings.NewReader(string(s.text)), strings.NewReader(s.signature), nil)
	if signer != nil {
		primary = signer.PrimaryKey.KeyIdString()
	}
	return resultOf(err), issuer, primary
}

func resultOf(err error) string {
	switch {
	case err == nil:
		return Good
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return MissingKey
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return RevokedKey
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return ExpiredKey
	case errors.Is(err, pgperrors.ErrSignatureExpired):
		return ExpiredSignature
	}
	return BadSignature
}

// issuerOf is the identity of the key that a signature says it was made with.
func issuerOf(signature string) (string, error) {
	block, err := armor.Decode(strings.NewReader(signature))
	if err != nil {
		return "", err
	}
	packets := packet.NewReader(block.Body)
	first, err := packets.Next()
	if err != nil {
		return "", err
	}
	sig, is := first.(*packet.Signature)
	if !is || sig.IssuerKeyId == nil {
		return "", errors.New("no signature that names its key")
	}
	if _, err := packets.Next(); !errors.Is(err, io.EOF) {
		return "", errors.New("more than one signature")
	}
	return fmt.Sprintf("%016X", *sig.IssuerKeyId), nil
}
