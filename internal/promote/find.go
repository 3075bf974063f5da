package promote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

// maxRefs bounds the list of references of a repository, in bytes.
const maxRefs = 32 << 20

// find searches the subscriptions of a Warehouse. Those that cannot be searched are named in the error.
func (p *part) find(ctx context.Context, w *v1alpha1.Warehouse) (*v1alpha1.DiscoveredArtifacts, error) {
	found := &v1alpha1.DiscoveredArtifacts{}
	for i, s := range w.Spec.Subscriptions {
		if s.Git == nil {
			return nil, fmt.Errorf("spec.subscriptions[%d]: only Git repositories are searched, not images and charts: set freightCreationPolicy to Manual, and create Freight yourself", i)
		}
		result, err := p.findCommit(ctx, w.Namespace, s.Git)
		if err != nil {
			return nil, fmt.Errorf("spec.subscriptions[%d].git: %w", i, err)
		}
		found.Git = append(found.Git, result)
	}
	return found, nil
}

// findCommit is the commit at the end of a branch.
func (p *part) findCommit(ctx context.Context, project string, s *v1alpha1.GitSubscription) (v1alpha1.GitDiscoveryResult, error) {
	result := v1alpha1.GitDiscoveryResult{RepoURL: s.RepoURL}
	switch {
	case s.CommitSelectionStrategy != "" && s.CommitSelectionStrategy != v1alpha1.CommitNewestFromBranch:
		return result, fmt.Errorf("commitSelectionStrategy %s is not supported: use %s", s.CommitSelectionStrategy, v1alpha1.CommitNewestFromBranch)
	case s.ExpressionFilter != "" || len(s.IncludePaths)+len(s.ExcludePaths) > 0:
		return result, errors.New("expressionFilter, includePaths and excludePaths are not supported: remove them")
	case s.InsecureSkipTLSVerify:
		return result, errors.New("insecureSkipTLSVerify is not supported")
	}
	refs, err := p.refs(ctx, project, s.RepoURL)
	if err != nil {
		return result, err
	}
	branch := s.Branch
	name := "refs/heads/" + branch
	if branch == "" {
		name = "HEAD"
	}
	commit, has := refs[name]
	if !has {
		return result, fmt.Errorf("%s has no branch %q", s.RepoURL, branch)
	}
	result.Commits = []v1alpha1.DiscoveredCommit{{ID: commit, Branch: branch}}
	return result, nil
}

// refs are the references that a Git repository advertises over HTTP, with the commits that they name.
func (p *part) refs(ctx context.Context, project, repoURL string) (map[string]string, error) {
	if !strings.HasPrefix(repoURL, "http://") && !strings.HasPrefix(repoURL, "https://") {
		return nil, fmt.Errorf("repoURL: want an http or https address, not %q", repoURL)
	}
	if err := p.network.allow(ctx, repoURL); err != nil {
		return nil, fmt.Errorf("repoURL: %w", err)
	}
	login, err := p.login(ctx, project, v1alpha1.GitCredentials, repoURL)
	if err != nil {
		return nil, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(repoURL, "/")+"/info/refs?service=git-upload-pack", nil)
	if err != nil {
		return nil, errors.New("repoURL is not an address")
	}
	if login != (steps.Login{}) {
		q.SetBasicAuth(login.Username, login.Password)
	}
	response, err := p.network.client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("listing the references: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("listing the references of %s: the server responds %s", repoURL, response.Status)
	}
	refs, err := advertised(io.LimitReader(response.Body, maxRefs))
	if err != nil {
		return nil, fmt.Errorf("listing the references of %s: %w", repoURL, err)
	}
	return refs, nil
}

// advertised reads the lines of an advertisement: each has its length, four hexadecimal digits, before it; a length of zero ends a group of lines.
func advertised(from io.Reader) (map[string]string, error) {
	const prefix, digits = 4, 40
	refs := map[string]string{}
	for {
		head := make([]byte, prefix)
		if _, err := io.ReadFull(from, head); errors.Is(err, io.EOF) {
			return refs, nil
		} else if err != nil {
			return nil, errors.New("the response is incomplete")
		}
		size, err := strconv.ParseUint(string(head), 16, 16)
		if err != nil || size != 0 && size < prefix {
			return nil, errors.New("the response is not that of a Git server")
		}
		if size == 0 {
			continue
		}
		line := make([]byte, size-prefix)
		if _, err := io.ReadFull(from, line); err != nil {
			return nil, errors.New("the response is incomplete")
		}
		text, _, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\x00")
		if hash, name, is := strings.Cut(text, " "); is && len(hash) >= digits && name != "capabilities^{}" {
			refs[name] = hash
		}
	}
}

// sameFindings tells whether two searches found the same.
func sameFindings(a, b *v1alpha1.DiscoveredArtifacts) bool {
	return b != nil && reflect.DeepEqual(a.Git, b.Git) && reflect.DeepEqual(a.Images, b.Images) && reflect.DeepEqual(a.Charts, b.Charts)
}
