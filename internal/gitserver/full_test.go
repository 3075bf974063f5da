package gitserver_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

func TestFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "1.git")
	if err := gitserver.Init(t.Context(), dir, "main"); err != nil {
		t.Fatal(err)
	}
	// Git repeats a command that it does not know.
	says := func(text string) error {
		_, err := gitserver.Run(t.Context(), dir, nil, text+"\n", "update-ref", "--stdin")
		if err == nil {
			t.Fatalf("git knows the command %q", text)
		}
		return fmt.Errorf("moving a branch: %w", err)
	}
	cases := map[string]struct {
		err  error
		want bool
	}{
		"None":       {nil, false},
		"Other":      {fs.ErrPermission, false},
		"File":       {errors.Join(nil, &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), true},
		"FileQuota":  {&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, true},
		"Git":        {says("unable to write loose object file: No space left on device"), true},
		"GitQuota":   {says("unable to create 'x.lock': Disk quota exceeded"), true},
		"GitIndex":   {says("sha1 file 'index.lock' write error. Out of diskspace"), true},
		"GitOther":   {says("unable to create 'x.lock': File exists"), false},
		"OnlyQuoted": {errors.New("a branch named No space left on device"), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := gitserver.Full(c.err); got != c.want {
				t.Errorf("Full(%v) = %v, want %v", c.err, got, c.want)
			}
		})
	}
}
