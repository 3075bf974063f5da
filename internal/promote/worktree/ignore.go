package worktree

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Bounds of the rules by which files are ignored.
const (
	maxRules     = 2000
	maxRuleBytes = 1 << 20
	ignoreFile   = ".gitignore"
)

// rules are those that hold in a directory, the ones of the directories above it first.
type rules []gitignore.Pattern

// below adds the rules that a directory has for itself.
func (r rules) below(root *os.Root, at string) (rules, error) {
	name := path.Join(at, ignoreFile)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return r, nil
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxRuleBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxRuleBytes {
		return nil, fmt.Errorf("%w: %q has more than %d bytes", errLarge, name, maxRuleBytes)
	}
	all := r[:len(r):len(r)]
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(all) == maxRules {
			return nil, fmt.Errorf("%w: %q and those above it have more than %d rules", errLarge, name, maxRules)
		}
		all = append(all, gitignore.ParsePattern(line, parts(at)))
	}
	return all, nil
}

// ignore reports whether a file that no commit has is left out.
func (r rules) ignore(at string, dir bool) bool {
	return len(r) > 0 && gitignore.NewMatcher(r).Match(parts(at), dir)
}

func parts(at string) []string {
	if at == "." {
		return nil
	}
	return strings.Split(at, "/")
}
