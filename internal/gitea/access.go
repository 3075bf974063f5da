package gitea

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/gitea/store"
	"github.com/headgate-dev/headgate/internal/gitserver"
)

// caller is who makes a request; the zero value is anonymous.
type caller struct {
	store.Account
	// scopes are those of a token; password is set for a user who gave a password instead.
	scopes   []string
	password bool
}

func (c caller) known() bool { return c.ID != 0 }

// publicScope is the scope of a token that has access to no more than what everyone can read.
const publicScope = "public-only"

func (c caller) publicOnly() bool { return slices.Contains(c.scopes, publicScope) }

// covers reports whether the scopes of a token allow reading or writing in a category of the API.
func (c caller) covers(category string, write bool) bool {
	if !c.known() || c.password || slices.Contains(c.scopes, "all") || slices.Contains(c.scopes, "write:"+category) {
		return true
	}
	return !write && slices.Contains(c.scopes, "read:"+category)
}

var errCredentials = errors.New("invalid username, password or token")

// who finds the user of a request. Wrong credentials are an error; none are anonymous.
func (s *Server) who(r *http.Request) (caller, error) {
	if user, password, ok := r.BasicAuth(); ok {
		return s.basic(r.Context(), user, password)
	}
	header := r.Header.Get("Authorization")
	if header == "" {
		return caller{}, nil
	}
	scheme, token, _ := strings.Cut(header, " ")
	if strings.EqualFold(scheme, "token") || strings.EqualFold(scheme, "bearer") {
		if found, ok := s.token(strings.TrimSpace(token)); ok {
			return found, nil
		}
	}
	return caller{}, errCredentials
}

// basic takes a token as the user or as the password, too, as Gitea does.
func (s *Server) basic(ctx context.Context, user, password string) (caller, error) {
	candidates := []string{password}
	if password == "" || password == "x-oauth-basic" {
		candidates = []string{user}
	}
	for _, one := range candidates {
		if found, ok := s.token(one); ok {
			return found, nil
		}
	}
	var of store.Account
	s.store.Read(func(d *store.Data) { of, _ = d.Account(user) })
	if of.Organisation || of.Password == "" || len(password) > maxPassword {
		return caller{}, errCredentials
	}
	key := sha256.Sum256(fmt.Appendf(s.salt[:len(s.salt):len(s.salt)], "%d\x00%s\x00%s", of.ID, of.Password, password))
	s.mu.Lock()
	known := s.proven[key] == of.ID
	s.mu.Unlock()
	if known {
		return caller{Account: of, password: true}, nil
	}
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return caller{}, context.Cause(ctx)
	}
	if !store.CheckPassword(of.Password, password) {
		return caller{}, errCredentials
	}
	s.mu.Lock()
	s.proven[key] = of.ID
	s.mu.Unlock()
	return caller{Account: of, password: true}, nil
}

// forget drops what is known of passwords.
func (s *Server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.proven)
}

func (s *Server) token(text string) (caller, bool) {
	if len(text) != 40 {
		return caller{}, false
	}
	hash := store.HashToken(text)
	var found caller
	s.store.Read(func(d *store.Data) {
		for _, token := range d.Tokens {
			if token.Hash == hash {
				found.Account, _ = d.AccountOf(token.User)
				found.scopes = token.Scopes
			}
		}
	})
	return found, found.known()
}

// owns reports whether a user acts for an owner: as the owner, as a member, as an administrator. A token for what is public acts for no private owner.
func owns(user caller, owner store.Account) bool {
	return user.known() && (!owner.Private || !user.publicOnly()) && (user.ID == owner.ID || user.Admin || slices.Contains(owner.Members, user.ID))
}

// reads reports whether a user has read access to a repository.
func reads(user caller, at place) bool {
	if !at.Private && !at.owner.Private {
		return true
	}
	return !user.publicOnly() && owns(user, at.owner)
}

// public refuses a token for what is public, where something that is not would be read or created.
func public(c *call) error {
	if c.user.publicOnly() {
		return fail(http.StatusForbidden, "token scope is limited to public repositories, users and organizations")
	}
	return nil
}

// Authenticate returns the login of a user by a password or a token.
func (s *Server) Authenticate(ctx context.Context, user, password string) (string, bool) {
	found, err := s.basic(ctx, user, password)
	return found.Name, err == nil && found.known() && found.covers("package", false)
}

// Who returns the login of the user of a request; anonymous requests have none.
func (s *Server) Who(r *http.Request) (string, bool) {
	found, err := s.who(r)
	return found.Name, err == nil && found.known()
}

// Owner returns the name of a user or organisation as it is written; upper and lower case are the same.
func (s *Server) Owner(_ context.Context, name string) (string, bool) {
	var found store.Account
	s.store.Read(func(d *store.Data) { found, _ = d.Account(name) })
	return found.Name, found.ID != 0
}

// Permits reports whether a user, or anyone if login is empty, has access to what belongs to an owner.
func (s *Server) Permits(_ context.Context, login, owner string, write bool) bool {
	var user caller
	var of store.Account
	s.store.Read(func(d *store.Data) {
		if login != "" {
			user.Account, _ = d.Account(login)
		}
		of, _ = d.Account(owner)
	})
	if of.ID == 0 {
		return false
	}
	return !write && !of.Private || owns(user, of)
}

// Shape is a user or organisation as the API shows it.
func (s *Server) Shape(_ context.Context, name string) any {
	var found store.Account
	s.store.Read(func(d *store.Data) { found, _ = d.Account(name) })
	return s.user(found)
}

// Open implements gitserver.Access.
func (s *Server) Open(r *http.Request, owner, name string, push bool) (gitserver.Grant, error) {
	refuse := func(status int, format string, args ...any) (gitserver.Grant, error) {
		return gitserver.Grant{}, &gitserver.Refusal{Status: status, Reason: fmt.Sprintf(format, args...)}
	}
	user, err := s.who(r)
	if err != nil {
		return refuse(http.StatusUnauthorized, "%v", err)
	}
	at, err := s.find(owner, name)
	if err != nil || !reads(user, at) {
		if !user.known() {
			return refuse(http.StatusUnauthorized, "credentials are required")
		}
		return refuse(http.StatusNotFound, "repository %s/%s was not found", owner, name)
	}
	if !user.covers("repository", push) {
		return refuse(http.StatusForbidden, "the token does not have the scope %s:repository", level(push))
	}
	grant := gitserver.Grant{User: user.Name, Owner: at.owner.Name, Name: at.Name, Dir: string(at.git)}
	if !push {
		return grant, nil
	}
	switch {
	case !user.known():
		return refuse(http.StatusUnauthorized, "credentials are required to push")
	case !owns(user, at.owner):
		return refuse(http.StatusForbidden, "user %q does not have push access to %s", user.Name, at.full())
	case at.Mirror != "":
		return refuse(http.StatusForbidden, "%s", at.Mirror)
	}
	if grant.MaxInput, err = s.room(at); errors.Is(err, store.ErrLimit) {
		return refuse(http.StatusForbidden, "%v", err)
	}
	return grant, errors.Join(err, s.prepare(r.Context(), at))
}

func level(write bool) string {
	if write {
		return "write"
	}
	return "read"
}

// Pushed implements gitserver.Access.
func (s *Server) Pushed(ctx context.Context, to gitserver.Grant) {
	at, err := s.find(to.Owner, to.Name)
	if err != nil {
		return
	}
	var by store.Account
	s.store.Read(func(d *store.Data) { by, _ = d.Account(to.User) })
	if err := s.note(ctx, at, by); err != nil {
		s.cfg.Log.Error(err, "reporting a push", "repository", at.full())
	}
}

const (
	// maxName, maxText and maxPassword bound names, other texts and passwords, in bytes.
	maxName, maxText, maxPassword = 100, 64 << 10, 1024
)

var nameShape = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?$`)

// reserved are names that paths of the server have.
var reserved = []string{"admin", "api", "assets", "attachments", "avatars", "explore", "git", "healthz", "issues", "login", "metrics", "new", "org", "repo", "user", "v2"}

// checkName says what is wrong with the name of a user, an organisation or a repository.
func checkName(name string) error {
	lower := strings.ToLower(name)
	bad := len(name) > maxName || !nameShape.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(lower, ".git") ||
		strings.HasSuffix(lower, ".wiki") || strings.HasSuffix(lower, ".lock")
	if bad {
		return fmt.Errorf("name %q: %w; use letters, digits, dots, dashes and underscores", name, store.ErrInvalid)
	}
	return nil
}

// checkAccount says what is wrong with the name of a user or an organisation.
func checkAccount(name string) error {
	if slices.Contains(reserved, strings.ToLower(name)) {
		return fmt.Errorf("name %q: %w; it is reserved", name, store.ErrInvalid)
	}
	return checkName(name)
}
