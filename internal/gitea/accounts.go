package gitea

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gitea/shapes"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

func (s *Server) accountRoutes() []route {
	return []route{
		{"GET /user", "user", signedIn, func(c *call) (answer, error) { return answer{200, s.user(c.user.Account)}, nil }},
		{"GET /users/search", "user", anyone, s.searchUsers},
		{"GET /users/{user}", "user", anyone, s.getUser},
		{"GET /users/{user}/repos", "user", anyone, s.listOwned("user", false)},
		{"GET /users/{user}/orgs", "organization", anyone, s.listOrgsOf},
		{"GET /users/{user}/tokens", "user", signedIn, s.listTokens},
		{"POST /users/{user}/tokens", "user", signedIn, s.createToken},
		{"DELETE /users/{user}/tokens/{token}", "user", signedIn, s.deleteToken},
		{"GET /user/orgs", "organization", signedIn, s.listOrgsOf},
		{"GET /orgs", "organization", anyone, s.listOrgs},
		{"POST /orgs", "organization", signedIn, s.createOrg},
		{"GET /orgs/{org}", "organization", anyone, s.getOrg},
		{"DELETE /orgs/{org}", "organization", signedIn, s.deleteOrg},
		{"GET /orgs/{org}/repos", "organization", anyone, s.listOwned("org", true)},
		{"GET /admin/users", "admin", admin, s.searchUsers},
		{"POST /admin/users", "admin", admin, s.createUser},
		{"PATCH /admin/users/{user}", "admin", admin, s.editUser},
		{"DELETE /admin/users/{user}", "admin", admin, s.deleteUser},
	}
}

func visibility(a store.Account) string {
	if a.Private {
		return "private"
	}
	return "public"
}

func (s *Server) user(a store.Account) shapes.User {
	email := a.Email
	if email == "" {
		email = strings.ToLower(a.Name) + "@noreply.localhost"
	}
	return shapes.User{
		ID: a.ID, Login: a.Name, Username: a.Name, FullName: a.FullName, Email: email, HTMLURL: s.cfg.Root + "/" + a.Name, AvatarURL: s.cfg.Root + "/avatars/" + strconv.FormatInt(a.ID, 10),
		Language: "en-US", IsAdmin: a.Admin, Created: a.Created, Active: true, Description: a.Description, Visibility: visibility(a),
	}
}

func (s *Server) org(a store.Account) shapes.Organization {
	return shapes.Organization{
		ID: a.ID, Name: a.Name, Username: a.Name, FullName: a.FullName, Email: a.Email, Description: a.Description, Visibility: visibility(a),
		AvatarURL: s.cfg.Root + "/avatars/" + strconv.FormatInt(a.ID, 10),
	}
}

// account finds a user or an organisation.
func (s *Server) account(name string, organisation bool) (store.Account, error) {
	var found store.Account
	s.store.Read(func(d *store.Data) { found, _ = d.Account(name) })
	if found.ID == 0 || found.Organisation != organisation {
		kind := "user"
		if organisation {
			kind = "organization"
		}
		return store.Account{}, fmt.Errorf("%s %q: %w", kind, name, store.ErrNotFound)
	}
	return found, nil
}

func (s *Server) getUser(c *call) (answer, error) {
	var found store.Account
	s.store.Read(func(d *store.Data) { found, _ = d.Account(c.path("user")) })
	if found.ID == 0 || found.Private && !owns(c.user, found) {
		return answer{}, fmt.Errorf("user %q: %w", c.path("user"), store.ErrNotFound)
	}
	return answer{200, s.user(found)}, nil
}

// accounts lists users or organisations that a caller has read access to, by ID.
func (s *Server) accounts(c *call, keep func(store.Account) bool) []store.Account {
	var found []store.Account
	s.store.Read(func(d *store.Data) {
		for _, one := range d.Accounts {
			if keep(one) && (!one.Private || owns(c.user, one)) {
				found = append(found, one)
			}
		}
	})
	slices.SortFunc(found, func(a, b store.Account) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

func (s *Server) searchUsers(c *call) (answer, error) {
	q := strings.ToLower(c.r.URL.Query().Get("q"))
	found := s.accounts(c, func(a store.Account) bool {
		return !a.Organisation && strings.Contains(strings.ToLower(a.Name+" "+a.FullName), q)
	})
	users := []shapes.User{}
	for _, one := range page(s, c, found) {
		users = append(users, s.user(one))
	}
	if strings.HasPrefix(c.r.URL.Path, "/api/v1/admin/") {
		return answer{200, users}, nil
	}
	return answer{200, shapes.Search{OK: true, Data: users}}, nil
}

func (s *Server) orgs(c *call, keep func(store.Account) bool) (answer, error) {
	found := s.accounts(c, func(a store.Account) bool { return a.Organisation && keep(a) })
	orgs := []shapes.Organization{}
	for _, one := range page(s, c, found) {
		orgs = append(orgs, s.org(one))
	}
	return answer{200, orgs}, nil
}

func (s *Server) listOrgs(c *call) (answer, error) {
	return s.orgs(c, func(store.Account) bool { return true })
}

func (s *Server) listOrgsOf(c *call) (answer, error) {
	of := c.user.Account
	if name := c.path("user"); name != "" {
		var err error
		if of, err = s.account(name, false); err != nil {
			return answer{}, err
		}
	}
	return s.orgs(c, func(a store.Account) bool { return slices.Contains(a.Members, of.ID) })
}

func (s *Server) getOrg(c *call) (answer, error) {
	found, err := s.account(c.path("org"), true)
	if err == nil && found.Private && !owns(c.user, found) {
		err = fmt.Errorf("organization %q: %w", c.path("org"), store.ErrNotFound)
	}
	return answer{200, s.org(found)}, err
}

// addAccount adds a user or an organisation, unless there are too many.
func (s *Server) addAccount(a *store.Account) error {
	if err := checkAccount(a.Name); err != nil {
		return err
	}
	a.Created = now()
	return s.store.Write(func(d *store.Data) error {
		if _, ok := d.Account(a.Name); ok {
			return fail(http.StatusUnprocessableEntity, "user already exists [name: %s]", a.Name)
		}
		if len(d.Accounts) >= s.cfg.Quota.Accounts {
			return fmt.Errorf("%d users and organizations: %w", len(d.Accounts), store.ErrLimit)
		}
		a.ID = d.Next()
		d.Accounts = append(d.Accounts, *a)
		return nil
	})
}

func (s *Server) createOrg(c *call) (answer, error) {
	var wanted struct {
		Username, Email, Description, Visibility string
		FullName                                 string `json:"full_name"`
	}
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	if err := text("description", wanted.Description+wanted.FullName+wanted.Email); err != nil {
		return answer{}, err
	}
	if wanted.Visibility == "private" {
		if err := public(c); err != nil {
			return answer{}, err
		}
	}
	org := store.Account{
		Name: wanted.Username, Organisation: true, FullName: wanted.FullName, Email: wanted.Email, Description: wanted.Description,
		Private: wanted.Visibility == "private", Members: []int64{c.user.ID},
	}
	if err := s.addAccount(&org); err != nil {
		return answer{}, err
	}
	return answer{201, s.org(org)}, nil
}

func (s *Server) deleteOrg(c *call) (answer, error) {
	found, err := s.account(c.path("org"), true)
	if err != nil {
		return answer{}, err
	}
	if !owns(c.user, found) {
		return answer{}, fail(http.StatusForbidden, "Must be an organization owner")
	}
	return s.removeAccount(found)
}

// removeAccount deletes what has no repositories.
func (s *Server) removeAccount(a store.Account) (answer, error) {
	s.forget()
	return answer{status: 204}, s.store.Write(func(d *store.Data) error {
		if slices.ContainsFunc(d.Repositories, func(r store.Repository) bool { return r.Owner == a.ID }) {
			return fail(http.StatusUnprocessableEntity, "%s still has ownership of repositories; delete them first", a.Name)
		}
		d.Accounts = slices.DeleteFunc(d.Accounts, func(one store.Account) bool { return one.ID == a.ID })
		d.Tokens = slices.DeleteFunc(d.Tokens, func(one store.Token) bool { return one.User == a.ID })
		d.Hooks = slices.DeleteFunc(d.Hooks, func(one store.Hook) bool { return one.Owner == a.ID })
		for i := range d.Accounts {
			d.Accounts[i].Members = slices.DeleteFunc(slices.Clone(d.Accounts[i].Members), func(id int64) bool { return id == a.ID })
		}
		return nil
	})
}

// userFields are those of a user that an administrator sets. What is missing stays as it is.
type userFields struct {
	Username    string
	Password    string
	Email       *string
	FullName    *string `json:"full_name"`
	Description *string
	Visibility  *string
	Admin       *bool
}

func (f userFields) set(a *store.Account) error {
	for to, from := range map[*string]*string{&a.Email: f.Email, &a.FullName: f.FullName, &a.Description: f.Description} {
		if from != nil {
			*to = *from
		}
	}
	if f.Visibility != nil {
		a.Private = *f.Visibility == "private"
	}
	if f.Admin != nil {
		a.Admin = *f.Admin
	}
	if len(f.Password) > maxPassword {
		return fail(http.StatusUnprocessableEntity, "password has more than %d bytes", maxPassword)
	}
	return text("description", a.Email+a.FullName+a.Description)
}

func (s *Server) createUser(c *call) (answer, error) {
	var wanted userFields
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	user := store.Account{Name: wanted.Username}
	if err := wanted.set(&user); err != nil {
		return answer{}, err
	}
	if wanted.Password == "" {
		return answer{}, fail(http.StatusBadRequest, "PasswordIsRequired")
	}
	var err error
	if user.Password, err = store.HashPassword(wanted.Password); err != nil {
		return answer{}, err
	}
	if err := s.addAccount(&user); err != nil {
		return answer{}, err
	}
	return answer{201, s.user(user)}, nil
}

func (s *Server) editUser(c *call) (answer, error) {
	found, err := s.account(c.path("user"), false)
	if err != nil {
		return answer{}, err
	}
	var wanted userFields
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	hash := ""
	if wanted.Password != "" {
		if hash, err = store.HashPassword(wanted.Password); err != nil {
			return answer{}, err
		}
	}
	s.forget()
	err = s.store.Write(func(d *store.Data) error {
		for i := range d.Accounts {
			if d.Accounts[i].ID != found.ID {
				continue
			}
			if hash != "" {
				d.Accounts[i].Password = hash
			}
			if err := wanted.set(&d.Accounts[i]); err != nil {
				return err
			}
			found = d.Accounts[i]
		}
		return nil
	})
	return answer{200, s.user(found)}, err
}

func (s *Server) deleteUser(c *call) (answer, error) {
	found, err := s.account(c.path("user"), false)
	if err != nil {
		return answer{}, err
	}
	if found.ID == c.user.ID {
		return answer{}, fail(http.StatusUnprocessableEntity, "the user of the request cannot be deleted")
	}
	return s.removeAccount(found)
}
