// Package decrypt opens what SOPS has closed, with the keys that a cluster holds: age identities, PGP
// private keys, and accounts of Vault, AWS KMS, Azure Key Vault and Google Cloud KMS.
//
// What it decrypts stays in memory, and no key is ever written to disk. It never searches for keys on its
// own accord, neither in the environment nor in the home of its user, and its errors name recipients,
// never contents. Message authentication codes are not verified, since a file that was transformed
// before it is opened has none that could hold: the upstream does the same.
package decrypt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"filippo.io/age"
	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/getsops/sops/v3/azkv"
	"github.com/getsops/sops/v3/gcpkms"
	"github.com/getsops/sops/v3/hcvault"
	"github.com/getsops/sops/v3/kms"

	"github.com/headgate-dev/headgate/internal/egress"
)

// The entries of a Secret that hold keys, by their end or by their name.
const (
	ageEnd     = ".agekey"
	pgpEnd     = ".asc"
	vaultEntry = "sops.vault-token"
	awsEntry   = "sops.aws-kms"
	azureEntry = "sops.azure-kv"
	gcpEntry   = "sops.gcp-kms"
	// These name the servers that the accounts are for.
	vaultServersEntry = "sops.vault-addresses"
	azureServersEntry = "sops.azure-kv-addresses"
)

// Keys are what a unit may decrypt with. The zero value opens nothing.
type Keys struct {
	identities []age.Identity
	pgp        openpgp.EntityList
	// Each of these gives a key of the library its account; nil means that there is none.
	vault func(*hcvault.MasterKey)
	aws   func(*kms.MasterKey)
	azure func(*azkv.MasterKey)
	gcp   func(*gcpkms.MasterKey)
	// vaultServers and azureServers are those that these accounts are for; nil means that the Secret names none.
	vaultServers, azureServers servers
	// egress is where these servers may be.
	egress egress.Rules
	// hidden is what no error may show.
	hidden []string
	digest string
	// lacking says which keys are missing that there could be; it is part of the error when none fits.
	lacking string
	// standIn makes what stands for a value that cannot be decrypted; nil leaves that an error.
	standIn func(key string) string
	// standInLabel is the label of objects with such values.
	standInLabel string
}

// NewKeys reads the data of a Secret, entry by entry as kustomize-controller does:
//
//   - "*.agekey": age identities, one a line, post-quantum ones too
//   - "*.asc": armored PGP private keys without a passphrase
//   - "sops.vault-token": a token of Vault or OpenBao, and "sops.vault-addresses": the URLs that it may be sent to
//   - "sops.aws-kms": YAML with aws_access_key_id, aws_secret_access_key, aws_session_token
//   - "sops.azure-kv": YAML or JSON with tenantId, clientId and clientSecret or clientCertificate, or
//     what the az command prints, and "sops.azure-kv-addresses": the URLs of the only Key Vaults that it is for
//   - "sops.gcp-kms": the JSON key of a service account
//
// Other entries are left alone. An entry that cannot be used is an error that names it, and the
// field; it never shows the value.
func NewKeys(data map[string][]byte) (*Keys, error) {
	return newKeys(data, (*Keys).read)
}

// NewAgeKeys reads the age identities of the data of a Secret and leaves every other entry alone, as
// kustomize-controller does for the Secret that it falls back to.
func NewAgeKeys(data map[string][]byte) (*Keys, error) {
	return newKeys(data, func(k *Keys, name string, value []byte) (bool, error) {
		if path.Ext(name) != ageEnd {
			return false, nil
		}
		return true, k.readAge(value)
	})
}

// ParseAge reads a file of age identities, as the age command writes it. Its errors name lines and
// never show them.
func ParseAge(file []byte) (*Keys, error) {
	k := &Keys{}
	if err := k.readAge(file); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(file)
	k.digest = hex.EncodeToString(sum[:])
	return k, nil
}

func newKeys(data map[string][]byte, read func(*Keys, string, []byte) (bool, error)) (*Keys, error) {
	k := &Keys{}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(data)) {
		known, err := read(k, name, data[name])
		if err != nil {
			return nil, fmt.Errorf("reading the key %q: %w", name, err)
		}
		if known {
			fmt.Fprintf(sum, "%s\x00%x\n", name, sha256.Sum256(data[name]))
		}
	}
	k.digest = hex.EncodeToString(sum.Sum(nil))
	return k, nil
}

// read parses an entry and reports whether it is a key.
func (k *Keys) read(name string, value []byte) (known bool, err error) {
	switch {
	case path.Ext(name) == ageEnd:
		return true, k.readAge(value)
	case path.Ext(name) == pgpEnd:
		return true, k.readPGP(value)
	case name == vaultEntry:
		return true, k.readVault(value)
	case name == vaultServersEntry:
		k.vaultServers, err = readServers(value)
		return true, err
	case name == azureServersEntry:
		k.azureServers, err = readServers(value)
		return true, err
	case name == awsEntry:
		return true, k.readAWS(value)
	case name == azureEntry:
		return true, k.readAzure(value)
	case name == gcpEntry:
		return true, k.readGCP(value)
	default:
		return false, nil
	}
}

// Merge puts sets of keys together. Age identities and PGP keys add up; the account of each service
// is that of the first set that has one. Sets that are nil are passed over, and of nothing it makes
// nil.
func Merge(sets ...*Keys) *Keys {
	sets = slices.DeleteFunc(slices.Clone(sets), func(k *Keys) bool { return k == nil })
	switch len(sets) {
	case 0:
		return nil
	case 1:
		return sets[0]
	}
	all := &Keys{egress: sets[0].egress}
	sum := sha256.New()
	for _, k := range sets {
		all.identities = append(all.identities, k.identities...)
		all.pgp = append(all.pgp, k.pgp...)
		all.hidden = append(all.hidden, k.hidden...)
		if all.vault == nil {
			all.vault, all.vaultServers = k.vault, k.vaultServers
		}
		if all.azure == nil {
			all.azure, all.azureServers = k.azure, k.azureServers
		}
		all.aws, all.gcp = either(all.aws, k.aws), either(all.gcp, k.gcp)
		fmt.Fprintln(sum, k.digest)
	}
	all.digest = hex.EncodeToString(sum.Sum(nil))
	return all
}

func either[M any](first, second func(M)) func(M) {
	if first != nil {
		return first
	}
	return second
}

// Within returns keys that open nothing by servers which the rules do not permit. Without any, these are anywhere. Keys of no one stay nil.
func (k *Keys) Within(rules egress.Rules) *Keys {
	if k == nil {
		return nil
	}
	out := *k
	out.egress = rules
	return &out
}

// Lacking returns keys whose errors say beside what else is missing, such as a field that names no Secret.
func (k *Keys) Lacking(what string) *Keys {
	out := *k
	out.lacking = what
	return &out
}

// Digest tells two sets of keys apart and cannot be turned back into them.
func (k *Keys) Digest() string { return k.digest }

// Empty reports whether there is nothing to decrypt with.
func (k *Keys) Empty() bool {
	return len(k.identities) == 0 && len(k.pgp) == 0 && k.vault == nil && k.aws == nil && k.azure == nil && k.gcp == nil
}

// redact takes what must not be shown out of a text.
func (k *Keys) redact(text string) string {
	for _, secret := range k.hidden {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "**")
		}
	}
	return text
}
