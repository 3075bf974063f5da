package gitea

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// step is one request of the administrator, with what the answer has to be.
type step struct {
	// pattern is the endpoint; path is what is requested, without the method.
	pattern, path, body string
	status              int
	// has is a part of the answer.
	has string
	// keep names the id of the answer, for later paths.
	keep string
}

// steps are requests for each endpoint, in an order in which they work.
func steps(receiver string) []step {
	const repo, made = "/repos/{owner}/{repo}", "/repos/giteaAdmin/made"
	all := []step{
		{"POST /admin/users", "/admin/users", `{"username":"cat","email":"cat@example.com","password":"cat-has-One-password"}`, 201, `"login":"cat"`, ""},
		{"GET /admin/users", "/admin/users", "", 200, `"login":"cat"`, ""},
		{"PATCH /admin/users/{user}", "/admin/users/cat", `{"full_name":"The Cat"}`, 200, `"full_name":"The Cat"`, ""},
		{"GET /users/search", "/users/search?q=the+cat", "", 200, `"login":"cat"`, ""},
		{"GET /users/{user}", "/users/cat", "", 200, `"login":"cat"`, ""},
		{"GET /user", "/user", "", 200, `"is_admin":true`, ""},
		{"POST /admin/users/{user}/repos", "/admin/users/cat/repos", `{"name":"cats"}`, 201, `"full_name":"cat/cats"`, ""},
		{"GET /users/{user}/repos", "/users/cat/repos", "", 200, `"full_name":"cat/cats"`, ""},
		{"DELETE " + repo, "/repos/cat/cats", "", 204, "", ""},

		{"POST /users/{user}/tokens", "/users/giteaAdmin/tokens", `{"name":"t","scopes":["all"]}`, 201, `"sha1":"`, ""},
		{"GET /users/{user}/tokens", "/users/giteaAdmin/tokens", "", 200, `"name":"t"`, ""},
		{"DELETE /users/{user}/tokens/{token}", "/users/giteaAdmin/tokens/t", "", 204, "", ""},

		{"POST /orgs", "/orgs", `{"username":"crew"}`, 201, `"name":"crew"`, ""},
		{"GET /orgs", "/orgs", "", 200, `"name":"crew"`, ""},
		{"GET /user/orgs", "/user/orgs", "", 200, `"name":"crew"`, ""},
		{"GET /users/{user}/orgs", "/users/giteaAdmin/orgs", "", 200, `"name":"crew"`, ""},
		{"GET /orgs/{org}", "/orgs/crew", "", 200, `"name":"crew"`, "team"},
		{"POST /orgs/{org}/repos", "/orgs/crew/repos", `{"name":"ours"}`, 201, `"full_name":"crew/ours"`, ""},
		{"GET /orgs/{org}/repos", "/orgs/crew/repos", "", 200, `"full_name":"crew/ours"`, ""},
		{"GET /orgs/{org}/teams", "/orgs/crew/teams", "", 200, `"name":"Owners"`, ""},
		{"GET /user/teams", "/user/teams", "", 200, `"name":"Owners"`, ""},
		{"GET /teams/{team}", "/teams/{team}", "", 200, `"name":"Owners"`, ""},
		{"PUT /teams/{team}/members/{user}", "/teams/{team}/members/cat", "", 204, "", ""},
		{"GET /teams/{team}/members", "/teams/{team}/members", "", 200, `"login":"cat"`, ""},
		{"GET /teams/{team}/members/{user}", "/teams/{team}/members/cat", "", 200, `"login":"cat"`, ""},
		{"DELETE /teams/{team}/members/{user}", "/teams/{team}/members/cat", "", 204, "", ""},
		{"GET /orgs/{org}/members", "/orgs/crew/members", "", 200, `"login":"giteaAdmin"`, ""},
		{"GET /orgs/{org}/members/{user}", "/orgs/crew/members/giteaAdmin", "", 204, "", ""},
		{"DELETE /orgs/{org}/members/{user}", "/orgs/crew/members/giteaAdmin", "", 422, "last owner", ""},

		{"POST /user/repos", "/user/repos", `{"name":"made","auto_init":true}`, 201, `"default_branch":"main"`, ""},
		{"GET /user/repos", "/user/repos", "", 200, `"full_name":"giteaAdmin/made"`, ""},
		{"GET /repos/search", "/repos/search?q=made", "", 200, `"ok":true`, ""},
		{"GET " + repo, made, "", 200, `"full_name":"giteaAdmin/made"`, ""},
		{"PATCH " + repo, made, `{"description":"of a test"}`, 200, `"description":"of a test"`, ""},
		{"POST " + repo + "/branches", made + "/branches", `{"new_branch_name":"next"}`, 201, `"name":"next"`, ""},
		{"GET " + repo + "/branches", made + "/branches", "", 200, `"name":"next"`, ""},
		{"GET " + repo + "/branches/{branch...}", made + "/branches/next", "", 200, `"name":"next"`, ""},
		{"POST " + repo + "/contents/{path...}", made + "/contents/a", `{"branch":"next","content":"eAo="}`, 201, `"path":"a"`, ""},
		{"PUT " + repo + "/contents/{path...}", made + "/contents/a", `{"branch":"next","content":"eQo=","sha":"587be6b4c3f93f93c489c0111bba5596147a26cb"}`, 200, `"path":"a"`, ""},
		{"GET " + repo + "/contents", made + "/contents?ref=next", "", 200, `"path":"a"`, ""},
		{"GET " + repo + "/contents/{path...}", made + "/contents/a?ref=next", "", 200, `"content":"eQo="`, ""},
		{"GET " + repo + "/raw/{path...}", made + "/raw/a?ref=next", "", 200, "y\n", ""},
		{"GET " + repo + "/commits", made + "/commits?sha=next", "", 200, "Update a", ""},
		{"GET " + repo + "/git/commits/{ref...}", made + "/git/commits/next", "", 200, "Update a", ""},
		{"POST " + repo + "/pulls", made + "/pulls", `{"head":"next","base":"main","title":"one"}`, 201, `"title":"one"`, ""},
		{"GET " + repo + "/pulls", made + "/pulls", "", 200, `"title":"one"`, ""},
		{"GET " + repo + "/pulls/{index}", made + "/pulls/1", "", 200, `"mergeable":true`, ""},
		{"PATCH " + repo + "/pulls/{index}", made + "/pulls/1", `{"title":"two"}`, 201, `"title":"two"`, ""},
		{"GET " + repo + "/pulls/{index}/merge", made + "/pulls/1/merge", "", 404, "", ""},
		{"POST " + repo + "/pulls/{index}/merge", made + "/pulls/1/merge", `{"Do":"merge"}`, 200, "", ""},
		{"GET " + repo + "/pulls/{index}/merge", made + "/pulls/1/merge", "", 204, "", ""},
		{"DELETE " + repo + "/contents/{path...}", made + "/contents/a", `{"branch":"next","sha":"975fbec8256d3e8a3797e7a3611380f27c49f4ac"}`, 200, `"content":null`, ""},
		{"DELETE " + repo + "/branches/{branch...}", made + "/branches/next", "", 204, "", ""},
	}
	for _, of := range [][2]string{{"/admin/hooks", "/admin/hooks"}, {"/user/hooks", "/user/hooks"}, {"/orgs/{org}/hooks", "/orgs/crew/hooks"}, {repo + "/hooks", made + "/hooks"}} {
		all = append(all,
			step{"POST " + of[0], of[1], `{"type":"gitea","active":true,"config":{"url":"` + receiver + `","content_type":"json"}}`, 201, receiver, "hook"},
			step{"GET " + of[0], of[1], "", 200, receiver, ""},
			step{"GET " + of[0] + "/{id}", of[1] + "/{hook}", "", 200, receiver, ""},
			step{"PATCH " + of[0] + "/{id}", of[1] + "/{hook}", `{"events":["push","create"]}`, 200, `"create"`, ""},
			step{"POST " + of[0] + "/{id}/tests", of[1] + "/{hook}/tests", "", 204, "", ""},
			step{"DELETE " + of[0] + "/{id}", of[1] + "/{hook}", "", 204, "", ""},
		)
	}
	return append(all,
		step{"DELETE " + repo, "/repos/crew/ours", "", 204, "", ""},
		step{"DELETE /orgs/{org}", "/orgs/crew", "", 204, "", ""},
		step{"DELETE /admin/users/{user}", "/admin/users/cat", "", 204, "", ""},
	)
}

// TestEndpoints requests each endpoint, as the administrator and, where it takes credentials, as anyone.
func TestEndpoints(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	s, err := New(t.Context(), Config{Dir: t.TempDir(), Client: receiver.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EnsureAdmin("giteaAdmin", "admin@example.com", "s3cr3t-pass"); err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	defer listening.Close()

	for path, want := range map[string]string{"/": "/api/v1/version", "/api/healthz": "", "/api/v1/version": `"version":"` + Version + `"`} {
		answer, err := http.Get(listening.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("GET %s answers anyone with %d %s, %v", path, answer.StatusCode, text, err)
		}
	}
	var requested, patterns []string
	kept := map[string]string{}
	for _, one := range steps(receiver.URL) {
		method, _, _ := strings.Cut(one.pattern, " ")
		path := one.path
		for name, id := range kept {
			path = strings.ReplaceAll(path, "{"+name+"}", id)
		}
		status, text := ask(t, listening.URL, method, path, one.body)
		if status != one.status || !strings.Contains(text, one.has) {
			t.Errorf("%s %s answers %d %s, want %d with %s", method, path, status, text, one.status, one.has)
		}
		if one.keep != "" {
			var answer struct{ ID int64 }
			if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.ID == 0 {
				t.Fatalf("%s %s answers without an ID: %s", method, path, text)
			}
			kept[one.keep] = strconv.FormatInt(answer.ID, 10)
		}
		requested = append(requested, one.pattern)
	}
	for _, one := range s.endpoints() {
		patterns = append(patterns, one.pattern)
		method, path, _ := strings.Cut(one.pattern, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, listening.URL+"/api/v1"+names.ReplaceAllString(path, "1"), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if one.access != anyone && answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s answers anyone with %d", one.pattern, answer.StatusCode)
		}
	}
	slices.Sort(requested)
	slices.Sort(patterns)
	if diff := cmp.Diff(patterns, slices.Compact(requested)); diff != "" {
		t.Errorf("endpoints that this test requests (-there are +requested):\n%s", diff)
	}
}

// names are the parts of a pattern that stand for others.
var names = regexp.MustCompile(`\{[^}]*\}`)

// TestGuideListsEndpoints compares the table of the guide with the endpoints.
func TestGuideListsEndpoints(t *testing.T) {
	content, err := os.ReadFile("../../docs/guide/gitea.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `/") {
			continue
		}
		for path := range strings.SplitSeq(cells[1], ",") {
			for method := range strings.SplitSeq(cells[2], ",") {
				listed = append(listed, strings.TrimSpace(method)+" "+names.ReplaceAllString(strings.Trim(path, " `"), "{}"))
			}
		}
	}
	there := []string{
		"GET /version", "GET /packages/{}", "GET /packages/{}/container/{}", "GET /packages/{}/container/{}/-/latest", "GET /packages/{}/container/{}/{}",
		"DELETE /packages/{}/container/{}/{}",
	}
	for _, one := range (&Server{}).endpoints() {
		there = append(there, names.ReplaceAllString(one.pattern, "{}"))
	}
	slices.Sort(listed)
	slices.Sort(there)
	if diff := cmp.Diff(there, listed); diff != "" {
		t.Errorf("endpoints of the guide (-there are +listed):\n%s", diff)
	}
}
