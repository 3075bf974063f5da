package gitserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// owners opens team/app for those with a password.
type owners struct {
	dir    string
	max    int64
	pushed []string
}

func (o *owners) Open(r *http.Request, owner, name string, push bool) (gitserver.Grant, error) {
	user, password, _ := r.BasicAuth()
	switch {
	case !strings.EqualFold(owner, "team") || name != "app":
		return gitserver.Grant{}, &gitserver.Refusal{Status: http.StatusNotFound, Reason: "no such repository"}
	case push && password != "right":
		return gitserver.Grant{}, &gitserver.Refusal{Status: http.StatusUnauthorized, Reason: "credentials required"}
	case push && user == "reader":
		return gitserver.Grant{}, &gitserver.Refusal{Status: http.StatusForbidden, Reason: "this repository mirrors a directory; change the files there"}
	}
	return gitserver.Grant{User: user, Owner: "team", Name: "app", Dir: o.dir, MaxInput: o.max}, nil
}

func (o *owners) Pushed(_ context.Context, to gitserver.Grant) {
	o.pushed = append(o.pushed, to.User+" "+to.Owner+"/"+to.Name)
}

func TestOwnedRepositories(t *testing.T) {
	access := &owners{dir: filepath.Join(t.TempDir(), "7.git")}
	if err := gitserver.Init(t.Context(), access.dir, "main"); err != nil {
		t.Fatal(err)
	}
	handler, err := gitserver.NewOwned(t.Context(), access)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	url := server.URL + "/Team/app.git"
	work := workingCopy(t)

	git(t, work, "push", "-q", as(url, "writer", "right"), "main")
	git(t, "", "clone", "-q", server.URL+"/team/app", filepath.Join(t.TempDir(), "clone"))
	if diff := cmp.Diff([]string{"writer team/app"}, access.pushed); diff != "" {
		t.Errorf("pushes (-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct{ url, says string }{
		"Refused":     {as(url, "reader", "right"), "remote: this repository mirrors a directory; change the files there"},
		"Credentials": {as(url, "writer", "wrong"), "Authentication failed"},
		"Missing":     {as(server.URL+"/team/none.git", "writer", "right"), "not found"},
	} {
		if out, err := tryGit(work, "push", "-q", c.url, "main:other"); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v: git printed %q, want %q in it", name, err, out, c.says)
		}
	}
	access.max = 1 << 10
	commit(t, work, "big", map[string]string{"big.bin": strings.Repeat("0123456789abcdef-", 9) + random(t, 64<<10)})
	if out, err := tryGit(work, "push", "-q", as(url, "writer", "right"), "main"); err == nil || !strings.Contains(out, "maximum allowed size") {
		t.Errorf("a push above the bound: %v: git printed %q", err, out)
	}
	if out, err := tryGit(work, "push", "-q", as(url, "writer", "right"), ":main"); err == nil {
		t.Errorf("the default branch was deleted: %s", out)
	}
}
