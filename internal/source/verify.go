package source

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Verification says whose signature has to be on what is fetched.
type Verification struct {
	// Commit and Tag are what has to be signed.
	Commit, Tag bool
	// Keys are public keys by the names of their entries: those of SSH, one to a line as in
	// authorized_keys, where the name ends in ".sshpub", else armored PGP key rings.
	Keys map[string][]byte
}

// Kinds of failures of a verification.
var (
	// ErrNoTag is a verification of a tag of something that was not selected by one.
	ErrNoTag = errors.New("the signature of a tag cannot be verified: no tag was selected")
	// ErrUnsigned is a tag without a signature.
	ErrUnsigned = errors.New("it is not signed")
	// ErrTagSignature and ErrCommitSignature are signatures that none of the keys made.
	ErrTagSignature    = errors.New("the signature of the tag is not by one of the keys")
	ErrCommitSignature = errors.New("the signature of the commit is not by one of the keys")
	// ErrTagName is a signed tag that was pushed under another name than it was signed with.
	ErrTagName = errors.New("the name of the tag is not the one that was signed")
)

// signed is a commit or a tag.
type signed interface {
	Verify(ring string) (*openpgp.Entity, error)
	EncodeWithoutSignature(to plumbing.EncodedObject) error
}

// verify checks the signatures of a commit, and of the tag that selected it, and says what it verified.
func (v *Verification) verify(repo *git.Repository, t target, commit *object.Commit) ([]string, error) {
	var verified []string
	if v.Tag {
		tag, err := tagOf(repo, t)
		if err != nil {
			return nil, err
		}
		id, err := v.signedBy(tag, tag.PGPSignature)
		if err != nil {
			return nil, fmt.Errorf("%w: tag %q: %w", ErrTagSignature, tag.Name, err)
		}
		if name := t.reference.Short(); tag.Name != name {
			// Otherwise an old tag could be pushed again as the newest version.
			return nil, fmt.Errorf("%w: tag %q was signed as %q", ErrTagName, name, tag.Name)
		}
		verified = append(verified, fmt.Sprintf("tag '%s@%s' with key '%s'", tag.Name, tag.Hash, id))
	}
	if !v.Commit {
		return verified, nil
	}
	id, err := v.signedBy(commit, commit.PGPSignature)
	if err != nil {
		return nil, fmt.Errorf("%w: commit %s: %w", ErrCommitSignature, commit.Hash, err)
	}
	return append(verified, fmt.Sprintf("commit '%s' with key '%s'", commit.Hash, id)), nil
}

// tagOf returns the annotated tag that selected a commit.
func tagOf(repo *git.Repository, t target) (*object.Tag, error) {
	if !t.reference.IsTag() {
		return nil, ErrNoTag
	}
	ref, err := repo.Reference(t.reference, true)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", ErrReference, t.reference)
	}
	tag, err := repo.TagObject(ref.Hash())
	if err != nil || tag.PGPSignature == "" {
		return nil, fmt.Errorf("tag %q: %w", t.reference.Short(), ErrUnsigned)
	}
	return tag, nil
}

// signedBy returns the name of the key that made a signature: the ID of a PGP key, the fingerprint of
// one of SSH. Several signatures on one object are refused: it would not be clear who signed it.
func (v *Verification) signedBy(s signed, signature string) (string, error) {
	signature = strings.TrimSpace(signature)
	switch {
	case signature == "":
		return "", errors.New("it has no signature")
	case strings.Count(signature, "-----BEGIN ") > 1:
		return "", errors.New("it has several signatures")
	case strings.HasPrefix(signature, sshArmor):
		return v.signedBySSH(s, signature)
	default:
		return v.signedByPGP(s)
	}
}

func (v *Verification) signedByPGP(s signed) (string, error) {
	last := errors.New("it is signed with PGP, but there is no PGP key (*.asc)")
	for _, name := range slices.Sorted(maps.Keys(v.Keys)) {
		if strings.HasSuffix(name, sshSuffix) {
			continue
		}
		entity, err := s.Verify(string(v.Keys[name]))
		if err == nil {
			return entity.PrimaryKey.KeyIdString(), nil
		}
		last = err
	}
	return "", last
}
