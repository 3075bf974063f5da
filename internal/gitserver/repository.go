package gitserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// repoName is what a repository may be called.
var repoName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,99}$`)

// recent is where a mirror keeps its last revisions. A client that requested one of them before the
// next one came can still fetch it, but it is not listed.
const recent = "refs/headgate"

// path is the directory of a repository.
func (s *Server) path(repo string) string { return filepath.Join(s.dir, repo+".git") }

// settings of each repository. There is no automatic cleanup: it would outlive this process.
const settings = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	logAllRefUpdates = false
[gc]
	auto = 0
[receive]
	autogc = false
[http]
	receivepack = true
	getanyfile = false
[transfer]
	hideRefs = ` + recent + `
[uploadpack]
	allowTipSHA1InWant = true
	allowFilter = true
[uploadpackfilter]
	allow = false
[uploadpackfilter "blob:none"]
	allow = true
[uploadpackfilter "tree"]
	allow = true
`

// CreateRepo makes an empty repository, unless it exists.
func (s *Server) CreateRepo(ctx context.Context, repo string) error {
	if !repoName.MatchString(repo) {
		return fmt.Errorf("creating repository %q: use letters, digits, - and _", repo)
	}
	s.creating.Lock()
	defer s.creating.Unlock()
	if _, err := os.Stat(filepath.Join(s.path(repo), "HEAD")); err == nil {
		return nil
	}
	if err := initialize(ctx, s.path(repo), defaultBranch); err != nil {
		return fmt.Errorf("creating repository %q: %w", repo, err)
	}
	return nil
}

func initialize(ctx context.Context, dir, branch string) error {
	// No template: it could bring hooks.
	if _, err := run(ctx, command{args: []string{"init", "-q", "--bare", "--template=", "--object-format=sha1", "-b", branch, dir}}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config"), []byte(settings), 0o600)
}

// refs lists what the references of a repository are, to see whether a push changed one.
func (s *Server) refs(ctx context.Context, repo string) string {
	out, err := run(ctx, command{args: []string{"--git-dir", s.path(repo), "for-each-ref", "--format=%(objectname) %(refname)"}})
	if err != nil {
		s.log.Error(err, "listing references", "repository", repo)
	}
	return out
}
