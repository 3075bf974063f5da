package feeds_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/source"
)

// world is a Git server with a repository, and feeds of it.
type world struct {
	t       *testing.T
	server  *gitserver.Server
	work    string
	feeds   *feeds.Feeds
	remotes *feed.Feed
	changed chan feeds.Key
	now     atomic.Pointer[settings.Settings]
}

const user, token = "ann", "a-token-for-tests"

func start(t *testing.T, configure func(*feeds.Config)) *world {
	t.Helper()
	w := &world{t: t, work: t.TempDir(), changed: make(chan feeds.Key, 100)}
	ctx, stop := context.WithCancel(t.Context())
	server, err := gitserver.Start(ctx, gitserver.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w.server = server
	server.AddUser(user, token, true)
	if err := server.CreateRepo(ctx, "app"); err != nil {
		t.Fatal(err)
	}
	w.login(token)
	c := feeds.Config{
		Settings: func() settings.Settings { return *w.now.Load() }, SpillDir: t.TempDir(), Remotes: feed.New(), Changed: func(k feeds.Key) { w.changed <- k },
	}
	if configure != nil {
		configure(&c)
	}
	w.feeds, w.remotes = feeds.New(ctx, c), c.Remotes
	t.Cleanup(func() {
		stop()
		w.feeds.Wait()
		c.Remotes.Wait()
		_ = server.Stop(context.WithoutCancel(ctx))
	})
	w.git("init", "-q", "-b", "main")
	w.commit("a.yaml", "a: 1\n")
	return w
}

// login has the settings hold a login to the server, or none.
func (w *world) login(password string) {
	w.t.Helper()
	objects := settings.Objects{}
	if password != "" {
		objects.Secrets = []corev1.Secret{{
			ObjectMeta: metav1.ObjectMeta{Name: "app", Labels: map[string]string{"argocd.argoproj.io/secret-type": "repository"}},
			Data:       map[string][]byte{"url": []byte(w.server.URL("app")), "username": []byte(user), "password": []byte(password)},
		}}
	}
	s, err := settings.Read(objects)
	if err != nil {
		w.t.Fatal(err)
	}
	s.Reconciliation = settings.Reconciliation{Every: time.Hour}
	w.now.Store(&s)
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", append([]string{"-C", w.work, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes a file, pushes it, and returns the commit.
func (w *world) commit(name, text string) string {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.work, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.git("add", "-A")
	w.git("commit", "-q", "-m", name)
	w.push("main")
	return w.git("rev-parse", "HEAD")
}

func (w *world) push(refs ...string) {
	w.t.Helper()
	url := strings.Replace(w.server.URL("app"), "http://", "http://"+user+":"+token+"@", 1)
	w.git(append([]string{"push", "-q", url}, refs...)...)
}

// key is a source of the repository.
func (w *world) key(revision string) feeds.Key {
	return feeds.KeyOf(v1alpha1.ApplicationSource{RepoURL: w.server.URL("app"), TargetRevision: revision}, "default")
}

// until waits until the state of a key is as wanted: the feeds report each change.
func (w *world) until(k feeds.Key, what string, is func(feeds.State) bool) feeds.State {
	w.t.Helper()
	deadline := time.After(time.Minute)
	for {
		if state := w.feeds.Get(k); is(state) {
			return state
		}
		select {
		case <-w.changed:
		case <-deadline:
			w.t.Fatalf("%s: the state is %+v", what, w.feeds.Get(k))
		}
	}
}

func has(s feeds.State) bool { return s.Settled && s.Err == nil && s.Has() }

func TestGitRevisions(t *testing.T) {
	w := start(t, nil)
	first := w.git("rev-parse", "HEAD")
	w.git("tag", "v1.2.0")
	second := w.commit("b.yaml", "b: 1\n")
	w.git("tag", "-a", "-m", "x", "v1.3.0")
	w.push("v1.2.0", "v1.3.0")
	for revision, want := range map[string]string{
		"main": second, "": second, "HEAD": second, "v1.2.0": first, "v1.3.0": second, "1.2.*": first, ">=1.0.0": second, first: first, "refs/heads/main": second,
	} {
		k := w.key(revision)
		w.feeds.Want(revision, []feeds.Key{k})
		if got := w.until(k, "revision "+revision, has); got.Revision != want {
			t.Errorf("%q resolves to %s, want %s", revision, got.Revision, want)
		}
	}
	missing := w.key("nope")
	w.feeds.Want("nope", []feeds.Key{missing})
	got := w.until(missing, "a branch that is not there", func(s feeds.State) bool { return s.Settled })
	if got.Err == nil || !strings.Contains(got.Err.Error(), "unable to resolve 'nope' to a commit SHA") {
		t.Errorf("the error is %v", got.Err)
	}
}

// TestWholeRepository has all files of a repository, since Argo CD leaves none out as Flux does.
func TestWholeRepository(t *testing.T) {
	w := start(t, nil)
	w.commit(".sourceignore", "*.txt\n")
	w.commit("logo.png", "x")
	commit := w.commit("notes.txt", "x")
	k := w.key(commit)
	w.feeds.Want("whole", []feeds.Key{k})
	got := w.until(k, "all files", has)
	if diff := cmp.Diff([]string{".sourceignore", "a.yaml", "logo.png", "notes.txt"}, got.Tree.Paths()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNudge(t *testing.T) {
	w := start(t, nil)
	k := w.key("main")
	w.feeds.Want("a", []feeds.Key{k})
	w.until(k, "the first fetch", has)
	second := w.commit("a.yaml", "a: 2\n")
	w.feeds.Nudge(func(url string) bool { return url == "http://elsewhere.example/x" })
	w.feeds.Nudge(func(url string) bool { return url == w.server.URL("app") })
	got := w.until(k, "the second commit", func(s feeds.State) bool { return s.Revision == second })
	file, ok := got.Tree.File("a.yaml")
	if !ok {
		t.Fatal("a.yaml is not there")
	}
	if data, err := file.Read(); err != nil || string(data) != "a: 2\n" {
		t.Errorf("a.yaml holds %q: %v", data, err)
	}
}

func TestLoginComesLater(t *testing.T) {
	w := start(t, nil)
	w.login("")
	k := w.key("main")
	w.feeds.Want("a", []feeds.Key{k})
	got := w.until(k, "no login", func(s feeds.State) bool { return s.Settled })
	if got.Err == nil || got.Has() || strings.Contains(got.Err.Error(), token) {
		t.Fatalf("without a login: %+v", got)
	}
	w.login(token)
	w.feeds.Refresh([]feeds.Key{k})
	w.until(k, "the login", has)
}

func TestOutage(t *testing.T) {
	w := start(t, nil)
	k := w.key("main")
	w.feeds.Want("a", []feeds.Key{k})
	before := w.until(k, "the first fetch", has)
	w.login("wrong")
	w.feeds.Refresh([]feeds.Key{k})
	got := w.until(k, "the outage", func(s feeds.State) bool { return s.Err != nil })
	if got.Revision != before.Revision || got.Tree != before.Tree || got.Since.IsZero() {
		t.Errorf("what was fetched before is not kept: %+v", got)
	}
	w.login(token)
	w.feeds.Refresh([]feeds.Key{k})
	if got := w.until(k, "the end of the outage", has); !got.Since.IsZero() {
		t.Errorf("the outage has not ended: %+v", got)
	}
}

// A client that requests a fetch is notified when one has been that started afterwards, also if it brought nothing.
func TestRefreshIsAnswered(t *testing.T) {
	w := start(t, nil)
	k := w.key("main")
	w.feeds.Want("a", []feeds.Key{k})
	before := w.until(k, "the first fetch", has)
	request := w.feeds.Refresh([]feeds.Key{k})
	if before.Asked >= request {
		t.Fatalf("request %d is answered by a fetch that began before it: %d", request, before.Asked)
	}
	answered := func(s feeds.State) bool { return s.Asked >= request }
	if got := w.until(k, "the same content", answered); got.Revision != before.Revision || got.Err != nil {
		t.Errorf("nothing changed, and now it is %+v", got)
	}
	w.login("wrong")
	request = w.feeds.Refresh([]feeds.Key{k})
	if got := w.until(k, "the outage", answered); got.Err == nil {
		t.Errorf("a fetch that failed is no answer: %+v", got)
	}
}

func TestWant(t *testing.T) {
	w := start(t, nil)
	k := w.key("main")
	w.feeds.Want("a", []feeds.Key{k})
	w.feeds.Want("b", []feeds.Key{k})
	w.until(k, "the first fetch", has)
	w.feeds.Want("a", nil)
	if !has(w.feeds.Get(k)) {
		t.Error("somebody else still wants it")
	}
	w.feeds.Want("b", nil)
	if w.feeds.Get(k).Settled {
		t.Error("nobody wants it, and it is kept")
	}
}

// packed is a chart.
func packed(t *testing.T, name, version string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	text := fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version)
	if err := archive.WriteHeader(&tar.Header{Name: name + "/Chart.yaml", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCharts(t *testing.T) {
	data := packed(t, "web", "1.2.3")
	var asked atomic.Int64
	repo := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		asked.Add(1)
		switch q.URL.Path {
		case "/index.yaml":
			fmt.Fprintf(rw, "apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.2.3, urls: [web-1.2.3.tgz]}\n")
		case "/web-1.2.3.tgz":
			_, _ = rw.Write(data)
		default:
			rw.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(repo.Close)
	w := start(t, nil)
	charts := w.feeds.Charts("default", permits(true))
	get := func(name, version string) ([]byte, string, error) {
		t.Helper()
		got, resolved, err := charts.Chart(t.Context(), repo.URL, name, version)
		if errors.Is(err, feeds.ErrPending) {
			if err := charts.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, resolved, err = charts.Chart(t.Context(), repo.URL, name, version)
		}
		return got, resolved, err
	}
	if _, _, err := charts.Chart(t.Context(), repo.URL, "web", "1.2.3"); !errors.Is(err, feeds.ErrPending) {
		t.Errorf("a chart that was not fetched: %v", err)
	}
	for range 2 {
		if got, resolved, err := get("web", "1.2.3"); err != nil || resolved != "1.2.3" || !bytes.Equal(got, data) {
			t.Errorf("got %d bytes of version %q: %v", len(got), resolved, err)
		}
	}
	once := asked.Load()
	if _, _, err := get("web", "1.2.3"); err != nil || asked.Load() != once {
		t.Errorf("a version that cannot change was asked for again: %v", err)
	}
	if got, resolved, err := get("web", "^1.0.0"); err != nil || resolved != "1.2.3" || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes of version %q: %v", len(got), resolved, err)
	}
	if _, _, err := get("gone", "1.0.0"); err == nil || errors.Is(err, feeds.ErrPending) {
		t.Errorf("a chart that is not there: %v", err)
	}
	k := feeds.KeyOf(v1alpha1.ApplicationSource{RepoURL: repo.URL, Chart: "web", TargetRevision: "1.*"}, "default")
	w.feeds.Want("a", []feeds.Key{k})
	if got := w.until(k, "the chart of a source", has); got.Revision != "1.2.3" || !bytes.Equal(got.Chart, data) {
		t.Errorf("got %+v", got)
	}
}

// TestChartsHaveOwners forgets charts with the last Application that renders them.
func TestChartsHaveOwners(t *testing.T) {
	var asked atomic.Int64
	repo := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprintf(rw, "apiVersion: v1\nentries: {}\n")
	}))
	t.Cleanup(repo.Close)
	w := start(t, func(c *feeds.Config) {
		c.StandIn = func(_, name, version string, _ error) ([]byte, string, bool) {
			return []byte(name + version), version, true
		}
	})
	render := func(owner string, names ...string) {
		t.Helper()
		charts := w.feeds.Charts("default", permits(true)).For(owner)
		for _, name := range names {
			_, _, err := charts.Chart(t.Context(), repo.URL, name, "1.0.0")
			if errors.Is(err, feeds.ErrPending) {
				if err := charts.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				_, _, err = charts.Chart(t.Context(), repo.URL, name, "1.0.0")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		charts.Keep()
	}
	steps := []struct {
		reason string
		do     func()
		asks   int64
	}{
		{"both are fetched", func() { render("a", "web", "db") }, 2},
		{"another one shares them", func() { render("b", "web") }, 0},
		{"it renders without one of them", func() { render("a", "web") }, 0},
		{"which is gone", func() { render("a", "web", "db") }, 1},
		{"it is deleted, and the other one is not", func() { w.feeds.Want("a", nil); render("b", "web") }, 0},
		{"both are deleted", func() { w.feeds.Want("b", nil); render("c", "web", "db") }, 2},
	}
	for _, s := range steps {
		before := asked.Load()
		s.do()
		if n := asked.Load() - before; n != s.asks {
			t.Errorf("%s: %d requests, want %d", s.reason, n, s.asks)
		}
	}
}

func TestStandIn(t *testing.T) {
	w := start(t, func(c *feeds.Config) {
		c.StandIn = func(repo, name, version string, cause error) ([]byte, string, bool) {
			if cause == nil || repo != "http://127.0.0.1:1/" {
				return nil, "", false
			}
			return []byte(name + version), "9.9.9", true
		}
	})
	charts := w.feeds.Charts("default", permits(true))
	_, _, _ = charts.Chart(t.Context(), "http://127.0.0.1:1/", "web", "9")
	if err := charts.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, resolved, err := charts.Chart(t.Context(), "http://127.0.0.1:1/", "web", "9"); err != nil || string(got) != "web9" || resolved != "9.9.9" {
		t.Errorf("got %q of version %q: %v", got, resolved, err)
	}
}

// Two dialects that read a repository are notified of what each of them finds, and a request of one is answered by a fetch
// that began after it, whatever the other has requested before.
func TestSharedRemote(t *testing.T) {
	w := start(t, nil)
	other := feeds.New(t.Context(), feeds.Config{
		Settings: func() settings.Settings { return *w.now.Load() }, SpillDir: t.TempDir(), Remotes: w.remotes, Changed: func(feeds.Key) {},
	})
	t.Cleanup(other.Wait)
	k := w.key("main")
	w.feeds.Want("a", []feeds.Key{k})
	w.until(k, "the first fetch", has)
	other.Want("b", []feeds.Key{k})
	waits := func(reason string, is func(feeds.State) bool) feeds.State {
		t.Helper()
		// What is as it was is not reported as a change.
		tick, deadline := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
		defer tick.Stop()
		for {
			state := other.Get(k)
			if is(state) {
				return state
			}
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatalf("%s: the state is %+v", reason, state)
			}
		}
	}
	first := waits("the first fetch of the other", has)

	// Only one of them requests the commit, and both have it.
	second := w.commit("a.yaml", "a: 2\n")
	w.feeds.Refresh([]feeds.Key{k})
	w.until(k, "the second commit", func(s feeds.State) bool { return s.Revision == second })
	got := waits("the second commit of the other", func(s feeds.State) bool { return s.Revision == second })
	if !got.Fetched.After(first.Fetched) || got.Tree != w.feeds.Get(k).Tree {
		t.Errorf("the other has it since %s, and before since %s; the same tree: %v", got.Fetched, first.Fetched, got.Tree == w.feeds.Get(k).Tree)
	}

	// A fetch that finds nothing new counts for both, and answers the request of the one that made it.
	request := w.feeds.Refresh([]feeds.Key{k})
	w.until(k, "nothing new", func(s feeds.State) bool { return s.Asked >= request })
	waits("nothing new for the other", func(s feeds.State) bool { return s.Fetched.After(got.Fetched) && s.Revision == second })
	third := w.commit("a.yaml", "a: 3\n")
	request = other.Refresh([]feeds.Key{k})
	if got := waits("the answer", func(s feeds.State) bool { return s.Asked >= request }); got.Revision != third {
		t.Errorf("a request was answered with %s, which is older than the request", got.Revision)
	}
}

// permits is a project that permits every repository, or none.
type permits bool

func (p permits) PermitsSource(url string) error {
	if p {
		return nil
	}
	return errors.New(url + " is not permitted")
}

// TestChartsWithoutLogin: the logins of the installation are not for repositories that the project does not permit.
func TestChartsWithoutLogin(t *testing.T) {
	var logins atomic.Int64
	repo := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		if _, _, login := q.BasicAuth(); login {
			logins.Add(1)
			fmt.Fprintf(rw, "apiVersion: v1\nentries: {}\n")
			return
		}
		rw.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(repo.Close)
	w := start(t, nil)
	s, err := settings.Read(settings.Objects{Secrets: []corev1.Secret{{
		ObjectMeta: metav1.ObjectMeta{Name: "charts", Labels: map[string]string{"argocd.argoproj.io/secret-type": "repo-creds"}},
		Data:       map[string][]byte{"url": []byte(repo.URL), "username": []byte(user), "password": []byte(token)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	w.now.Store(&s)
	get := func(permission feeds.Permission) error {
		t.Helper()
		charts := w.feeds.Charts("team", permission)
		if _, _, err := charts.Chart(t.Context(), repo.URL, "web", "1.2.3"); !errors.Is(err, feeds.ErrPending) {
			t.Fatal(err)
		}
		if err := charts.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, _, err := charts.Chart(t.Context(), repo.URL, "web", "1.2.3")
		return err
	}
	err = get(permits(false))
	if err == nil || !strings.Contains(err.Error(), "it is not permitted in project 'team' (spec.sourceRepos), so no credentials of the installation are used") {
		t.Errorf("the error is %v", err)
	}
	if n := logins.Load(); n != 0 {
		t.Errorf("%d requests had a login", n)
	}
	if err := get(permits(true)); !errors.Is(err, source.ErrReference) || logins.Load() == 0 {
		t.Errorf("with permission, %d requests had a login: %v", logins.Load(), err)
	}
}
