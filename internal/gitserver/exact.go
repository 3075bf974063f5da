package gitserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// File is one file of a repository that is shown exactly.
type File struct {
	// Path is relative to the root of the repository, with slashes.
	Path string
	// Executable reports whether its owner may execute it.
	Executable bool
	// Content reads all of it.
	Content func() ([]byte, error)
}

// Exact serves a repository whose branch main has exactly these files: what another call showed is gone, ignore files and the
// settings of users have no effect, and nothing that the files configure is run. Equal files give equal commits. It refuses pushes, as mirrors do.
// changed is set when the files are others than those of the last call.
func (s *Server) Exact(ctx context.Context, repo string, files []File) (revision string, changed bool, err error) {
	if err := s.CreateRepo(ctx, repo); err != nil {
		return "", false, err
	}
	s.mu.Lock()
	s.mirrors[repo] = true
	s.mu.Unlock()
	before := s.revision(ctx, repo)
	// An interruption would leave a lock; this takes milliseconds.
	if err := s.importFiles(context.WithoutCancel(ctx), repo, files); err != nil {
		return "", false, fmt.Errorf("writing repository %q: %w", repo, err)
	}
	revision = s.revision(ctx, repo)
	return revision, revision != before, nil
}

// Dir is the bare repository of that name.
func (s *Server) Dir(repo string) string { return s.path(repo) }

// revision is what the branch main is; empty if there is none.
func (s *Server) revision(ctx context.Context, repo string) string {
	out, err := run(ctx, command{args: []string{"--git-dir", s.path(repo), "rev-parse", "--verify", "-q", "refs/heads/" + defaultBranch}})
	if err != nil {
		return ""
	}
	return out
}

// importFiles makes a commit without a parent of the files, and the branch names it.
func (s *Server) importFiles(ctx context.Context, repo string, files []File) error {
	cmd := exec.CommandContext(ctx, "git", "-c", "core.hooksPath=/dev/null", "--git-dir", s.path(repo), "fast-import", "--quiet", "--force")
	cmd.Env = cleanEnvironment()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	written := writeCommit(in, files)
	if written != nil {
		// Without the word done, nothing that was read comes into effect.
		_ = cmd.Process.Kill()
	}
	closed := in.Close()
	if err := cmd.Wait(); err != nil && written == nil {
		return fmt.Errorf("running git fast-import: %w: %s", err, firstLine(said.String()))
	}
	if written != nil {
		return written
	}
	return closed
}

// writeCommit writes the commands of git fast-import for one commit.
func writeCommit(w io.Writer, files []File) error {
	const message = "files of the directory\n"
	header := "feature done\ncommit refs/heads/" + defaultBranch + "\ncommitter headgate <headgate@localhost> 1700000000 +0000\n" +
		"data " + strconv.Itoa(len(message)) + "\n" + message + "deleteall\n"
	if _, err := io.WriteString(w, header); err != nil {
		return err
	}
	for _, f := range files {
		content, err := f.Content()
		if err != nil {
			return fmt.Errorf("reading %q: %w", f.Path, err)
		}
		mode := "100644"
		if f.Executable {
			mode = "100755"
		}
		if _, err := fmt.Fprintf(w, "M %s inline %s\ndata %d\n", mode, quoted(f.Path), len(content)); err != nil {
			return err
		}
		if _, err := w.Write(append(content, '\n')); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "done\n")
	return err
}

// quoted is a path in the quotes of git.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
