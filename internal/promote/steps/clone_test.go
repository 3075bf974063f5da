package steps

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// TestInsecure accepts any certificate for a repository that says so, where that is permitted, for all that is done with it.
func TestInsecure(t *testing.T) {
	f := serve(t)
	to, err := url.Parse(f.server.Base())
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	defer front.Close()
	address := strings.Replace(f.url, f.server.Base(), front.URL, 1)
	behind := &forge{runner: &Runner{Login: f.runner.Login, Allow: func(context.Context, string) error { return nil }, HTTP: f.runner.HTTP}}
	config := func(insecure bool) string {
		return fmt.Sprintf(`{"repoURL": %q, "checkout": [{"branch": "main", "path": "repo"}], "insecureSkipTLSVerify": %v}`, address, insecure)
	}
	if result := behind.try(t, f.work(t, "p"), "git-clone", config(false)); result.Status == plan.StepSucceeded || !strings.Contains(result.Message, "certificate") {
		t.Errorf("an unknown certificate is %s: %s", result.Status, result.Message)
	}
	if result := behind.try(t, f.work(t, "p"), "git-clone", config(true)); result.Status != plan.StepFailed || !strings.Contains(result.Message, "always verified here") {
		t.Errorf("any certificate, which is not permitted, is %s: %s", result.Status, result.Message)
	}
	behind.runner.Insecure = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // that is what is tested
	w := behind.run(t, f.work(t, "p"), "git-clone", config(true))
	put(t, w, "repo/new", "1")
	w = behind.run(t, w, "git-commit", `{"path": "repo", "message": "new"}`)
	behind.run(t, w, "git-push", `{"path": "repo"}`)
}

// refusing is a transport that connects nowhere.
type refusing struct{}

// RoundTrip implements http.RoundTripper.
func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("this connection is not permitted")
}

// TestOneClient has git steps reach servers by the client of the runner alone.
func TestOneClient(t *testing.T) {
	f := serve(t)
	w := f.run(t, f.work(t, "p"), "git-clone", clone(f.url, "main", false))
	f.runner.HTTP = &http.Client{Transport: refusing{}}
	for uses, config := range map[string]string{
		"git-clone":   clone(f.url, "main", false),
		"git-push":    `{"path": "repo"}`,
		"git-open-pr": fmt.Sprintf(`{"repoURL": %q, "provider": "gitea", "sourceBranch": "a", "targetBranch": "main"}`, f.url),
	} {
		if result := f.try(t, w, uses, config); result.Status != plan.StepErrored || result.Terminal || !strings.Contains(result.Message, "not permitted") {
			t.Errorf("%s is %s: %s", uses, result.Status, result.Message)
		}
	}
}

// TestCheckouts checks several commits of a repository out, and names them.
func TestCheckouts(t *testing.T) {
	f := serve(t)
	url := f.plant(t, "programs", map[string]planted{"run.sh": {filemode.Executable, "#!/bin/sh\n"}, "link": {filemode.Symlink, "run.sh"}})
	w := f.run(t, f.work(t, "p"), "git-clone", clone(url, "main", false))
	head := w.State.Checkouts["repo"].Head
	result := f.try(t, w, "git-clone", fmt.Sprintf(`{"repoURL": %q, "checkout": [{"path": "a"}, {"path": "b", "as": "other", "commit": %q}]}`, url, head))
	if commits, is := result.Output["commits"].(map[string]any); !is || commits["a"] != head || commits["other"] != head || result.State.Checkouts["a"].Branch != "main" {
		t.Fatalf("the step is %s: %s: %v %+v", result.Status, result.Message, result.Output, result.State)
	}
	w = stored(t, w, result)
	w = f.run(t, w, "copy", `{"inPath": "a/run.sh", "outPath": "a/bin/run.sh"}`)
	w = f.run(t, w, "git-commit", `{"path": "a", "message": "bin"}`)
	w = f.run(t, w, "git-push", `{"path": "a"}`)
	w = f.run(t, w, "git-clone", fmt.Sprintf(`{"repoURL": %q, "checkout": [{"path": "c"}]}`, url))
	w = f.run(t, w, "copy", `{"inPath": "c/bin/run.sh", "outPath": "d"}`)
	if again := f.try(t, w, "git-commit", `{"path": "c", "message": "nothing"}`); again.Status != plan.StepSkipped {
		t.Errorf("files of all modes that nothing changed: %s: %s", again.Status, again.Message)
	}
	if get(t, w, "d") != "#!/bin/sh\n" {
		t.Error("the program was not copied")
	}
}
