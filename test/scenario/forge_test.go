package scenario

import (
	"encoding/base64"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpForge creates a repository over the API of the Git server that up starts, reads it by git, and has an Application deploy it;
// a commit is deployed.
func TestUpForge(t *testing.T) {
	stack, dir := t.TempDir(), shortDir(t)
	writeFile(t, filepath.Join(stack, "database.yaml"), withdrawable("database", "1"))
	writeFile(t, filepath.Join(stack, "database/manifests/size.yaml"), settings("size", "small"))
	p := run(t, "up", "--package", stack, "--ephemeral", "--state-dir", dir)
	client := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	has := func(namespace, name, want string) {
		t.Helper()
		eventually(t, namespace+"/"+name+" is "+want, func() (bool, string) {
			got := configMaps(t, client, namespace)
			return got[name] == want, joined(got)
		})
	}
	has("database", "size", "small")
	password := secretForPeople(t, dir)
	url := "http://" + gitAddress(t, dir)
	post := func(path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.SetBasicAuth("giteaAdmin", password)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusCreated {
			t.Fatalf("POST %s: status %d, want 201", path, res.StatusCode)
		}
	}
	put := func(path, text string) {
		t.Helper()
		post("/repos/giteaAdmin/made/contents/"+path, `{"branch": "main", "message": "change", "content": "`+base64.StdEncoding.EncodeToString([]byte(text))+`"}`)
	}
	post("/user/repos", `{"name": "made", "auto_init": true}`)
	put("manifests/one.yaml", settings("one", "first"))
	if out, err := exec.CommandContext(t.Context(), "git", "ls-remote", url+"/giteaAdmin/made.git").CombinedOutput(); err != nil || !strings.Contains(string(out), "refs/heads/main") {
		t.Errorf("reading a repository of the API: %v", err)
	}
	made := strings.NewReplacer("cnoe://made/manifests", url+"/giteaAdmin/made.git", "path: .", "path: manifests").Replace(withdrawable("made", "2"))
	writeFile(t, filepath.Join(stack, "made.yaml"), made)
	has("made", "one", "first")
	put("manifests/two.yaml", settings("two", "second"))
	has("made", "two", "second")
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
