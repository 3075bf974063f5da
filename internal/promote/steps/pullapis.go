package steps

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/redaction"
)

// github asks GitHub, or Gitea and Forgejo, whose API is shaped after it.
type github struct{ gitea bool }

type githubPull struct {
	Number int64  `json:"number"`
	URL    string `json:"html_url"`
	State  string `json:"state"`
	Merged bool   `json:"merged"`
	// MergedAt is what lists have instead of Merged.
	MergedAt string     `json:"merged_at"`
	Commit   string     `json:"merge_commit_sha"`
	Head     githubSide `json:"head"`
	Base     githubSide `json:"base"`
}

type githubSide struct {
	Ref  string `json:"ref"`
	Sha  string `json:"sha"`
	Repo struct {
		ID int64 `json:"id"`
	} `json:"repo"`
}

func (p *githubPull) pull() *pull {
	return &pull{Number: p.Number, URL: p.URL, Open: p.State == "open", Merged: p.Merged || p.MergedAt != "", Commit: p.Commit}
}

// of reports whether it is of two branches of the repository itself: anybody may have a branch of the same name in a fork.
func (p *githubPull) of(source, target string) bool {
	return p.Head.Ref == source && p.Base.Ref == target && p.Head.Repo.ID == p.Base.Repo.ID
}

func (g github) authorization(login Login) string {
	switch {
	case login.Password == "":
		return ""
	case g.gitea && login.Username != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(login.Username+":"+login.Password))
	case g.gitea:
		return "token " + login.Password
	}
	return "Bearer " + login.Password
}

func (g github) find(ctx context.Context, f *pullServer, source, target, commit string) (*pull, error) {
	owner, _, _ := strings.Cut(f.path, "/")
	query := url.Values{"state": {"all"}, "head": {owner + ":" + source}, "base": {target}}
	if g.gitea {
		query = url.Values{"state": {"all"}, "base_branch": {target}}
	}
	const pages = 10
	var merged *pull
	for page := 1; page <= pages; page++ {
		query.Set("page", strconv.Itoa(page))
		var found []githubPull
		if err := f.call(ctx, http.MethodGet, "/repos/"+f.path+"/pulls?"+query.Encode(), g.authorization(f.login()), nil, &found); err != nil {
			return nil, err
		}
		// Gitea has no filter for the source, and forks may have branches of the same name.
		for i := range found {
			one := found[i].pull()
			switch {
			case !found[i].of(source, target):
			case one.Open:
				return one, nil
			case one.Merged && found[i].Head.Sha == commit && merged == nil:
				merged = one
			}
		}
		if len(found) == 0 {
			break
		}
	}
	return merged, nil
}

func (g github) merge(ctx context.Context, f *pullServer, number int64, method string) error {
	verb, body := http.MethodPut, map[string]string{}
	switch {
	case g.gitea:
		verb, body["Do"] = http.MethodPost, cmp.Or(method, "merge")
	case method != "":
		body["merge_method"] = method
	}
	return f.call(ctx, verb, fmt.Sprintf("/repos/%s/pulls/%d/merge", f.path, number), g.authorization(f.login()), body, nil)
}

func (g github) open(ctx context.Context, f *pullServer, config openPullConfig) (*pull, error) {
	var made githubPull
	body := map[string]any{"title": config.Title, "head": config.SourceBranch, "base": config.TargetBranch, "body": config.Description}
	if err := f.call(ctx, http.MethodPost, "/repos/"+f.path+"/pulls", g.authorization(f.login()), body, &made); err != nil {
		return nil, err
	}
	if len(config.Labels) > 0 {
		labels := map[string]any{"labels": config.Labels}
		if err := f.call(ctx, http.MethodPost, fmt.Sprintf("/repos/%s/issues/%d/labels", f.path, made.Number), g.authorization(f.login()), labels, nil); err != nil {
			return nil, fmt.Errorf("labels: %w", err)
		}
	}
	return made.pull(), nil
}

func (g github) get(ctx context.Context, f *pullServer, number int64) (*pull, error) {
	var found githubPull
	if err := f.call(ctx, http.MethodGet, fmt.Sprintf("/repos/%s/pulls/%d", f.path, number), g.authorization(f.login()), nil, &found); err != nil {
		return nil, err
	}
	return found.pull(), nil
}

// gitlab asks GitLab, which calls pull requests merge requests.
type gitlab struct{}

type gitlabPull struct {
	Number int64  `json:"iid"`
	URL    string `json:"web_url"`
	State  string `json:"state"`
	Merge  string `json:"merge_commit_sha"`
	Squash string `json:"squash_commit_sha"`
	Head   string `json:"sha"`
	Source int64  `json:"source_project_id"`
	Target int64  `json:"target_project_id"`
}

func (p *gitlabPull) pull() *pull {
	return &pull{
		Number: p.Number, URL: p.URL, Open: p.State == "opened" || p.State == "locked", Merged: p.State == "merged", Commit: cmp.Or(p.Merge, p.Squash, p.Head),
	}
}

func (gitlab) at(f *pullServer) string {
	return "/projects/" + url.PathEscape(f.path) + "/merge_requests"
}

func (gitlab) authorization(login Login) string {
	if login.Password == "" {
		return ""
	}
	return "Bearer " + login.Password
}

func (g gitlab) find(ctx context.Context, f *pullServer, source, target, commit string) (*pull, error) {
	query := url.Values{"state": {"all"}, "source_branch": {source}, "target_branch": {target}, "per_page": {"100"}}
	var found []gitlabPull
	if err := f.call(ctx, http.MethodGet, g.at(f)+"?"+query.Encode(), g.authorization(f.login()), nil, &found); err != nil {
		return nil, err
	}
	var merged *pull
	for i := range found {
		one := found[i].pull()
		switch {
		case found[i].Source != found[i].Target:
		case one.Open:
			return one, nil
		case one.Merged && found[i].Head == commit && merged == nil:
			merged = one
		}
	}
	return merged, nil
}

func (g gitlab) merge(ctx context.Context, f *pullServer, number int64, method string) error {
	body := map[string]bool{}
	switch method {
	case "", "merge":
	case "squash":
		body["squash"] = true
	default:
		return fail("mergeMethod: %q is neither merge nor squash", method)
	}
	return f.call(ctx, http.MethodPut, fmt.Sprintf("%s/%d/merge", g.at(f), number), g.authorization(f.login()), body, nil)
}

func (g gitlab) open(ctx context.Context, f *pullServer, config openPullConfig) (*pull, error) {
	var made gitlabPull
	body := map[string]any{
		"title": config.Title, "source_branch": config.SourceBranch, "target_branch": config.TargetBranch, "description": config.Description,
		"labels": strings.Join(config.Labels, ","),
	}
	if err := f.call(ctx, http.MethodPost, g.at(f), g.authorization(f.login()), body, &made); err != nil {
		return nil, err
	}
	return made.pull(), nil
}

func (g gitlab) get(ctx context.Context, f *pullServer, number int64) (*pull, error) {
	var found gitlabPull
	if err := f.call(ctx, http.MethodGet, fmt.Sprintf("%s/%d", g.at(f), number), g.authorization(f.login()), nil, &found); err != nil {
		return nil, err
	}
	return found.pull(), nil
}

// call sends a request to the API, and reads the response. Of an error, it says the status and the message that servers of these kinds give.
func (f *pullServer) call(ctx context.Context, method, path, authorization string, body, into any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return fail("writing the request: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, f.base+path, bytes.NewReader(content))
	if err != nil {
		return fail("repoURL: it gives no address of an API")
	}
	q.Header.Set("Accept", "application/json")
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if authorization != "" {
		q.Header.Set("Authorization", authorization)
	}
	response, data, err := f.step.send(q, f.insecure)
	if err != nil {
		return err
	}
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		return f.refused(response, data)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fail("the response of %s is not that of the provider: set provider", q.URL.Host)
	}
	return nil
}

// refused is what a server says of a request that it does not carry out. What it cannot ever carry out is a failure; the rest is tried again.
func (f *pullServer) refused(response *http.Response, data []byte) error {
	var said struct {
		Message any `json:"message"`
	}
	text := ""
	if json.Unmarshal(data, &said) == nil && said.Message != nil {
		text = fmt.Sprintf(": %.300v", said.Message)
	}
	text = redaction.NewValues(f.remote.Password).Text(text)
	err := fmt.Errorf("%s %s: the server responds %s%s", response.Request.Method, response.Request.URL.Host, response.Status, text)
	switch response.StatusCode {
	case http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusUnauthorized:
		err = failure{err}
	}
	return &refusal{error: err, status: response.StatusCode}
}

// refusal is what a server says of a request that it does not carry out, with its status.
type refusal struct {
	error
	status int
}

func (r *refusal) Unwrap() error { return r.error }
