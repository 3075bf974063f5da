package gitea

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gitea/hooks"
	"github.com/headgate-dev/headgate/internal/gitea/shapes"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

// scope is what hooks are set for: a repository, an owner, or the system if both are zero.
type scope struct {
	repository, owner int64
	source            hooks.Source
}

// scoped finds the scope of an endpoint.
type scoped func(c *call) (scope, error)

func (s *Server) hookRoutes() []route {
	var all []route
	add := func(prefix, category string, needs access, of scoped) {
		at := func(do func(c *call, of scope) (answer, error)) handler {
			return func(c *call) (answer, error) {
				found, err := of(c)
				if err == nil && found.repository == 0 {
					// Its events are those of private repositories, too.
					err = public(c)
				}
				if err != nil {
					return answer{}, err
				}
				return do(c, found)
			}
		}
		all = append(all,
			route{"GET " + prefix, category, needs, at(s.listHooks)}, route{"POST " + prefix, category, needs, at(s.createHook)},
			route{"GET " + prefix + "/{id}", category, needs, at(s.getHook)}, route{"PATCH " + prefix + "/{id}", category, needs, at(s.editHook)},
			route{"DELETE " + prefix + "/{id}", category, needs, at(s.deleteHook)}, route{"POST " + prefix + "/{id}/tests", category, needs, at(s.testHook)},
		)
	}
	add("/admin/hooks", "admin", admin, func(*call) (scope, error) { return scope{}, nil })
	add("/user/hooks", "user", signedIn, func(c *call) (scope, error) {
		return scope{owner: c.user.ID, source: hooks.Source{Owner: c.user.Name}}, nil
	})
	add("/orgs/{org}/hooks", "organization", signedIn, s.orgScope)
	add("/repos/{owner}/{repo}/hooks", "repository", signedIn, s.repositoryScope)
	return all
}

func (s *Server) orgScope(c *call) (scope, error) {
	found, err := s.account(c.path("org"), true)
	if err == nil && !owns(c.user, found) {
		err = fail(http.StatusForbidden, "Must be an organization owner")
	}
	return scope{owner: found.ID, source: hooks.Source{Owner: found.Name}}, err
}

func (s *Server) repositoryScope(c *call) (scope, error) {
	var found scope
	_, err := s.at(true, func(_ *call, at place) (answer, error) {
		found = scope{repository: at.ID, source: hooks.Source{Owner: at.owner.Name, Repository: at.Name}}
		return answer{}, nil
	})(c)
	return found, err
}

// hooksOf are those of a scope.
func (s *Server) hooksOf(of scope) []store.Hook {
	var found []store.Hook
	s.store.Read(func(d *store.Data) {
		for _, one := range d.Hooks {
			if one.Repository == of.repository && one.Owner == of.owner {
				found = append(found, one)
			}
		}
	})
	return found
}

func hookShape(h store.Hook) shapes.Hook {
	return shapes.Hook{
		ID: h.ID, Type: h.Type, BranchFilter: h.BranchFilter, Config: map[string]string{"content_type": h.ContentType, "url": h.Secrets.URL}, Events: h.Events,
		Authorization: h.Secrets.Authorization, Active: h.Active, Updated: h.Updated, Created: h.Created,
	}
}

func (s *Server) listHooks(c *call, of scope) (answer, error) {
	all := []shapes.Hook{}
	for _, one := range page(s, c, s.hooksOf(of)) {
		all = append(all, hookShape(one))
	}
	return answer{200, all}, nil
}

// hook finds the hook of an endpoint.
func (s *Server) hook(c *call, of scope) (store.Hook, error) {
	id, _ := strconv.ParseInt(c.path("id"), 10, 64)
	for _, one := range s.hooksOf(of) {
		if one.ID == id {
			return one, nil
		}
	}
	return store.Hook{}, fmt.Errorf("hook %s: %w", c.path("id"), store.ErrNotFound)
}

func (s *Server) getHook(c *call, of scope) (answer, error) {
	found, err := s.hook(c, of)
	return answer{200, hookShape(found)}, err
}

// hookOptions is the body of a request for a hook. What is missing stays as it is.
type hookOptions struct {
	Type          string
	Config        map[string]string
	Events        []string
	BranchFilter  *string `json:"branch_filter"`
	Authorization *string `json:"authorization_header"`
	Active        *bool
}

// types of hooks whose deliveries are those of Gitea.
var hookTypes = []string{"gitea", "gogs", "forgejo"}

// set changes a hook, and says what is wrong with it.
func (o hookOptions) set(h *store.Hook) error {
	if o.Config != nil {
		h.Secrets.URL = cmp.Or(o.Config["url"], h.Secrets.URL)
		h.ContentType = cmp.Or(o.Config["content_type"], h.ContentType)
		if secret, ok := o.Config["secret"]; ok {
			h.Secrets.Secret = secret
		}
	}
	if o.Events != nil {
		h.Events = o.Events
	}
	if o.BranchFilter != nil {
		h.BranchFilter = *o.BranchFilter
	}
	if o.Authorization != nil {
		h.Secrets.Authorization = *o.Authorization
	}
	if o.Active != nil {
		h.Active = *o.Active
	}
	if len(h.Events) == 0 {
		h.Events = []string{hooks.TypePush}
	}
	h.Updated = now()
	return checkHook(h)
}

func checkHook(h *store.Hook) error {
	to, err := url.Parse(h.Secrets.URL)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return fail(http.StatusUnprocessableEntity, "config.url is not an http or https URL")
	}
	if h.ContentType != hooks.JSON && h.ContentType != hooks.Form {
		return fail(http.StatusUnprocessableEntity, "config.content_type %q: use json or form", h.ContentType)
	}
	if strings.ContainsAny(h.Secrets.Authorization, "\r\n") {
		return fail(http.StatusUnprocessableEntity, "authorization_header has an end of a line in it")
	}
	if len(h.Events) > 100 {
		return fail(http.StatusUnprocessableEntity, "events: more than 100")
	}
	if err := hooks.CheckFilter(h.BranchFilter); err != nil {
		return fail(http.StatusUnprocessableEntity, "%v", err)
	}
	return text("config", h.Secrets.URL+h.Secrets.Secret+h.Secrets.Authorization+strings.Join(h.Events, ""))
}

func (s *Server) createHook(c *call, of scope) (answer, error) {
	var wanted hookOptions
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	if wanted.Config["url"] == "" || wanted.Config["content_type"] == "" {
		return answer{}, fail(http.StatusUnprocessableEntity, "Missing config option: url and content_type are required")
	}
	if !slices.Contains(hookTypes, wanted.Type) {
		return answer{}, fail(http.StatusUnprocessableEntity, "Invalid hook type: %q; use gitea", wanted.Type)
	}
	hook := store.Hook{Repository: of.repository, Owner: of.owner, Type: wanted.Type, Created: now()}
	if err := wanted.set(&hook); err != nil {
		return answer{}, err
	}
	err := s.store.Write(func(d *store.Data) error {
		has := 0
		for _, one := range d.Hooks {
			if one.Repository == of.repository && one.Owner == of.owner {
				has++
			}
		}
		if has >= s.cfg.Quota.Each {
			return fmt.Errorf("%d hooks: %w", has, store.ErrLimit)
		}
		hook.ID = d.Next()
		d.Hooks = append(d.Hooks, hook)
		return nil
	})
	return answer{201, hookShape(hook)}, err
}

func (s *Server) editHook(c *call, of scope) (answer, error) {
	found, err := s.hook(c, of)
	if err != nil {
		return answer{}, err
	}
	var wanted hookOptions
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	err = s.store.Write(func(d *store.Data) error {
		i := slices.IndexFunc(d.Hooks, func(h store.Hook) bool { return h.ID == found.ID })
		if i < 0 {
			return fmt.Errorf("hook %d: %w", found.ID, store.ErrNotFound)
		}
		if err := wanted.set(&d.Hooks[i]); err != nil {
			return err
		}
		found = d.Hooks[i]
		return nil
	})
	return answer{200, hookShape(found)}, err
}

func (s *Server) deleteHook(c *call, of scope) (answer, error) {
	found, err := s.hook(c, of)
	if err != nil {
		return answer{}, err
	}
	err = s.store.Write(func(d *store.Data) error {
		d.Hooks = slices.DeleteFunc(d.Hooks, func(h store.Hook) bool { return h.ID == found.ID })
		return nil
	})
	if err == nil && s.events != nil {
		s.events.Forget(found.ID)
	}
	return answer{status: 204}, err
}

// testHook delivers a push of nothing, as the button of Gitea does.
func (s *Server) testHook(c *call, of scope) (answer, error) {
	found, err := s.hook(c, of)
	if err != nil {
		return answer{}, err
	}
	if s.events == nil {
		return answer{}, fail(http.StatusPreconditionFailed, "deliveries to hooks are disabled")
	}
	push := hooks.Push{Commits: []hooks.Commit{}, Pusher: s.user(c.user.Account), Sender: s.user(c.user.Account)}
	if of.repository != 0 {
		at, err := s.find(of.source.Owner, of.source.Repository)
		if err != nil {
			return answer{}, err
		}
		push.Ref, push.Repository = "refs/heads/"+at.DefaultBranch, s.repository(c.r.Context(), at, c.user)
		if id, err := at.git.Branch(c.r.Context(), at.DefaultBranch); err == nil {
			push.Before, push.After = id, id
		}
	}
	event := hooks.Event{Type: hooks.TypePush, Ref: push.Ref, Source: of.source, Payload: push}
	return answer{status: 204}, s.events.Deliver(deliverable(found, false), event)
}
