package gitea

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gitea/shapes"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

// tokenOwner is the user of an endpoint of tokens. As in Gitea, it takes a password: a token does not make others.
func (s *Server) tokenOwner(c *call) (store.Account, error) {
	found, err := s.account(c.path("user"), false)
	switch {
	case !c.user.password:
		return found, fail(http.StatusUnauthorized, "auth required: tokens are managed with the password of the user")
	case err == nil && found.ID != c.user.ID && !c.user.Admin:
		return found, fail(http.StatusForbidden, "doer should be the site admin or be same as the contextUser")
	}
	return found, err
}

func tokenShape(t store.Token) shapes.Token {
	return shapes.Token{ID: t.ID, Name: t.Name, Last: t.Last, Scopes: t.Scopes, Created: t.Created, Used: t.Created}
}

func (s *Server) listTokens(c *call) (answer, error) {
	of, err := s.tokenOwner(c)
	if err != nil {
		return answer{}, err
	}
	var found []store.Token
	s.store.Read(func(d *store.Data) {
		for _, one := range d.Tokens {
			if one.User == of.ID {
				found = append(found, one)
			}
		}
	})
	tokens := []shapes.Token{}
	for _, one := range page(s, c, found) {
		tokens = append(tokens, tokenShape(one))
	}
	return answer{200, tokens}, nil
}

// categories are those that scopes name.
var categories = []string{"activitypub", "admin", "issue", "misc", "notification", "organization", "package", "repository", "user"}

func checkScopes(scopes []string) error {
	if len(scopes) == 0 {
		return fail(http.StatusBadRequest, "access token must have a scope")
	}
	for _, one := range scopes {
		kind, category, _ := strings.Cut(one, ":")
		if one != "all" && one != publicScope && (kind != "read" && kind != "write" || !slices.Contains(categories, category)) {
			return fail(http.StatusBadRequest, "invalid access token scope provided: %q", one)
		}
	}
	return nil
}

func (s *Server) createToken(c *call) (answer, error) {
	of, err := s.tokenOwner(c)
	if err != nil {
		return answer{}, err
	}
	var wanted struct {
		Name   string
		Scopes []string
	}
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	if wanted.Name == "" || len(wanted.Name) > maxName {
		return answer{}, fail(http.StatusUnprocessableEntity, "name: a token needs a name of %d bytes at most", maxName)
	}
	if err := checkScopes(wanted.Scopes); err != nil {
		return answer{}, err
	}
	secret, hash, err := store.NewToken()
	if err != nil {
		return answer{}, err
	}
	token := store.Token{User: of.ID, Name: wanted.Name, Hash: hash, Last: secret[len(secret)-8:], Scopes: wanted.Scopes, Created: now()}
	err = s.store.Write(func(d *store.Data) error {
		has := 0
		for _, one := range d.Tokens {
			if one.User == of.ID {
				has++
				if one.Name == token.Name {
					return fail(http.StatusBadRequest, "access token name has been used already")
				}
			}
		}
		if has >= s.cfg.Quota.Each {
			return fmt.Errorf("%d tokens of %s: %w", has, of.Name, store.ErrLimit)
		}
		token.ID = d.Next()
		d.Tokens = append(d.Tokens, token)
		return nil
	})
	shape := tokenShape(token)
	shape.Sha1 = secret
	return answer{201, shape}, err
}

func (s *Server) deleteToken(c *call) (answer, error) {
	of, err := s.tokenOwner(c)
	if err != nil {
		return answer{}, err
	}
	id, _ := strconv.ParseInt(c.path("token"), 10, 64)
	return answer{status: 204}, s.store.Write(func(d *store.Data) error {
		before := len(d.Tokens)
		d.Tokens = slices.DeleteFunc(d.Tokens, func(t store.Token) bool {
			return t.User == of.ID && (t.ID == id || t.Name == c.path("token"))
		})
		if len(d.Tokens) == before {
			return fmt.Errorf("token %q of %s: %w", c.path("token"), of.Name, store.ErrNotFound)
		}
		return nil
	})
}
