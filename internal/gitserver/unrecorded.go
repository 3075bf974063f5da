package gitserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Unrecorded are the files of what a Mirror shows that the commit which is checked out does not have as they are. A clone of the
// repository has none of it.
type Unrecorded struct {
	// Changed counts the files that were changed, deleted or only added to the index; Untracked are those that Git does not know, relative to
	// the root of what is shown.
	Changed   int
	Untracked []string
}

// maxUntracked is how many files a text names.
const maxUntracked = 3

// String says how much there is, and what a cluster will not see; empty where everything is committed.
func (u Unrecorded) String() string {
	var parts []string
	if u.Changed > 0 {
		parts = append(parts, fmt.Sprintf("%d changed", u.Changed))
	}
	if len(u.Untracked) > 0 {
		parts = append(parts, fmt.Sprintf("%d untracked", len(u.Untracked)))
	}
	text := strings.Join(parts, ", ")
	if len(u.Untracked) == 0 {
		return text
	}
	text += ": a cluster will not see " + strings.Join(u.Untracked[:min(len(u.Untracked), maxUntracked)], ", ")
	if more := len(u.Untracked) - maxUntracked; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Unrecorded compares what is shown with the commit that is checked out. A folder without commits has nothing that could lack.
func (m *Mirror) Unrecorded(ctx context.Context) (Unrecorded, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var u Unrecorded
	head, _ := m.head(ctx)
	if head == "" || m.last == "" || head == m.last {
		return u, nil
	}
	differ, err := run(ctx, command{args: []string{"--git-dir", m.bare, "diff-tree", "-r", "-z", "--name-only", "--no-renames", head + ":" + m.prefix, m.last + "^{tree}"}})
	if err != nil {
		return u, fmt.Errorf("comparing %q with its commit: %w", m.Root(), err)
	}
	args := append([]string{"-C", m.work, "--git-dir", m.git, "--work-tree", m.work}, m.flags...)
	others, err := run(ctx, command{args: append(args, "ls-files", "-z", "--others", "--exclude-standard", "--", m.folder())})
	if err != nil {
		return u, fmt.Errorf("listing what is untracked in %q: %w", m.Root(), err)
	}
	untracked := map[string]bool{}
	for name := range strings.SplitSeq(others, "\x00") {
		untracked[strings.TrimPrefix(name, m.prefix)] = true
	}
	for name := range strings.SplitSeq(differ, "\x00") {
		switch {
		case name == "":
		case untracked[name]:
			u.Untracked = append(u.Untracked, name)
		default:
			u.Changed++
		}
	}
	slices.Sort(u.Untracked)
	return u, nil
}
