package gitserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// branches is how the names of branches begin, tags how those of tags do.
const (
	branches = "refs/heads/"
	tags     = "refs/tags/"
)

// othersOf are the tags of the user's repository, and the branches that are not shown as the working copy, with what they name:
// commits, or objects of their own where a tag is annotated. A folder in a working copy has none, since the commits of the user's
// show all of it.
func (m *Mirror) othersOf(ctx context.Context) (map[string]string, error) {
	refs := map[string]string{}
	if m.git == "" || m.prefix != "" {
		return refs, nil
	}
	out, err := run(ctx, command{args: []string{"--git-dir", m.git, "for-each-ref", "--format=%(objectname) %(refname)", tags, branches}})
	if err != nil {
		return nil, err
	}
	copies := m.copies(m.branch)
	for line := range strings.Lines(out) {
		hash, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if branch, is := strings.CutPrefix(name, branches); ok && (!is || !besides(copies, branch)) {
			refs[name] = hash
		}
	}
	return refs, nil
}

// besides reports whether a branch has one of the names, or is a directory of one or below one, so that there cannot be both.
func besides(names map[string]bool, branch string) bool {
	for name := range names {
		if name == branch || strings.HasPrefix(name, branch+"/") || strings.HasPrefix(branch, name+"/") {
			return true
		}
	}
	return false
}

// showOthers makes our tags and other branches what the user's are, all at once, and reports whether one changed.
func (m *Mirror) showOthers(ctx context.Context) (changed bool, err error) {
	refs, err := m.othersOf(ctx)
	if err != nil || maps.Equal(refs, m.refs) {
		return false, err
	}
	var updates strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.refs)) {
		if refs[name] == "" {
			fmt.Fprintf(&updates, "delete %s\n", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if m.refs[name] != refs[name] {
			fmt.Fprintf(&updates, "update %s %s\n", name, refs[name])
		}
	}
	update := command{args: []string{"--git-dir", m.bare, "update-ref", "--stdin"}, stdin: updates.String()}
	// An interruption would leave locks.
	if _, err := run(context.WithoutCancel(ctx), update); err != nil {
		return false, err
	}
	m.refs = refs
	return true, nil
}

// References are the branches of a working copy.
type References struct {
	// Branch is the one that is checked out, empty for none, and Default that of the remote "origin", if it is known.
	Branch, Default string
	// Local are the branches that there are, and Tags the tags.
	Local, Tags []string
}

// References returns those of the working copy; none for a plain folder, and of a folder in a working copy only what is checked out.
func (m *Mirror) References(ctx context.Context) References {
	var refs References
	if m.git == "" {
		return refs
	}
	short := func(name, prefix string) string {
		out, err := run(ctx, command{args: []string{"--git-dir", m.git, "symbolic-ref", "-q", name}})
		if after, is := strings.CutPrefix(out, prefix); err == nil && is {
			return after
		}
		return ""
	}
	refs.Branch, refs.Default = short("HEAD", branches), short("refs/remotes/origin/HEAD", "refs/remotes/origin/")
	if m.prefix != "" {
		return refs
	}
	out, err := run(ctx, command{args: []string{"--git-dir", m.git, "for-each-ref", "--format=%(refname)", tags, branches}})
	if err != nil {
		return refs
	}
	for line := range strings.Lines(out) {
		name := strings.TrimSpace(line)
		if branch, is := strings.CutPrefix(name, branches); is {
			refs.Local = append(refs.Local, branch)
		} else if tag, is := strings.CutPrefix(name, tags); is {
			refs.Tags = append(refs.Tags, tag)
		}
	}
	return refs
}
