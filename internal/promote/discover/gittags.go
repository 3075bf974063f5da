package discover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/source"
)

const (
	// batch is how many tags are fetched at a time to compare directories.
	batch = 50
	// maxTagged bounds the tags that are fetched for their dates, or for an expression.
	maxTagged = 10_000
)

// tag is a tag with its commit.
type tag struct {
	source.ListedTag
	commit source.Commit
	// annotation is there if the tag has one.
	annotation source.Annotation
	date       time.Time
}

// fromTags takes the best of the tags that the filter takes.
func (s *gitSearch) fromTags(ctx context.Context, listed []source.ListedTag) (commits, error) {
	var found commits
	byDate := s.spec.CommitSelectionStrategy == v1alpha1.CommitNewestTag
	if !byDate && s.spec.ExpressionFilter == "" {
		// Names alone decide: what is behind the limit is not fetched.
		sorted(listed, s.filter, func(t source.ListedTag) string { return t.Name })
		for len(listed) > 0 && len(found) < s.limit {
			next := listed[:min(len(listed), s.portion(s.limit-len(found)))]
			listed = listed[len(next):]
			tags, err := s.fetchTags(ctx, next)
			if err != nil {
				return nil, err
			}
			found = append(found, s.discovered(tags)...)
		}
		return found[:min(len(found), s.limit)], nil
	}
	tags, err := s.filtered(ctx, listed)
	if err != nil {
		return nil, err
	}
	if byDate {
		slices.SortStableFunc(tags, func(a, b tag) int { return cmp.Or(b.date.Compare(a.date), strings.Compare(a.Name, b.Name)) })
	} else {
		sorted(tags, s.filter, func(t tag) string { return t.Name })
	}
	for len(tags) > 0 && len(found) < s.limit {
		next := tags[:min(len(tags), s.portion(s.limit-len(found)))]
		tags = tags[len(next):]
		if next, err = s.thatChanged(ctx, next); err != nil {
			return nil, err
		}
		found = append(found, s.discovered(next)...)
	}
	return found[:min(len(found), s.limit)], nil
}

// portion is how many tags are read next, where some are still missing.
func (s *gitSearch) portion(missing int) int {
	if s.paths == nil {
		return missing
	}
	return batch
}

// filtered fetches tags for what they say of themselves, and evaluates the expression.
func (s *gitSearch) filtered(ctx context.Context, listed []source.ListedTag) ([]tag, error) {
	if len(listed) > maxTagged {
		return nil, fmt.Errorf("commitSelectionStrategy: %d tags match, and at most %d are compared: limit them with allowTagsRegexes", len(listed), maxTagged)
	}
	tags, err := s.fetch(ctx, listed, source.HistoryOptions{Depth: 1})
	if err != nil {
		return nil, err
	}
	var kept []tag
	for _, t := range tags {
		holds, err := s.holds(ctx, map[string]any{
			"tag": t.Name, "id": t.commit.ID, "creatorDate": t.date, "author": t.commit.Author, "committer": t.commit.Committer,
			"subject": t.commit.Subject, "tagger": t.annotation.Tagger, "annotation": t.annotation.Subject,
		})
		if err != nil {
			return nil, err
		}
		if holds {
			kept = append(kept, t)
		}
	}
	return kept, nil
}

// fetchTags fetches tags, without those whose commits changed nothing that counts.
func (s *gitSearch) fetchTags(ctx context.Context, listed []source.ListedTag) ([]tag, error) {
	if s.paths == nil {
		return s.fetch(ctx, listed, source.HistoryOptions{Depth: 1})
	}
	tags := make([]tag, len(listed))
	for i, one := range listed {
		tags[i].ListedTag = one
	}
	return s.thatChanged(ctx, tags)
}

// thatChanged leaves out tags whose commits changed nothing that counts.
func (s *gitSearch) thatChanged(ctx context.Context, tags []tag) ([]tag, error) {
	if s.paths == nil || len(tags) == 0 {
		return tags, nil
	}
	part := source.HistoryOptions{Depth: 2, Trees: true}
	listed := make([]source.ListedTag, len(tags))
	for i, t := range tags {
		listed[i] = t.ListedTag
	}
	history, err := s.history(ctx, listed, part)
	if err != nil {
		return nil, err
	}
	var kept []tag
	for _, t := range described(history, listed) {
		does, err := s.changed(history, t.commit.ID)
		if err != nil {
			return nil, err
		}
		if does {
			kept = append(kept, t)
		}
	}
	return kept, nil
}

func (s *gitSearch) fetch(ctx context.Context, listed []source.ListedTag, part source.HistoryOptions) ([]tag, error) {
	if len(listed) == 0 {
		return nil, nil
	}
	history, err := s.history(ctx, listed, part)
	if err != nil {
		return nil, err
	}
	return described(history, listed), nil
}

// history fetches what tags name, each once.
func (s *gitSearch) history(ctx context.Context, listed []source.ListedTag, part source.HistoryOptions) (*source.History, error) {
	for _, t := range listed {
		part.Wants = append(part.Wants, t.ID)
	}
	slices.Sort(part.Wants)
	part.Wants = slices.Compact(part.Wants)
	history, err := source.FetchHistory(ctx, s.options, part)
	if err != nil {
		return nil, s.failed(ctx, "fetching the tags", err)
	}
	return history, nil
}

// described are the tags of commits, in their order; tags of anything else are none.
func described(history *source.History, listed []source.ListedTag) []tag {
	var tags []tag
	for _, one := range listed {
		c, is := history.Commit(one.Commit)
		if !is {
			continue
		}
		t := tag{ListedTag: one, commit: c, date: c.Date}
		if a, annotated := history.Annotation(one.ID); annotated {
			t.annotation = a
			if !a.Date.IsZero() {
				t.date = a.Date
			}
		}
		tags = append(tags, t)
	}
	return tags
}

func (s *gitSearch) discovered(tags []tag) commits {
	found := make(commits, len(tags))
	for i, t := range tags {
		found[i] = discovered(t.commit)
		found[i].Tag, found[i].CreatorDate = t.Name, stamp(t.date)
	}
	return found
}
