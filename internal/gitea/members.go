package gitea

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/headgate-dev/headgate/internal/gitea/shapes"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

// ownersTeam is the only team of an organisation: all of its members. Its ID is that of the organisation.
const ownersTeam = "Owners"

func (s *Server) memberRoutes() []route {
	const o = "organization"
	return []route{
		{"GET /orgs/{org}/members", o, anyone, s.ofOrg(s.listMembers)},
		{"GET /orgs/{org}/members/{user}", o, signedIn, s.ofOrg(s.checkMember)},
		{"DELETE /orgs/{org}/members/{user}", o, signedIn, s.ofOrg(s.removeMember)},
		{"GET /orgs/{org}/teams", o, signedIn, s.ofOrg(s.listTeams)},
		{"GET /user/teams", o, signedIn, s.listMyTeams},
		{"GET /teams/{team}", o, signedIn, s.ofTeam(func(_ *call, org store.Account) (answer, error) { return answer{200, s.team(org)}, nil })},
		{"GET /teams/{team}/members", o, signedIn, s.ofTeam(s.listMembers)},
		{"GET /teams/{team}/members/{user}", o, signedIn, s.ofTeam(s.getMember)},
		{"PUT /teams/{team}/members/{user}", o, signedIn, s.ofTeam(s.addMember)},
		{"DELETE /teams/{team}/members/{user}", o, signedIn, s.ofTeam(s.removeMember)},
	}
}

// withOrg answers a request about an organisation.
type withOrg func(c *call, org store.Account) (answer, error)

// ofOrg finds the organisation of an endpoint for those who have read access to it.
func (s *Server) ofOrg(do withOrg) handler {
	return func(c *call) (answer, error) {
		org, err := s.account(c.path("org"), true)
		if err == nil && org.Private && !owns(c.user, org) {
			err = fmt.Errorf("organization %q: %w", c.path("org"), store.ErrNotFound)
		}
		if err != nil {
			return answer{}, err
		}
		return do(c, org)
	}
}

// ofTeam finds the organisation of a team for its members.
func (s *Server) ofTeam(do withOrg) handler {
	return func(c *call) (answer, error) {
		id, _ := strconv.ParseInt(c.path("team"), 10, 64)
		var org store.Account
		s.store.Read(func(d *store.Data) { org, _ = d.AccountOf(id) })
		if !org.Organisation || !owns(c.user, org) {
			return answer{}, fmt.Errorf("team %s: %w", c.path("team"), store.ErrNotFound)
		}
		return do(c, org)
	}
}

func (s *Server) team(org store.Account) shapes.Team {
	of := s.org(org)
	return shapes.Team{
		ID: org.ID, Name: ownersTeam, Organization: &of, AllRepositories: true, Permission: "owner", CanCreateOrgRepo: true,
		Units:    []string{"repo.code", "repo.packages", "repo.pulls"},
		UnitsMap: map[string]string{"repo.code": "owner", "repo.packages": "owner", "repo.pulls": "owner"},
	}
}

// teams shows a page of the teams of organisations.
func (s *Server) teams(c *call, of []store.Account) (answer, error) {
	all := []shapes.Team{}
	for _, one := range page(s, c, of) {
		all = append(all, s.team(one))
	}
	return answer{200, all}, nil
}

func (s *Server) listTeams(c *call, org store.Account) (answer, error) {
	if err := mustOwn(c, org); err != nil {
		return answer{}, err
	}
	return s.teams(c, []store.Account{org})
}

func (s *Server) listMyTeams(c *call) (answer, error) {
	return s.teams(c, s.accounts(c, func(a store.Account) bool { return slices.Contains(a.Members, c.user.ID) }))
}

func mustOwn(c *call, org store.Account) error {
	if owns(c.user, org) {
		return nil
	}
	return fail(http.StatusForbidden, "Must be an organization owner")
}

// listMembers shows others nothing: who is a member is not public.
func (s *Server) listMembers(c *call, org store.Account) (answer, error) {
	var found []store.Account
	if owns(c.user, org) {
		found = s.accounts(c, func(a store.Account) bool { return slices.Contains(org.Members, a.ID) })
	}
	users := []shapes.User{}
	for _, one := range page(s, c, found) {
		users = append(users, s.user(one))
	}
	return answer{200, users}, nil
}

// member finds the user of an endpoint, and whether it is a member.
func (s *Server) member(c *call, org store.Account) (user store.Account, is bool, err error) {
	user, err = s.account(c.path("user"), false)
	return user, slices.Contains(org.Members, user.ID), err
}

func (s *Server) getMember(c *call, org store.Account) (answer, error) {
	user, is, err := s.member(c, org)
	if err == nil && !is {
		err = fmt.Errorf("member %q: %w", c.path("user"), store.ErrNotFound)
	}
	return answer{200, s.user(user)}, err
}

func (s *Server) checkMember(c *call, org store.Account) (answer, error) {
	_, is, err := s.member(c, org)
	if err == nil && (!is || !owns(c.user, org)) {
		err = fmt.Errorf("member %q: %w", c.path("user"), store.ErrNotFound)
	}
	return answer{status: 204}, err
}

func (s *Server) addMember(c *call, org store.Account) (answer, error) {
	user, _, err := s.member(c, org)
	if err != nil {
		return answer{}, err
	}
	return answer{status: 204}, s.setMembers(org, func(members []int64) ([]int64, error) {
		if slices.Contains(members, user.ID) {
			return members, nil
		}
		return append(slices.Clone(members), user.ID), nil
	})
}

// removeMember lets a member leave, and members remove others; the last one stays.
func (s *Server) removeMember(c *call, org store.Account) (answer, error) {
	if err := mustOwn(c, org); err != nil {
		return answer{}, err
	}
	user, _, err := s.member(c, org)
	if err != nil {
		return answer{}, err
	}
	return answer{status: 204}, s.setMembers(org, func(members []int64) ([]int64, error) {
		left := slices.DeleteFunc(slices.Clone(members), func(id int64) bool { return id == user.ID })
		if len(left) == 0 && len(members) > 0 {
			return nil, fail(http.StatusUnprocessableEntity, "%s is the last owner of %s; add another one first, or delete the organization", user.Name, org.Name)
		}
		return left, nil
	})
}

// setMembers changes who the members of an organisation are.
func (s *Server) setMembers(org store.Account, change func([]int64) ([]int64, error)) error {
	return s.store.Write(func(d *store.Data) error {
		for i := range d.Accounts {
			if d.Accounts[i].ID != org.ID {
				continue
			}
			members, err := change(d.Accounts[i].Members)
			d.Accounts[i].Members = members
			return err
		}
		return fmt.Errorf("organization %q: %w", org.Name, store.ErrNotFound)
	})
}
