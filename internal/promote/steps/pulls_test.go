package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// allow permits addresses that begin with a prefix.
func (f *forge) allow(prefix string) {
	f.runner.Allow = func(_ context.Context, url string) error {
		if !strings.HasPrefix(url, prefix) {
			return errors.New("this address is not allowed")
		}
		return nil
	}
}

// pulls answers as a server with one pull request does.
type pulls struct {
	t        *testing.T
	provider string
	opened   int
	state    string
	source   string
	target   string
	labels   string
}

// before serves the API before a Git server.
func (p *pulls) before(base string) *httptest.Server {
	to, err := url.Parse(base)
	if err != nil {
		p.t.Fatal(err)
	}
	git := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/") {
			git.ServeHTTP(w, r)
			return
		}
		if !strings.Contains(r.Header.Get("Authorization"), " ") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		p.api(w, r)
	}))
}

func (p *pulls) api(w http.ResponseWriter, r *http.Request) {
	root := map[string]string{"github": "/api/v3/repos/git/deploy", "gitea": "/api/v1/repos/git/deploy", "gitlab": "/api/v4/projects/git/deploy"}[p.provider]
	rest, ours := strings.CutPrefix(r.URL.Path, root)
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch {
	case !ours:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"message": "no such repository %s"}`, r.URL.Path)
	case r.Method == http.MethodGet && (rest == "/pulls" || rest == "/merge_requests"):
		// The first page has it, and there is no second one.
		if page := r.URL.Query().Get("page"); p.opened == 0 || page != "" && page != "1" {
			fmt.Fprint(w, "[]")
			return
		}
		fmt.Fprintf(w, "[%s]", p.shown(r))
	case r.Method == http.MethodPost && rest == "/pulls":
		p.opened, p.source, p.target = p.opened+1, fmt.Sprint(body["head"]), fmt.Sprint(body["base"])
		fmt.Fprint(w, p.shown(r))
	case r.Method == http.MethodPost && rest == "/merge_requests":
		p.opened, p.source, p.target, p.labels = p.opened+1, fmt.Sprint(body["source_branch"]), fmt.Sprint(body["target_branch"]), fmt.Sprint(body["labels"])
		fmt.Fprint(w, p.shown(r))
	case r.Method == http.MethodPost && rest == "/issues/7/labels":
		p.labels = fmt.Sprint(body["labels"])
	case r.Method == http.MethodGet && (rest == "/pulls/7" || rest == "/merge_requests/7"):
		fmt.Fprint(w, p.shown(r))
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message": "no such pull request"}`)
	}
}

// shown is the pull request as the provider has it.
func (p *pulls) shown(r *http.Request) string {
	page := "http://" + r.Host + "/pulls/7"
	if p.provider == "gitlab" {
		state := p.state
		if state == "" {
			state = "opened"
		}
		return fmt.Sprintf(`{"iid": 7, "web_url": %q, "state": %q, "merge_commit_sha": "c0ffee"}`, page, state)
	}
	state, merged := "open", p.state == "merged"
	if p.state != "" {
		state = "closed"
	}
	return fmt.Sprintf(`{"number": 7, "html_url": %q, "state": %q, "merged": %v, "merge_commit_sha": "c0ffee", "head": {"ref": %q}, "base": {"ref": %q}}`, page, state, merged, p.source, p.target)
}
