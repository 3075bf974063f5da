package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

const token = "s3cret-token"

type forge struct {
	runner *Runner
	url    string
	server *gitserver.Server
	dir    string
}

// serve starts a Git server with a repository that has a file.
func serve(t *testing.T) *forge {
	t.Helper()
	f := &forge{dir: t.TempDir()}
	server, err := gitserver.Start(t.Context(), gitserver.Config{Dir: f.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.WithoutCancel(t.Context())) })
	server.AddUser("kargo", token, true)
	if err := server.CreateRepo(t.Context(), "deploy"); err != nil {
		t.Fatal(err)
	}
	f.server, f.url = server, server.URL("deploy")
	f.runner = &Runner{
		Login: func(context.Context, string) (Login, error) { return Login{Username: "kargo", Password: token}, nil },
		HTTP:  &http.Client{Transport: &http.Transport{}},
	}
	f.allow(server.Base())
	w := f.work(t, "seed")
	w = f.run(t, w, "git-clone", clone(f.url, "main", true))
	put(t, w, "repo/images.json", `{"dev": {"web": "old"}, "x.y": 1}`+"\n")
	w = f.run(t, w, "git-commit", `{"path": "./repo", "message": "seed"}`)
	f.run(t, w, "git-push", `{"path": "./repo", "targetBranch": "main"}`)
	return f
}

func clone(url, branch string, create bool) string {
	return fmt.Sprintf(`{"repoURL": %q, "checkout": [{"branch": %q, "path": "./repo", "create": %v}]}`, url, branch, create)
}

func (f *forge) work(t *testing.T, name string) Work {
	return Work{Dir: t.TempDir(), Promotion: name, Stage: "shop:dev"}
}

func put(t *testing.T, w Work, name, content string) {
	t.Helper()
	file := filepath.Join(w.Dir, files, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, w Work, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Dir, files, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (f *forge) try(t *testing.T, w Work, uses, config string) Result {
	t.Helper()
	var read map[string]any
	if err := json.Unmarshal([]byte(config), &read); err != nil {
		t.Fatal(err)
	}
	result := f.runner.Run(t.Context(), w, uses, read)
	if text := fmt.Sprint(result); strings.Contains(text, token) {
		t.Errorf("the result of %s has the password: %s", uses, text)
	}
	return result
}

// run expects success, and continues as another process does: with the state as it is stored.
func (f *forge) run(t *testing.T, w Work, uses, config string) Work {
	t.Helper()
	result := f.try(t, w, uses, config)
	if result.Status != plan.StepSucceeded {
		t.Fatalf("%s is %s: %s", uses, result.Status, result.Message)
	}
	return stored(t, w, result)
}

func stored(t *testing.T, w Work, result Result) Work {
	t.Helper()
	data, err := json.Marshal(result.State)
	if err != nil {
		t.Fatal(err)
	}
	w.State = State{}
	if err := json.Unmarshal(data, &w.State); err != nil {
		t.Fatal(err)
	}
	return w
}

const update1 = `{"path": "./repo/images.json", "updates": [{"key": "dev.web", "value": "new"}, {"key": "x\\.y", "value": 2}]}`

func TestPromote(t *testing.T) {
	f := serve(t)
	w := f.run(t, f.work(t, "p1"), "git-clone", clone(f.url, "main", false))
	w = f.run(t, w, "json-update", update1)
	if got := get(t, w, "repo/images.json"); got != `{"dev": {"web": "new"}, "x.y": 2}`+"\n" {
		t.Errorf("the file is %s", got)
	}
	commit := f.try(t, w, "git-commit", `{"path": "./repo", "message": "promote", "author": {"name": "Ada", "email": "ada@example.org"}}`)
	if commit.Status != plan.StepSucceeded || len(fmt.Sprint(commit.Output["commit"])) != 40 {
		t.Fatalf("the commit is %+v", commit)
	}
	// The process ended before it recorded the commit.
	again := f.try(t, w, "git-commit", `{"path": "./repo", "message": "promote"}`)
	if diff := cmp.Diff(commit.Output, again.Output); diff != "" || again.Status != plan.StepSucceeded {
		t.Errorf("the commit is made twice, or lost: %s %s", again.Status, diff)
	}
	w = stored(t, w, again)
	push := f.try(t, w, "git-push", `{"path": "./repo"}`)
	if push.Status != plan.StepSucceeded || push.Output["branch"] != "main" || push.Output["commit"] != commit.Output["commit"] {
		t.Fatalf("the push is %+v", push)
	}
	if once := f.try(t, w, "git-push", `{"path": "./repo"}`); once.Status != plan.StepSucceeded || once.Output["commit"] != push.Output["commit"] {
		t.Errorf("pushing again is %+v", once)
	}
	// The same path is cloned again, and nothing changes.
	w = f.run(t, stored(t, w, push), "git-clone", clone(f.url, "main", false))
	w = f.run(t, w, "json-update", update1)
	if skipped := f.try(t, w, "git-commit", `{"path": "./repo", "message": "promote"}`); skipped.Status != plan.StepSkipped {
		t.Errorf("a commit without a change is %s", skipped.Status)
	}
	generated := f.try(t, w, "git-push", `{"path": "./repo", "generateTargetBranch": true}`)
	if generated.Output["branch"] != "kargo/promotion/p1" {
		t.Errorf("the generated branch is %v", generated.Output)
	}
	for _, dir := range []string{w.Dir} {
		if err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			if strings.Contains(string(data), token) {
				t.Errorf("%s has the password", name)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPushRaces(t *testing.T) {
	f := serve(t)
	ours := f.run(t, f.work(t, "ours"), "git-clone", clone(f.url, "main", false))
	theirs := f.run(t, f.work(t, "theirs"), "git-clone", clone(f.url, "main", false))
	conflict := f.run(t, f.work(t, "conflict"), "git-clone", clone(f.url, "main", false))
	put(t, theirs, "repo/other", "theirs")
	theirs = f.run(t, theirs, "git-commit", `{"path": "repo", "message": "theirs"}`)
	f.run(t, theirs, "git-push", `{"path": "repo"}`)
	ours = f.run(t, ours, "json-update", update1)
	ours = f.run(t, ours, "git-commit", `{"path": "repo", "message": "ours"}`)
	before := ours.State.Checkouts["repo"].Head
	ours = f.run(t, ours, "git-push", `{"path": "repo"}`)
	if get(t, ours, "repo/other") != "theirs" || ours.State.Checkouts["repo"].Head == before {
		t.Error("our commit is not on top of theirs")
	}
	conflict = f.run(t, conflict, "json-update", strings.Replace(update1, "new", "other", 1))
	conflict = f.run(t, conflict, "git-commit", `{"path": "repo", "message": "conflict"}`)
	result := f.try(t, conflict, "git-push", `{"path": "repo"}`)
	if result.Status != plan.StepFailed || !strings.Contains(result.Message, "conflict") {
		t.Errorf("a conflict is %s: %s", result.Status, result.Message)
	}
	after := f.run(t, f.work(t, "after"), "git-clone", clone(f.url, "main", false))
	if got := get(t, after, "repo/images.json"); !strings.Contains(got, `"new"`) || get(t, after, "repo/other") != "theirs" {
		t.Errorf("something was lost: %s", got)
	}
}

func TestRefused(t *testing.T) {
	f := serve(t)
	w := f.run(t, f.work(t, "p"), "git-clone", clone(f.url, "main", false))
	put(t, w, "values.yaml", "a: 1\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(w.Dir, files, "link")); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ uses, config, want string }{
		"Escape":        {"copy", `{"inPath": "repo", "outPath": "../x"}`, "leaves"},
		"Absolute":      {"delete", `{"path": "/../x"}`, "leaves"},
		"Everything":    {"delete", `{"path": "."}`, "directory of the Promotion"},
		"GitOfRepo":     {"copy", `{"inPath": "values.yaml", "outPath": "repo/.GIT/config"}`, "Git's own"},
		"ShortGit":      {"copy", `{"inPath": "values.yaml", "outPath": "repo/git~1/config"}`, "Git's own"},
		"Link":          {"yaml-parse", `{"path": "link", "outputs": [{"name": "a", "fromExpression": "a"}]}`, "link"},
		"MissingStrict": {"delete", `{"path": "none", "strict": true}`, "none"},
		"UnknownField":  {"copy", `{"inPath": "a", "to": "b"}`, `"to"`},
		"UnknownStep":   {"shell", `{}`, "not supported"},
		"Address":       {"git-clone", clone("http://169.254.169.254/r.git", "main", false), "not allowed"},
		"FileURL":       {"git-clone", clone("file:///etc", "main", false), "http or https"},
		"Login":         {"git-clone", clone("https://a:b@example.org/r", "main", false), "without a login"},
		"Branch":        {"git-clone", clone(f.url, "none", false), "has no"},
		"BranchName":    {"git-clone", clone(f.url, "a:b", false), "not the name"},
		"TwoRefs":       {"git-clone", fmt.Sprintf(`{"repoURL": %q, "checkout": [{"branch": "main", "tag": "v", "path": "x"}]}`, f.url), "only one"},
		"Within":        {"git-clone", fmt.Sprintf(`{"repoURL": %q, "checkout": [{"branch": "main", "path": "repo/sub"}]}`, f.url), "within"},
		"NoCheckout":    {"git-commit", `{"path": "elsewhere", "message": "m"}`, "no checkout"},
		"Force":         {"git-push", `{"path": "repo", "force": true}`, "not supported"},
		"PushName":      {"git-push", `{"path": "repo", "targetBranch": "a..b"}`, "not the name"},
		"BothBranches":  {"git-push", `{"path": "repo", "targetBranch": "a", "generateTargetBranch": true}`, "exclude"},
		"Author":        {"git-commit", `{"path": "repo", "message": "m", "author": {"name": "a\nb"}}`, "characters"},
		"NoKey":         {"yaml-update", `{"path": "values.yaml", "updates": [{"key": "b", "value": 1}]}`, `no "b"`},
		"ListValue":     {"json-update", `{"path": "values.yaml", "updates": [{"key": "b", "value": [1]}]}`, "updates[0].value"},
		"NoApps":        {"argocd-update", `{"apps": []}`, "none"},
		"TwoNames":      {"argocd-update", `{"apps": [{}]}`, "exactly one"},
	} {
		t.Run(name, func(t *testing.T) {
			result := f.try(t, w, tc.uses, tc.config)
			if result.Status != plan.StepFailed && result.Status != plan.StepErrored || !strings.Contains(result.Message, tc.want) {
				t.Errorf("it is %s: %q, want %q", result.Status, result.Message, tc.want)
			}
		})
	}
	lost := w
	lost.Dir = t.TempDir()
	if result := f.try(t, lost, "git-push", `{"path": "repo"}`); result.Status != plan.StepFailed || !strings.Contains(result.Message, "gone") {
		t.Errorf("a lost directory is %s: %s", result.Status, result.Message)
	}
}

func TestFiles(t *testing.T) {
	f := &forge{runner: &Runner{}}
	w := f.work(t, "p")
	put(t, w, "a/one.yaml", "# images\nweb:\n  image: old # here\n  tags: ['1', \"2\"]\nx.y: true\n")
	put(t, w, "a/b/two", "2")
	w = f.run(t, w, "copy", `{"inPath": "./a", "outPath": "./out"}`)
	w = f.run(t, w, "copy", `{"inPath": "./a/b/two", "outPath": "./three"}`)
	w = f.run(t, w, "yaml-update", `{"path": "out/one.yaml", "updates": [{"key": "web.image", "value": "example.org/web:1.0"}, {"key": "web.tags.1", "value": "yes"}, {"key": "x\\.y", "value": false}]}`)
	want := "# images\nweb:\n  image: example.org/web:1.0 # here\n  tags: ['1', \"yes\"]\nx.y: false\n"
	if got := get(t, w, "out/one.yaml"); got != want {
		t.Errorf("the file (-want +got):\n%s", cmp.Diff(want, got))
	}
	parsed := f.try(t, w, "yaml-parse", `{"path": "out/one.yaml", "outputs": [{"name": "image", "fromExpression": "web.image"}, {"name": "tag", "fromExpression": "web.tags[0]"}]}`)
	if diff := cmp.Diff(map[string]any{"image": "example.org/web:1.0", "tag": "1"}, parsed.Output); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	w = f.run(t, w, "delete", `{"path": "out"}`)
	w = f.run(t, w, "delete", `{"path": "out"}`)
	if get(t, w, "three") != "2" {
		t.Error("a file was not copied")
	}
	sync := f.try(t, w, "argocd-update", `{"apps": [{"name": "web", "sources": [{"repoURL": "r", "desiredRevision": "c"}]}]}`)
	if sync.Sync == nil || sync.Sync.Stage != "shop:dev" || sync.Sync.Apps[0].Namespace != "argocd" {
		t.Errorf("the intent is %+v", sync.Sync)
	}
}

func FuzzYAML(f *testing.F) {
	for _, seed := range [][2]string{{"a: b # c", "x"}, {"a: 'it''s'", "1"}, {"a: \"\\\"\"", "# no"}, {"a: >\n  x", "y"}, {"- 1", "true"}, {"é: 1\na: 2", "é"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, content, value string) {
		changed, err := setScalar([]byte(content), "a", value)
		if err != nil {
			return
		}
		if _, err := setScalar(changed, "a", value); err != nil {
			t.Errorf("%q with %q became %q, which cannot be changed again: %v", content, value, changed, err)
		}
	})
}

// TestPushRejected has another push arrive between our fetch and our push, which the server then rejects.
func TestPushRejected(t *testing.T) {
	f := serve(t)
	theirs := f.run(t, f.work(t, "theirs"), "git-clone", clone(f.url, "main", false))
	put(t, theirs, "repo/other", "theirs")
	theirs = f.run(t, theirs, "git-commit", `{"path": "repo", "message": "theirs"}`)
	to, err := url.Parse(f.server.Base())
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	pushed := 0
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			pushed++
			once.Do(func() {
				if result := f.runner.Run(t.Context(), theirs, "git-push", map[string]any{"path": "repo"}); result.Status != plan.StepSucceeded {
					t.Errorf("their push is %s: %s", result.Status, result.Message)
				}
			})
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	behind := &forge{runner: &Runner{Login: f.runner.Login, Allow: func(context.Context, string) error { return nil }, HTTP: f.runner.HTTP}}
	ours := behind.run(t, f.work(t, "ours"), "git-clone", clone(strings.Replace(f.url, f.server.Base(), front.URL, 1), "main", false))
	ours = behind.run(t, ours, "json-update", update1)
	ours = behind.run(t, ours, "git-commit", `{"path": "repo", "message": "ours"}`)
	behind.run(t, ours, "git-push", `{"path": "repo"}`)
	if pushed < 2 {
		t.Errorf("our push was not rejected: %d requests", pushed)
	}
	after := f.run(t, f.work(t, "after"), "git-clone", clone(f.url, "main", false))
	if !strings.Contains(get(t, after, "repo/images.json"), `"new"`) || get(t, after, "repo/other") != "theirs" {
		t.Error("a commit was lost")
	}
}
