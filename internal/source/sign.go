package source

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// ErrSigningKey is a key by which nothing can be signed.
var ErrSigningKey = errors.New("signing key")

// Signer signs commits.
type Signer struct {
	entity *openpgp.Entity
	key    ssh.Signer
}

// PGPSigner reads a key pair in armor, with its passphrase when it has one.
func PGPSigner(armored, passphrase []byte) (*Signer, error) {
	entities, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(armored))
	switch {
	case err != nil:
		// The library's error may quote the key.
		return nil, fmt.Errorf("%w: not an armored OpenPGP key", ErrSigningKey)
	case len(entities) != 1:
		return nil, fmt.Errorf("%w: there are %d keys; keep one", ErrSigningKey, len(entities))
	}
	entity := entities[0]
	switch {
	case entity.PrivateKey == nil:
		return nil, fmt.Errorf("%w: it has no private part", ErrSigningKey)
	case entity.PrivateKey.Encrypted && len(passphrase) == 0:
		return nil, fmt.Errorf("%w: it is protected, and no passphrase is given", ErrSigningKey)
	case entity.PrivateKey.Encrypted:
		if entity.DecryptPrivateKeys(passphrase) != nil {
			return nil, fmt.Errorf("%w: the passphrase is wrong", ErrSigningKey)
		}
	}
	return &Signer{entity: entity}, nil
}

// SSHSigner reads a private key of SSH, with its password when it has one.
func SSHSigner(identity, password []byte) (*Signer, error) {
	key, err := ssh.ParsePrivateKey(identity)
	var missing *ssh.PassphraseMissingError
	if errors.As(err, &missing) {
		if len(password) == 0 {
			return nil, fmt.Errorf("%w: it is protected, and no password is given", ErrSigningKey)
		}
		key, err = ssh.ParsePrivateKeyWithPassphrase(identity, password)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: not an SSH private key, or the password is wrong", ErrSigningKey)
	}
	return &Signer{key: key}, nil
}

// sign returns the armored signature of a text.
func (s *Signer) sign(text []byte) (string, error) {
	if s.key != nil {
		signature, err := sshsig.Sign(bytes.NewReader(text), s.key, sshsig.HashSHA512, sshNamespace)
		if err != nil {
			return "", fmt.Errorf("%w: signing with SSH: %w", ErrSigningKey, err)
		}
		return string(sshsig.Armor(signature)), nil
	}
	var out bytes.Buffer
	if err := openpgp.ArmoredDetachSign(&out, s.entity, bytes.NewReader(text), nil); err != nil {
		return "", fmt.Errorf("%w: signing with OpenPGP: %w", ErrSigningKey, err)
	}
	return out.String() + "\n", nil
}
