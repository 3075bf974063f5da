package console

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// SealedFile is an encrypted file that a unit reads, and of which nothing is decrypted.
type SealedFile struct {
	// File is relative to the repository, Unit the first one that reads it.
	File, Unit string
	// Why is set where a key is given that should decrypt it.
	Why error
}

// SealedFiles are those of which nothing is decrypted, in their order.
func (o OfflineOptions) SealedFiles(w *offline.Walk) ([]SealedFile, error) {
	text, from, err := GivenKeys(o.AgeKeyFile)
	if err != nil || w.Dir == "" {
		return nil, err
	}
	keys := &decrypt.Keys{}
	if from != "" {
		if keys, err = decrypt.ParseAge(text); err != nil {
			return nil, err
		}
	}
	found := map[string]SealedFile{}
	for i := range w.Units {
		u := &w.Units[i]
		for _, name := range u.Reads {
			if _, told := found[name]; told || !u.Sealed {
				continue
			}
			if why := sealed(filepath.Join(w.Dir, filepath.FromSlash(name)), keys); why != nil {
				one := SealedFile{File: name, Unit: u.Unit.ID.String()}
				// Other keys than age identities are never given.
				if from != "" && slices.ContainsFunc(why.Recipients, func(r string) bool { return strings.HasPrefix(r, "age1") }) {
					one.Why = fmt.Errorf("the key of %s decrypts nothing of it: it is encrypted for %s", from, strings.Join(why.Recipients, ", "))
				}
				found[name] = one
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b SealedFile) int { return strings.Compare(a.File, b.File) }), nil
}

// sealed is why no key fits a file, nil if one does, or if the file is not encrypted.
func sealed(name string, keys *decrypt.Keys) *decrypt.NoKeyError {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil // of another source
	}
	for _, format := range []decrypt.Format{decrypt.FormatOf(name), decrypt.YAML, decrypt.JSON, decrypt.Dotenv, decrypt.INI} {
		if !decrypt.IsEncrypted(data, format) {
			continue
		}
		var none *decrypt.NoKeyError
		if _, err := keys.Data(data, format, format); errors.As(err, &none) {
			return none
		}
		return nil
	}
	return nil
}

// Unsealed says which files are not decrypted for want of a key, or nothing.
func Unsealed(all []SealedFile) string {
	var names []string
	for _, one := range all {
		if one.Why == nil {
			names = append(names, one.File)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is not decrypted: no key for it is given"
	}
	const most = 3
	return engine.First(names, most) + " are not decrypted: no key for them is given"
}
