package discover

import (
	"context"
	"fmt"

	"github.com/headgate-dev/headgate/internal/source"
)

// The commits of a branch that a search with a filter reads first, and at most.
const (
	firstDepth, mostDepth = 100, 2000
)

// fromBranch takes the newest commits of a branch, along first parents.
func (s *gitSearch) fromBranch(ctx context.Context, head string) (commits, error) {
	if s.spec.ExpressionFilter == "" && s.paths == nil {
		found, _, err := s.walk(ctx, head, s.limit)
		return found, err
	}
	for depth := firstDepth; ; depth = min(depth*5, mostDepth) {
		found, more, err := s.walk(ctx, head, depth)
		if err != nil || len(found) >= s.limit || !more || depth == mostDepth {
			return found, err
		}
	}
}

// walk fetches a branch to a depth, and filters its commits. It reports whether there are more.
func (s *gitSearch) walk(ctx context.Context, head string, depth int) (found commits, more bool, err error) {
	part := source.HistoryOptions{Wants: []string{head}, Depth: depth, Trees: s.paths != nil}
	if part.Trees {
		// Of the last commit, the parent is needed too.
		part.Depth++
	}
	history, err := source.FetchHistory(ctx, s.options, part)
	if err != nil {
		return nil, false, s.failed(ctx, "fetching the branch", err)
	}
	id := head
	for range depth {
		c, has := history.Commit(id)
		if !has {
			return found, true, nil
		}
		takes, err := s.takes(ctx, history, c)
		if err != nil {
			return nil, false, err
		}
		if takes {
			d := discovered(c)
			d.Branch = s.spec.Branch
			if found = append(found, d); len(found) == s.limit {
				return found, true, nil
			}
		}
		if c.Parent == "" {
			return found, false, nil
		}
		id = c.Parent
	}
	return found, true, nil
}

// takes reports whether the filters let a commit of a branch pass.
func (s *gitSearch) takes(ctx context.Context, history *source.History, c source.Commit) (bool, error) {
	holds, err := s.holds(ctx, map[string]any{"id": c.ID, "commitDate": c.Date, "author": c.Author, "committer": c.Committer, "subject": c.Subject})
	if err != nil || !holds {
		return false, err
	}
	return s.changed(history, c.ID)
}

// holds evaluates the expression of the subscription; none is true.
func (s *gitSearch) holds(ctx context.Context, names map[string]any) (bool, error) {
	switch {
	case s.spec.ExpressionFilter == "":
		return true, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("expressionFilter: %w", context.Cause(ctx))
	}
	holds, err := truth(s.spec.ExpressionFilter, names)
	if err != nil {
		return false, fmt.Errorf("expressionFilter: %w", err)
	}
	return holds, nil
}

// changed reports whether a commit changed a file that counts.
func (s *gitSearch) changed(history *source.History, id string) (bool, error) {
	if s.paths == nil {
		return true, nil
	}
	does := false
	err := history.Changes(id, func(path string) bool {
		does = s.paths.counts(path)
		return !does
	})
	if err != nil {
		return false, fmt.Errorf("includePaths: %w", err)
	}
	return does, nil
}
