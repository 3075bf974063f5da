package gitea

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/headgate-dev/headgate/internal/gitea/bare"
	"github.com/headgate-dev/headgate/internal/gitea/shapes"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

// maxListed bounds the commits of a list.
const maxListed = 1000

func (s *Server) branch(c *call, at place, name string) (shapes.Branch, error) {
	id, err := at.git.Branch(c.r.Context(), name)
	if err != nil {
		return shapes.Branch{}, err
	}
	commit, err := at.git.Commit(c.r.Context(), id)
	if err != nil {
		return shapes.Branch{}, err
	}
	mine := owns(c.user, at.owner) && at.Mirror == ""
	return shapes.Branch{Name: name, CanPush: mine, CanMerge: mine, Commit: shapes.BranchCommit{
		ID: id, Message: commit.Message, URL: s.web(at) + "/commit/" + id, Author: person(commit.Author), Committer: person(commit.Committer),
		Timestamp: commit.Committer.When,
	}}, nil
}

func (s *Server) listBranches(c *call, at place) (answer, error) {
	names, err := at.git.Branches(c.r.Context())
	if err != nil {
		return answer{}, err
	}
	all := []shapes.Branch{}
	for _, name := range page(s, c, names) {
		one, err := s.branch(c, at, name)
		if err != nil {
			return answer{}, err
		}
		all = append(all, one)
	}
	return answer{200, all}, nil
}

func (s *Server) getBranch(c *call, at place) (answer, error) {
	one, err := s.branch(c, at, c.path("branch"))
	return answer{200, one}, err
}

func (s *Server) createBranch(c *call, at place) (answer, error) {
	var wanted struct {
		Name   string `json:"new_branch_name"`
		Branch string `json:"old_branch_name"`
		Ref    string `json:"old_ref_name"`
	}
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	if err := bare.CheckBranch(wanted.Name); err != nil {
		return answer{}, err
	}
	if err := s.writable(c.r.Context(), at); err != nil {
		return answer{}, err
	}
	from, err := at.git.Resolve(c.r.Context(), cmp.Or(wanted.Ref, wanted.Branch, at.DefaultBranch))
	if err != nil {
		return answer{}, err
	}
	if _, err := at.git.Branch(c.r.Context(), wanted.Name); err == nil {
		return answer{}, fail(http.StatusConflict, "The branch already exists.")
	}
	if err := at.git.CreateBranch(c.r.Context(), wanted.Name, from); err != nil {
		return answer{}, err
	}
	if err := s.note(c.r.Context(), at, c.user.Account); err != nil {
		s.cfg.Log.Error(err, "reporting a branch", "repository", at.full())
	}
	one, err := s.branch(c, at, wanted.Name)
	return answer{201, one}, err
}

func (s *Server) deleteBranch(c *call, at place) (answer, error) {
	name := c.path("branch")
	if name == at.DefaultBranch {
		return answer{}, fail(http.StatusForbidden, "can not delete default or pull request target branch")
	}
	if err := s.prepare(c.r.Context(), at); err != nil {
		return answer{}, err
	}
	if at.Mirror != "" {
		return answer{}, fail(http.StatusForbidden, "%s", at.Mirror)
	}
	if err := at.git.DeleteBranch(c.r.Context(), name); err != nil {
		return answer{}, err
	}
	if err := s.note(c.r.Context(), at, c.user.Account); err != nil {
		s.cfg.Log.Error(err, "reporting a branch", "repository", at.full())
	}
	return answer{status: 204}, nil
}

// commitShape is a commit among those of a repository.
func (s *Server) commitShape(at place, one bare.Commit) shapes.RepositoryCommit {
	file := s.fileCommit(at, one)
	return shapes.RepositoryCommit{
		URL: file.URL, Sha: one.ID, Created: one.Committer.When, HTMLURL: file.HTMLURL, Parents: file.Parents,
		Commit: shapes.CommitText{URL: file.URL, Author: file.Author, Committer: file.Committer, Message: one.Message, Tree: file.Tree},
		Author: s.userOf(one.Author), Committer: s.userOf(one.Committer),
	}
}

// userOf is the user who has the address of a person, if there is one.
func (s *Server) userOf(p bare.Person) *shapes.User {
	var found *shapes.User
	s.store.Read(func(d *store.Data) {
		for _, one := range d.Accounts {
			if shape := s.user(one); !one.Organisation && shape.Email == p.Email {
				found = &shape
			}
		}
	})
	return found
}

func (s *Server) listCommits(c *call, at place) (answer, error) {
	ref := c.r.URL.Query().Get("sha")
	if ref == "" {
		ref = at.DefaultBranch
	}
	from, err := at.git.Resolve(c.r.Context(), ref)
	if err != nil {
		return answer{}, err
	}
	found, err := at.git.Commits(c.r.Context(), from, "", maxListed)
	if err != nil {
		return answer{}, err
	}
	all := []shapes.RepositoryCommit{}
	for _, one := range page(s, c, found) {
		all = append(all, s.commitShape(at, one))
	}
	return answer{200, all}, nil
}

func (s *Server) getCommit(c *call, at place) (answer, error) {
	id, err := at.git.Resolve(c.r.Context(), c.path("ref"))
	if err != nil {
		return answer{}, fmt.Errorf("commit: %w", err)
	}
	one, err := at.git.Commit(c.r.Context(), id)
	return answer{200, s.commitShape(at, one)}, err
}
