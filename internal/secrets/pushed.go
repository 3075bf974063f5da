package secrets

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/headgate-dev/headgate/api/externalsecrets/v1alpha1"
	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// place names a value in a store, in statuses.
func place(d v1alpha1.Data) string {
	if d.Match.RemoteRef.Property == "" {
		return d.Match.RemoteRef.RemoteKey
	}
	return d.Match.RemoteRef.RemoteKey + "/" + d.Match.RemoteRef.Property
}

// pushed is what is written of values, and where.
func pushed(d v1alpha1.Data, values map[string][]byte) (ref store.PushRef, value []byte, err error) {
	ref = store.PushRef{Key: d.Match.RemoteRef.RemoteKey, Property: d.Match.RemoteRef.Property}
	if d.Metadata != nil {
		ref.Metadata = d.Metadata.Raw
	}
	if d.ConversionStrategy == v1alpha1.ConversionReverseUnicode {
		values = reversed(values)
	}
	if key := d.Match.SecretKey; key != "" {
		value, has := values[key]
		if !has {
			return ref, nil, fmt.Errorf("secret key %s does not exist", key)
		}
		return ref, value, nil
	}
	whole := make(map[string]string, len(values))
	for key, value := range values {
		whole[key] = string(value)
	}
	ref.Whole = true
	value, err = json.Marshal(whole)
	return ref, value, err
}

// coded is a character that a key of a Secret cannot have.
var coded = regexp.MustCompile(`_U([0-9a-fA-F]{4,6})_`)

// reversed has the characters again that a key of a Secret cannot have.
func reversed(values map[string][]byte) map[string][]byte {
	all := make(map[string][]byte, len(values))
	for key, value := range values {
		name := coded.ReplaceAllStringFunc(key, func(code string) string {
			n, err := strconv.ParseInt(code[2:len(code)-1], 16, 32)
			if err != nil {
				return code
			}
			return string(rune(n))
		})
		all[name] = value
	}
	return all
}
