package gitserver_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

func TestCloneFetchPush(t *testing.T) {
	s := start(t)
	if err := s.CreateRepo(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	var pushes []string
	s.OnPush(func(repo string) { pushes = append(pushes, repo) })
	url := as(s.URL("app"), writer, writerToken)

	work := workingCopy(t)
	git(t, work, "remote", "add", "origin", url)
	git(t, work, "push", "-q", "-u", "origin", "main")
	if diff := cmp.Diff([]string{"app"}, pushes); diff != "" {
		t.Fatalf("pushes after the first one (-want +got):\n%s", diff)
	}
	git(t, work, "push", "-q", "origin", "main")
	if len(pushes) != 1 {
		t.Errorf("a push of nothing was reported: %v", pushes)
	}

	full := filepath.Join(t.TempDir(), "full")
	git(t, "", "clone", "-q", url, full)
	second := commit(t, work, "second", map[string]string{"a.yaml": "a: 2\n"})
	git(t, work, "push", "-q", "origin", "main")
	git(t, full, "fetch", "-q")
	if got := git(t, full, "rev-parse", "origin/main"); got != second {
		t.Errorf("fetched %s, want %s", got, second)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, "", "clone", "-q", "--depth=1", url, shallow)
	if got := git(t, shallow, "rev-list", "--count", "HEAD"); got != "1" {
		t.Errorf("a shallow clone has %s commits, want 1", got)
	}

	// More than git sends with a known length.
	big := make([]byte, 3<<20)
	if _, err := rand.Read(big); err != nil {
		t.Fatal(err)
	}
	third := commit(t, work, "third", map[string]string{"big.bin": string(big)})
	git(t, work, "push", "-q", "origin", "main")
	git(t, shallow, "fetch", "-q", "--depth=1")
	if got := git(t, shallow, "rev-parse", "origin/main"); got != third {
		t.Errorf("after a large push fetched %s, want %s", got, third)
	}
	if len(pushes) != 3 {
		t.Errorf("%d pushes were reported, want 3", len(pushes))
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	cases := map[string]struct {
		reason      string
		user, token string
		clone, push bool
	}{
		"writer":       {reason: "a token that may write does both", user: writer, token: writerToken, clone: true, push: true},
		"reader":       {reason: "a token that may read clones only", user: reader, token: readerToken, clone: true},
		"wrong token":  {reason: "a wrong token does nothing", user: writer, token: "wrong"},
		"other's name": {reason: "a token belongs to one name", user: reader, token: writerToken},
		"unknown":      {reason: "nobody else is known", user: "mallory", token: "x"},
		"no token":     {reason: "a name is not enough", user: writer},
	}
	s := start(t)
	s.AddUser("nobody", "", true)
	if err := s.CreateRepo(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	work := workingCopy(t)
	git(t, work, "push", "-q", as(s.URL("app"), writer, writerToken), "main")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			url := as(s.URL("app"), c.user, c.token)
			_, err := tryGit("", "clone", "-q", url, filepath.Join(t.TempDir(), "clone"))
			if (err == nil) != c.clone {
				t.Errorf("%s: clone: %v", c.reason, err)
			}
			_, err = tryGit(work, "push", "-q", url, "main:of-"+strings.ReplaceAll(c.user, " ", "-"))
			if (err == nil) != c.push {
				t.Errorf("%s: push: %v", c.reason, err)
			}
		})
	}
}

// TestNames has the server answer under the names of the loopback interface alone, also with a token and for what is mounted beside the repositories.
func TestNames(t *testing.T) {
	s, err := gitserver.Start(t.Context(), gitserver.Config{
		Dir: t.TempDir(), Mount: map[string]http.Handler{"/": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.WithoutCancel(t.Context())) })
	s.AddUser(writer, writerToken, true)
	if err := s.CreateRepo(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{"": http.StatusOK, "localhost": http.StatusOK, "evil.example": http.StatusMisdirectedRequest} {
		for _, url := range []string{s.Base() + "/", s.URL("app") + "/info/refs?service=git-upload-pack"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			request.SetBasicAuth(writer, writerToken)
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s as %q: %s, want %d", url, host, answer.Status, want)
			}
		}
	}
}

func TestRequests(t *testing.T) {
	s := start(t)
	if err := s.CreateRepo(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(t.TempDir()), "outside.git")
	git(t, "", "init", "-q", "--bare", outside)
	const refs = "/info/refs?service=git-upload-pack"
	cases := map[string]struct {
		reason, method, path, auth string
		want                       int
	}{
		"basic":       {"a user with a token", "GET", "/git/app.git" + refs, "basic", 200},
		"bearer":      {"a token alone", "GET", "/git/app.git" + refs, "Bearer " + readerToken, 200},
		"scheme case": {"schemes have no case", "GET", "/git/app.git" + refs, "bearer " + readerToken, 200},
		"nobody":      {"nobody is let in", "GET", "/git/app.git" + refs, "", 401},
		"empty":       {"an empty token is none", "GET", "/git/app.git" + refs, "Bearer ", 401},
		"unknown":     {"who is not known does not learn what there is", "GET", "/git/none.git" + refs, "", 401},
		"missing":     {"who is known does", "GET", "/git/none.git" + refs, "basic", 404},
		"dumb refs":   {"the dumb protocol is not served", "GET", "/git/app.git/info/refs", "basic", 404},
		"dumb file":   {"nor are its files", "GET", "/git/app.git/HEAD", "basic", 404},
		"config":      {"nor is anything else in a repository", "GET", "/git/app.git/config", "basic", 404},
		"alternates":  {"nor where its objects are", "GET", "/git/app.git/objects/info/alternates", "basic", 404},
		"up":          {"paths do not lead out", "GET", "/git/%2e%2e%2f" + filepath.Base(outside) + refs, "basic", 404},
		"up in name":  {"names do not either", "GET", "/git/..%2Fapp.git" + refs, "basic", 404},
		"push ask":    {"who may not push is told", "GET", "/git/app.git/info/refs?service=git-receive-pack", "basic", 403},
		"push":        {"and cannot", "POST", "/git/app.git/git-receive-pack", "basic", 403},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, s.Base()+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			switch c.auth {
			case "":
			case "basic":
				r.SetBasicAuth(reader, readerToken)
			default:
				r.Header.Set("Authorization", c.auth)
			}
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != c.want {
				t.Errorf("%s: status %d, want %d", c.reason, res.StatusCode, c.want)
			}
			if challenge := res.Header.Get("WWW-Authenticate"); (c.want == 401) != (challenge != "") {
				t.Errorf("%s: challenge %q", c.reason, challenge)
			}
		})
	}
}

func TestRepositoryNames(t *testing.T) {
	s := start(t)
	for _, name := range []string{"", ".", "..", "../x", "a/b", ".git", "-x", "a.b", strings.Repeat("x", 101)} {
		if err := s.CreateRepo(t.Context(), name); err == nil {
			t.Errorf("repository %q was made", name)
		}
	}
}

func TestHooksDoNotRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repositories")
	s, err := gitserver.Start(t.Context(), gitserver.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.AddUser(writer, writerToken, true)
	if err := s.CreateRepo(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	marker := filepath.Join(t.TempDir(), "ran")
	write(t, dir, "app.git/hooks/post-receive", "#!/bin/sh\ntouch "+marker+"\n")
	if err := os.Chmod(filepath.Join(dir, "app.git/hooks/post-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, workingCopy(t), "push", "-q", as(s.URL("app"), writer, writerToken), "main")
	if _, err := os.Stat(marker); err == nil {
		t.Error("a hook ran")
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err, open := <-s.Done(); open {
		t.Errorf("after Stop, Done brought %v", err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of repositories has mode %v, want 0700 (%v)", info.Mode().Perm(), err)
	}
}
