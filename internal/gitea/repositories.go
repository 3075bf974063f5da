package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gitea/bare"
	"github.com/headgate-dev/headgate/internal/gitea/hooks"
	"github.com/headgate-dev/headgate/internal/gitea/shapes"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

func (s *Server) repositoryRoutes() []route {
	const r = "repository"
	return []route{
		{"GET /repos/search", r, anyone, s.searchRepositories},
		{"GET /user/repos", r, signedIn, s.listMine},
		{"POST /user/repos", r, signedIn, s.createFor("")},
		{"POST /orgs/{org}/repos", r, signedIn, s.createFor("org")},
		{"POST /admin/users/{user}/repos", r, admin, s.createFor("user")},
		{"GET /repos/{owner}/{repo}", r, anyone, s.at(false, s.getRepository)},
		{"PATCH /repos/{owner}/{repo}", r, signedIn, s.at(true, s.editRepository)},
		{"DELETE /repos/{owner}/{repo}", r, signedIn, s.at(true, s.deleteRepository)},
		{"GET /repos/{owner}/{repo}/branches", r, anyone, s.at(false, s.listBranches)},
		{"POST /repos/{owner}/{repo}/branches", r, signedIn, s.at(true, s.createBranch)},
		{"GET /repos/{owner}/{repo}/branches/{branch...}", r, anyone, s.at(false, s.getBranch)},
		{"DELETE /repos/{owner}/{repo}/branches/{branch...}", r, signedIn, s.at(true, s.deleteBranch)},
		{"GET /repos/{owner}/{repo}/commits", r, anyone, s.at(false, s.listCommits)},
		{"GET /repos/{owner}/{repo}/git/commits/{ref...}", r, anyone, s.at(false, s.getCommit)},
		{"GET /repos/{owner}/{repo}/contents", r, anyone, s.at(false, s.readContents)},
		{"GET /repos/{owner}/{repo}/contents/{path...}", r, anyone, s.at(false, s.readContents)},
		{"GET /repos/{owner}/{repo}/raw/{path...}", r, anyone, s.at(false, s.readRaw)},
		{"POST /repos/{owner}/{repo}/contents/{path...}", r, signedIn, s.at(true, s.writeContents(bare.Add))},
		{"PUT /repos/{owner}/{repo}/contents/{path...}", r, signedIn, s.at(true, s.writeContents(bare.Update))},
		{"DELETE /repos/{owner}/{repo}/contents/{path...}", r, signedIn, s.at(true, s.writeContents(bare.Delete))},
	}
}

// at finds the repository of an endpoint for those who have access to it, to write or only to read.
func (s *Server) at(write bool, do func(c *call, at place) (answer, error)) handler {
	return func(c *call) (answer, error) {
		at, err := s.find(c.path("owner"), c.path("repo"))
		switch {
		case err == nil && !reads(c.user, at):
			err = fmt.Errorf("%w %s/%s: %w", errNoRepository, c.path("owner"), c.path("repo"), store.ErrNotFound)
		case err == nil && write && !owns(c.user, at.owner):
			err = fail(http.StatusForbidden, "user should be an owner or a collaborator with write of a repository")
		}
		if err != nil {
			return answer{}, err
		}
		return do(c, at)
	}
}

// writable refuses to change a mirror, and one that has no room left, and prepares events.
func (s *Server) writable(ctx context.Context, at place) error {
	if at.Mirror != "" {
		return fail(http.StatusForbidden, "%s", at.Mirror)
	}
	if _, err := s.room(at); err != nil {
		return err
	}
	return s.prepare(ctx, at)
}

func (s *Server) web(at place) string { return s.cfg.Root + "/" + at.full() }

func (s *Server) api1(at place) string { return s.cfg.Root + "/api/v1/repos/" + at.full() }

func (s *Server) repository(ctx context.Context, at place, user caller) shapes.Repository {
	branches, err := at.git.Branches(ctx)
	if err != nil {
		s.cfg.Log.V(1).Info("the branches of a repository cannot be listed", "repository", at.full(), "reason", err.Error())
	}
	branch := at.DefaultBranch
	if at.Mirror != "" {
		if head, err := at.git.Head(ctx); err == nil {
			branch = head
		}
	}
	size, _ := at.git.Size()
	pulls := 0
	s.store.Read(func(d *store.Data) {
		for _, one := range d.Pulls {
			if one.Repository == at.ID && !one.Closed {
				pulls++
			}
		}
	})
	mine := owns(user, at.owner)
	return shapes.Repository{
		ID: at.ID, Owner: s.user(at.owner), Name: at.Name, FullName: at.full(), Description: at.Description, Private: at.Private, Empty: len(branches) == 0,
		Size: size >> 10, HTMLURL: s.web(at), URL: s.api1(at), CloneURL: s.web(at) + ".git", DefaultBranch: branch, Created: at.Created, Updated: at.Updated,
		Permissions: shapes.Permission{Admin: mine, Push: mine && at.Mirror == "", Pull: true}, OpenPulls: pulls, HasCode: true, HasPulls: at.Mirror == "",
		AllowMerge: true, AllowSquash: true, AllowFast: true, MergeStyle: bare.Merge, ObjectFormat: "sha1", Topics: []string{}, Licenses: []string{},
	}
}

func (s *Server) getRepository(c *call, at place) (answer, error) {
	return answer{200, s.repository(c.r.Context(), at, c.user)}, nil
}

// visible lists repositories that a caller has read access to, by name.
func (s *Server) visible(user caller, keep func(place) bool) []place {
	var found []place
	s.store.Read(func(d *store.Data) {
		for _, one := range d.Repositories {
			owner, _ := d.AccountOf(one.Owner)
			at := place{Repository: one, owner: owner, git: bare.Repository(s.dirOf(one))}
			if reads(user, at) && keep(at) {
				found = append(found, at)
			}
		}
	})
	slices.SortFunc(found, func(a, b place) int { return cmp.Compare(strings.ToLower(a.full()), strings.ToLower(b.full())) })
	return found
}

func (s *Server) repositories(c *call, found []place) []shapes.Repository {
	all := []shapes.Repository{}
	for _, one := range page(s, c, found) {
		all = append(all, s.repository(c.r.Context(), one, c.user))
	}
	return all
}

func (s *Server) searchRepositories(c *call) (answer, error) {
	query := c.r.URL.Query()
	q, id := strings.ToLower(query.Get("q")), query.Get("uid")
	found := s.visible(c.user, func(at place) bool {
		return strings.Contains(strings.ToLower(at.Name), q) && (id == "" || id == "0" || strconv.FormatInt(at.Owner, 10) == id)
	})
	return answer{200, shapes.Search{OK: true, Data: s.repositories(c, found)}}, nil
}

func (s *Server) listMine(c *call) (answer, error) {
	found := s.visible(c.user, func(at place) bool { return at.Owner == c.user.ID || slices.Contains(at.owner.Members, c.user.ID) })
	return answer{200, s.repositories(c, found)}, nil
}

func (s *Server) listOwned(name string, organisation bool) handler {
	return func(c *call) (answer, error) {
		of, err := s.account(c.path(name), organisation)
		if err != nil {
			return answer{}, err
		}
		return answer{200, s.repositories(c, s.visible(c.user, func(at place) bool { return at.Owner == of.ID }))}, nil
	}
}

// createFor creates a repository for the user or the organisation in the path, or for the caller.
func (s *Server) createFor(name string) handler {
	return func(c *call) (answer, error) {
		of := c.user.Account
		var err error
		if name != "" {
			if of, err = s.account(c.path(name), name == "org"); err != nil {
				return answer{}, err
			}
			if !owns(c.user, of) {
				return answer{}, fail(http.StatusForbidden, "user %q is not allowed to create repositories for %q", c.user.Name, of.Name)
			}
		}
		return s.create(c, of)
	}
}

func (s *Server) create(c *call, of store.Account) (answer, error) {
	var wanted struct {
		Name, Description string
		Private           bool
		AutoInit          bool   `json:"auto_init"`
		DefaultBranch     string `json:"default_branch"`
		ObjectFormat      string `json:"object_format_name"`
	}
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	if wanted.Private || of.Private {
		if err := public(c); err != nil {
			return answer{}, err
		}
	}
	wanted.DefaultBranch = cmp.Or(wanted.DefaultBranch, "main")
	if err := errors.Join(checkName(wanted.Name), bare.CheckBranch(wanted.DefaultBranch), text("description", wanted.Description)); err != nil {
		return answer{}, err
	}
	if wanted.ObjectFormat != "" && wanted.ObjectFormat != "sha1" {
		return answer{}, fail(http.StatusUnprocessableEntity, "object_format_name %q is not supported; use sha1", wanted.ObjectFormat)
	}
	one := store.Repository{
		Owner: of.ID, Name: wanted.Name, Description: wanted.Description, Private: wanted.Private, DefaultBranch: wanted.DefaultBranch, Created: now(), Updated: now(),
	}
	// The record comes last, so that a failure leaves nothing that is listed.
	err := s.store.Write(func(d *store.Data) error {
		has := 0
		for _, other := range d.Repositories {
			if other.Owner == of.ID && other.Mirror == "" {
				has++
			}
		}
		if _, _, ok := d.Repository(of.Name, one.Name); ok {
			return fail(http.StatusConflict, "The repository with the same name already exists.")
		}
		if has >= s.cfg.Quota.Repositories {
			return fmt.Errorf("%d repositories of %s: %w", has, of.Name, store.ErrLimit)
		}
		one.ID = d.Next()
		if err := s.initialize(c, one, of, wanted.AutoInit); err != nil {
			return errors.Join(err, s.removeDir(one.ID))
		}
		d.Repositories = append(d.Repositories, one)
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	at := place{Repository: one, owner: of, git: bare.Repository(s.dirOf(one))}
	shape := s.repository(c.r.Context(), at, c.user)
	s.notify(c.r.Context(), at, hooks.TypeRepository, "", hooks.Repository{Action: "created", Repository: shape, Organization: s.user(of), Sender: s.user(c.user.Account)})
	return answer{201, shape}, nil
}

// initialize makes the bare repository, with a first commit where that is wanted.
func (s *Server) initialize(c *call, one store.Repository, of store.Account, first bool) error {
	ctx := context.WithoutCancel(c.r.Context())
	if err := os.MkdirAll(filepath.Dir(s.dirOf(one)), 0o700); err != nil {
		return err
	}
	git, err := bare.New(ctx, s.dirOf(one), one.DefaultBranch)
	if err != nil || !first {
		return err
	}
	who := bare.Person{Name: c.user.Name, Email: s.user(c.user.Account).Email}
	content := "# " + one.Name + "\n"
	if one.Description != "" {
		content += "\n" + one.Description + "\n"
	}
	_, err = git.Write(ctx, bare.Change{
		Branch: one.DefaultBranch, Message: "Initial commit", Author: who, Committer: who,
		Files: []bare.File{{Operation: bare.Add, Path: "README.md", Content: []byte(content)}},
	})
	if err != nil {
		return fmt.Errorf("creating repository %s/%s: %w", of.Name, one.Name, err)
	}
	return nil
}

func (s *Server) editRepository(c *call, at place) (answer, error) {
	var wanted struct {
		Name, Description *string
		Private           *bool
		DefaultBranch     *string `json:"default_branch"`
	}
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	if at.Mirror != "" {
		return answer{}, fail(http.StatusForbidden, "%s", at.Mirror)
	}
	if wanted.Name != nil && *wanted.Name != at.Name {
		if err := checkName(*wanted.Name); err != nil {
			return answer{}, err
		}
	}
	if wanted.DefaultBranch != nil {
		if _, err := at.git.Branch(c.r.Context(), *wanted.DefaultBranch); err != nil {
			return answer{}, err
		}
		if err := at.git.SetHead(c.r.Context(), *wanted.DefaultBranch); err != nil {
			return answer{}, err
		}
	}
	err := s.store.Write(func(d *store.Data) error {
		if wanted.Name != nil {
			if other, _, ok := d.Repository(at.owner.Name, *wanted.Name); ok && other.ID != at.ID {
				return fail(http.StatusUnprocessableEntity, "repo name is already taken [name: %s]", *wanted.Name)
			}
		}
		i := slices.IndexFunc(d.Repositories, func(r store.Repository) bool { return r.ID == at.ID })
		if i < 0 {
			return fmt.Errorf("repository %s: %w", at.full(), store.ErrNotFound)
		}
		one := &d.Repositories[i]
		for to, from := range map[*string]*string{&one.Name: wanted.Name, &one.Description: wanted.Description, &one.DefaultBranch: wanted.DefaultBranch} {
			if from != nil {
				*to = *from
			}
		}
		if wanted.Private != nil {
			one.Private = *wanted.Private
		}
		at.Repository = *one
		return text("description", one.Description)
	})
	return answer{200, s.repository(c.r.Context(), at, c.user)}, err
}

func (s *Server) deleteRepository(c *call, at place) (answer, error) {
	if at.Mirror != "" {
		return answer{}, fail(http.StatusForbidden, "%s", at.Mirror)
	}
	shape := s.repository(c.r.Context(), at, c.user)
	// The hooks of the repository hear of its end, and are deleted with it.
	s.notify(c.r.Context(), at, hooks.TypeRepository, "", hooks.Repository{Action: "deleted", Repository: shape, Organization: s.user(at.owner), Sender: s.user(c.user.Account)})
	err := s.store.Write(func(d *store.Data) error {
		forgetRepository(d, at.ID)
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	s.mu.Lock()
	delete(s.ledgers, at.ID)
	s.mu.Unlock()
	return answer{status: 204}, s.removeDir(at.ID)
}

// forgetRepository deletes the records of a repository.
func forgetRepository(d *store.Data, id int64) {
	d.Repositories = slices.DeleteFunc(d.Repositories, func(r store.Repository) bool { return r.ID == id })
	d.Pulls = slices.DeleteFunc(d.Pulls, func(p store.Pull) bool { return p.Repository == id })
	d.Hooks = slices.DeleteFunc(d.Hooks, func(h store.Hook) bool { return h.Repository == id })
}
