package decrypt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/stores/dotenv"
	"github.com/getsops/sops/v3/stores/ini"
	sopsjson "github.com/getsops/sops/v3/stores/json"
	"github.com/getsops/sops/v3/stores/yaml"
	utiljson "k8s.io/apimachinery/pkg/util/json"
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

// String returns the name that SOPS has for the format.
func (f Format) String() string {
	return [...]string{"binary", "yaml", "json", "dotenv", "ini"}[f]
}

// FormatOf tells the format of a file, or of a key of a Secret, from its name.
func FormatOf(name string) Format {
	if strings.HasSuffix(name, ".dockerconfigjson") {
		return JSON
	}
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
var marks = map[Format]*regexp.Regexp{
	YAML: regexp.MustCompile(`(?m)^\s*mac: ENC\[`), JSON: jsonMark, Binary: jsonMark,
	Dotenv: regexp.MustCompile(`(?m)^sops_mac=ENC\[`), INI: regexp.MustCompile(`(?m)^\[sops\]`),
}

var jsonMark = regexp.MustCompile(`"mac":\s*"ENC\[`)

// IsEncrypted reports whether data was encrypted by SOPS, as far as can be seen without decoding it.
func IsEncrypted(data []byte, format Format) bool {
	return bytes.Contains(data, []byte("ENC[")) && marks[format].Match(data)
}

type loader interface {
	LoadEncryptedFile(in []byte) (sops.Tree, error)
	EmitPlainFile(in sops.TreeBranches) ([]byte, error)
}

// storeOf returns the library's reader and writer of a format, with the indentation that the sops
// command has.
func storeOf(f Format) loader {
	switch f {
	case YAML:
		return yaml.NewStore(&config.YAMLStoreConfig{Indent: 4})
	case JSON:
		return sopsjson.NewStore(&config.JSONStoreConfig{Indent: -1})
	case Dotenv:
		return dotenv.NewStore(&config.DotenvStoreConfig{})
	case INI:
		return ini.NewStore(&config.INIStoreConfig{})
	default:
		return sopsjson.NewBinaryStore(&config.JSONBinaryStoreConfig{Indent: -1})
	}
}

// Data decrypts a file in the format in, and returns it in the format out. It fails with a
// *NoKeyError when no key fits.
func (k *Keys) Data(data []byte, in, out Format) (plain []byte, err error) {
	defer func() {
		// The library panics on some input that was made by hand.
		if recover() != nil {
			plain, err = nil, errors.New("its sops metadata or its format is damaged")
		}
	}()
	tree, err := storeOf(in).LoadEncryptedFile(data)
	if err != nil {
		return nil, errors.New("its sops metadata is invalid")
	}
	key, err := k.DataKey(&tree)
	switch {
	case err != nil && k.standIn != nil:
		k.markTree(&tree)
	case err != nil:
		return nil, err
	default:
		if _, err := tree.Decrypt(key, aes.NewCipher()); err != nil {
			// The library's error may quote what it decrypts.
			return nil, errors.New("decrypting: a value does not match its key, or was changed by hand")
		}
	}
	if plain, err = storeOf(out).EmitPlainFile(tree.Branches); err != nil {
		return nil, fmt.Errorf("decrypted, but it cannot be written as %s", out)
	}
	return plain, nil
}

// Object decrypts an object that carries sops metadata.
func (k *Keys) Object(object map[string]any) (map[string]any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	plain, err := k.Data(data, JSON, JSON)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	// This decoder keeps whole numbers whole.
	if err := utiljson.Unmarshal(plain, &out); err != nil {
		return nil, errors.New("reading the decrypted content")
	}
	return out, nil
}

// SecretData decrypts the entries of a Secret's data that are encrypted files themselves, and reports
// whether there were any. An entry is written in the format that its key asks for.
func (k *Keys) SecretData(data map[string]any) (bool, error) {
	found := false
	for _, name := range slices.Sorted(maps.Keys(data)) {
		text, ok := data[name].(string)
		if !ok {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			// The API server says what is wrong with it.
			continue
		}
		format, encrypted := detect(raw)
		if !encrypted {
			continue
		}
		plain, err := k.Data(raw, format, FormatOf(name))
		if err != nil {
			return found, fmt.Errorf("data[%q]: %w", name, err)
		}
		data[name], found = base64.StdEncoding.EncodeToString(plain), true
	}
	return found, nil
}

func detect(raw []byte) (Format, bool) {
	for _, format := range []Format{YAML, JSON, Dotenv, INI} {
		if IsEncrypted(raw, format) {
			return format, true
		}
	}
	return Binary, false
}
