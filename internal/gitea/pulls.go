package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gitea/bare"
	"github.com/headgate-dev/headgate/internal/gitea/hooks"
	"github.com/headgate-dev/headgate/internal/gitea/shapes"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

func (s *Server) pullRoutes() []route {
	const r = "repository"
	return []route{
		{"GET /repos/{owner}/{repo}/pulls", r, anyone, s.at(false, s.listPulls)},
		{"POST /repos/{owner}/{repo}/pulls", r, signedIn, s.at(true, s.createPull)},
		{"GET /repos/{owner}/{repo}/pulls/{index}", r, anyone, s.atPull(false, s.getPull)},
		{"PATCH /repos/{owner}/{repo}/pulls/{index}", r, signedIn, s.atPull(true, s.editPull)},
		{"GET /repos/{owner}/{repo}/pulls/{index}/merge", r, anyone, s.atPull(false, s.isMerged)},
		{"POST /repos/{owner}/{repo}/pulls/{index}/merge", r, signedIn, s.atPull(true, s.mergePull)},
	}
}

// atPull finds the pull request of an endpoint.
func (s *Server) atPull(write bool, do func(c *call, at place, pull store.Pull) (answer, error)) handler {
	return s.at(write, func(c *call, at place) (answer, error) {
		number, _ := strconv.ParseInt(c.path("index"), 10, 64)
		for _, one := range s.pulls(at) {
			if one.Number == number {
				return do(c, at, one)
			}
		}
		return answer{}, fmt.Errorf("pull request %s of %s: %w", c.path("index"), at.full(), store.ErrNotFound)
	})
}

// pulls are the pull requests of a repository, the newest first.
func (s *Server) pulls(at place) []store.Pull {
	var found []store.Pull
	s.store.Read(func(d *store.Data) {
		for _, one := range d.Pulls {
			if one.Repository == at.ID {
				found = append(found, one)
			}
		}
	})
	slices.SortFunc(found, func(a, b store.Pull) int { return cmp.Compare(b.Number, a.Number) })
	return found
}

func (s *Server) pull(ctx context.Context, at place, p store.Pull, user caller) shapes.Pull {
	var poster, merger store.Account
	s.store.Read(func(d *store.Data) {
		poster, _ = d.AccountOf(p.Poster)
		merger, _ = d.AccountOf(p.MergedBy)
	})
	// Branches that were deleted are shown as they were last.
	head, base := p.HeadID, p.BaseID
	if !p.Closed {
		head, base = s.sides(ctx, at, p)
	}
	repository := s.repository(ctx, at, user)
	side := func(branch, id string) shapes.PullBranch {
		return shapes.PullBranch{Label: branch, Ref: branch, Sha: id, RepoID: at.ID, Repo: &repository}
	}
	web := s.web(at) + "/pulls/" + strconv.FormatInt(p.Number, 10)
	one := shapes.Pull{
		ID: p.ID, URL: web, Number: p.Number, User: s.user(poster), Title: p.Title, Body: p.Body, Labels: []string{}, State: "open", HTMLURL: web, DiffURL: web + ".diff",
		PatchURL: web + ".patch", Draft: strings.HasPrefix(p.Title, "WIP:"), Base: side(p.Base, base), Head: side(p.Head, head), Created: p.Created, Updated: p.Updated,
		Closed: p.ClosedAt, MergedAt: p.Merged,
	}
	if p.Closed {
		one.State = "closed"
	} else {
		one.Mergeable = head != "" && base != "" && at.git.Mergeable(ctx, base, head) == nil
	}
	if p.Merged != nil {
		by := s.user(merger)
		one.Merged, one.MergeID, one.MergedBy = true, &p.MergeID, &by
	}
	if head != "" && base != "" {
		// Without a common commit there is none to show.
		one.MergeBase, _ = at.git.Base(ctx, base, head)
	}
	return one
}

// sides are the commits of an open pull request; empty where a branch was deleted.
func (s *Server) sides(ctx context.Context, at place, p store.Pull) (head, base string) {
	head, _ = at.git.Branch(ctx, p.Head)
	base, _ = at.git.Branch(ctx, p.Base)
	return head, base
}

func (s *Server) listPulls(c *call, at place) (answer, error) {
	query := c.r.URL.Query()
	state := cmp.Or(query.Get("state"), "open")
	found := slices.DeleteFunc(s.pulls(at), func(p store.Pull) bool {
		other := state == "open" && p.Closed || state == "closed" && !p.Closed
		return other || query.Get("base_branch") != "" && query.Get("base_branch") != p.Base
	})
	all := []shapes.Pull{}
	for _, one := range page(s, c, found) {
		all = append(all, s.pull(c.r.Context(), at, one, c.user))
	}
	return answer{200, all}, nil
}

func (s *Server) getPull(c *call, at place, pull store.Pull) (answer, error) {
	return answer{200, s.pull(c.r.Context(), at, pull, c.user)}, nil
}

func (s *Server) createPull(c *call, at place) (answer, error) {
	var wanted struct{ Head, Base, Title, Body string }
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	if err := errors.Join(text("title", wanted.Title), text("body", wanted.Body)); err != nil {
		return answer{}, err
	}
	if owner, branch, ok := strings.Cut(wanted.Head, ":"); ok {
		if !strings.EqualFold(owner, at.owner.Name) {
			return answer{}, fail(http.StatusNotFound, "head %q: pull requests from other repositories are not supported", wanted.Head)
		}
		wanted.Head = branch
	}
	if wanted.Title == "" || wanted.Head == wanted.Base {
		return answer{}, fail(http.StatusUnprocessableEntity, "a pull request needs a title and two different branches, head and base")
	}
	if err := s.writable(c.r.Context(), at); err != nil {
		return answer{}, err
	}
	pull := store.Pull{Repository: at.ID, Poster: c.user.ID, Title: wanted.Title, Body: wanted.Body, Head: wanted.Head, Base: wanted.Base, Created: now(), Updated: now()}
	for _, branch := range []string{wanted.Head, wanted.Base} {
		if _, err := at.git.Branch(c.r.Context(), branch); err != nil {
			return answer{}, err
		}
	}
	err := s.store.Write(func(d *store.Data) error {
		has := 0
		for _, one := range d.Pulls {
			if one.Repository != at.ID {
				continue
			}
			has++
			pull.Number = max(pull.Number, one.Number)
			if !one.Closed && one.Head == pull.Head && one.Base == pull.Base {
				return fail(http.StatusConflict, "pull request already exists for these targets [id: %d, issue_id: %d]", one.ID, one.Number)
			}
		}
		if has >= s.cfg.Quota.Pulls {
			return fmt.Errorf("%d pull requests of %s: %w", has, at.full(), store.ErrLimit)
		}
		pull.Number++
		pull.ID = d.Next()
		d.Pulls = append(d.Pulls, pull)
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	s.pulled(c.r.Context(), at, c.user.Account, pull, hooks.TypePullRequest, "opened")
	return answer{201, s.pull(c.r.Context(), at, pull, c.user)}, nil
}

// setPull changes the record of a pull request.
func (s *Server) setPull(pull *store.Pull, change func(p *store.Pull)) error {
	return s.store.Write(func(d *store.Data) error {
		i := slices.IndexFunc(d.Pulls, func(p store.Pull) bool { return p.ID == pull.ID })
		if i < 0 {
			return fmt.Errorf("pull request %d: %w", pull.Number, store.ErrNotFound)
		}
		change(&d.Pulls[i])
		d.Pulls[i].Updated = now()
		*pull = d.Pulls[i]
		return nil
	})
}

func (s *Server) editPull(c *call, at place, pull store.Pull) (answer, error) {
	var wanted struct{ Title, Body, State *string }
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	action := "edited"
	if wanted.State != nil && (*wanted.State == "closed") != pull.Closed {
		if pull.Merged != nil {
			return answer{}, fail(http.StatusPreconditionFailed, "cannot change state of this pull request, it was already merged")
		}
		action = map[bool]string{true: "closed", false: "reopened"}[*wanted.State == "closed"]
	}
	head, base := s.sides(c.r.Context(), at, pull)
	err := s.setPull(&pull, func(p *store.Pull) {
		if wanted.Title != nil && *wanted.Title != "" {
			p.Title = *wanted.Title
		}
		if wanted.Body != nil {
			p.Body = *wanted.Body
		}
		switch at := now(); action {
		case "closed":
			p.Closed, p.ClosedAt, p.HeadID, p.BaseID = true, &at, head, base
		case "reopened":
			p.Closed, p.ClosedAt = false, nil
		}
	})
	if err != nil {
		return answer{}, err
	}
	s.pulled(c.r.Context(), at, c.user.Account, pull, hooks.TypePullRequest, action)
	return answer{201, s.pull(c.r.Context(), at, pull, c.user)}, nil
}

func (s *Server) isMerged(_ *call, _ place, pull store.Pull) (answer, error) {
	if pull.Merged == nil {
		return answer{}, fail(http.StatusNotFound, "")
	}
	return answer{status: 204}, nil
}

// mergeOptions is the body of a merge. Gitea's names have no case.
type mergeOptions struct {
	Do                string
	MergeTitleField   string
	MergeMessageField string
	HeadCommitID      string `json:"head_commit_id"`
	DeleteBranch      bool   `json:"delete_branch_after_merge"`
	WhenChecksSucceed bool   `json:"merge_when_checks_succeed"`
}

func (s *Server) mergePull(c *call, at place, pull store.Pull) (answer, error) {
	var wanted mergeOptions
	if err := decode(c, &wanted); err != nil {
		return answer{}, err
	}
	wanted.Do = cmp.Or(wanted.Do, bare.Merge)
	if err := errors.Join(text("MergeTitleField", wanted.MergeTitleField), text("MergeMessageField", wanted.MergeMessageField)); err != nil {
		return answer{}, err
	}
	ctx := context.WithoutCancel(c.r.Context())
	head, base := s.sides(ctx, at, pull)
	switch {
	case !slices.Contains([]string{bare.Merge, bare.Squash, bare.FastForward}, wanted.Do):
		return answer{}, fail(http.StatusMethodNotAllowed, "Do: %q is not an allowed merge style for this repository; use merge, squash or fast-forward-only", wanted.Do)
	case pull.Merged != nil:
		return answer{}, fail(http.StatusMethodNotAllowed, "The PR is already merged")
	case pull.Closed || head == "" || base == "":
		return answer{}, fail(http.StatusMethodNotAllowed, "the pull request is closed, or one of its branches was deleted")
	case strings.HasPrefix(pull.Title, "WIP:"):
		return answer{}, fail(http.StatusMethodNotAllowed, "Work in progress PRs cannot be merged")
	case wanted.HeadCommitID != "" && wanted.HeadCommitID != head:
		return answer{}, fail(http.StatusConflict, "head out of date: the branch has commit %s", head)
	}
	if err := s.writable(ctx, at); err != nil {
		return answer{}, err
	}
	title := fmt.Sprintf("Merge pull request '%s' (#%d) from %s into %s", pull.Title, pull.Number, pull.Head, pull.Base)
	if wanted.Do == bare.Squash {
		title = fmt.Sprintf("%s (#%d)", pull.Title, pull.Number)
	}
	message := cmp.Or(wanted.MergeTitleField, title)
	if wanted.MergeMessageField != "" {
		message += "\n\n" + wanted.MergeMessageField
	}
	mine := s.user(c.user.Account)
	who := bare.Person{Name: mine.Login, Email: mine.Email}
	id, err := at.git.Join(ctx, bare.Join{Branch: pull.Base, Head: head, Style: wanted.Do, Message: message, Author: who, Committer: who})
	if err != nil {
		return answer{}, err
	}
	err = s.setPull(&pull, func(p *store.Pull) {
		at := now()
		p.Closed, p.ClosedAt, p.Merged, p.MergedBy, p.MergeID, p.HeadID, p.BaseID = true, &at, &at, c.user.ID, id, head, base
	})
	if err != nil {
		err = fmt.Errorf("branch %q of %s has the merge %s, which the pull request does not show: %w", pull.Base, at.full(), id, err)
		return answer{}, errors.Join(err, s.note(ctx, at, c.user.Account))
	}
	if wanted.DeleteBranch && pull.Head != at.DefaultBranch {
		err = at.git.DeleteBranch(ctx, pull.Head)
	}
	if err = errors.Join(err, s.note(ctx, at, c.user.Account)); err != nil {
		s.cfg.Log.Error(err, "after a merge", "repository", at.full())
	}
	s.pulled(ctx, at, c.user.Account, pull, hooks.TypePullRequest, "closed")
	return answer{status: 200}, nil
}
