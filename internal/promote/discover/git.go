package discover

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/steps"
	"github.com/headgate-dev/headgate/internal/source"
)

const (
	// maxHistory bounds a response of a Git server, in bytes.
	maxHistory = 40 << 20
	// maxObserved bounds the tags that a status lists; beyond them it lists none.
	maxObserved = 250
)

// gitSearch is the search of one subscription to commits.
type gitSearch struct {
	spec     *v1alpha1.GitSubscription
	filter   *tagFilter
	paths    *pathFilter
	limit    int
	visit    *visit
	login    steps.Login
	options  source.GitOptions
	listed   *source.References
	observed *v1alpha1.GitDiscoveryRefs
}

// searched is what a search gave, with the fingerprint of the subscription and of the references then.
type searched struct {
	print  string
	result *v1alpha1.GitDiscoveryResult
}

// git searches a Git repository; key tells its subscription apart from others. Where neither that nor a reference changed, the result is the last one.
func (f *Finder) git(ctx context.Context, project, key string, s *v1alpha1.GitSubscription) (v1alpha1.GitDiscoveryResult, error) {
	result := v1alpha1.GitDiscoveryResult{RepoURL: s.RepoURL, Commits: []v1alpha1.DiscoveredCommit{}}
	search, err := newGitSearch(s)
	if err != nil {
		return result, err
	}
	if err := search.open(ctx, f, project); err != nil {
		return result, err
	}
	if search.listed, err = source.ListGit(ctx, search.options); err != nil {
		return result, search.failed(ctx, "listing the references", err)
	}
	choose, print, err := search.observe()
	if err != nil {
		return result, err
	}
	if cached, is := f.searched.Get(key); is {
		if last, is := cached.(searched); is && last.print == print {
			return *last.result.DeepCopy(), nil
		}
	}
	found, err := choose(ctx)
	if err != nil {
		return result, err
	}
	result.Commits, result.ObservedRefs = append(result.Commits, found...), search.observed
	f.searched.Add(key, searched{print, result.DeepCopy()})
	return result, nil
}

// newGitSearch checks the fields of a subscription.
func newGitSearch(s *v1alpha1.GitSubscription) (*gitSearch, error) {
	search := &gitSearch{spec: s, limit: limited(s.DiscoveryLimit)}
	if !strings.HasPrefix(s.RepoURL, "http://") && !strings.HasPrefix(s.RepoURL, "https://") {
		return nil, fmt.Errorf("repoURL: want an http or https address, not %q", s.RepoURL)
	}
	rules := tagRules{allowTags: s.AllowTags, allowTagsRegexes: s.AllowTagsRegexes, ignoreTags: s.IgnoreTags, ignoreTagsRegexes: s.IgnoreTagsRegexes}
	var err error
	if search.filter, err = rules.filter(); err != nil {
		return nil, err
	}
	if search.paths, err = parsePaths(s.IncludePaths, s.ExcludePaths); err != nil {
		return nil, err
	}
	switch s.CommitSelectionStrategy {
	case "", v1alpha1.CommitNewestFromBranch, v1alpha1.CommitLexical, v1alpha1.CommitNewestTag:
	case v1alpha1.CommitSemVer:
		if err := search.filter.onlyVersions("semverConstraint", s.SemverConstraint, s.StrictSemvers); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("commitSelectionStrategy: %q is not one of Lexical, NewestFromBranch, NewestTag, SemVer", s.CommitSelectionStrategy)
	}
	return search, nil
}

// open prepares for the repository; nothing is sent yet.
func (s *gitSearch) open(ctx context.Context, f *Finder, project string) error {
	var err error
	if s.login, err = f.reach(ctx, project, v1alpha1.GitCredentials, s.spec.RepoURL, s.spec.RepoURL); err != nil {
		return err
	}
	if s.visit, err = f.visit(s.spec.InsecureSkipTLSVerify, maxHistory); err != nil {
		return err
	}
	s.options = source.GitOptions{
		URL: s.spec.RepoURL, Username: s.login.Username, Password: s.login.Password, HTTP: s.visit.client(f), Timeout: patience,
	}
	return nil
}

func (s *gitSearch) failed(ctx context.Context, what string, err error) error {
	return fmt.Errorf("repoURL: %s: %w", what, s.visit.failed(ctx, s.login, err))
}

type commits = []v1alpha1.DiscoveredCommit

// observe says how commits are chosen, and gives a fingerprint of all that this depends on.
func (s *gitSearch) observe() (choose func(context.Context) (commits, error), print string, err error) {
	s.observed = &v1alpha1.GitDiscoveryRefs{}
	var refs any
	if s.spec.CommitSelectionStrategy == "" || s.spec.CommitSelectionStrategy == v1alpha1.CommitNewestFromBranch {
		head, has := s.listed.Head(s.spec.Branch)
		switch {
		case !has && s.spec.Branch == "":
			return nil, "", fmt.Errorf("branch: %s has no default branch: name one", s.spec.RepoURL)
		case !has:
			return nil, "", fmt.Errorf("branch: %s has no branch %q", s.spec.RepoURL, s.spec.Branch)
		}
		s.observed.BranchHead, refs = head, head
		choose = func(ctx context.Context) (commits, error) { return s.fromBranch(ctx, head) }
	} else {
		var tags []source.ListedTag
		for _, tag := range s.listed.Tags() {
			if s.filter.takes(tag.Name) {
				tags = append(tags, tag)
				s.observed.Tags = append(s.observed.Tags, v1alpha1.DiscoveredRef{Name: tag.Name, ID: tag.ID})
			}
		}
		if len(tags) > maxObserved {
			s.observed = nil
		}
		refs, choose = tags, func(ctx context.Context) (commits, error) { return s.fromTags(ctx, tags) }
	}
	data, err := json.Marshal([]any{s.spec, refs})
	if err != nil {
		return nil, "", errors.New("the subscription cannot be encoded")
	}
	return choose, fmt.Sprintf("%x", sha256.Sum256(data)), nil
}

// maxSubject bounds the subject of a commit in a status, in bytes.
const maxSubject = 80

func shortened(text string) string {
	if len(text) <= maxSubject {
		return text
	}
	return strings.ToValidUTF8(text[:maxSubject-3], "") + "..."
}

// maxPerson bounds a name with an address in a status, in bytes.
const maxPerson = 256

func discovered(c source.Commit) v1alpha1.DiscoveredCommit {
	return v1alpha1.DiscoveredCommit{
		ID: c.ID, Subject: shortened(c.Subject), Author: cut(c.Author), Committer: cut(c.Committer), CreatorDate: stamp(c.Date),
	}
}

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxPerson)], "") }
