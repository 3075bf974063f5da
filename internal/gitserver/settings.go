package gitserver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// harmless are the settings of the user's that say how files are read, and run nothing.
const harmless = `^core\.(filemode|symlinks|ignorecase|precomposeunicode|trustctime|checkstat|autocrlf|eol)$`

// readFlags reads those settings of a working copy or a folder, and where the user's account keeps
// its list of ignored files, as arguments of git.
func readFlags(ctx context.Context, dir string) []string {
	var flags []string
	out, err := run(ctx, command{args: []string{"-C", dir, "config", "-z", "--get-regexp", harmless}, user: true})
	if err == nil {
		for entry := range strings.SplitSeq(out, "\x00") {
			if name, value, ok := strings.Cut(entry, "\n"); ok {
				flags = append(flags, "-c", name+"="+value)
			}
		}
	}
	list, err := run(ctx, command{args: []string{"-C", dir, "config", "--type=path", "--get", "core.excludesFile"}, user: true})
	if err != nil {
		list = defaultExcludes()
	}
	if list != "" {
		flags = append(flags, "-c", "core.excludesFile="+list)
	}
	return flags
}

// defaultExcludes is the list of ignored files that git uses by default.
func defaultExcludes() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", "ignore")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "git", "ignore")
}
