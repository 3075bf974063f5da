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

// Encrypt encrypts a file for an age recipient: the values whose keys match regex, or all when it is
// empty.
func Encrypt(plain []byte, format decrypt.Format, regex, recipient string) ([]byte, error) {
	s := storeOf(format)
	branches, err := s.LoadPlainFile(plain)
	if err != nil {
		return nil, err
	}
	key, err := sopsage.MasterKeyFromRecipient(recipient)
	if err != nil {
		return nil, err
	}
	tree := sops.Tree{Branches: branches, Metadata: sops.Metadata{
		KeyGroups: []sops.KeyGroup{{key}}, EncryptedRegex: regex, Version: "3.13.3", LastModified: time.Now().UTC(),
	}}
	dataKey, errs := tree.GenerateDataKeyWithKeyServices([]keyservice.KeyServiceClient{keyservice.NewLocalClient()})
	if len(errs) > 0 {
		return nil, fmt.Errorf("making a data key: %v", errs)
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
