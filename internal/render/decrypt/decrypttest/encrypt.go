// Package decrypttest encrypts for tests what package decrypt opens, as the sops command does.
package decrypttest

import (
	"fmt"
	"time"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	sopsage "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/keyservice"
	"github.com/getsops/sops/v3/stores/dotenv"
	"github.com/getsops/sops/v3/stores/ini"
	"github.com/getsops/sops/v3/stores/json"
	"github.com/getsops/sops/v3/stores/yaml"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

type store interface {
	LoadPlainFile(in []byte) (sops.TreeBranches, error)
	EmitEncryptedFile(in sops.Tree) ([]byte, error)
}

func storeOf(f decrypt.Format) store {
	switch f {
	case decrypt.YAML:
		return yaml.NewStore(&config.YAMLStoreConfig{})
	case decrypt.JSON:
		return json.NewStore(&config.JSONStoreConfig{})
	case decrypt.Dotenv:
		return dotenv.NewStore(&config.DotenvStoreConfig{})
	case decrypt.INI:
		return ini.NewStore(&config.INIStoreConfig{})
	default:
		return json.NewBinaryStore(&config.JSONBinaryStoreConfig{})
	}
}

// Recipe is how a file is encrypted.
type Recipe struct {
	// Regex is what the keys match whose values are encrypted; empty means all values.
	Regex string
	// Groups are those it is encrypted for. With several groups the data key is split, and Threshold of
	// them are needed.
	Groups    []sops.KeyGroup
	Threshold int
	// Service encrypts the data key; nil means the library's own, which takes accounts from the
	// environment.
	Service keyservice.KeyServiceClient
}

// Encrypt encrypts a file for an age recipient: the values whose keys match regex, or all when it is
// empty.
func Encrypt(plain []byte, format decrypt.Format, regex, recipient string) ([]byte, error) {
	key, err := sopsage.MasterKeyFromRecipient(recipient)
	if err != nil {
		return nil, err
	}
	return EncryptAs(plain, format, Recipe{Regex: regex, Groups: []sops.KeyGroup{{key}}})
}

// EncryptAs encrypts a file by a recipe.
func EncryptAs(plain []byte, format decrypt.Format, recipe Recipe) ([]byte, error) {
	s := storeOf(format)
	branches, err := s.LoadPlainFile(plain)
	if err != nil {
		return nil, err
	}
	tree := sops.Tree{Branches: branches, Metadata: sops.Metadata{
		KeyGroups: recipe.Groups, ShamirThreshold: recipe.Threshold, EncryptedRegex: recipe.Regex,
		Version: "3.13.3", LastModified: time.Now().UTC(),
	}}
	if recipe.Service == nil {
		recipe.Service = keyservice.NewLocalClient()
	}
	dataKey, errs := tree.GenerateDataKeyWithKeyServices([]keyservice.KeyServiceClient{recipe.Service})
	if len(errs) > 0 {
		return nil, fmt.Errorf("creating a data key: %v", errs)
	}
	cipher := aes.NewCipher()
	mac, err := tree.Encrypt(dataKey, cipher)
	if err != nil {
		return nil, err
	}
	tree.Metadata.MessageAuthenticationCode, err = cipher.Encrypt(mac, dataKey, tree.Metadata.LastModified.Format(time.RFC3339))
	if err != nil {
		return nil, err
	}
	return s.EmitEncryptedFile(tree)
}
