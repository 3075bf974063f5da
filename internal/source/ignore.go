package source

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// What Flux leaves out of every artifact, and what it leaves out of one that has no rules of its
// own.
const (
	ignoreVCS      = ".git/\n.gitignore\n.gitmodules\n.gitattributes"
	ignoreDefaults = "*.jpg\n*.jpeg\n*.gif\n*.png\n*.wmv\n*.flv\n*.tar.gz\n*.zip\n" +
		".circleci/\n.github/\n.travis.yml\n.gitlab-ci.yml\nappveyor.yml\n.drone.yml\ncloudbuild.yaml\n" +
		"codeship-services.yml\ncodeship-steps.yml\n" +
		"**/.goreleaser.yml\n**/.sops.yaml\n**/.flux.yaml"
)

// KeepAll are rules by which nothing is left out but Git's own directory: neither the defaults count, which come back
// where there is no rule at all, nor files with rules.
const KeepAll = "!*\n.git/\n"

// ignoreFile is the name of files with rules of the directory they are in.
const ignoreFile = ".sourceignore"

// Filter leaves out the files that Flux leaves out: those of version control, and those that the
// rules in .sourceignore files and in spec.ignore name. Only where there is no such rule, the
// defaults count: pictures, archives, files of CI systems. A later rule wins over an earlier one,
// spec.ignore over all.
func Filter(files []*File, spec *string) ([]*File, error) {
	contents := map[string]*File{}
	for _, f := range files {
		if path.Base(f.Path) == ignoreFile && f.Link == "" {
			contents[f.Path] = f
		}
	}
	r, err := readRules(slices.Collect(maps.Keys(contents)), spec, func(p string) ([]byte, error) { return contents[p].Read() })
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return r.leaveOut(f.Path) }), nil
}

// rules say which files are left out.
type rules struct{ matcher gitignore.Matcher }

// readRules reads the .sourceignore files at paths.
func readRules(paths []string, spec *string, read func(string) ([]byte, error)) (*rules, error) {
	var own []gitignore.Pattern
	// A directory's rules come before those of the directories in it.
	slices.SortFunc(paths, func(a, b string) int { return slices.Compare(domain(a), domain(b)) })
	for _, p := range paths {
		data, err := read(p)
		if err != nil {
			return nil, fmt.Errorf("reading the rules of %q: %w", p, err)
		}
		own = append(own, ignorePatterns(string(data), domain(p))...)
	}
	if spec != nil {
		own = append(own, ignorePatterns(*spec, nil)...)
	}
	if len(own) == 0 {
		own = ignorePatterns(ignoreDefaults, nil)
	}
	return matching(append(ignorePatterns(ignoreVCS, nil), own...)), nil
}

func matching(list []gitignore.Pattern) *rules { return &rules{matcher: gitignore.NewMatcher(list)} }

func (r *rules) leaveOut(p string) bool { return r.matcher.Match(strings.Split(p, "/"), false) }

// domain is the directory that the rules in file p are about.
func domain(p string) []string {
	dir := path.Dir(p)
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

func ignorePatterns(text string, domain []string) []gitignore.Pattern {
	var list []gitignore.Pattern
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		list = append(list, gitignore.ParsePattern(line, domain))
	}
	return list
}
