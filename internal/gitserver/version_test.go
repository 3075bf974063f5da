package gitserver_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// TestOldGit refuses to read a directory with a git that ignores what keeps it from running programs.
func TestOldGit(t *testing.T) {
	dir := workingCopy(t)
	s := start(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for version, old := range map[string]bool{
		"2.34.1": true, "2.37.7": true, "1.9": true, "unknown": true, "2.38.0": false, "2.39.5 (Apple Git-154)": false, "2.50.1.windows.1": false, "3.0": false, "10.1": false,
	} {
		t.Run(version, func(t *testing.T) {
			bin := t.TempDir()
			script := fmt.Sprintf("#!/bin/sh\ncase $1 in version) echo 'git version %s';; *) exec %s \"$@\";; esac\n", version, real)
			if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			_, looked := gitserver.Look(t.Context(), dir)
			_, mirrored := s.Mirror(t.Context(), "copy", dir)
			for _, err := range []error{gitserver.Current(t.Context()), looked, mirrored} {
				switch {
				case !old && err != nil:
					t.Error(err)
				case old && (!errors.Is(err, gitserver.ErrOld) || !strings.Contains(err.Error(), version) || !strings.Contains(err.Error(), "install git 2.38 or newer")):
					t.Errorf("the error is %v", err)
				}
			}
		})
	}
}
