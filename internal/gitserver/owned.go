package gitserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
)

// Access decides on requests of git clients for repositories that have owners.
type Access interface {
	// Open opens a repository for a request, for a push or only to read. The owner and the name are as the client wrote them.
	// An error that is a Refusal is the answer; any other is logged and answered as an internal error.
	Open(r *http.Request, owner, name string, push bool) (Grant, error)
	// Pushed is called after git has processed a push, which may have changed nothing, before the client has the end of the
	// answer. The context is not that of the client, since that may have left.
	Pushed(ctx context.Context, to Grant)
}

// Grant is the permission to use one repository.
type Grant struct {
	// User is who asks; empty is anonymous.
	User string
	// Owner and Name are those of the repository, as it was created.
	Owner, Name string
	// Dir is the bare repository.
	Dir string
	// MaxInput bounds what one push may send, in bytes; zero is no bound.
	MaxInput int64
}

// Refusal is why a request is refused. Git shows the reason to its user.
type Refusal struct {
	// Status is that of HTTP; 401 has the client ask its user for credentials.
	Status int
	Reason string
}

func (r *Refusal) Error() string { return r.Reason }

// Owned serves repositories OWNER/NAME.git, which an Access opens.
type Owned struct {
	backend string
	access  Access
	log     logr.Logger
}

// NewOwned returns the handler of an Access. It logs to the logger of ctx. An error says that git is not installed.
func NewOwned(ctx context.Context, access Access) (*Owned, error) {
	backend, err := findBackend(ctx)
	if err != nil {
		return nil, err
	}
	return &Owned{backend: backend, access: access, log: logr.FromContextOrDiscard(ctx).WithName("git")}, nil
}

// ownedRequest is what a git client requests of a repository that has an owner.
type ownedRequest struct {
	owner, name, rest string
	push, writes      bool
}

// parseOwned reads /OWNER/NAME[.git]/SERVICE of the smart protocol.
func parseOwned(r *http.Request) (ownedRequest, bool) {
	owner, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	name, rest, _ := strings.Cut(rest, "/")
	name = strings.TrimSuffix(name, ".git")
	if owner == "" || name == "" {
		return ownedRequest{}, false
	}
	asked, ok := service(r, rest)
	return ownedRequest{owner: owner, name: name, rest: rest, push: asked.push, writes: asked.writes}, ok
}

// Matches reports whether a request is one of a git client for a repository that has an owner.
func (o *Owned) Matches(r *http.Request) bool {
	_, ok := parseOwned(r)
	return ok
}

// ServeHTTP serves one request of a git client.
func (o *Owned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, ok := parseOwned(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	grant, err := o.access.Open(r, asked.owner, asked.name, asked.push)
	if err != nil {
		o.refuse(w, asked, err)
		return
	}
	o.handle(w, r, grant, asked.rest)
	if asked.writes {
		o.access.Pushed(context.WithoutCancel(r.Context()), grant)
	}
}

func (o *Owned) refuse(w http.ResponseWriter, asked ownedRequest, err error) {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		o.log.Error(err, "opening a repository", "repository", asked.owner+"/"+asked.name)
		refusal = &Refusal{Status: http.StatusInternalServerError, Reason: "the repository cannot be opened; the log has the reason"}
	}
	if refusal.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="Gitea"`)
	}
	http.Error(w, refusal.Reason, refusal.Status)
}

func (o *Owned) handle(w http.ResponseWriter, r *http.Request, grant Grant, rest string) {
	settings := [][2]string{
		{"http.receivepack", "true"},
		{"http.getanyfile", "false"},
		{"transfer.hideRefs", recent},
		{"receive.hideRefs", "refs/pull"},
		{"receive.denyDeleteCurrent", "refuse"},
		{"receive.autogc", "false"},
		{"uploadpack.allowTipSHA1InWant", "true"},
		{"uploadpack.allowFilter", "true"},
		{"uploadpackfilter.allow", "false"},
		{"uploadpackfilter.blob:none.allow", "true"},
		{"uploadpackfilter.tree.allow", "true"},
	}
	if grant.MaxInput > 0 {
		settings = append(settings, [2]string{"receive.maxInputSize", strconv.FormatInt(grant.MaxInput, 10)})
	}
	r = r.Clone(r.Context())
	r.URL.Path = "/" + filepath.Base(grant.Dir) + "/" + rest
	serveBackend(w, r, &cgi.Handler{Path: o.backend, Logger: errorLog(o.log), Stderr: &lines{log: o.log}}, filepath.Dir(grant.Dir), grant.User, settings)
}

// serveBackend runs git's http-backend for one request, in an environment of our making.
func serveBackend(w http.ResponseWriter, r *http.Request, backend *cgi.Handler, root, user string, settings [][2]string) {
	settings = append(settings, [2]string{"safe.directory", "*"}, [2]string{"core.hooksPath", "/dev/null"})
	env := append(cleanEnvironment(), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	if user != "" {
		env = append(env, "REMOTE_USER="+user)
	}
	for i, one := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, one[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, one[1]))
	}
	if version := r.Header.Get("Git-Protocol"); protocol.MatchString(version) {
		env = append(env, "GIT_PROTOCOL="+version)
	}
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	// The library refuses bodies of unknown length, which larger pushes have; http-backend reads
	// such a body to its end.
	r.TransferEncoding = nil
	backend.Env, backend.InheritEnv = env, []string{}
	backend.ServeHTTP(w, r)
}

// Run runs git in a bare repository, without settings of the user's account, hooks or monitors, and returns what it printed,
// without the end of the last line. The environment is added to the clean one.
func Run(ctx context.Context, dir string, env []string, stdin string, args ...string) (string, error) {
	return run(ctx, command{args: append([]string{"--git-dir", dir}, args...), env: env, stdin: stdin})
}

// Says reports whether an error of Run has a text in what git printed.
func Says(err error, text string) bool { return says(err, text) }

// Full reports whether an error, of Run or of a file, says that the disk or the quota of its user has no room left.
func Full(err error) bool {
	said := slices.ContainsFunc([]string{"No space left on device", "Disk quota exceeded", "Out of diskspace"}, func(text string) bool { return says(err, text) })
	return said || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Init makes an empty bare repository with a default branch, without hooks.
func Init(ctx context.Context, dir, branch string) error { return initialize(ctx, dir, branch) }

// ExitCode is that of a git that ended with an error.
func ExitCode(err error) (int, bool) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, false
	}
	return exit.ExitCode(), true
}
