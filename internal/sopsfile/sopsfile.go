// Package sopsfile makes and changes the files of SOPS for those who own them: it encrypts by the
// creation rules of a .sops.yaml, decrypts, replaces the content of a file without touching values
// that stay the same, and finds what was left in clear.
//
// It reads no keys of its own accord and writes no files: texts go in and come out. Only encryption
// looks around, as the sops command does, for gpg and for the accounts of key services. Its errors
// and findings name files, lines and keys, never values.
package sopsfile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/stores/dotenv"
	"github.com/getsops/sops/v3/stores/ini"
	"github.com/getsops/sops/v3/stores/json"
	"github.com/getsops/sops/v3/stores/yaml"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// sopsVersion is the version of the format that files say they are written in: that of the library.
const sopsVersion = "3.13.3"

// ErrEncrypted is returned for a file that is to be encrypted and already is.
var ErrEncrypted = errors.New("it is already encrypted, or has a key named sops")

// NewIdentity makes an age identity, a post-quantum one when quantum is set. It returns the file that
// age-keygen would write, with the time of its making, and the public key.
func NewIdentity(quantum bool, now time.Time) (file []byte, recipient string, err error) {
	var identity fmt.Stringer
	if quantum {
		made, err := age.GenerateHybridIdentity()
		if err != nil {
			return nil, "", fmt.Errorf("creating an age identity: %w", err)
		}
		identity, recipient = made, made.Recipient().String()
	} else {
		made, err := age.GenerateX25519Identity()
		if err != nil {
			return nil, "", fmt.Errorf("creating an age identity: %w", err)
		}
		identity, recipient = made, made.Recipient().String()
	}
	return fmt.Appendf(nil, "# created: %s\n# public key: %s\n%s\n", now.Format(time.RFC3339), recipient, identity), recipient, nil
}

// storeOf returns the library's reader and writer of a format.
func storeOf(format decrypt.Format, c *config.StoresConfig) sops.Store {
	switch format {
	case decrypt.YAML:
		return yaml.NewStore(&c.YAML)
	case decrypt.JSON:
		return json.NewStore(&c.JSON)
	case decrypt.Dotenv:
		return dotenv.NewStore(&c.Dotenv)
	case decrypt.INI:
		return ini.NewStore(&c.INI)
	default:
		return json.NewBinaryStore(&c.JSONBinary)
	}
}

// SyntaxError is returned for a text that is not in the format of its file.
type SyntaxError struct {
	Format decrypt.Format
	// Line counts from 1; 0 means that it is unknown.
	Line int
}

// Error names the format and the line. The library's error may quote the text.
func (e *SyntaxError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d is not valid %s", e.Line, e.Format)
	}
	return fmt.Sprintf("not valid %s", e.Format)
}

var lineOf = regexp.MustCompile(`\bline (\d+)`)

// parse reads a text in clear that can be encrypted.
func parse(store sops.Store, format decrypt.Format, plain []byte) (branches sops.TreeBranches, err error) {
	defer func() {
		// The library panics on some input that was made by hand.
		if recover() != nil {
			branches, err = nil, &SyntaxError{Format: format}
		}
	}()
	branches, err = store.LoadPlainFile(plain)
	if err != nil {
		failed := &SyntaxError{Format: format}
		if match := lineOf.FindStringSubmatch(err.Error()); match != nil {
			_, _ = fmt.Sscan(match[1], &failed.Line)
		}
		return nil, failed
	}
	if len(branches) == 0 {
		return nil, errors.New("it is empty")
	}
	for _, branch := range branches {
		if store.HasSopsTopLevelKey(branch) {
			return nil, ErrEncrypted
		}
	}
	return branches, nil
}

// seal encrypts the values of a tree and stamps it.
func seal(tree *sops.Tree, key []byte, cipher sops.Cipher, now time.Time) error {
	mac, err := tree.Encrypt(key, cipher)
	if err != nil {
		// The library's error may quote a value.
		return errors.New("encrypting: a key is not a string, or a value has a type that SOPS does not support")
	}
	tree.Metadata.LastModified = now.UTC()
	tree.Metadata.MessageAuthenticationCode, err = cipher.Encrypt(mac, key, tree.Metadata.LastModified.Format(time.RFC3339))
	if err != nil {
		return errors.New("encrypting its message authentication code")
	}
	return nil
}

// keyPath turns the path that the library gives to a cipher into what a user reads.
func keyPath(additional string) string {
	return strings.ReplaceAll(strings.TrimSuffix(additional, ":"), ":", ".")
}
