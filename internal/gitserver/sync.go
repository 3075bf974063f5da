package gitserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sync serves the current state of the working copy: its commit if it is clean, else a new commit on
// top of that with everything that is not ignored. Equal contents give equal commits. The tags and the other branches are
// those of the working copy; changed is set when one of them is another one, too.
func (m *Mirror) Sync(ctx context.Context) (revision string, changed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head, branch := m.head(ctx)
	revision, err = m.snapshot(ctx, head, branch)
	if err != nil {
		return "", false, fmt.Errorf("reading %q: %w", m.Root(), err)
	}
	if revision != m.last || branch != m.branch {
		if err := m.show(ctx, revision, branch); err != nil {
			return "", false, fmt.Errorf("showing %q: %w", m.Root(), err)
		}
		changed = revision != m.last
		m.last = revision
	}
	others, err := m.showOthers(ctx)
	if err != nil {
		return "", false, fmt.Errorf("showing the tags and branches of %q: %w", m.Root(), err)
	}
	return revision, changed || others, nil
}

// Revision is what is served now.
func (m *Mirror) Revision() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// Changed are the files that differ between two revisions that were served, relative to the root of what is shown.
func (m *Mirror) Changed(ctx context.Context, before, after string) ([]string, error) {
	out, err := run(ctx, command{args: []string{"--git-dir", m.bare, "diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after}})
	if err != nil {
		return nil, fmt.Errorf("comparing %q with %q: %w", before, after, err)
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}

// head returns the commit that is checked out, if any, and its branch. A working copy that is on no
// branch, as in the middle of a rebase, shows itself under the branch that it was on.
func (m *Mirror) head(ctx context.Context) (commit, branch string) {
	branch = m.branch
	if m.git == "" {
		return "", branch
	}
	if name, err := run(ctx, command{args: []string{"--git-dir", m.git, "symbolic-ref", "-q", "HEAD"}}); err == nil {
		if short, ok := strings.CutPrefix(name, "refs/heads/"); ok {
			branch = short
		}
	}
	commit, err := run(ctx, command{args: []string{"--git-dir", m.git, "rev-parse", "--verify", "-q", "HEAD^{commit}"}})
	if err != nil {
		return "", branch
	}
	return commit, branch
}

// snapshot writes the working copy into the mirror, through a separate index, and returns the
// commit that shows it.
func (m *Mirror) snapshot(ctx context.Context, head, branch string) (string, error) {
	// An interrupted snapshot leaves its lock. Nothing else writes this index.
	if err := os.Remove(m.index() + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := m.refresh(ctx); err != nil {
		return "", err
	}
	if err := m.add(ctx); err != nil {
		return "", err
	}
	tree, err := m.writeTree(ctx)
	if err != nil {
		return "", err
	}
	if m.prefix != "" {
		// The commits of the user contain the whole working copy, so that a new one is needed.
		return m.commit(ctx, tree, "", branch)
	}
	if head != "" {
		committed, err := run(ctx, command{args: []string{"--git-dir", m.bare, "rev-parse", head + "^{tree}"}})
		if err != nil {
			return "", err
		}
		if committed == tree {
			return head, nil
		}
	}
	return m.commit(ctx, tree, head, branch)
}

// commit makes a commit that depends on its tree, its parent and its branch only.
func (m *Mirror) commit(ctx context.Context, tree, head, branch string) (string, error) {
	const who, when = "headgate", "1700000000 +0000"
	args := []string{"--git-dir", m.bare, "commit-tree", tree, "-m", "working tree of " + branch}
	if head != "" {
		args = append(args, "-p", head)
	}
	return run(ctx, command{args: args, env: []string{
		"GIT_AUTHOR_NAME=" + who, "GIT_AUTHOR_EMAIL=headgate@localhost", "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + who, "GIT_COMMITTER_EMAIL=headgate@localhost", "GIT_COMMITTER_DATE=" + when,
	}})
}

// keepRecent is how many revisions can still be fetched by a client that knows them.
const keepRecent = 16

// show makes a revision what the branches are, all at once.
func (m *Mirror) show(ctx context.Context, revision, branch string) error {
	if m.first == "" {
		m.first = branch
	}
	// An interruption would leave locks here too, of references; this takes milliseconds.
	ctx = context.WithoutCancel(ctx)
	var updates strings.Builder
	names := m.copies(branch)
	for name := range names {
		fmt.Fprintf(&updates, "update refs/heads/%s %s\n", name, revision)
		// What is shown there now is the working copy, whatever the user's branch has.
		delete(m.refs, branches+name)
	}
	if !names[m.branch] {
		fmt.Fprintf(&updates, "delete refs/heads/%s\n", m.branch)
	}
	fmt.Fprintf(&updates, "update %s/%d %s\n", recent, m.count%keepRecent, revision)
	update := command{args: []string{"--git-dir", m.bare, "update-ref", "--stdin"}, stdin: updates.String()}
	if _, err := run(ctx, update); err != nil {
		return err
	}
	head := []string{"--git-dir", m.bare, "symbolic-ref", "HEAD", "refs/heads/" + branch}
	if _, err := run(ctx, command{args: head}); err != nil {
		return err
	}
	m.count++
	m.branch = branch
	return nil
}

// copies are the branches under which the working copy is shown when it is on one.
func (m *Mirror) copies(branch string) map[string]bool {
	names := map[string]bool{m.first: true, branch: true}
	if m.also != "" {
		names[m.also] = true
	}
	return names
}

// index is our index of the working copy. It is kept between snapshots, so that only files that
// changed are read.
func (m *Mirror) index() string { return filepath.Join(m.bare, "headgate-index") }

// inWork runs git on the working copy, with our repository, our index and our objects only.
func (m *Mirror) inWork(ctx context.Context, args ...string) (string, error) {
	return run(ctx, m.workCommand("", args...))
}

func (m *Mirror) workCommand(stdin string, args ...string) command {
	all := append([]string{"-C", m.work, "--git-dir", m.bare, "--work-tree", m.work, "-c", "core.splitIndex=false"}, m.flags...)
	env := []string{"GIT_INDEX_FILE=" + m.index(), "GIT_OBJECT_DIRECTORY=" + m.objects()}
	return command{args: append(all, args...), env: env, stdin: stdin}
}

// folder is the part of the working copy that is shown, as a pattern of git.
func (m *Mirror) folder() string { return ":(top,literal)" + m.prefix }

// add brings what is in the working copy into our index. Submodules and other repositories inside it
// are left out: git would run programs that they configure.
func (m *Mirror) add(ctx context.Context) error {
	others, err := m.inWork(ctx, "ls-files", "-z", "--others", "--exclude-standard", "--", m.folder())
	if err != nil {
		return err
	}
	args := []string{"add", "--all", "--", m.folder()}
	for name := range strings.SplitSeq(others, "\x00") {
		if strings.HasSuffix(name, "/") {
			args = append(args, ":(top,exclude,literal)"+strings.TrimSuffix(name, "/"))
		}
	}
	for _, name := range m.modules {
		args = append(args, ":(top,exclude,literal)"+name)
	}
	_, err = m.inWork(ctx, args...)
	if m.prefix != "" && says(err, "did not match any file") {
		return nil
	}
	return err
}

func (m *Mirror) writeTree(ctx context.Context) (string, error) {
	args := []string{"write-tree", "--missing-ok"}
	if m.prefix != "" {
		args = append(args, "--prefix="+m.prefix)
	}
	tree, err := m.inWork(ctx, args...)
	if m.prefix != "" && says(err, "not found") {
		// The folder holds nothing that is not ignored.
		return m.inWork(ctx, "hash-object", "-t", "tree", "-w", "/dev/null")
	}
	return tree, err
}
