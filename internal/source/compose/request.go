package compose

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// request is an operation that was read.
type request struct {
	alias, from string
	// glob is set where from is a pattern.
	glob *patterns.Path
	// base is what excludes may be relative to beside the root of the source: what stands before the pattern,
	// or the directory that is copied.
	base string
	// strip is taken off the paths of what is copied.
	strip string
	// to is a directory or a file, empty for the root; into reports that only a directory is meant.
	to       string
	into     bool
	exclude  []exclusion
	strategy Strategy
}

// exclusion is a pattern of what is left out.
type exclusion struct {
	text string
	path *patterns.Path
}

// ArtifactAlias is the alias of what is composed.
const ArtifactAlias = "artifact"

// Split reads "@ALIAS/PATH".
func Split(text string) (alias, rest string, err error) {
	alias, rest, found := strings.Cut(text, "/")
	alias, at := strings.CutPrefix(alias, "@")
	if !found || !at || alias == "" {
		return "", "", fmt.Errorf("%q: want @ALIAS/PATH", text)
	}
	return alias, rest, nil
}

func read(operation Copy) (*request, error) {
	r := &request{strategy: operation.Strategy}
	var err error
	if r.alias, r.from, err = Split(operation.From); err == nil {
		err = r.readFrom()
	}
	if err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	if err := r.readTo(operation.To); err != nil {
		return nil, fmt.Errorf("to: %w", err)
	}
	for i, pattern := range operation.Exclude {
		compiled, err := compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("exclude[%d]: %w", i, err)
		}
		r.exclude = append(r.exclude, exclusion{pattern, compiled})
	}
	if !slices.Contains([]Strategy{"", Overwrite, Merge, Extract}, r.strategy) {
		return nil, fmt.Errorf("strategy: %q is not one of %s, %s, %s", r.strategy, Overwrite, Merge, Extract)
	}
	return r, nil
}

func (r *request) readFrom() error {
	named, err := inside(r.from)
	if err != nil {
		return err
	}
	r.from, r.base = named, named
	if !strings.ContainsAny(named, `*?[]{}\`) {
		return nil
	}
	r.base, _ = doublestar.SplitPattern(named)
	if r.base == "." {
		r.base = ""
	}
	// "dir/**" names what is in dir, and any other pattern what it matches.
	if dir, deep := strings.CutSuffix(named, "/**"); deep && dir == r.base {
		r.strip = dir
	}
	r.glob, err = compile(named)
	return err
}

func (r *request) readTo(text string) error {
	alias, rest, err := Split(text)
	if err != nil {
		return err
	}
	if alias != ArtifactAlias {
		return fmt.Errorf("%q: want @%s/PATH", text, ArtifactAlias)
	}
	r.into = rest == "" || strings.HasSuffix(rest, "/")
	r.to, err = inside(rest)
	return err
}

// inside cleans a path, which must not leave the root; the root itself is empty.
func inside(p string) (string, error) {
	if path.IsAbs(p) || slices.Contains(strings.Split(p, "/"), "..") {
		return "", fmt.Errorf("path %q leaves the root", p)
	}
	if p = path.Clean(p); p == "." {
		p = ""
	}
	return p, nil
}

// compile reads a pattern.
func compile(pattern string) (*patterns.Path, error) {
	compiled, err := patterns.NewPath(pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern %q is invalid: %w", pattern, err)
	}
	return compiled, nil
}

// choose returns the paths of the files that an operation copies, sorted.
func (r *request) choose(from *view) ([]string, error) {
	if r.glob != nil {
		return r.match(from)
	}
	if _, file := from.files[r.from]; file {
		return r.one()
	}
	if !from.dirs[r.from] {
		return nil, fmt.Errorf("%q does not exist", r.from)
	}
	if r.strategy == Extract {
		return nil, fmt.Errorf("%q is a directory, and only archives can be extracted", r.from)
	}
	// A directory is copied under its own name.
	if r.strip = path.Dir(r.from); r.strip == "." {
		r.strip = ""
	}
	var chosen []string
	for _, p := range from.paths {
		if below(p, r.from) && !r.leaveOut(p) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// one chooses the file that was named. That it is left out is no failure, as in Flux.
func (r *request) one() ([]string, error) {
	r.base, r.strip = "", r.from
	switch {
	case slices.ContainsFunc(r.exclude, func(e exclusion) bool { return r.excludes(e, r.from) }):
		return nil, nil
	case r.strategy == Extract && !isArchive(r.from):
		return nil, fmt.Errorf("%q is not an archive (.tar.gz, .tgz)", r.from)
	default:
		return []string{r.from}, nil
	}
}

var (
	errNoMatch  = errors.New("nothing matches")
	errExcluded = errors.New("everything that matches is excluded")
)

// match chooses by a pattern: files, and all that is in directories that match.
func (r *request) match(from *view) ([]string, error) {
	matched := map[string]bool{}
	left := false
	for _, entries := range [][]string{from.paths, from.listed} {
		for _, p := range entries {
			if p == r.base || !r.glob.Match(p) {
				continue
			}
			matched[p] = true
			left = left || !r.leaveOut(p)
		}
	}
	switch {
	case len(matched) == 0:
		return nil, fmt.Errorf("%w %q", errNoMatch, r.from)
	case !left:
		return nil, fmt.Errorf("%w %q", errExcluded, r.from)
	}
	var chosen []string
	for _, p := range from.paths {
		if !matchedAbove(matched, p, r.strategy == Extract) || r.leaveOut(p) || r.strategy == Extract && !isArchive(p) {
			continue
		}
		chosen = append(chosen, p)
	}
	return chosen, nil
}

// matchedAbove reports whether a pattern matched a file, or a directory that it is in.
func matchedAbove(matched map[string]bool, p string, itself bool) bool {
	for !matched[p] {
		if p = path.Dir(p); p == "." || itself {
			return false
		}
	}
	return true
}

// leaveOut reports whether an exclude names a file or a directory that it is in.
func (r *request) leaveOut(p string) bool {
	if len(r.exclude) == 0 {
		return false
	}
	for ; p != "." && p != r.base; p = path.Dir(p) {
		if slices.ContainsFunc(r.exclude, func(e exclusion) bool { return r.excludes(e, p) }) {
			return true
		}
	}
	return false
}

func (r *request) excludes(e exclusion, p string) bool {
	if e.path.Match(p) {
		return true
	}
	if !strings.Contains(e.text, "/") && e.path.Match(path.Base(p)) {
		return true
	}
	relative, under := strings.CutPrefix(p, r.base+"/")
	return under && e.path.Match(relative)
}

// below reports whether p lies in a directory.
func below(p, dir string) bool { return dir == "" || strings.HasPrefix(p, dir+"/") }
