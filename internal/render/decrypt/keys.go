// Package decrypt opens what SOPS has closed, with the age identities that a cluster holds.
//
// What it opens stays in memory. It never looks for keys of its own accord, neither in the
// environment nor in the home of its user, and its errors name recipients, never contents. Message
// authentication codes are not verified, since a file that was transformed before it is opened has
// none that could hold: the upstream does the same.
package decrypt

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/getsops/sops/v3"
	sopsage "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/keyservice"
	"google.golang.org/grpc"
)

// Keys are what a unit may decrypt with.
type Keys struct {
	identities  []age.Identity
	digest      string
	unsupported []string
}

// NewKeys reads the data of a Secret: each entry that ends in ".agekey" holds age identities.
// Entries of other key types are listed by Unsupported. An identity that cannot be read is an
// error that names its entry.
func NewKeys(data map[string][]byte) (*Keys, error) {
	k := &Keys{}
	names := make([]string, 0, len(data))
	for name := range data {
		names = append(names, name)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		switch {
		case strings.HasSuffix(name, ".agekey"):
			identities, err := parse(data[name])
			if err != nil {
				return nil, fmt.Errorf("reading the age key %q: %w", name, err)
			}
			k.identities = append(k.identities, identities...)
			fmt.Fprintf(sum, "%s\x00%x\n", name, sha256.Sum256(data[name]))
		case strings.HasSuffix(name, ".asc"), strings.HasPrefix(name, "sops."):
			k.unsupported = append(k.unsupported, name)
		}
	}
	k.digest = hex.EncodeToString(sum.Sum(nil))
	return k, nil
}

// parse reads age identities, one a line, with comments. Its errors do not show the lines.
func parse(data []byte) ([]age.Identity, error) {
	var identities []age.Identity
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found, err := age.ParseIdentities(strings.NewReader(line))
		if err != nil {
			return nil, fmt.Errorf("line %d is not an age identity", n)
		}
		identities = append(identities, found...)
	}
	if len(identities) == 0 {
		return nil, errors.New("it holds no identity")
	}
	return identities, nil
}

// Digest tells two sets of keys apart and cannot be turned back into them.
func (k *Keys) Digest() string { return k.digest }

// Unsupported lists entries whose kind of key cannot be used.
func (k *Keys) Unsupported() []string { return slices.Clone(k.unsupported) }

// service opens data keys for the SOPS library; it is the library's port.
type service struct{ keys *Keys }

// Encrypt is not offered.
func (service) Encrypt(context.Context, *keyservice.EncryptRequest, ...grpc.CallOption) (*keyservice.EncryptResponse, error) {
	return nil, errors.New("this key service only decrypts")
}

// Decrypt opens a data key that was closed for an age recipient.
func (s service) Decrypt(_ context.Context, in *keyservice.DecryptRequest, _ ...grpc.CallOption) (*keyservice.DecryptResponse, error) {
	if _, ok := in.Key.KeyType.(*keyservice.Key_AgeKey); !ok {
		return nil, errors.New("only age keys are supported")
	}
	if len(s.keys.identities) == 0 {
		return nil, errors.New("there is no age key")
	}
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(in.Ciphertext)), s.keys.identities...)
	if err != nil {
		return nil, errors.New("no age key fits")
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, errors.New("the data key is damaged")
	}
	return &keyservice.DecryptResponse{Plaintext: plain}, nil
}

// NoKeyError is returned when none of the keys can open something.
type NoKeyError struct {
	// Recipients are those that it was closed for.
	Recipients []string
	// Unsupported are keys of the Secret whose kind cannot be used.
	Unsupported []string
}

// Error names the recipients.
func (e *NoKeyError) Error() string {
	text := "none of the keys can decrypt it; it is encrypted for " + strings.Join(e.Recipients, ", ")
	if len(e.Unsupported) > 0 {
		text += "; keys that cannot be used here: " + strings.Join(e.Unsupported, ", ")
	}
	return text
}

// dataKey returns the key by which the values of a tree are encrypted.
func (k *Keys) dataKey(tree *sops.Tree) ([]byte, error) {
	key, err := tree.Metadata.GetDataKeyWithKeyServices([]keyservice.KeyServiceClient{service{k}}, nil)
	if err == nil {
		return key, nil
	}
	return nil, &NoKeyError{Recipients: recipients(tree), Unsupported: k.unsupported}
}

func recipients(tree *sops.Tree) []string {
	var all []string
	for _, group := range tree.Metadata.KeyGroups {
		for _, key := range group {
			if a, ok := key.(*sopsage.MasterKey); ok {
				all = append(all, a.Recipient)
				continue
			}
			all = append(all, key.TypeToIdentifier()+" "+key.ToString())
		}
	}
	if len(all) == 0 {
		return []string{"nobody"}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
