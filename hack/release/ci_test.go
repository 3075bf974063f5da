package release

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// ready and stuck stand in for headgate: they leave what it leaves, and print their arguments.
const (
	ready = `echo "headgate $*"; while [ "$1" != --report ]; do shift; done; echo '{}' >"$2"; echo '| # | unit |' >"${2%.json}.md"`
	stuck = ready + "\n" + `printf '%s\n' '` + "```" + `' '</details> @everyone'; printf 'a\r\r</details> @all\f<b>\n'; exit 1`
	early = `echo "no such directory"; exit 2`
)

func TestBoot(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, program string
		args            []string
		code            int
		says, without   []string // of the comment
	}{
		"Ready": {
			"flags are passed, and the report is in the comment", ready,
			[]string{"demo", ".", "--path", "a b"},
			0,
			[]string{"<!-- headgate demo -->\n### ✓ demo: everything becomes ready\n", "\n| # | unit |\n", "not that images run"},
			[]string{"    headgate up"},
		},
		"Stuck": {
			"the end of the output is text, whatever it contains", stuck,
			[]string{"demo", "."},
			1,
			[]string{"### ✗ demo: not everything becomes ready\n\n    headgate up . --ephemeral --simulate --exit-when-ready --report ", "\n    ```\n    </details> @everyone\n    a  </details> @all <b>\n", "\n| # | unit |\n"},
			[]string{"\n```", "\n</details> @", "\r"},
		},
		"Early": {
			"without a report there is the output", early,
			[]string{"demo", "nowhere"},
			2,
			[]string{"\n    no such directory\n"},
			[]string{"<details>"},
		},
		"Name": {"a name cannot end the mark", ready, []string{"x --> y", "."}, 2, nil, nil},
		"None": {"it says what it takes", ready, nil, 2, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := tools(t, "tail", map[string]string{"headgate": tc.program})
			link(t, path, "cat", "tee", "awk", "tr", "od")
			dir := filepath.Join(t.TempDir(), "report")
			cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"../../deploy/ci/boot.sh", dir}, tc.args...)...)
			cmd.Env = []string{"PATH=" + path}
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != tc.code {
				t.Fatalf("%s: exit code %d, want %d\n%s", tc.reason, got, tc.code, out)
			}
			comment, err := os.ReadFile(filepath.Join(dir, "comment.md"))
			if (err == nil) != (tc.says != nil) {
				t.Fatalf("%s: the comment: %v\n%s", tc.reason, err, out)
			}
			for _, text := range tc.says {
				if !strings.Contains(string(comment), text) {
					t.Errorf("%s: the comment lacks %q:\n%s", tc.reason, text, comment)
				}
			}
			for _, text := range tc.without {
				if strings.Contains(string(comment), text) {
					t.Errorf("%s: the comment has %q:\n%s", tc.reason, text, comment)
				}
			}
			if name == "Ready" && !strings.Contains(string(out), "headgate up . --ephemeral --simulate --exit-when-ready --report "+dir+"/boot.json --path a b\n") {
				t.Errorf("%s: the output is\n%s", tc.reason, out)
			}
		})
	}
}

// TestCommands has a repository whose output is commands to the runner of GitHub, also one without an end of line: they are obeyed neither before nor after
// the program ends, and those of others afterwards are.
func TestCommands(t *testing.T) {
	const hostile = `printf '::add-mask::x\n::stop-commands::y\n::y::\n::set-output name=report::z'; exit 1`
	path := tools(t, "tail", map[string]string{"headgate": hostile})
	link(t, path, "cat", "tee", "awk", "tr", "od")
	words := map[string]bool{}
	for range 2 {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "../../deploy/ci/boot.sh", t.TempDir(), "demo", ".")
		cmd.Env = []string{"PATH=" + path, "GITHUB_ACTIONS=true"}
		out, _ := cmd.CombinedOutput()
		stopped, obeyed := "", []string(nil)
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSpace(line)
			word, stops := strings.CutPrefix(line, "::stop-commands::")
			switch {
			case stopped == "" && stops:
				stopped = word
				words[word] = true
			case stopped != "" && line == "::"+stopped+"::":
				stopped = ""
			case stopped == "" && strings.HasPrefix(line, "::"):
				obeyed = append(obeyed, line)
			}
		}
		if len(obeyed) > 0 || stopped != "" {
			t.Errorf("the runner obeys %q, and ignores what follows: %t\n%s", obeyed, stopped != "", out)
		}
	}
	if len(words) != 2 {
		t.Errorf("the word is known before: %v", words)
	}
}

// link adds programs of this machine to a directory for PATH.
func link(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("there is no %s on this machine", name)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGitLab has a merge request with comments of others; a boot adds one, and the next replaces it.
func TestGitLab(t *testing.T) {
	type author struct {
		ID int `json:"id"`
	}
	type note struct {
		ID     int    `json:"id"`
		Body   string `json:"body"`
		Author author `json:"author"`
	}
	path := tools(t, "curl", nil)
	link(t, path, "jq", "tail", "cat")
	var mu sync.Mutex
	notes := []note{{1, "<!-- headgate boot -->\nquoted by a person", author{8}}, {2, "unrelated", author{7}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(author{7}) })
	mux.HandleFunc("GET /projects/5/merge_requests/3/notes", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(notes)
	})
	mux.HandleFunc("POST /projects/5/merge_requests/3/notes", func(w http.ResponseWriter, r *http.Request) {
		notes = append(notes, note{len(notes) + 1, r.FormValue("body"), author{7}})
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("PUT /projects/5/merge_requests/3/notes/3", func(_ http.ResponseWriter, r *http.Request) { notes[2].Body = r.FormValue("body") })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("PRIVATE-TOKEN") != "a-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "comment.md")
	write := func(text, token string) error {
		if err := os.WriteFile(file, []byte("<!-- headgate boot -->\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "../../deploy/ci/comment-gitlab.sh", "boot", file)
		cmd.Env = []string{"PATH=" + path, "CI_API_V4_URL=" + server.URL, "CI_PROJECT_ID=5", "CI_MERGE_REQUEST_IID=3", "HEADGATE_TOKEN=" + token}
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), token) {
			t.Errorf("the output has the token:\n%s", out)
		}
		return err
	}
	for _, text := range []string{"first & one", "second"} {
		if err := write(text, "a-token"); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		want := append([]note{}, notes[:2]...)
		want = append(want, note{3, "<!-- headgate boot -->\n" + text, author{7}})
		if diff := cmp.Diff(want, notes); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", text, diff)
		}
		mu.Unlock()
	}
	if err := write("third", "another-token"); err == nil {
		t.Error("a token that is refused is no error")
	}
}

// TestTemplates reads what the services read, and compares the names of commands and files with those that exist.
func TestTemplates(t *testing.T) {
	read := func(name string, into any) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(data, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var action struct {
		Inputs map[string]struct{ Description string }
		Runs   struct {
			Using string
			Steps []struct{ Name, Shell, Run string }
		}
	}
	read("action.yaml", &action)
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 3 {
		t.Fatalf("action.yaml uses %q with %d steps", action.Runs.Using, len(action.Runs.Steps))
	}
	for _, step := range action.Runs.Steps {
		// What a pull request chooses reaches a script as a variable, never as a part of its text.
		if step.Shell == "" || strings.Contains(step.Run, "${{") {
			t.Errorf("step %s: a shell, and no expression in the script; got %q\n%s", step.Name, step.Shell, step.Run)
		}
		for _, word := range strings.Fields(step.Run) {
			if _, file, found := strings.Cut(strings.Trim(word, `"`), "$GITHUB_ACTION_PATH/"); found {
				if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
					t.Errorf("step %s: %v", step.Name, err)
				}
			}
		}
	}
	for name, input := range action.Inputs {
		if input.Description == "" {
			t.Errorf("the input %s has no description", name)
		}
	}
	var gitlab struct {
		Variables map[string]string
		Headgate  struct{ Script []string }
	}
	read("deploy/ci/gitlab.yaml", &gitlab)
	version, err := exec.CommandContext(t.Context(), "../version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := gitlab.Variables["HEADGATE_VERSION"], strings.TrimSpace(string(version)); got != want {
		t.Errorf("the template for GitLab has version %q, want %q", got, want)
	}
	if script := strings.Join(gitlab.Headgate.Script, "\n"); !strings.Contains(script, "boot.sh headgate-report boot ") {
		t.Errorf("the template for GitLab boots nothing:\n%s", script)
	}
	var hooks []struct{ ID, Entry, Language string }
	read(".pre-commit-hooks.yaml", &hooks)
	var entries []string
	for _, hook := range hooks {
		entries = append(entries, hook.Entry)
	}
	if diff := cmp.Diff([]string{"headgate validate .", "headgate lint .", "headgate secret check"}, entries); diff != "" {
		t.Errorf("the hooks (-want +got):\n%s", diff)
	}
}
