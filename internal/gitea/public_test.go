package gitea_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/headgate-dev/headgate/internal/gitea"
)

// TestPublicOnly has a token with the scope public-only reach what everyone can read, and nothing private of its user: not over the API, by git, by
// images, nor by hooks.
func TestPublicOnly(t *testing.T) {
	w := start(t, gitea.Config{})
	if err := w.ours.ServeImages(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := w.root(t)
	must[*sdk.Organization](t)(c.CreateOrg(sdk.CreateOrgOption{Name: "closed", Visibility: sdk.VisibleTypePrivate}))
	must[*sdk.Repository](t)(c.CreateRepo(sdk.CreateRepoOption{Name: "open", AutoInit: true}))
	must[*sdk.Repository](t)(c.CreateRepo(sdk.CreateRepoOption{Name: "hidden", AutoInit: true, Private: true}))
	must[*sdk.Repository](t)(c.CreateOrgRepo("closed", sdk.CreateRepoOption{Name: "within", AutoInit: true}))
	token := must[*sdk.AccessToken](t)(c.CreateAccessToken(sdk.CreateAccessTokenOption{Name: "public", Scopes: []sdk.AccessTokenScope{"public-only", "all"}})).Token
	for _, request := range []struct {
		what, method, path, body string
		want                     int
	}{
		{"a public repository", "GET", "/repos/giteaAdmin/open", "", 200},
		{"a private repository", "GET", "/repos/giteaAdmin/hidden", "", 404},
		{"its files", "GET", "/repos/giteaAdmin/hidden/contents/README.md", "", 404},
		{"a repository of a private organization", "GET", "/repos/closed/within", "", 404},
		{"a change of a private repository", "PATCH", "/repos/giteaAdmin/hidden", `{"private": false}`, 404},
		{"a private organization", "GET", "/orgs/closed", "", 404},
		{"its repositories", "GET", "/orgs/closed/repos", "", 200},
		{"its members", "GET", "/orgs/closed/members", "", 404},
		{"its images", "GET", "/packages/closed", "", 404},
		{"a private repository to create", "POST", "/user/repos", `{"name": "more", "private": true}`, 403},
		{"a private organization to create", "POST", "/orgs", `{"username": "more", "visibility": "private"}`, 403},
		{"hooks of the system", "POST", "/admin/hooks", `{"type": "gitea", "config": {"url": "http://127.0.0.1:1"}}`, 403},
		{"hooks of the user", "GET", "/user/hooks", "", 403},
		{"hooks of a repository", "GET", "/repos/giteaAdmin/open/hooks", "", 200},
	} {
		got, body := asToken(t, w.url, token, request.method, request.path, request.body)
		if got != request.want || got == 200 && (strings.Contains(body, "hidden") || strings.Contains(body, "within")) {
			t.Errorf("%s: %d %s, want %d", request.what, got, body, request.want)
		}
	}
	for path, shown := range map[string]string{"/user/repos": "open", "/repos/search": "open", "/users/giteaAdmin/repos": "open", "/user/orgs": "", "/orgs": "", "/user/teams": ""} {
		status, body := asToken(t, w.url, token, http.MethodGet, path, "")
		if status != 200 || !strings.Contains(body, shown) || strings.Contains(body, "hidden") || strings.Contains(body, "within") || strings.Contains(body, "closed") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for repository, want := range map[string]bool{"giteaAdmin/open": true, "giteaAdmin/hidden": false, "closed/within": false} {
		out, err := tryGit("", "ls-remote", w.git(w.admin, token, repository))
		if (err == nil) != want {
			t.Errorf("git ls-remote %s: %v %s", repository, err, out)
		}
	}
	images(t, w, token)
}

// images pushes an image of a public owner, and has one of a private owner neither pulled, mounted, listed nor pushed.
func images(t *testing.T, w *world, token string) {
	t.Helper()
	image, err := random.Image(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	all := remote.WithAuth(&authn.Basic{Username: w.admin, Password: w.password})
	limited := remote.WithAuth(&authn.Basic{Username: w.admin, Password: token})
	host := strings.TrimPrefix(w.url, "http://")
	at := func(path string) name.Reference {
		ref, err := name.ParseReference(host+path, name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	closed, open := at("/closed/app:v1"), at("/giteaadmin/app:v1")
	if err := remote.Write(closed, image, all); err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(open, image, limited); err != nil {
		t.Errorf("an image of a public owner is not pushed: %v", err)
	}
	if _, err := remote.Image(open, limited); err != nil {
		t.Errorf("an image of a public owner is not pulled: %v", err)
	}
	if _, err := remote.Image(closed, limited); err == nil {
		t.Error("an image of a private owner is pulled")
	}
	if err := remote.Write(at("/closed/other:v1"), image, limited); err == nil {
		t.Error("an image of a private owner is pushed")
	}
	registry, err := name.NewRegistry(host, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if names, err := remote.Catalog(t.Context(), registry, limited); err != nil || strings.Join(names, " ") != "giteaadmin/app" {
		t.Errorf("the catalog has %q, %v", names, err)
	}
}

// asToken makes a request of the API with a token.
func asToken(t *testing.T, url, token, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "token "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
