package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// UserKeys reads the age identities of the user: those of the file alone when one is given, else all
// that the sops command would find. Without any it returns keys that are empty.
func UserKeys(file string) (*decrypt.Keys, error) {
	if file != "" {
		return readAgeKeys(file)
	}
	sets := []*decrypt.Keys{{}}
	if text := os.Getenv("SOPS_AGE_KEY"); text != "" {
		// Its identities may stand on one line.
		keys, err := decrypt.ParseAge([]byte(identityLines(text)))
		if err != nil {
			return nil, fmt.Errorf("reading SOPS_AGE_KEY: %w", err)
		}
		sets = append(sets, keys)
	}
	if name := os.Getenv("SOPS_AGE_KEY_FILE"); name != "" {
		keys, err := readAgeKeys(name)
		if err != nil {
			return nil, fmt.Errorf("SOPS_AGE_KEY_FILE: %w", err)
		}
		sets = append(sets, keys)
	}
	if dir, err := configDir(); err == nil {
		keys, err := readAgeKeys(filepath.Join(dir, "sops", "age", "keys.txt"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		sets = append(sets, keys)
	}
	return decrypt.Merge(sets...), nil
}

// GivenKeys is the text of the age identities that a command is given: by the file or, without one, by SOPS_AGE_KEY and by the file of
// SOPS_AGE_KEY_FILE. From says which; both are empty where none is given. What is no age identity is an error that names where it is written.
func GivenKeys(file string) (text []byte, from string, err error) {
	switch env, named := os.Getenv("SOPS_AGE_KEY"), os.Getenv("SOPS_AGE_KEY_FILE"); {
	case file != "":
		from = "--age-key-file " + file
	case env != "":
		text, from = []byte(identityLines(env)+"\n"), "SOPS_AGE_KEY"
	case named != "":
		file, from = named, "SOPS_AGE_KEY_FILE "+named
	default:
		return nil, "", nil
	}
	if file != "" {
		if text, err = os.ReadFile(file); err != nil {
			return nil, "", fmt.Errorf("reading the age key of %s: %w", from, err)
		}
	}
	if _, err := decrypt.ParseAge(text); err != nil {
		return nil, "", Hint(fmt.Errorf("reading the age key of %s: %w", from, err), "age-keygen -o FILE, or --age-key-file FILE of another key")
	}
	return text, from, nil
}

func readAgeKeys(name string) (*decrypt.Keys, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the age key: %w", err)
	}
	keys, err := decrypt.ParseAge(data)
	if err != nil {
		return nil, fmt.Errorf("reading the age key %s: %w", name, err)
	}
	return keys, nil
}

// identityLines puts each identity on a line of its own and leaves comments out.
func identityLines(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			words = append(words, strings.Fields(line)...)
		}
	}
	return strings.Join(words, "\n")
}

// configDir is where the sops command reads the configuration of the user.
func configDir() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); runtime.GOOS == "darwin" && dir != "" {
		return dir, nil
	}
	return os.UserConfigDir()
}
