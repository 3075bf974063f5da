// Package store keeps the users, organisations, tokens, repositories, pull requests and hooks of the Git server, in memory and
// in one file of a state directory, which every change replaces as a whole.
//
// Passwords and tokens are hashed. Secrets of hooks are encrypted by a key that is kept elsewhere; without a key, a hook
// lives in memory only. The room refuses to know Git, HTTP and permissions. A change that cannot be written to the
// disk has not happened.
package store

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Errors of this package, which errors.Is finds.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("already exists")
	ErrInvalid  = errors.New("invalid")
	// ErrLimit is a bound on how many there may be.
	ErrLimit = errors.New("limit reached")
)

// Account is a user or an organisation.
type Account struct {
	ID           int64     `json:"id"`
	Name         string    `json:"name"`
	Organisation bool      `json:"organisation,omitempty"`
	FullName     string    `json:"fullName,omitempty"`
	Email        string    `json:"email,omitempty"`
	Description  string    `json:"description,omitempty"`
	Admin        bool      `json:"admin,omitempty"`
	Private      bool      `json:"private,omitempty"`
	Created      time.Time `json:"created"`
	// Password is hashed; empty lets no one in.
	Password string `json:"password,omitempty"`
	// Members are the IDs of users who own an organisation.
	Members []int64 `json:"members,omitempty"`
}

// Token is an access token of a user.
type Token struct {
	ID   int64  `json:"id"`
	User int64  `json:"user"`
	Name string `json:"name"`
	// Hash is that of the token; Last are its last eight characters, for display.
	Hash    string    `json:"hash"`
	Last    string    `json:"last"`
	Scopes  []string  `json:"scopes"`
	Created time.Time `json:"created"`
}

// Repository is a repository.
type Repository struct {
	ID            int64     `json:"id"`
	Owner         int64     `json:"owner"`
	Name          string    `json:"name"`
	Description   string    `json:"description,omitempty"`
	Private       bool      `json:"private,omitempty"`
	DefaultBranch string    `json:"defaultBranch"`
	Created       time.Time `json:"created"`
	Updated       time.Time `json:"updated"`
	// Mirror says why pushes are refused; such a repository lives in memory only. Dir is where it is, if not below the state.
	Mirror string `json:"-"`
	Dir    string `json:"-"`
}

// Pull is a pull request.
type Pull struct {
	ID         int64      `json:"id"`
	Repository int64      `json:"repository"`
	Number     int64      `json:"number"`
	Poster     int64      `json:"poster"`
	Title      string     `json:"title"`
	Body       string     `json:"body,omitempty"`
	Head       string     `json:"head"`
	Base       string     `json:"base"`
	Closed     bool       `json:"closed,omitempty"`
	HeadID     string     `json:"headID,omitempty"`
	BaseID     string     `json:"baseID,omitempty"`
	MergeID    string     `json:"mergeID,omitempty"`
	MergedBy   int64      `json:"mergedBy,omitempty"`
	Merged     *time.Time `json:"merged,omitempty"`
	ClosedAt   *time.Time `json:"closedAt,omitempty"`
	Created    time.Time  `json:"created"`
	Updated    time.Time  `json:"updated"`
}

// Hook is a webhook.
type Hook struct {
	ID int64 `json:"id"`
	// Repository and Owner are what it was set for; both zero for a hook of the system.
	Repository   int64     `json:"repository,omitempty"`
	Owner        int64     `json:"owner,omitempty"`
	Type         string    `json:"type"`
	ContentType  string    `json:"contentType"`
	Events       []string  `json:"events"`
	BranchFilter string    `json:"branchFilter,omitempty"`
	Active       bool      `json:"active"`
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"`
	Secrets      Secrets   `json:"-"`
	// Sealed are the Secrets, encrypted.
	Sealed []byte `json:"sealed,omitempty"`
}

// Secrets are the parts of a hook that are not for everyone. A URL may have credentials in it.
type Secrets struct {
	URL, Secret, Authorization string
}

// Data is everything that a Store keeps. What it refers to is not changed in place.
type Data struct {
	// Last is the last ID that was given.
	Last         int64        `json:"last"`
	Accounts     []Account    `json:"accounts"`
	Tokens       []Token      `json:"tokens"`
	Repositories []Repository `json:"repositories"`
	Pulls        []Pull       `json:"pulls"`
	Hooks        []Hook       `json:"hooks"`
}

// Next gives an ID.
func (d *Data) Next() int64 {
	d.Last++
	return d.Last
}

// Account finds a user or an organisation by its name, in any case.
func (d *Data) Account(name string) (Account, bool) {
	i := slices.IndexFunc(d.Accounts, func(a Account) bool { return strings.EqualFold(a.Name, name) })
	if i < 0 {
		return Account{}, false
	}
	return d.Accounts[i], true
}

// AccountOf finds a user or an organisation by its ID.
func (d *Data) AccountOf(id int64) (Account, bool) {
	i := slices.IndexFunc(d.Accounts, func(a Account) bool { return a.ID == id })
	if i < 0 {
		return Account{}, false
	}
	return d.Accounts[i], true
}

// Repository finds a repository by its owner and name, in any case.
func (d *Data) Repository(owner, name string) (Repository, Account, bool) {
	of, ok := d.Account(owner)
	if !ok {
		return Repository{}, Account{}, false
	}
	i := slices.IndexFunc(d.Repositories, func(r Repository) bool { return r.Owner == of.ID && strings.EqualFold(r.Name, name) })
	if i < 0 {
		return Repository{}, of, false
	}
	return d.Repositories[i], of, true
}

// Store keeps Data.
type Store struct {
	dir  string
	seal cipher.AEAD

	mu   sync.RWMutex
	data Data
}

// file is what holds the data in the state directory.
const file = "gitea.json"

// Open reads the state directory, which may be new. The key, of 32 bytes, encrypts secrets of hooks; without one, those
// hooks are not kept on disk.
func Open(dir string, key []byte) (*Store, error) {
	s := &Store{dir: dir}
	if len(key) > 0 {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("the key of the Git server's secrets: %w", err)
		}
		if s.seal, err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the state directory of the Git server: %w", err)
	}
	name := filepath.Join(dir, file)
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state of the Git server: %w", err)
	}
	if err := json.Unmarshal(content, &s.data); err != nil {
		return nil, fmt.Errorf("reading %s: %w; restore it from a backup, or move it away to start without users", name, err)
	}
	for i := range s.data.Hooks {
		if err := s.open(&s.data.Hooks[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Read calls f with the data, which f must not change or keep.
func (s *Store) Read(f func(d *Data)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f(&s.data)
}

// Write calls f with a copy of the data, and keeps what f made of it once that is on disk, unless f fails.
func (s *Store) Write(f func(d *Data) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.data
	next.Accounts = slices.Clone(next.Accounts)
	next.Tokens = slices.Clone(next.Tokens)
	next.Repositories = slices.Clone(next.Repositories)
	next.Pulls = slices.Clone(next.Pulls)
	next.Hooks = slices.Clone(next.Hooks)
	if err := f(&next); err != nil {
		return err
	}
	if err := s.save(next); err != nil {
		return fmt.Errorf("writing the state of the Git server: %w", err)
	}
	s.data = next
	return nil
}

// save replaces the file.
func (s *Store) save(data Data) error {
	data.Repositories = slices.DeleteFunc(slices.Clone(data.Repositories), func(r Repository) bool { return r.Mirror != "" })
	var kept []Hook
	for _, hook := range data.Hooks {
		mirrored := hook.Repository != 0 && !slices.ContainsFunc(data.Repositories, func(r Repository) bool { return r.ID == hook.Repository })
		if mirrored || s.seal == nil && hook.Secrets != (Secrets{}) {
			continue
		}
		if err := s.close(&hook); err != nil {
			return err
		}
		kept = append(kept, hook)
	}
	data.Hooks = kept
	content, err := json.MarshalIndent(data, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(s.dir, file), content)
}

// replace writes a file as a whole or not at all.
func replace(name string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
