package decrypt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	agearmor "filippo.io/age/armor"
	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// readAge reads age identities, one a line, with comments. Its errors do not show the lines.
func (k *Keys) readAge(data []byte) error {
	found := false
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		identities, err := age.ParseIdentities(strings.NewReader(line))
		if err != nil {
			return fmt.Errorf("line %d is not an age identity", n)
		}
		k.identities, found = append(k.identities, identities...), true
	}
	if lines.Err() != nil || !found {
		return errors.New("it contains no age identity")
	}
	return nil
}

// openAge opens a data key that was closed for an age recipient.
func (k *Keys) openAge(closed []byte) ([]byte, error) {
	if len(k.identities) == 0 {
		return nil, errNoKey
	}
	r, err := age.Decrypt(agearmor.NewReader(bytes.NewReader(closed)), k.identities...)
	if err != nil {
		return nil, errNoKey
	}
	return io.ReadAll(r)
}

// readPGP reads armored PGP keys. Public ones are passed over: gpg exports them into the same file.
func (k *Keys) readPGP(data []byte) error {
	blocks := bytes.SplitAfter(data, []byte("-----END PGP PRIVATE KEY BLOCK-----"))
	found := false
	for _, block := range blocks {
		at := bytes.Index(block, []byte("-----BEGIN PGP PRIVATE KEY BLOCK-----"))
		if at < 0 {
			continue
		}
		entities, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(block[at:]))
		if err != nil {
			return errors.New("not an armored PGP private key")
		}
		for _, entity := range entities {
			if locked(entity) {
				return fmt.Errorf("the PGP key %X is protected by a passphrase; export it without one", entity.PrimaryKey.Fingerprint)
			}
		}
		k.pgp, found = append(k.pgp, entities...), true
	}
	if !found {
		return errors.New("it contains no armored PGP private key")
	}
	return nil
}

// locked reports whether a part of a key waits for a passphrase. A part that was left out of the export
// does not.
func locked(entity *openpgp.Entity) bool {
	waits := func(p *packet.PrivateKey) bool { return p != nil && p.Encrypted && !p.Dummy() }
	if waits(entity.PrivateKey) {
		return true
	}
	for _, sub := range entity.Subkeys {
		if waits(sub.PrivateKey) {
			return true
		}
	}
	return false
}

// openPGP opens a data key that was closed for a PGP key.
func (k *Keys) openPGP(closed []byte) ([]byte, error) {
	if len(k.pgp) == 0 {
		return nil, errNoKey
	}
	block, err := armor.Decode(bytes.NewReader(closed))
	if err != nil {
		return nil, errors.New("the data key is damaged")
	}
	message, err := openpgp.ReadMessage(block.Body, k.pgp, nil, nil)
	if err != nil {
		return nil, errNoKey
	}
	return io.ReadAll(message.UnverifiedBody)
}
