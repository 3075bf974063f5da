package discover

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/gitserver"
)

func ofGit(s v1alpha1.GitSubscription) *v1alpha1.Warehouse {
	return warehouse(v1alpha1.RepoSubscription{Git: &s})
}

// repository is one on a server, with a working copy.
type repository struct {
	t        *testing.T
	url, dir string
	server   *gitserver.Server
	day      int
}

func repo(t *testing.T) *repository {
	t.Helper()
	server, err := gitserver.Start(t.Context(), gitserver.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.WithoutCancel(t.Context())) })
	server.AddUser("kargo", password, true)
	if err := server.CreateRepo(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	r := &repository{t: t, url: server.URL("app"), dir: filepath.Join(t.TempDir(), "work"), server: server}
	r.run("", "init", "-q", "-b", "main", r.dir)
	return r
}

func (r *repository) run(dir string, arguments ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", arguments...)
	cmd.Dir = dir
	date := onDay(r.day).Format("2006-01-02T15:04:05Z")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Bob", "GIT_COMMITTER_EMAIL=bob@example.org",
		"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits a change of a file, a day after the last one.
func (r *repository) commit(file, message string) string {
	r.t.Helper()
	r.day++
	at := filepath.Join(r.dir, file)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(fmt.Sprintln(r.day)), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.run(r.dir, "add", "-A")
	r.run(r.dir, "commit", "-q", "-m", message)
	return r.run(r.dir, "rev-parse", "HEAD")
}

func (r *repository) push() {
	r.t.Helper()
	r.run(r.dir, "push", "-q", "--force", strings.Replace(r.url, "http://", "http://kargo:"+password+"@", 1), "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*")
}

func (r *repository) finder() *Finder {
	o := anywhere()
	o.Login = login("kargo", password)
	return New(o)
}

// subjects are what was found, by subject for a branch, and by tag.
func subjects(found *v1alpha1.DiscoveredArtifacts) []string {
	var all []string
	for _, c := range found.Git[0].Commits {
		if c.Tag != "" {
			all = append(all, c.Tag)
			continue
		}
		all = append(all, c.Subject)
	}
	return all
}

func TestBranches(t *testing.T) {
	r := repo(t)
	r.commit("a/x.yaml", "first")
	r.commit("b/y.yaml", "second")
	r.run(r.dir, "checkout", "-q", "-b", "side")
	r.commit("side/z.yaml", "on the side")
	r.run(r.dir, "checkout", "-q", "main")
	r.commit("a/x.yaml", "third\nin two lines\n\nand a body")
	r.day++
	r.run(r.dir, "merge", "-q", "--no-ff", "-m", "merge", "side")
	last := r.commit("docs/"+strings.Repeat("n", 100), strings.Repeat("long ", 30))
	r.push()
	long := strings.Repeat("long ", 30)[:77] + "..."
	for name, tc := range map[string]struct {
		reason string
		spec   v1alpha1.GitSubscription
		want   []string
	}{
		"Default":    {"along first parents, from the default branch", v1alpha1.GitSubscription{}, []string{long, "merge", "third in two lines", "second", "first"}},
		"Limit":      {"no more than that", v1alpha1.GitSubscription{DiscoveryLimit: 2}, []string{long, "merge"}},
		"Branch":     {"another branch", v1alpha1.GitSubscription{Branch: "side"}, []string{"on the side", "second", "first"}},
		"Include":    {"a directory, and the first commit has no parent", v1alpha1.GitSubscription{IncludePaths: []string{"a"}}, []string{"third in two lines", "first"}},
		"Merged":     {"a merge changes what it brings", v1alpha1.GitSubscription{IncludePaths: []string{"side/"}}, []string{"merge"}},
		"Prefix":     {"a name is not the beginning of one", v1alpha1.GitSubscription{IncludePaths: []string{"doc"}}, nil},
		"Glob":       {"a pattern", v1alpha1.GitSubscription{IncludePaths: []string{"glob:*/y.*"}}, []string{"second"}},
		"Regex":      {"either spelling", v1alpha1.GitSubscription{IncludePaths: []string{"regex:^b/", "regexp:z.yaml$"}}, []string{"merge", "second"}},
		"Exclude":    {"what is excluded does not count", v1alpha1.GitSubscription{IncludePaths: []string{"."}, ExcludePaths: []string{"docs", "glob:a/**"}}, []string{"merge", "second"}},
		"Expression": {"metadata of commits", v1alpha1.GitSubscription{ExpressionFilter: `author == "Ada <ada@example.org>" && subject contains "s" && commitDate.Year() == 2026`}, []string{"third in two lines", "second", "first"}},
		"Both":       {"both have to hold", v1alpha1.GitSubscription{ExpressionFilter: `subject != "first"`, IncludePaths: []string{"a"}}, []string{"third in two lines"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.spec.RepoURL = r.url
			if diff := cmp.Diff(tc.want, subjects(find(t, r.finder(), ofGit(tc.spec), nil))); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
	found := find(t, r.finder(), ofGit(v1alpha1.GitSubscription{RepoURL: r.url, Branch: "main", DiscoveryLimit: 1}), nil).Git[0]
	want := v1alpha1.GitDiscoveryResult{
		RepoURL: r.url, ObservedRefs: &v1alpha1.GitDiscoveryRefs{BranchHead: last},
		Commits: []v1alpha1.DiscoveredCommit{{
			ID: last, Branch: "main", Subject: long, Author: "Ada <ada@example.org>", Committer: "Bob <bob@example.org>", CreatorDate: stamp(onDay(r.day)),
		}},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// TestDeepBranches finds a commit behind more of them than are fetched first.
func TestDeepBranches(t *testing.T) {
	r := repo(t)
	r.commit("wanted/x", "wanted")
	for range firstDepth + 20 {
		r.run(r.dir, "commit", "-q", "--allow-empty", "-m", "empty")
	}
	r.push()
	if diff := cmp.Diff([]string{"wanted"}, subjects(find(t, r.finder(), ofGit(v1alpha1.GitSubscription{RepoURL: r.url, IncludePaths: []string{"wanted"}}), nil))); diff != "" {
		t.Error(diff)
	}
}

func TestTags(t *testing.T) {
	r := repo(t)
	r.commit("a/x", "one")
	r.run(r.dir, "tag", "v1.0.0")
	commit := r.commit("b/x", "two")
	r.run(r.dir, "tag", "v1.10.0")
	r.run(r.dir, "tag", "1.10")
	r.commit("a/x", "three")
	r.run(r.dir, "tag", "v1.2.0")
	r.run(r.dir, "tag", "nightly")
	r.day = 50
	r.run(r.dir, "tag", "-a", "-m", "an old one\nis tagged late\n\nbody", "v0.9.0", commit)
	r.run(r.dir, "tag", "of-a-file", "HEAD:a/x")
	r.push()
	for name, tc := range map[string]struct {
		reason string
		spec   v1alpha1.GitSubscription
		want   []string
	}{
		"SemVer":     {"by version", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitSemVer}, []string{"v1.10.0", "v1.2.0", "v1.0.0", "v0.9.0"}},
		"Lax":        {"two numbers are a version", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitSemVer, StrictSemvers: ptr.To(false), SemverConstraint: ">=1.2"}, []string{"v1.10.0", "1.10", "v1.2.0"}},
		"Lexical":    {"by the letters; a tag of a file is none", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitLexical, DiscoveryLimit: 3}, []string{"v1.2.0", "v1.10.0", "v1.0.0"}},
		"NewestTag":  {"by the date of the tag, or of its commit", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitNewestTag, DiscoveryLimit: 4}, []string{"v0.9.0", "nightly", "v1.2.0", "1.10"}},
		"Filters":    {"both spellings", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitNewestTag, AllowTags: "^v", AllowTagsRegexes: []string{"night"}, IgnoreTags: []string{"v1.2.0"}, IgnoreTagsRegexes: []string{"^v0"}}, []string{"nightly", "v1.10.0", "v1.0.0"}},
		"Expression": {"metadata of tags", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitLexical, ExpressionFilter: `annotation == "an old one is tagged late" && tagger startsWith "Bob" || tag == "1.10"`}, []string{"v0.9.0", "1.10"}},
		"Paths":      {"their commits changed something there", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitSemVer, IncludePaths: []string{"a"}}, []string{"v1.2.0", "v1.0.0"}},
		"PathsByAge": {"so do the newest", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitNewestTag, IncludePaths: []string{"b"}, DiscoveryLimit: 2}, []string{"v0.9.0", "1.10"}},
		"None":       {"nothing matches", v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitSemVer, SemverConstraint: ">7"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tc.spec.RepoURL = r.url
			found := find(t, r.finder(), ofGit(tc.spec), nil)
			if diff := cmp.Diff(tc.want, subjects(found)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if found.Git[0].Commits == nil {
				t.Error("the list is nil, which the API does not store")
			}
		})
	}
	spec := v1alpha1.GitSubscription{RepoURL: r.url, CommitSelectionStrategy: v1alpha1.CommitLexical, AllowTags: "v0"}
	found := find(t, r.finder(), ofGit(spec), nil).Git[0]
	if len(found.ObservedRefs.Tags) != 1 || found.ObservedRefs.Tags[0].ID == commit {
		t.Errorf("the references are %+v", found.ObservedRefs)
	}
	want := v1alpha1.DiscoveredCommit{ID: commit, Tag: "v0.9.0", Subject: "two", Author: "Ada <ada@example.org>", Committer: "Bob <bob@example.org>", CreatorDate: stamp(onDay(50))}
	if diff := cmp.Diff([]v1alpha1.DiscoveredCommit{want}, found.Commits); diff != "" {
		t.Error(diff)
	}
}

// TestGitIsFetchedOnce lists references alone where nothing moved.
func TestGitIsFetchedOnce(t *testing.T) {
	r := repo(t)
	r.commit("a", "one")
	r.push()
	fetches := 0
	o := anywhere()
	o.Login = login("kargo", password)
	inner := o.HTTP.Transport
	o.HTTP.Transport = roundTrip(func(q *http.Request) (*http.Response, error) {
		if q.Method == http.MethodPost {
			fetches++
		}
		return inner.RoundTrip(q)
	})
	f := New(o)
	spec := v1alpha1.GitSubscription{RepoURL: r.url}
	first := find(t, f, ofGit(spec), nil)
	second := find(t, f, ofGit(spec), first)
	if diff := cmp.Diff(first.Git, second.Git); diff != "" || fetches != 1 {
		t.Errorf("it was fetched %d times: %s", fetches, diff)
	}
	spec.ExpressionFilter = "false"
	if found := find(t, f, ofGit(spec), first); len(found.Git[0].Commits) != 0 {
		t.Errorf("the subscription is another one, and it found %+v", found.Git)
	}
	spec.ExpressionFilter = ""
	r.commit("a", "two")
	r.push()
	if diff := cmp.Diff([]string{"two", "one"}, subjects(find(t, f, ofGit(spec), first))); diff != "" {
		t.Error(diff)
	}
}

func TestBadGit(t *testing.T) {
	r := repo(t)
	r.commit("a", "one")
	r.run(r.dir, "tag", "v1")
	r.push()
	for name, tc := range map[string]struct {
		spec v1alpha1.GitSubscription
		want []string
	}{
		"Scheme":     {v1alpha1.GitSubscription{RepoURL: "ssh://git@example.org/a"}, []string{"git.repoURL", "https"}},
		"Absent":     {v1alpha1.GitSubscription{RepoURL: r.server.URL("other")}, []string{"git.repoURL", "listing the references"}},
		"Branch":     {v1alpha1.GitSubscription{Branch: "next"}, []string{"git.branch", `"next"`}},
		"Strategy":   {v1alpha1.GitSubscription{CommitSelectionStrategy: "Best"}, []string{"git.commitSelectionStrategy"}},
		"Constraint": {v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitSemVer, SemverConstraint: "!"}, []string{"git.semverConstraint"}},
		"Regex":      {v1alpha1.GitSubscription{IgnoreTagsRegexes: []string{"("}}, []string{"git.ignoreTagsRegexes[0]"}},
		"Path":       {v1alpha1.GitSubscription{IncludePaths: []string{"a", "regex:("}}, []string{"git.includePaths[1]"}},
		"Glob":       {v1alpha1.GitSubscription{ExcludePaths: []string{"glob:[a"}}, []string{"git.excludePaths[0]"}},
		"Explosion":  {v1alpha1.GitSubscription{ExcludePaths: []string{"glob:" + strings.Repeat("{a,a}", 30) + "b"}}, []string{"git.excludePaths[0]", "braces"}},
		"Expression": {v1alpha1.GitSubscription{ExpressionFilter: "subject =="}, []string{"git.expressionFilter"}},
		"Name":       {v1alpha1.GitSubscription{ExpressionFilter: "tag == 'x'"}, []string{"git.expressionFilter", "tag"}},
		"Result":     {v1alpha1.GitSubscription{ExpressionFilter: "subject"}, []string{"git.expressionFilter", "true or false"}},
		"OfTags":     {v1alpha1.GitSubscription{CommitSelectionStrategy: v1alpha1.CommitNewestTag, ExpressionFilter: "1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.spec.RepoURL == "" {
				tc.spec.RepoURL = r.url
			}
			if tc.want == nil {
				find(t, r.finder(), ofGit(tc.spec), nil)
				return
			}
			refused(t, r.finder(), ofGit(tc.spec), append(tc.want, "spec.subscriptions[0].")...)
		})
	}
	o := anywhere()
	o.Login = login("kargo", "wrong-password")
	if err := failure(t, New(o), ofGit(v1alpha1.GitSubscription{RepoURL: r.url}), "git.repoURL", "authentication"); strings.Contains(err.Error(), "wrong-password") {
		t.Errorf("the error has the password: %v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (t roundTrip) RoundTrip(q *http.Request) (*http.Response, error) { return t(q) }
