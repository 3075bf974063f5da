package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// repository is where the commits of a Provider are.
type repository struct{ base, host, path string }

// parseRepository reads the address of a repository: a URL, or the form of ssh. No error quotes it.
func parseRepository(address string) (repository, error) {
	if !strings.Contains(address, "://") {
		if host, path, ok := strings.Cut(address, ":"); ok {
			address = "ssh://" + host + "/" + path
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return repository{}, errors.New("not the address of a repository")
	}
	r := repository{host: u.Host, path: strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")}
	switch u.Scheme {
	case "http", "https":
		r.base = u.Scheme + "://" + u.Host
	case "ssh":
		r.host = u.Hostname()
		r.base = "https://" + r.host
	default:
		return repository{}, errors.New("its scheme is not one of https, http and ssh")
	}
	if strings.Count(r.path, "/") < 1 {
		return repository{}, errors.New("it names no repository: want OWNER/NAME")
	}
	return r, nil
}

// hash is what the name of a commit looks like.
var hash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// commitOf reads the commit of a revision, such as main@sha1:HASH, or main/HASH of older days. The digest of
// an artifact is no commit, nor is a version.
func commitOf(revision string) (string, error) {
	last := revision[strings.LastIndexAny(revision, "/@")+1:]
	kind, sum, typed := strings.Cut(last, ":")
	if !typed {
		kind, sum = "sha1", last
	}
	if kind != "sha1" || !hash.MatchString(sum) {
		return "", fmt.Errorf("revision %q does not name a commit", revision)
	}
	return sum, nil
}

// status is what is said about a commit.
type status struct{ commit, state, description, context string }

func (c *sender) commitStatus(ctx context.Context, e *Event) error {
	// Only Gitea has a status for work in progress.
	if e.Reason == reasonProgressing && c.settings.Type != typeGitea {
		return nil
	}
	repo, err := parseRepository(c.settings.Address)
	if err != nil {
		return permanent("spec.address: " + err.Error())
	}
	commit, err := commitOf(e.Revision())
	if err != nil {
		return permanent(err.Error())
	}
	st := status{commit: commit, state: stateOf(c.settings.Type, e), description: e.description(), context: c.settings.Context}
	f, err := c.forge(repo)
	if err != nil {
		return err
	}
	same, err := c.told(ctx, f, st)
	if err != nil || same {
		return err
	}
	return c.post(ctx, f.write(st), f.form(st), f.login...)
}

func stateOf(kind string, e *Event) string {
	switch {
	case e.Reason == reasonProgressing:
		return "pending"
	case e.Severity != SeverityError:
		return "success"
	case kind == typeGitLab:
		return "failed"
	}
	return "failure"
}

// forge is the API of one that keeps repositories.
type forge struct {
	login []string
	// read lists what was said about a commit, write says something.
	read, write func(st status) string
	form        func(st status) object
}

func (c *sender) forge(repo repository) (forge, error) {
	token := c.settings.Token
	if c.settings.Type == typeGitLab {
		project := repo.base + "/api/v4/projects/" + url.PathEscape(repo.path)
		return forge{
			login: []string{"PRIVATE-TOKEN", token},
			read: func(st status) string {
				return project + "/repository/commits/" + st.commit + "/statuses?name=" + url.QueryEscape(st.context)
			},
			write: func(st status) string { return project + "/statuses/" + st.commit },
			form: func(st status) object {
				return object{"state": st.state, "name": st.context, "description": st.description}
			},
		}, nil
	}
	if strings.Count(repo.path, "/") != 1 {
		return forge{}, permanent("spec.address: it names no repository: want OWNER/NAME")
	}
	f := forge{
		form: func(st status) object {
			return object{"state": st.state, "context": st.context, "description": st.description}
		},
	}
	api, page := repo.base+"/api/v1", "limit"
	f.login = []string{"Authorization", "token " + token}
	if c.settings.Type == typeGitHub {
		page, f.login = "per_page", bearer(token)
		api = repo.base + "/api/v3"
		if repo.host == "github.com" {
			api = "https://api.github.com"
		}
	}
	root := api + "/repos/" + repo.path
	f.read = func(st status) string { return root + "/commits/" + st.commit + "/statuses?" + page + "=50" }
	f.write = func(st status) string { return root + "/statuses/" + st.commit }
	return f, nil
}

// told reports whether the last word about a commit is the one that would be said now.
func (c *sender) told(ctx context.Context, f forge, st status) (bool, error) {
	m := message{method: http.MethodGet, url: f.read(st), header: http.Header{}}
	m.header.Set(f.login[0], f.login[1])
	body, err := c.do(ctx, m)
	if err != nil {
		return false, fmt.Errorf("listing the statuses of the commit: %w", err)
	}
	// GitHub says state, the others say status; GitLab calls the context name.
	var list []struct {
		State, Status, Context, Name, Description string
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return false, &failure{text: "listing the statuses of the commit: invalid response"}
	}
	for _, one := range list {
		if cmp.Or(one.Context, one.Name) == st.context {
			return cmp.Or(one.Status, one.State) == st.state && one.Description == st.description, nil
		}
	}
	return false, nil
}
