package gitserver_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

func TestLook(t *testing.T) {
	files := map[string]string{
		".gitignore": "*.log\n", "a.yaml": "a", "x.log": "x", "sub/.gitignore": "b.yaml\n", "sub/a.yaml": "a", "sub/b.yaml": "b", "sub/x.log": "x",
	}
	plain := []string{".gitignore", "a.yaml", "sub/.gitignore", "sub/a.yaml"}
	cases := map[string]struct {
		reason string
		git    [][]string
		folder string
		want   gitserver.Shown
		files  []string
	}{
		"folder": {reason: "a plain folder has ignore files as well", want: gitserver.Shown{Branch: "main"}, files: plain},
		"working copy": {
			reason: "what is not committed is shown, and what is committed although it is ignored",
			git:    [][]string{{"init", "-q", "-b", "work"}, {"add", "-f", "x.log"}, {"remote", "add", "origin", "https://me:secret@example.com/a.git"}},
			want:   gitserver.Shown{Branch: "work", Remotes: []string{"https://example.com/a.git"}, References: gitserver.References{Branch: "work"}}, files: append(slices.Clone(plain), "x.log"),
		},
		"branches": {
			reason: "what there is beside the branch that is checked out",
			git: [][]string{
				{"init", "-q", "-b", "work"},
				{"-c", "user.email=a@example.com", "-c", "user.name=a", "commit", "-q", "--allow-empty", "-m", "x"},
				{"branch", "main"},
				{"tag", "v1"},
				{"symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"},
				{"checkout", "-q", "--detach"},
			},
			want: gitserver.Shown{Branch: "main", References: gitserver.References{Default: "main", Local: []string{"main", "work"}, Tags: []string{"v1"}}}, files: plain,
		},
		"part": {
			reason: "paths are those in the folder", git: [][]string{{"init", "-q", "-b", "work"}}, folder: "sub",
			want: gitserver.Shown{Branch: "work", References: gitserver.References{Branch: "work"}}, files: []string{".gitignore", "a.yaml"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range files {
				file := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range c.git {
				if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
			}
			got, err := gitserver.Look(t.Context(), filepath.Join(dir, c.folder))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.files, slices.Sorted(maps.Keys(got.Files))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			got.Files = nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
