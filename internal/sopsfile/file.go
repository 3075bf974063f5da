package sopsfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	"github.com/getsops/sops/v3/config"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// ErrNotEncrypted is returned for a file that has no metadata of SOPS.
var ErrNotEncrypted = errors.New("it is not encrypted with SOPS")

// ErrMAC is returned for a file whose content is not what was encrypted.
var ErrMAC = errors.New("its message authentication code does not match: it was changed by hand after encryption")

// File is an encrypted file that was opened.
type File struct {
	format decrypt.Format
	store  sops.Store
	tree   sops.Tree
	key    []byte
	// cipher remembers how each value was encrypted, so that one that stays is encrypted the same.
	cipher sops.Cipher
	plain  []byte
}

// Open decrypts a file; its name tells the format. Unless ignoreMAC is set, it fails with ErrMAC when
// the file was changed by hand. It fails with ErrNotEncrypted, and with a *decrypt.NoKeyError when no
// key fits.
func Open(file string, data []byte, keys *decrypt.Keys, ignoreMAC bool) (*File, error) {
	format := decrypt.FormatOf(file)
	f := &File{format: format, store: storeOf(format, storesFor(file)), cipher: aes.NewCipher()}
	var err error
	if f.tree, err = load(f.store, data); err != nil {
		return nil, err
	}
	if f.key, err = keys.DataKey(&f.tree); err != nil {
		return nil, err
	}
	mac, err := decryptTree(&f.tree, f.key, f.cipher)
	if err != nil {
		return nil, err
	}
	if !ignoreMAC && !macFits(&f.tree, f.key, mac) {
		return nil, ErrMAC
	}
	if f.plain, err = f.store.EmitPlainFile(f.tree.Branches); err != nil {
		return nil, fmt.Errorf("decrypted, but it cannot be written as %s", format)
	}
	return f, nil
}

// Plain is the content in clear.
func (f *File) Plain() []byte { return f.plain }

// Replace encrypts another content for the recipients of the file, by its data key. Values that stay
// the same stay encrypted as they are. It fails with a *SyntaxError, or ErrEncrypted. It can be
// called again after it has failed.
func (f *File) Replace(plain []byte) ([]byte, error) {
	branches, err := parse(f.store, f.format, plain)
	if err != nil {
		return nil, err
	}
	tree := f.tree
	tree.Branches = branches
	if written, err := semver.NewVersion(tree.Metadata.Version); err != nil || written.LessThan(semver.MustParse(sopsVersion)) {
		tree.Metadata.Version = sopsVersion
	}
	if err := seal(&tree, f.key, f.cipher, time.Now()); err != nil {
		return nil, err
	}
	out, err := f.store.EmitEncryptedFile(tree)
	if err != nil {
		return nil, fmt.Errorf("encrypted, but it cannot be written as %s", f.format)
	}
	return out, nil
}

// storesFor is how files are written at a place: as the nearest .sops.yaml says, when there is one.
func storesFor(file string) *config.StoresConfig {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return config.NewStoresConfig()
	}
	path, err := findRules(absolute)
	if err != nil {
		return config.NewStoresConfig()
	}
	stores, err := config.LoadStoresConfig(path)
	if err != nil {
		// Broken rules do not keep a file from being opened.
		return config.NewStoresConfig()
	}
	return stores
}

// load reads an encrypted file.
func load(store sops.Store, data []byte) (tree sops.Tree, err error) {
	defer func() {
		// The library panics on some input that was made by hand.
		if recover() != nil {
			err = errors.New("its sops metadata is damaged")
		}
	}()
	tree, err = store.LoadEncryptedFile(data)
	switch {
	case errors.Is(err, sops.MetadataNotFound):
		return tree, ErrNotEncrypted
	case err != nil:
		return tree, errors.New("its sops metadata is invalid")
	case tree.Metadata.MasterKeyCount() == 0:
		return tree, errors.New("its sops metadata names no recipients")
	}
	return tree, nil
}

// decryptTree decrypts the values of a tree and returns the authentication code that they have.
func decryptTree(tree *sops.Tree, key []byte, cipher sops.Cipher) (mac string, err error) {
	defer func() {
		if recover() != nil {
			mac, err = "", errors.New("a value in it is damaged")
		}
	}()
	mac, err = tree.Decrypt(key, cipher)
	if err != nil {
		// The library's error may quote what it decrypts.
		return "", errors.New("a value in it does not match its key, or is in clear text")
	}
	return mac, nil
}

// macFits reports whether a tree was closed with this authentication code.
func macFits(tree *sops.Tree, key []byte, mac string) bool {
	// A cipher of its own: what it decrypts is not a value of the file.
	had, err := aes.NewCipher().Decrypt(tree.Metadata.MessageAuthenticationCode, key, tree.Metadata.LastModified.Format(time.RFC3339))
	return err == nil && had == mac
}
