package gitea

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/headgate-dev/headgate/internal/gitea/bare"
	"github.com/headgate-dev/headgate/internal/gitea/hooks"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

// maxPushed bounds the commits that the event of a push lists; Gitea's default is more than receivers read.
const maxPushed = 30

// ledger is what the refs of a repository were when hooks last heard of it, so that of two pushes at once each change is
// reported once.
type ledger struct {
	mu   sync.Mutex
	refs map[string]string
}

func (s *Server) ledger(id int64) *ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledgers[id] == nil {
		s.ledgers[id] = &ledger{}
	}
	return s.ledgers[id]
}

// prepare reads the refs of a repository before something changes them.
func (s *Server) prepare(ctx context.Context, at place) error {
	l := s.ledger(at.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refs != nil {
		return nil
	}
	refs, err := at.git.Refs(ctx)
	l.refs = refs
	return err
}

// note compares the refs of a repository with those before, and reports what changed.
func (s *Server) note(ctx context.Context, at place, by store.Account) error {
	ctx = context.WithoutCancel(ctx)
	l := s.ledger(at.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	refs, err := at.git.Refs(ctx)
	if err != nil {
		return err
	}
	before := l.refs
	l.refs = refs
	if before == nil || maps.Equal(before, refs) {
		return nil
	}
	err = s.store.Write(func(d *store.Data) error {
		for i := range d.Repositories {
			if d.Repositories[i].ID == at.ID {
				d.Repositories[i].Updated = now()
			}
		}
		return nil
	})
	s.mu.Lock()
	listeners := s.changed
	s.mu.Unlock()
	for _, f := range listeners {
		f(at.owner.Name, at.Name)
	}
	all := maps.Clone(before)
	maps.Copy(all, refs)
	for _, ref := range slices.Sorted(maps.Keys(all)) {
		if before[ref] != refs[ref] {
			s.moved(ctx, at, by, ref, before[ref], refs[ref])
		}
	}
	return err
}

// moved reports that a ref names another commit.
func (s *Server) moved(ctx context.Context, at place, by store.Account, ref, before, after string) {
	repository, sender := s.repository(ctx, at, caller{Account: by}), s.user(by)
	short, kind := strings.TrimPrefix(ref, "refs/heads/"), "branch"
	if tag, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		short, kind = tag, "tag"
	}
	if after == "" {
		deleted := hooks.Deleted{Ref: short, RefType: kind, PusherType: "user", Repository: repository, Sender: sender}
		s.notify(ctx, at, hooks.TypeDelete, ref, deleted)
		s.notify(ctx, at, hooks.TypePush, ref, hooks.Push{Ref: ref, Before: before, After: bare.Zero, Commits: []hooks.Commit{}, Repository: repository, Pusher: sender, Sender: sender})
		return
	}
	if before == "" {
		before = bare.Zero
		s.notify(ctx, at, hooks.TypeCreate, ref, hooks.Created{Sha: after, Ref: short, RefType: kind, Repository: repository, Sender: sender})
	}
	push := hooks.Push{
		Ref: ref, Before: before, After: after, CompareURL: s.web(at) + "/compare/" + before + "..." + after, Commits: []hooks.Commit{},
		Repository: repository, Pusher: sender, Sender: sender,
	}
	if s.events != nil && kind == "branch" {
		push.Commits = s.pushed(ctx, at, before, after)
		push.TotalCommits = len(push.Commits)
		if len(push.Commits) > 0 {
			push.HeadCommit = &push.Commits[0]
		}
	}
	s.notify(ctx, at, hooks.TypePush, ref, push)
	if kind == "branch" && before != bare.Zero {
		s.synchronized(ctx, at, by, short)
	}
}

// pushed are the commits that a push brought.
func (s *Server) pushed(ctx context.Context, at place, before, after string) []hooks.Commit {
	found, err := at.git.Commits(ctx, after, before, maxPushed)
	if err != nil {
		s.cfg.Log.V(1).Info("the commits of a push cannot be listed", "repository", at.full(), "reason", err.Error())
	}
	commits := []hooks.Commit{}
	for _, one := range found {
		added, removed, modified, err := at.git.Changed(ctx, one.ID)
		if err != nil {
			s.cfg.Log.V(1).Info("the files of a commit cannot be listed", "repository", at.full(), "reason", err.Error())
		}
		commits = append(commits, hooks.Commit{
			ID: one.ID, Message: one.Message, URL: s.web(at) + "/commit/" + one.ID, Timestamp: one.Committer.When,
			Author: hookPerson(one.Author), Committer: hookPerson(one.Committer), Added: added, Removed: removed, Modified: modified,
		})
	}
	return commits
}

func hookPerson(p bare.Person) hooks.Person { return hooks.Person{Name: p.Name, Email: p.Email} }

// synchronized reports to the pull requests of a branch that it has other commits.
func (s *Server) synchronized(ctx context.Context, at place, by store.Account, branch string) {
	var open []store.Pull
	s.store.Read(func(d *store.Data) {
		for _, pull := range d.Pulls {
			if pull.Repository == at.ID && !pull.Closed && pull.Head == branch {
				open = append(open, pull)
			}
		}
	})
	for _, pull := range open {
		s.pulled(ctx, at, by, pull, hooks.TypePullRequestSync, "synchronized")
	}
}

// pulled reports what happened to a pull request.
func (s *Server) pulled(ctx context.Context, at place, by store.Account, pull store.Pull, kind, action string) {
	shape := s.pull(ctx, at, pull, caller{Account: by})
	s.notify(ctx, at, kind, "refs/heads/"+pull.Base, hooks.PullRequest{
		Action: action, Number: pull.Number, PullRequest: shape, Repository: s.repository(ctx, at, caller{Account: by}), Sender: s.user(by), CommitID: shape.Head.Sha,
	})
}

// notify delivers an event of a repository. What happened has happened, also if hooks do not hear of it.
func (s *Server) notify(ctx context.Context, at place, kind, ref string, payload any) {
	event := hooks.Event{Type: kind, Ref: ref, Source: hooks.Source{Owner: at.owner.Name, Repository: at.Name}, Payload: payload}
	if err := s.Notify(ctx, event); err != nil {
		s.cfg.Log.Error(err, "an event is not delivered", "event", kind, "repository", at.full())
	}
}

// Notify delivers an event to the hooks that it concerns, and waits for none.
func (s *Server) Notify(ctx context.Context, event hooks.Event) error {
	if s.events == nil {
		return nil
	}
	return s.events.Notify(ctx, event)
}

// Hooks implements hooks.Directory.
func (s *Server) Hooks(_ context.Context, of hooks.Source) ([]hooks.Hook, error) {
	var found []hooks.Hook
	s.store.Read(func(d *store.Data) {
		repository, owner, _ := d.Repository(of.Owner, of.Repository)
		for _, one := range d.Hooks {
			system := one.Repository == 0 && one.Owner == 0
			if system || one.Repository != 0 && one.Repository == repository.ID || one.Owner != 0 && one.Owner == owner.ID {
				found = append(found, deliverable(one, owner.Organisation))
			}
		}
	})
	return found, nil
}

// deliverable is a hook as deliveries need it.
func deliverable(h store.Hook, organisation bool) hooks.Hook {
	target := "system"
	switch {
	case h.Repository != 0:
		target = "repository"
	case h.Owner != 0 && organisation:
		target = "organization"
	case h.Owner != 0:
		target = "user"
	}
	return hooks.Hook{
		ID: h.ID, Target: target, URL: h.Secrets.URL, ContentType: h.ContentType, Secret: h.Secrets.Secret, Authorization: h.Secrets.Authorization,
		Events: h.Events, BranchFilter: h.BranchFilter, Active: h.Active,
	}
}
