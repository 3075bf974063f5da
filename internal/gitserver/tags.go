package gitserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tagsOf are the tags of the user's repository, with what they name: commits, or objects of their own where a tag is
// annotated. A folder in a working copy has none, since the commits of the user's show all of it.
func (m *Mirror) tagsOf(ctx context.Context) (map[string]string, error) {
	tags := map[string]string{}
	if m.git == "" || m.prefix != "" {
		return tags, nil
	}
	out, err := run(ctx, command{args: []string{"--git-dir", m.git, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags"}})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if hash, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			tags[name] = hash
		}
	}
	return tags, nil
}

// showTags makes our tags what the user's are, all at once, and reports whether one changed.
func (m *Mirror) showTags(ctx context.Context) (changed bool, err error) {
	tags, err := m.tagsOf(ctx)
	if err != nil || maps.Equal(tags, m.tags) {
		return false, err
	}
	var updates strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.tags)) {
		if tags[name] == "" {
			fmt.Fprintf(&updates, "delete %s\n", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		if m.tags[name] != tags[name] {
			fmt.Fprintf(&updates, "update %s %s\n", name, tags[name])
		}
	}
	update := command{args: []string{"--git-dir", m.bare, "update-ref", "--stdin"}, stdin: updates.String()}
	// An interruption would leave locks.
	if _, err := run(context.WithoutCancel(ctx), update); err != nil {
		return false, err
	}
	m.tags = tags
	return true, nil
}
