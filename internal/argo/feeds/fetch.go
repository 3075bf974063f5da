package feeds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/source"
)

const ociScheme = "oci://"

func isOCI(address string) bool { return strings.HasPrefix(address, ociScheme) }

var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

func isCommit(revision string) bool { return commit.MatchString(revision) }

// isRange reports whether a revision is a range of versions rather than a name.
func isRange(revision string) bool {
	if !strings.ContainsAny(revision, "*^~<>=|, ") && !strings.HasSuffix(revision, ".x") {
		return false
	}
	_, err := patterns.Constraint(revision)
	return err == nil
}

// refs are the references that a revision may mean, in the order in which they are tried.
func refs(revision, tagPrefix string) []source.GitRef {
	switch {
	case isCommit(revision):
		return []source.GitRef{{Commit: revision}}
	case revision == "HEAD", strings.HasPrefix(revision, "refs/"):
		return []source.GitRef{{Name: revision}}
	case isRange(revision):
		return []source.GitRef{{SemVer: strings.TrimPrefix(revision, tagPrefix)}}
	default:
		return []source.GitRef{{Name: "refs/heads/" + revision}, {Name: "refs/tags/" + revision}}
	}
}

func (o *reader) fetchGit(ctx context.Context, since time.Time) (fetched, error) {
	options, err := o.feeds.Git(o.key.URL, o.key.Project)
	if err != nil {
		return fetched{}, err
	}
	o.mu.Lock()
	tree, tag := o.state.Tree, o.state.Signatures.TagID()
	o.mu.Unlock()
	options.Tag = &tag
	var got feed.Result
	requested := false
	for _, ref := range refs(o.key.Revision, o.key.TagPrefix) {
		options.Ref = ref
		got, err = o.feeds.cfg.Remotes.Git(ctx, o, feed.Git{
			Options: options, Share: ShareOf(o.key.Project), Since: since, Previous: o.previous, Tree: tree,
		})
		o.heardOf(got.Began)
		requested = requested || got.Requested
		if !errors.Is(err, source.ErrReference) {
			break
		}
	}
	if errors.Is(err, source.ErrReference) {
		err = fmt.Errorf("unable to resolve '%s' to a commit SHA: %w", o.key.Revision, err)
	}
	if err != nil {
		return fetched{shared: !requested}, err
	}
	if got.Unchanged {
		return fetched{unchanged: true, began: got.Began, shared: !requested}, nil
	}
	o.previous = got.Revision
	state := State{
		Revision: shaOf(got.Revision), Tree: got.Tree, Digest: got.Tree.Digest(), Signatures: got.Signatures, Local: o.feeds.local(o.key.URL) != nil,
	}
	return fetched{State: state, began: got.Began, shared: !requested, transferred: got.Transferred}, nil
}

// local is what stands in for a URL, nil if nothing does.
func (f *Feeds) local(address string) *source.Local {
	if f.cfg.Local == nil {
		return nil
	}
	local, ok := f.cfg.Local(address)
	if !ok {
		return nil
	}
	return &local
}

// shaOf is the commit of a revision that names the reference too.
func shaOf(revision string) string { return revision[strings.LastIndexByte(revision, ':')+1:] }

// Anonymous is how a repository is fetched without a login: where, and what is believed of its host.
func (f *Feeds) Anonymous(address string) source.GitOptions {
	// Argo CD has no file that says what to ignore.
	nothing, s := source.KeepAll, f.cfg.Settings()
	return source.GitOptions{
		URL: f.cfg.Rewrites.Apply(address), Ignore: &nothing, SpillDir: f.cfg.SpillDir, RecurseSubmodules: s.Fetching.GitSubmodules,
		KnownHosts: []byte(s.KnownHosts), CAFile: []byte(certificate(s, address)), Egress: f.cfg.Egress,
	}
}

// Git is how a repository is fetched with the login that a project has for it.
func (f *Feeds) Git(address, project string) (source.GitOptions, error) {
	s, options := f.cfg.Settings(), f.Anonymous(address)
	if local := f.local(address); local != nil {
		options.URL, options.Username, options.Password = local.URL, local.Username, local.Password
		return options, nil
	}
	repo := s.Credentials.For(address, project)
	login := repo.Login
	if login.GCPServiceAccountKey.IsSet() || login.Azure.WorkloadIdentity || login.Azure.ClientSecret.IsSet() {
		return options, fmt.Errorf("Secret %q requires a cloud identity, which is not supported; use a token, a key or a GitHub App", loginSecret(repo))
	}
	options.Username, options.Password, options.BearerToken = login.Username.Reveal(), login.Password.Reveal(), login.BearerToken.Reveal()
	options.ClientCert, options.ClientKey = []byte(login.ClientCertificate.Reveal()), []byte(login.ClientKey.Reveal())
	options.Identity, options.Proxy = []byte(login.SSHPrivateKey.Reveal()), repo.Proxy.Reveal()
	if login.GitHubApp.PrivateKey.IsSet() {
		options.App = f.app(login.GitHubApp)
	}
	return options, nil
}

// app returns the login of a GitHub App, with the token that it has.
func (f *Feeds) app(a settings.GitHubApp) *source.App {
	config := source.AppConfig{
		ID: fmt.Sprint(a.ID), InstallationID: fmt.Sprint(a.InstallationID), PrivateKey: a.PrivateKey.Reveal(), BaseURL: a.EnterpriseBaseURL,
	}
	key := config.ID + "/" + config.InstallationID + "@" + config.BaseURL
	f.mu.Lock()
	defer f.mu.Unlock()
	if held := f.apps[key]; held != nil && held.AppConfig == config {
		return held
	}
	f.apps[key] = &source.App{AppConfig: config}
	return f.apps[key]
}

func loginSecret(r settings.Repository) string {
	if r.Template != "" {
		return r.Template
	}
	return r.Secret
}

// certificate is what is believed of a host beside the system's authorities.
func certificate(s settings.Settings, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if pem, ok := s.Certificates[u.Host]; ok {
		return pem
	}
	return s.Certificates[u.Hostname()]
}

func (o *reader) fetchOCI(ctx context.Context) (fetched, error) {
	access, err := o.feeds.registryAccess(o.key.URL, o.key.Project)
	if err != nil {
		return fetched{}, err
	}
	nothing, address := source.KeepAll, o.feeds.cfg.Rewrites.Apply(o.key.URL)
	turn, ok := o.feeds.cfg.Remotes.Take(ctx, ShareOf(o.key.Project), address)
	if !ok {
		return fetched{}, context.Cause(ctx)
	}
	defer turn.End()
	options := source.OCIOptions{
		RegistryAccess: access, URL: address, Ignore: &nothing, SpillDir: o.feeds.cfg.SpillDir, Ref: ociRef(o.key.Revision),
	}
	o.mu.Lock()
	tree := o.state.Tree
	o.mu.Unlock()
	got, err := source.FetchOCI(ctx, options, o.previous, tree)
	if err != nil {
		return fetched{}, err
	}
	if got.Unchanged {
		return fetched{unchanged: true}, nil
	}
	o.previous = got.Revision
	tree = chartRoot(got.Tree)
	return fetched{State: State{Revision: got.Revision[strings.LastIndexByte(got.Revision, '@')+1:], Tree: tree, Digest: tree.Digest()}}, nil
}

func ociRef(revision string) source.OCIRef {
	switch {
	case strings.HasPrefix(revision, "sha256:"):
		return source.OCIRef{Digest: revision}
	case isRange(revision):
		return source.OCIRef{SemVer: revision}
	default:
		return source.OCIRef{Tag: revision}
	}
}

// chartRoot takes the one directory off a packed chart, in which its files are.
func chartRoot(t *source.Tree) *source.Tree {
	paths := t.Paths()
	if len(paths) == 0 {
		return t
	}
	dir, _, nested := strings.Cut(paths[0], "/")
	if _, chart := t.File(dir + "/Chart.yaml"); !nested || !chart {
		return t
	}
	files := make([]*source.File, 0, len(paths))
	for _, p := range paths {
		name, inside := strings.CutPrefix(p, dir+"/")
		file, known := t.File(p)
		if !inside || !known {
			return t
		}
		data, err := file.Read()
		if err != nil {
			return t
		}
		files = append(files, source.NewFile(name, file.Mode, data))
	}
	out, err := source.NewTree(files)
	if err != nil {
		return t
	}
	return out
}

func (o *reader) fetchHelm(ctx context.Context, since time.Time) (fetched, error) {
	w := wanted{repo: o.key.URL, name: o.key.Chart, version: o.key.Revision, project: o.key.Project}
	index, err := o.feeds.index(ctx, o, w, since)
	o.heardOf(index.Began)
	got, err := o.feeds.fetchChart(ctx, w, chartFrom{index.Index, o.previous, err})
	if err != nil {
		return fetched{}, err
	}
	if got.data == nil {
		return fetched{unchanged: true, began: index.Began}, nil
	}
	o.previous = got.version
	sum := sha256.Sum256(got.data)
	return fetched{State: State{Revision: got.version, Chart: got.data, Digest: hex.EncodeToString(sum[:])}, began: index.Began}, nil
}

// wanted is a chart that is wanted of a repository, by the credentials of a project.
type wanted struct {
	repo, name, version, project string
	// bare is set where the project does not permit the repository: no credentials are used.
	bare bool
}

// access is how the repository of the chart is reached.
func (f *Feeds) access(w wanted) (source.RegistryAccess, error) {
	if w.bare {
		return source.RegistryAccess{Access: source.Access{Egress: f.cfg.Egress, CAFile: []byte(certificate(f.cfg.Settings(), w.repo))}}, nil
	}
	return f.registryAccess(w.repo, w.project)
}

// explained is an error of a fetch, with why it used no credentials.
func (w wanted) explained(err error) error {
	if !w.bare || !errors.Is(err, source.ErrAuth) {
		return err
	}
	return fmt.Errorf("%w; it is not permitted in project '%s' (spec.sourceRepos), so no credentials of the installation are used", err, w.project)
}

// address is that of the repository; one without a scheme is a registry.
func (w wanted) address() string {
	if !strings.Contains(w.repo, "://") {
		return ociScheme + w.repo
	}
	return w.repo
}

// index fetches the index of a repository, which a registry has none of.
func (f *Feeds) index(ctx context.Context, reader feed.Reader, w wanted, since time.Time) (feed.IndexResult, error) {
	if isOCI(w.address()) {
		return feed.IndexResult{}, nil
	}
	access, err := f.access(w)
	if err != nil {
		return feed.IndexResult{}, err
	}
	return f.cfg.Remotes.Index(ctx, reader, feed.Index{
		Options: source.IndexOptions{Access: access.Access, URL: f.cfg.Rewrites.Apply(w.address())}, Share: ShareOf(w.project), Since: since,
	})
}

// chartFrom is what is known of where a chart is fetched from: its index, which version there is of it, and why there is no
// index.
type chartFrom struct {
	index    *source.Index
	previous string
	err      error
}

// fetchedChart is a chart; there are no data of one that is the previous one.
type fetchedChart struct {
	data    []byte
	version string
}

func (f *Feeds) fetchChart(ctx context.Context, w wanted, from chartFrom) (fetchedChart, error) {
	got, err := f.pullChart(ctx, w, from)
	if err != nil && f.cfg.StandIn != nil && ctx.Err() == nil {
		if data, version, ok := f.cfg.StandIn(w.repo, w.name, w.version, err); ok {
			return fetchedChart{data, version}, nil
		}
	}
	return got, err
}

func (f *Feeds) pullChart(ctx context.Context, w wanted, from chartFrom) (fetchedChart, error) {
	if from.err != nil {
		return fetchedChart{}, w.explained(from.err)
	}
	access, err := f.access(w)
	if err != nil {
		return fetchedChart{}, err
	}
	address := f.cfg.Rewrites.Apply(w.address())
	turn, ok := f.cfg.Remotes.Take(ctx, ShareOf(w.project), address)
	if !ok {
		return fetchedChart{}, context.Cause(ctx)
	}
	defer turn.End()
	got, err := source.FetchChart(ctx, source.ChartOptions{
		RegistryAccess: access, URL: address, Chart: w.name, Version: w.version, Index: from.index, Rewrites: f.cfg.Rewrites,
	}, from.previous)
	switch {
	case err != nil:
		return fetchedChart{}, w.explained(err)
	case got.Unchanged:
		return fetchedChart{version: from.previous}, nil
	}
	return fetchedChart{got.Data, got.Version}, nil
}

func (f *Feeds) registryAccess(address, project string) (source.RegistryAccess, error) {
	s := f.cfg.Settings()
	repo := s.Credentials.For(address, project)
	login := repo.Login
	if login.GCPServiceAccountKey.IsSet() || login.Azure.WorkloadIdentity {
		return source.RegistryAccess{}, fmt.Errorf("Secret %q requires a cloud identity, which is not supported; use a username and a password", loginSecret(repo))
	}
	return source.RegistryAccess{
		Access: source.Access{
			Username: login.Username.Reveal(), Password: login.Password.Reveal(), CAFile: []byte(certificate(s, address)),
			ClientCert: []byte(login.ClientCertificate.Reveal()), ClientKey: []byte(login.ClientKey.Reveal()), Proxy: repo.Proxy.Reveal(), Egress: f.cfg.Egress,
		},
		Insecure: repo.Insecure || repo.PlainHTTP,
	}, nil
}
