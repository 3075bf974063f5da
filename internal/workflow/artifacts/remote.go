package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/source"
)

const (
	// transferTime bounds a download, answerTime the wait for its beginning.
	transferTime = 30 * time.Minute
	answerTime   = time.Minute
	mostHops     = 10
)

// download requests a file. Its errors have neither the query of the URL nor the values of headers.
func (p *Places) download(ctx context.Context, a *v1alpha1.HTTPArtifact, secrets Secrets) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	r, err := request(ctx, http.MethodGet, a, secrets)
	if err != nil {
		cancel()
		return nil, err
	}
	answer, err := p.send(r)
	if err != nil {
		cancel()
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		cancel()
		answer.Body.Close()
		return nil, fmt.Errorf("fetching %q: the server returns %q", shown(r.URL), answer.Status)
	}
	return &body{answer.Body, cancel}, nil
}

// redirect follows a server to another one without what was meant for the first, also when that one redirects in turn. A file is not sent elsewhere: what
// would be requested there instead says nothing about it.
func redirect(r *http.Request, via []*http.Request) error {
	first, last := via[0], via[len(via)-1].URL
	switch {
	case first.Method == http.MethodPut:
		return http.ErrUseLastResponse
	case len(via) >= mostHops:
		return fmt.Errorf("it redirects more than %d times", mostHops)
	case last.Scheme == "https" && r.URL.Scheme != "https":
		return errors.New("it redirects from https to http")
	case first.URL.Host != r.URL.Host:
		r.Header = http.Header{}
	}
	return nil
}

// body ends its request when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// read reads a key of a Secret; empty for none.
func read(ctx context.Context, secrets Secrets, ref *corev1.SecretKeySelector) (string, error) {
	if ref == nil {
		return "", nil
	}
	value, err := secrets.Secret(ctx, ref.Name, ref.Key)
	return string(value), err
}

// clone puts the files of a commit there. There is no history: what is in .git is not part of the artifact.
func (p *Places) clone(ctx context.Context, a *v1alpha1.GitArtifact, secrets Secrets, to target) error {
	options, err := p.gitOptions(ctx, a, secrets)
	if err != nil {
		return fmt.Errorf("git: %w", err)
	}
	var got *source.GitResult
	var failures error
	for _, ref := range references(a) {
		options.Ref = ref
		if got, err = source.FetchGit(ctx, options, "", nil); err == nil {
			break
		}
		failures = err
		if !errors.Is(err, source.ErrReference) {
			break
		}
	}
	if got == nil {
		return fmt.Errorf("git: %w", failures)
	}
	if err := to.into.Mkdir(to.name, 0o755); err != nil {
		return err
	}
	for _, name := range got.Tree.Paths() {
		file, _ := got.Tree.File(name)
		if err := write(to, file); err != nil {
			return fmt.Errorf("git: %w", err)
		}
	}
	return nil
}

// write writes one file of a tree.
func write(to target, file *source.File) error {
	name := path.Join(to.name, file.Path)
	if err := to.into.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if file.Link != "" {
		return to.into.Symlink(file.Link, name)
	}
	data, err := file.Read()
	if err != nil {
		return err
	}
	return to.into.WriteFile(name, data, file.Mode.Perm())
}

// likeSSH is the short form of a URL for SSH.
var likeSSH = regexp.MustCompile(`^([\w.-]+@)?([\w.-]+):([^/].*)$`)

// gitOptions say where a repository is and how to log in there. The one that this process serves stands in for its URL.
func (p *Places) gitOptions(ctx context.Context, a *v1alpha1.GitArtifact, secrets Secrets) (source.GitOptions, error) {
	for field, set := range map[string]bool{
		"fetch": len(a.Fetch) > 0, "insecureIgnoreHostKey": a.InsecureIgnoreHostKey, "insecureSkipTLS": a.InsecureSkipTLS,
	} {
		if set {
			return source.GitOptions{}, fmt.Errorf("%s is not supported", field)
		}
	}
	address := a.Repo
	if short := likeSSH.FindStringSubmatch(address); short != nil && !strings.Contains(address, "://") {
		address = "ssh://" + short[1] + short[2] + "/" + short[3]
	}
	all := "" // nothing is ignored
	options := source.GitOptions{
		URL: p.Rewrites.Apply(address), Ignore: &all, RecurseSubmodules: !a.DisableSubmodules, KnownHosts: p.KnownHosts, SpillDir: p.Store.SpillDir(), Egress: p.Egress,
	}
	if p.Local != nil {
		if local, is := p.Local(address); is {
			options.URL, options.Username, options.Password = local.URL, local.Username, local.Password
			return options, nil
		}
	}
	var errs [3]error
	options.Username, errs[0] = read(ctx, secrets, a.UsernameSecret)
	options.Password, errs[1] = read(ctx, secrets, a.PasswordSecret)
	key, err := read(ctx, secrets, a.SSHPrivateKeySecret)
	options.Identity, errs[2] = []byte(key), err
	return options, errors.Join(errs[:]...)
}

// commit is the full name of one.
var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// references are what a revision may mean, in the order in which it is tried.
func references(a *v1alpha1.GitArtifact) []source.GitRef {
	revision := a.Revision
	if revision == "" {
		revision = a.Branch
	}
	switch {
	case revision == "" || revision == "HEAD":
		return []source.GitRef{{Name: "HEAD"}}
	case commit.MatchString(revision):
		return []source.GitRef{{Commit: revision, Branch: a.Branch}}
	case strings.HasPrefix(revision, "refs/"):
		return []source.GitRef{{Name: revision}}
	default:
		return []source.GitRef{{Branch: revision}, {Tag: revision}}
	}
}
