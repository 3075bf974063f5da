// Package steps carries out the steps of promotions: copies of Git repositories, changes of files, commits and pushes. It works in a directory of its
// own for each Promotion, whose files it reaches only through os.Root; what it has to know between two steps is a value that is kept with the
// Promotion, so that another process continues.
//
// It refuses the cluster: credentials come from a function, and what happens to Applications is an intent for the driver. It refuses to read or write
// through a symbolic link at any part of a path, and names that are Git's own: the git program is not run, and the files of a Promotion never have its
// data among them. A push never overwrites commits of others.
package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/worktree"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// Login opens a repository over HTTP; empty is none.
type Login struct{ Username, Password string }

// Runner carries out steps, those of several Promotions at a time.
type Runner struct {
	// Login is for a repository; nil is none.
	Login func(ctx context.Context, repoURL string) (Login, error)
	// Allow refuses addresses that a tenant may not reach; nil refuses all.
	Allow func(ctx context.Context, repoURL string) error
	// HTTP sends requests to servers that configurations name, those of Git too; its transport restricts the addresses. Without it, none is sent.
	// Insecure is the transport of requests that accept any certificate; without it, they are refused.
	HTTP     *http.Client
	Insecure http.RoundTripper
	// Sandbox is where charts are rendered; nil renders them in this process.
	Sandbox *sandbox.Pool
	// Egress is where schemas may be that charts refer to.
	Egress egress.Rules

	mu       sync.Mutex
	branches map[string]*sync.Mutex
}

// Work is the Promotion that a step belongs to.
type Work struct {
	// Dir is its directory, which the caller makes, with mode 0700, and deletes.
	Dir string
	// Promotion is its name, and Stage PROJECT:STAGE.
	Promotion, Stage string
	// Images are those that the Stage will have.
	Images []Image
	// State is what earlier steps left.
	State State
}

// State is what steps leave for later ones. It holds no credentials.
type State struct {
	// Checkouts are copies of repositories, by their paths among the files.
	Checkouts map[string]Checkout `json:"checkouts,omitempty"`
}

// Checkout is a copy of a repository.
type Checkout struct {
	// Git names the directory of Git's data.
	Git string `json:"git"`
	// URL of the repository, without a login.
	URL string `json:"url"`
	// Branch that was checked out; empty for a tag or a commit.
	Branch string `json:"branch,omitempty"`
	// Head is the commit that the steps which succeeded left.
	Head string `json:"head"`
	// Insecure accepts any certificate.
	Insecure bool `json:"insecure,omitempty"`
	// AuthorName and AuthorEmail are who commits.
	AuthorName  string `json:"authorName,omitempty"`
	AuthorEmail string `json:"authorEmail,omitempty"`
}

// Result is what an attempt at a step gave.
type Result struct {
	plan.Outcome
	// Output is what later steps see of it.
	Output map[string]any
	// State is that of the Promotion afterwards; it counts only if the step succeeded or was skipped.
	State State
	// Sync is what the driver has to do to Applications.
	Sync *Sync
	// Again is when a step in progress asks to be tried again; zero leaves it to the caller.
	Again time.Duration
}

const (
	files   = "files"
	gitData = "git"
	// maxFile bounds a file that is read or written, in bytes.
	maxFile = 16 << 20
)

// failure is an error that trying again does not change.
type failure struct{ error }

func fail(format string, arguments ...any) error { return failure{fmt.Errorf(format, arguments...)} }

// step is one attempt.
type step struct {
	runner *Runner
	work   Work
	root   *os.Root
	// message is that of the result.
	message string
	skipped bool
	// running is set for a step that waits for something, which is evaluated again after a while.
	running bool
	again   time.Duration
	sync    *Sync
}

type action func(s *step, ctx context.Context, config []byte) (map[string]any, error)

// actions are the steps by their names.
func actions() map[string]action {
	return map[string]action{
		"git-clone": (*step).clone, "git-commit": (*step).commit, "git-push": (*step).push,
		"json-update": (*step).jsonUpdate, "yaml-update": (*step).yamlUpdate, "yaml-parse": (*step).yamlParse, "json-parse": (*step).jsonParse,
		"http": (*step).http, "git-open-pr": (*step).openPull, "git-wait-for-pr": (*step).waitForPull, "git-merge-pr": (*step).mergePull,
		"kustomize-set-image": (*step).kustomizeSetImage, "kustomize-build": (*step).kustomizeBuild,
		"helm-template": (*step).helmTemplate, "helm-update-chart": (*step).helmUpdateChart, "git-clear": (*step).clear,
		"copy": (*step).copy, "delete": (*step).delete, "file-write": (*step).fileWrite, "compose-output": (*step).compose, "argocd-update": (*step).argocd,
	}
}

// Run makes an attempt at a step with its evaluated configuration. Attempts may be repeated: one that a process did not live to record is
// recognized by what it left.
func (r *Runner) Run(ctx context.Context, work Work, uses string, config map[string]any) Result {
	result := Result{State: work.State}
	do, known := actions()[uses]
	if !known {
		result.Outcome = plan.Outcome{Status: plan.StepErrored, Terminal: true, Message: fmt.Sprintf("step %q is not supported", uses)}
		return result
	}
	s := &step{runner: r, work: work.copied()}
	output, err := s.attempt(ctx, do, config)
	var final failure
	switch {
	case errors.As(err, &final):
		result.Outcome = plan.Outcome{Status: plan.StepFailed, Terminal: true, Message: err.Error()}
		return result
	case err != nil:
		result.Outcome = plan.Outcome{Status: plan.StepErrored, Message: err.Error()}
		return result
	}
	result.Outcome = plan.Outcome{Status: plan.StepSucceeded, Message: s.message}
	switch {
	case s.running:
		result.Status, result.Again = plan.StepRunning, s.again
	case s.skipped:
		result.Status = plan.StepSkipped
	}
	result.Output, result.State, result.Sync = output, s.work.State, s.sync
	return result
}

func (w Work) copied() Work {
	checkouts := make(map[string]Checkout, len(w.State.Checkouts))
	for at, c := range w.State.Checkouts {
		checkouts[at] = c
	}
	w.State.Checkouts = checkouts
	return w
}

func (s *step) attempt(ctx context.Context, do action, config map[string]any) (output map[string]any, err error) {
	for _, dir := range []string{files, gitData} {
		if err := os.MkdirAll(filepath.Join(s.work.Dir, dir), 0o700); err != nil {
			return nil, fmt.Errorf("creating the directory of the Promotion: %w", err)
		}
	}
	if s.root, err = os.OpenRoot(filepath.Join(s.work.Dir, files)); err != nil {
		return nil, fmt.Errorf("opening the directory of the Promotion: %w", err)
	}
	defer func() { err = errors.Join(err, s.root.Close()) }()
	data, err := json.Marshal(config)
	if err != nil {
		return nil, fail("reading the configuration: %w", err)
	}
	return do(s, ctx, data)
}

// project is that of the Promotion.
func (s *step) project() string {
	project, _, _ := strings.Cut(s.work.Stage, ":")
	return project
}

// decode reads a configuration, whose fields are all known.
func decode[T any](data []byte) (T, error) {
	var config T
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		return config, fail("reading the configuration: %w", err)
	}
	return config, nil
}

// clean is a path among the files, as they are named: without a dot at its beginning.
func clean(field, name string) (string, error) {
	cleaned := path.Clean(strings.TrimPrefix(name, "/"))
	if name == "" || !filepath.IsLocal(cleaned) {
		return "", fail("%s: the path %q leaves the directory of the Promotion, or is empty", field, name)
	}
	// Git reads the settings of a repository within another one, and runs what they say.
	for part := range strings.SplitSeq(cleaned, "/") {
		if worktree.Reserved(part) {
			return "", fail("%s: the path %q has a part that is Git's own", field, name)
		}
	}
	return cleaned, nil
}

// turn is the lock of a branch of a repository: pushes to it take turns.
func (r *Runner) turn(repoURL, branch string) *sync.Mutex {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.branches == nil {
		r.branches = map[string]*sync.Mutex{}
	}
	key := plan.NormalizeGit(repoURL) + "#" + branch
	if r.branches[key] == nil {
		r.branches[key] = &sync.Mutex{}
	}
	return r.branches[key]
}
