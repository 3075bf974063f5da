package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/promote/plan"
)

func TestWriteAndCompose(t *testing.T) {
	f := &forge{runner: &Runner{}}
	w := f.work(t, "p")
	const write = `{"path": "a/b.json", "contents": "{}", "permissions": "0644"}`
	w = f.run(t, w, "file-write", write)
	w = f.run(t, w, "file-write", write)
	info, err := os.Stat(filepath.Join(w.Dir, files, "a/b.json"))
	if err != nil || info.Mode().Perm() != 0o644 || get(t, w, "a/b.json") != "{}" {
		t.Errorf("the file is %v: %v", info, err)
	}
	w = f.run(t, w, "file-write", `{"path": "a/b.json", "contents": "", "overwrite": true}`)
	if got := get(t, w, "a/b.json"); got != "" {
		t.Errorf("the file has %q", got)
	}
	for name, tc := range map[string]struct{ uses, config, want string }{
		"Another":     {"file-write", `{"path": "a/b.json", "contents": "other"}`, "overwrite"},
		"Nothing":     {"file-write", `{"path": "c"}`, "contents"},
		"Permissions": {"file-write", `{"path": "c", "contents": "", "permissions": "4755"}`, "permissions"},
		"Escape":      {"file-write", `{"path": "../c", "contents": ""}`, "leaves"},
		"NoOutputs":   {"compose-output", `{}`, "no outputs"},
		"Large":       {"compose-output", fmt.Sprintf(`{"a": %q}`, strings.Repeat("a", 200_000)), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			if result := f.try(t, w, tc.uses, tc.config); result.Status != plan.StepFailed || !strings.Contains(result.Message, tc.want) {
				t.Errorf("it is %s: %q, want %q", result.Status, result.Message, tc.want)
			}
		})
	}
	composed := f.try(t, w, "compose-output", `{"a": "b", "c": {"d": 1}}`)
	if diff := cmp.Diff(map[string]any{"a": "b", "c": map[string]any{"d": 1.0}}, composed.Output); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

func TestSparse(t *testing.T) {
	f := serve(t)
	w := f.run(t, f.work(t, "all"), "git-clone", clone(f.url, "main", false))
	put(t, w, "repo/apps/web/a", "1")
	put(t, w, "repo/apps/other/b", "1")
	w = f.run(t, w, "git-commit", `{"path": "repo", "message": "apps"}`)
	f.run(t, w, "git-push", `{"path": "repo"}`)
	sparse := func(dir string) string {
		return fmt.Sprintf(`{"repoURL": %q, "checkout": [{"branch": "main", "path": "repo", "sparse": [%q]}]}`, f.url, dir)
	}
	w = f.run(t, f.work(t, "sparse"), "git-clone", sparse("apps/web"))
	if _, err := os.Stat(filepath.Join(w.Dir, files, "repo/apps/other")); !os.IsNotExist(err) {
		t.Errorf("a directory that was not asked for is there: %v", err)
	}
	put(t, w, "repo/apps/web/a", "2")
	w = f.run(t, w, "git-commit", `{"path": "repo", "message": "web"}`)
	f.run(t, w, "git-push", `{"path": "repo"}`)
	w = f.run(t, f.work(t, "after"), "git-clone", clone(f.url, "main", false))
	if get(t, w, "repo/apps/web/a") != "2" || get(t, w, "repo/apps/other/b") != "1" {
		t.Error("a sparse checkout changed other files")
	}
	for _, dir := range []string{"*.yaml", "../x", "--stdin", ".git"} {
		if result := f.try(t, f.work(t, "refused"), "git-clone", sparse(dir)); result.Status != plan.StepFailed || !strings.Contains(result.Message, "sparse[0]") {
			t.Errorf("%q is %s: %s", dir, result.Status, result.Message)
		}
	}
}
