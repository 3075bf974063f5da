package source

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

const (
	// sshArmor begins a signature by an SSH key.
	sshArmor = "-----BEGIN SSH SIGNATURE-----"
	// sshSuffix ends the names of entries that hold public keys of SSH.
	sshSuffix = ".sshpub"
	// sshNamespace is what Git signs for; a signature of the same key for another use is none.
	sshNamespace = "git"
)

// signedBySSH returns the fingerprint of the key that made a signature.
func (v *Verification) signedBySSH(s signed, armored string) (string, error) {
	signature, err := sshsig.Unarmor([]byte(armored))
	if err != nil {
		return "", errors.New("its SSH signature is invalid")
	}
	text, err := unsigned(s)
	if err != nil {
		return "", err
	}
	last := errors.New("it is signed with SSH, but there is no SSH key (*" + sshSuffix + ")")
	for _, name := range slices.Sorted(maps.Keys(v.Keys)) {
		if !strings.HasSuffix(name, sshSuffix) {
			continue
		}
		keys, err := publicKeys(v.Keys[name])
		if err != nil {
			last = fmt.Errorf("%s: %w", name, err)
			continue
		}
		for _, key := range keys {
			last = sshsig.Verify(bytes.NewReader(text), signature, key, signature.HashAlgorithm, sshNamespace)
			if last == nil {
				return ssh.FingerprintSHA256(key), nil
			}
		}
	}
	return "", last
}

// unsigned is what the signature of an object was made over: all of it but the signature.
func unsigned(s signed) ([]byte, error) {
	bare := &plumbing.MemoryObject{}
	if err := s.EncodeWithoutSignature(bare); err != nil {
		return nil, fmt.Errorf("reading the signed content: %w", err)
	}
	r, err := bare.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading the signed content: %w", err)
	}
	var text bytes.Buffer
	_, err = text.ReadFrom(r)
	return text.Bytes(), errors.Join(err, r.Close())
}

// publicKeys reads public keys, one to a line, beside comments. Options in front of a key would
// restrict what it may sign, and are an error since they are not honoured.
func publicKeys(data []byte) ([]ssh.PublicKey, error) {
	var keys []ssh.PublicKey
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("line %d is not a public key", number)
		}
		if len(options) > 0 {
			return nil, fmt.Errorf("line %d has text before the key; remove it", number)
		}
		keys = append(keys, key)
	}
	return keys, nil
}
