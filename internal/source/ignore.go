package source

import (
	"fmt"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// What Flux leaves out of every artifact, and what it leaves out unless spec.ignore says otherwise.
const (
	ignoreVCS      = ".git/\n.gitignore\n.gitmodules\n.gitattributes"
	ignoreDefaults = "*.jpg\n*.jpeg\n*.gif\n*.png\n*.wmv\n*.flv\n*.tar.gz\n*.zip\n" +
		".circleci/\n.github/\n.travis.yml\n.gitlab-ci.yml\nappveyor.yml\n.drone.yml\ncloudbuild.yaml\n" +
		"codeship-services.yml\ncodeship-steps.yml\n" +
		"**/.goreleaser.yml\n**/.sops.yaml\n**/.flux.yaml"
)

// ignoreFile is the name of files with rules of the directory they are in.
const ignoreFile = ".sourceignore"

// Filter leaves out the files that Flux leaves out: by its defaults, by .sourceignore files, and by
// spec.ignore, which takes the place of the defaults but for those of version control.
func Filter(files []*File, spec *string) ([]*File, error) {
	patterns := parsePatterns(ignoreVCS, nil)
	if spec == nil {
		patterns = append(patterns, parsePatterns(ignoreDefaults, nil)...)
	}
	for _, f := range files {
		if path.Base(f.Path) != ignoreFile || f.Link != "" {
			continue
		}
		data, err := f.Read()
		if err != nil {
			return nil, fmt.Errorf("reading the rules of %q: %w", f.Path, err)
		}
		var domain []string
		if dir := path.Dir(f.Path); dir != "." {
			domain = strings.Split(dir, "/")
		}
		patterns = append(patterns, parsePatterns(string(data), domain)...)
	}
	if spec != nil {
		patterns = append(patterns, parsePatterns(*spec, nil)...)
	}
	matcher := gitignore.NewMatcher(patterns)
	kept := make([]*File, 0, len(files))
	for _, f := range files {
		if !matcher.Match(strings.Split(f.Path, "/"), false) {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

func parsePatterns(text string, domain []string) []gitignore.Pattern {
	var patterns []gitignore.Pattern
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		patterns = append(patterns, gitignore.ParsePattern(line, domain))
	}
	return patterns
}
