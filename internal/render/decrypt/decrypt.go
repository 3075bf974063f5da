package decrypt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/stores/dotenv"
	"github.com/getsops/sops/v3/stores/ini"
	sopsjson "github.com/getsops/sops/v3/stores/json"
	"github.com/getsops/sops/v3/stores/yaml"
)

// Format is how an encrypted file is written.
type Format int

// The formats of SOPS.
const (
	Binary Format = iota
	YAML
	JSON
	Dotenv
	INI
)

// FormatOf tells the format of a file from its name.
func FormatOf(name string) Format {
	switch path.Ext(name) {
	case ".yaml", ".yml":
		return YAML
	case ".json":
		return JSON
	case ".env":
		return Dotenv
	case ".ini":
		return INI
	default:
		return Binary
	}
}

// marks are what shows that a file was encrypted, by format.
var marks = map[Format][]byte{
	YAML: []byte("\nsops:\n"), JSON: []byte(`"sops"`), Binary: []byte(`"sops"`),
	Dotenv: []byte("sops_mac="), INI: []byte("[sops]"),
}

// IsEncrypted tells whether data was encrypted by SOPS, as far as can be seen without decoding it.
func IsEncrypted(data []byte, format Format) bool {
	if !bytes.Contains(data, []byte("ENC[")) {
		return false
	}
	return bytes.Contains(data, marks[format])
}

type loader interface {
	LoadEncryptedFile(in []byte) (sops.Tree, error)
	EmitPlainFile(in sops.TreeBranches) ([]byte, error)
}

func storeOf(f Format) loader {
	switch f {
	case YAML:
		return yaml.NewStore(&config.YAMLStoreConfig{})
	case JSON:
		return sopsjson.NewStore(&config.JSONStoreConfig{})
	case Dotenv:
		return dotenv.NewStore(&config.DotenvStoreConfig{})
	case INI:
		return ini.NewStore(&config.INIStoreConfig{})
	default:
		return sopsjson.NewBinaryStore(&config.JSONBinaryStoreConfig{})
	}
}

// Data decrypts a file in the format in, and returns it in the format out. It fails with a
// *NoKeyError when no key fits.
func (k *Keys) Data(data []byte, in, out Format) ([]byte, error) {
	tree, err := storeOf(in).LoadEncryptedFile(data)
	if err != nil {
		return nil, fmt.Errorf("reading its sops metadata: %w", err)
	}
	key, err := k.dataKey(&tree)
	if err != nil {
		return nil, err
	}
	if _, err := tree.Decrypt(key, aes.NewCipher()); err != nil {
		// The library's error may quote what it decrypts.
		return nil, errors.New("decrypting it: a value does not fit its key, or was changed by hand")
	}
	plain, err := storeOf(out).EmitPlainFile(tree.Branches)
	if err != nil {
		return nil, errors.New("writing what was decrypted")
	}
	return plain, nil
}

// Object decrypts an object that carries sops metadata.
func (k *Keys) Object(object map[string]any) (map[string]any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding it: %w", err)
	}
	plain, err := k.Data(data, JSON, JSON)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if err := json.Unmarshal(plain, &out); err != nil {
		return nil, errors.New("reading what was decrypted")
	}
	return out, nil
}

// SecretData decrypts the entries of a Secret's data that are encrypted files themselves, each by
// the format of its name, and tells whether there were any.
func (k *Keys) SecretData(data map[string]any) (bool, error) {
	found := false
	for name, value := range data {
		text, ok := value.(string)
		if !ok {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		format, encrypted := detect(name, raw)
		if !encrypted {
			continue
		}
		plain, err := k.Data(raw, format, format)
		if err != nil {
			return found, fmt.Errorf("data[%q]: %w", name, err)
		}
		data[name], found = base64.StdEncoding.EncodeToString(plain), true
	}
	return found, nil
}

func detect(name string, raw []byte) (Format, bool) {
	for _, format := range []Format{FormatOf(name), YAML, Binary, Dotenv, INI} {
		if IsEncrypted(raw, format) {
			return format, true
		}
	}
	return Binary, false
}
