// Package store is the port of External Secrets to stores of secrets: what a provider offers, how it fails, and what it is given.
//
// Each provider is a room below this one with a configuration of its own, which the dialect fills in from the objects of
// users. Providers get the values of credentials from the caller's Lookup and send requests by the caller's HTTP client, so that
// they see no cluster and reach no address that the caller did not permit. They refuse to show a value, a credential or the body
// of an answer in an error, to keep values after a call, and to repeat requests: an error says when that is worthwhile.
package store

import (
	"context"
	"encoding/json"
)

// Bounds of what stores may answer.
const (
	// MaxBody bounds the body of one answer, in bytes.
	MaxBody = 8 << 20
	// MaxFound bounds the secrets that one Find returns, and the items that it lists.
	MaxFound = 1000
)

// Ref names a value, or several, in a store.
type Ref struct {
	// Key is the name or path of the secret there.
	Key string
	// Property is a part of the secret; the default is the provider's.
	Property string
	// Version is one of its versions; the default is the latest.
	Version string
	// MetadataPolicy says whether the secret itself is meant or what is recorded about it.
	MetadataPolicy MetadataPolicy
}

// MetadataPolicy is what a Ref asks of a secret: its value, or its tags and labels.
type MetadataPolicy string

// The policies; the empty one is MetadataNone.
const (
	MetadataNone  MetadataPolicy = "None"
	MetadataFetch MetadataPolicy = "Fetch"
)

// Find selects secrets. The conditions that are given hold for all results.
type Find struct {
	// Path is where to search; its meaning is the provider's.
	Path string
	// Name is a regular expression of names.
	Name string
	// Tags are labels that a secret has.
	Tags map[string]string
}

// PushRef names what a value is written to.
type PushRef struct {
	// Key is the name or path of the secret.
	Key string
	// Property is the part of the secret that is written; without one it is the whole.
	Property string
	// Metadata is what the user gives for the provider, in the provider's form: tags and the like.
	Metadata json.RawMessage
	// Whole says that the value is a JSON object of strings with all keys of a Secret.
	Whole bool
}

// SecretRef names a value that the caller looks up.
type SecretRef struct {
	Namespace, Name, Key string
}

// Lookup returns the value of a key of a Secret or ConfigMap. It decides whether the store may read it.
type Lookup func(context.Context, SecretRef) ([]byte, error)

// Client is one store, with the rights of its credentials. Its methods may be called at the same time. Each sends every
// request once.
type Client interface {
	// Get returns one value. It fails with ErrNotFound when there is no such secret.
	Get(context.Context, Ref) ([]byte, error)
	// Map returns all values of a secret by name.
	Map(context.Context, Ref) (map[string][]byte, error)
	// Find returns the values of secrets by name.
	Find(context.Context, Find) (map[string][]byte, error)
	// Push writes a value, and nothing when it is there already. A secret that another program manages is left alone.
	Push(context.Context, PushRef, []byte) error
	// Delete removes what Push wrote. What is gone is no error.
	Delete(context.Context, PushRef) error
	// Exists reports whether there is a value that Push would replace.
	Exists(context.Context, PushRef) (bool, error)
	// Check finds out whether the store is reachable and accepts the credentials.
	Check(context.Context) error
	// Close ends connections and sessions.
	Close() error
}

// Watcher is a Client that can report changes, so that nothing has to ask it again and again.
type Watcher interface {
	// Watch calls changed after each change of any secret of the store, at least once for several in a row, and returns when the
	// context ends, or with an error when changes can no longer be seen. It is the caller's goroutine that runs it.
	Watch(ctx context.Context, changed func()) error
}
