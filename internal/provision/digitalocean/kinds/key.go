package kinds

import (
	"errors"
	"strings"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
)

// Key compares an SSH key with what is declared; nil is none.
func Key(want digitalocean.KeyParameters, have *godo.Key) Outcome {
	if have == nil {
		return Outcome{Condition: Missing, Message: "the SSH key does not exist"}
	}
	o := Outcome{Condition: Available}
	if want.PublicKey != nil && !SameKey(*want.PublicKey, have.PublicKey) {
		o.replace("publicKey", comment(*want.PublicKey), comment(have.PublicKey))
	}
	if want.Name != nil && *want.Name != have.Name {
		o.change(Change{"name", *want.Name, have.Name}, Call{Verb: Rename, To: *want.Name})
	}
	return o
}

// SameKey reports whether two lines are the same public key, whatever comments and spaces they have. An account has a key once:
// the one that is there already is what a creation would have made.
func SameKey(a, b string) bool {
	one, other := strings.Fields(a), strings.Fields(b)
	return len(one) >= 2 && len(other) >= 2 && one[0] == other[0] && one[1] == other[1]
}

// comment is what people know a key by.
func comment(line string) string {
	fields := strings.Fields(line)
	switch {
	case len(fields) > 2:
		return strings.Join(fields[2:], " ")
	case len(fields) > 0:
		return fields[0]
	}
	return ""
}

// CreateKey is the request that adds a key.
func CreateKey(want digitalocean.KeyParameters) (*godo.KeyCreateRequest, error) {
	switch {
	case value(want.Name) == "":
		return nil, errors.New("creating an SSH key: spec.forProvider.name is required")
	case value(want.PublicKey) == "":
		return nil, errors.New("creating an SSH key: spec.forProvider.publicKey is required")
	case strings.Contains(*want.PublicKey, "PRIVATE KEY"):
		return nil, errors.New("creating an SSH key: spec.forProvider.publicKey is a private key")
	}
	return &godo.KeyCreateRequest{Name: *want.Name, PublicKey: *want.PublicKey}, nil
}
