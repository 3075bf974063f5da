package scenario

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/kit/sockets"
)

// forge is a client of the Git server that up starts.
type forge struct {
	t             *testing.T
	url, password string
}

// forgeOf finds the Git server by the Secret that people are shown.
func forgeOf(t *testing.T, state string) forge {
	t.Helper()
	var secret *corev1.Secret
	client := clientOf(t, filepath.Join(state, "cluster", "kubeconfig"))
	eventually(t, "the login of the Git server is there", func() (bool, string) {
		var err error
		if secret, err = client.CoreV1().Secrets("gitea").Get(t.Context(), "gitea-credential", metav1.GetOptions{}); err != nil {
			return false, err.Error()
		}
		url := string(secret.Data["url"])
		response, err := http.Get(url + "/api/v1/version")
		if err != nil {
			return false, err.Error()
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK, response.Status
	})
	return forge{t, string(secret.Data["url"]), string(secret.Data["password"])}
}

// ask makes a request, and returns the answer, which has to have the status.
func (f forge) ask(method, path, body string, status int) string {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("giteaAdmin", f.password)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		f.t.Fatalf("%s %s: status %d, want %d, error %v", method, path, res.StatusCode, status, err)
	}
	return string(text)
}

// put creates a file.
func (f forge) put(repository, path, text string) {
	f.t.Helper()
	body := `{"branch": "main", "message": "change", "content": "` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}`
	f.ask(http.MethodPost, "/repos/giteaAdmin/"+repository+"/contents/"+path, body, http.StatusCreated)
}

// git runs git on a repository, with a login or without one.
func (f forge) git(login bool, repository string, args ...string) (string, error) {
	at := f.url + "/giteaAdmin/" + repository + ".git"
	if login {
		at = strings.Replace(at, "http://", "http://giteaAdmin:"+f.password+"@", 1)
	}
	for i := range args {
		args[i] = strings.Replace(args[i], "URL", at, 1)
	}
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// strangers lists what a process listens on. Everything but hooks, which are verified one by one, refuses a request under the name of a site, by which
// a page of a browser reaches it, and what has no permissions of files is known.
func strangers(t *testing.T, p *process, state string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	open, err := sockets.Of(p.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]int{}
	for _, one := range open {
		network, address, _ := strings.Cut(one, " ")
		if network == "unix" && address == filepath.Join(state, "cluster", "sockets", "client.sock") {
			answers["etcd"]++
			continue
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", nil)
		if err != nil || network != "tcp" || !strings.HasPrefix(address, "127.0.0.1:") {
			t.Errorf("it listens on %s", one)
			continue
		}
		request.Host = "evil.example"
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.Body.Close() != nil {
			t.Fatal(err)
		}
		answers[strings.TrimSpace(answer.Status+" "+strings.Split(string(text), "\n")[0])]++
	}
	got := map[string]int{}
	for said, n := range answers {
		switch {
		case strings.HasPrefix(said, "421 "):
			got["refused"] += n
		case strings.Contains(said, "HTTP request to an HTTPS server"):
			got["encrypted"] += n
		case strings.HasPrefix(said, "404 "):
			got["hooks"] += n
		default:
			got[said] += n
		}
	}
	// The Git server, charts, the cloud and metrics; the API server.
	if diff := cmp.Diff(map[string]int{"refused": 4, "encrypted": 1, "hooks": 1, "etcd": 1}, got); diff != "" {
		t.Errorf("requests of a site:\n%s", diff)
	}
}

// TestUpForge uses the Git server that up starts: repositories of the API are deployed by two of their URLs, and a commit is deployed at
// once; directories of packages and the working copy are listed, and refuse pushes; images are pushed and pulled, and hooks hear of them.
// After a restart everything is there that was made, with the same password. Nothing answers strangers.
func TestUpForge(t *testing.T) {
	t.Parallel()
	stack, state := t.TempDir(), shortDir(t)
	writeFile(t, filepath.Join(stack, "database.yaml"), withdrawable("database", "1"))
	writeFile(t, filepath.Join(stack, "database/manifests/size.yaml"), settings("size", "small"))
	charts := t.TempDir()
	writeFile(t, filepath.Join(charts, "web/Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	p := run(t, "up", "--package", stack, "--state-dir", state, "--cloud", "simulated", "--metrics-addr", "127.0.0.1:0", "--receiver-addr", "127.0.0.1:0",
		"--serve-charts", "oci://charts.example/team="+charts)
	client := clientOf(t, filepath.Join(state, "cluster", "kubeconfig"))
	has := func(namespace, name, want string) {
		t.Helper()
		eventually(t, namespace+"/"+name+" is "+want, func() (bool, string) {
			got := configMaps(t, client, namespace)
			return got[name] == want, joined(got)
		})
	}
	has("database", "size", "small")
	f := forgeOf(t, state)

	const mirror = "idpbuilder-localdev-database-manifests"
	if listed := f.ask(http.MethodGet, "/users/giteaAdmin/repos", "", http.StatusOK); !strings.Contains(listed, `"`+mirror+`"`) {
		t.Errorf("the repository of a package is not listed: %s", listed)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := f.git(false, mirror, "ls-remote", "URL"); err == nil {
		t.Errorf("anyone reads the repository of a package:\n%s", out)
	}
	if out, err := f.git(true, mirror, "clone", "-q", "URL", clone); err != nil {
		t.Fatalf("cloning the repository of a package: %v\n%s", err, strings.ReplaceAll(out, f.password, "***"))
	}
	strangers(t, p, state)
	if out, err := f.git(true, mirror, "-C", clone, "push", "URL", "HEAD:refs/heads/other"); err == nil || !strings.Contains(out, "mirrors a directory of a package") {
		t.Errorf("a push to the repository of a package: %v\n%s", err, strings.ReplaceAll(out, f.password, "***"))
	}

	heard := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Package struct{ Name, Version string }
		}
		if json.NewDecoder(r.Body).Decode(&event) == nil {
			heard <- r.Header.Get("X-Gitea-Event") + " " + event.Package.Name + ":" + event.Package.Version
		}
	}))
	defer receiver.Close()
	f.ask(http.MethodPost, "/admin/hooks",
		`{"type": "gitea", "active": true, "events": ["package", "push"], "config": {"url": "`+receiver.URL+`", "content_type": "json", "secret": "of-the-hook"}}`, http.StatusCreated)

	f.ask(http.MethodPost, "/user/repos", `{"name": "made", "auto_init": true}`, http.StatusCreated)
	f.put("made", "manifests/one.yaml", settings("one", "first"))
	f.put("made", "others/three.yaml", settings("three", "third"))
	made := func(name, url, path string) string {
		return strings.NewReplacer("cnoe://"+name+"/manifests", url, "path: .", "path: "+path).Replace(withdrawable(name, "2"))
	}
	writeFile(t, filepath.Join(stack, "made.yaml"), made("made", "https://gitea.cnoe.localtest.me:8443/giteaAdmin/made.git", "manifests"))
	writeFile(t, filepath.Join(stack, "others.yaml"), made("others", f.url+"/giteaAdmin/made.git", "others"))
	has("made", "one", "first")
	has("others", "three", "third")
	f.put("made", "manifests/two.yaml", settings("two", "second"))
	has("made", "two", "second")

	push := func(tag string) {
		t.Helper()
		ref, err := name.ParseReference(strings.TrimPrefix(f.url, "http://")+"/giteaadmin/app:"+tag, name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		image, err := random.Image(100, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(ref, image, remote.WithContext(t.Context()), remote.WithAuth(&authn.Basic{Username: "giteaAdmin", Password: f.password})); err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Image(ref, remote.WithContext(t.Context())); err != nil {
			t.Errorf("pulling an image: %v", err)
		}
		for {
			select {
			case one := <-heard:
				if one == "package app:"+tag {
					return
				}
			case <-t.Context().Done():
				t.Fatalf("no hook heard of app:%s: %v", tag, context.Cause(t.Context()))
			}
		}
	}
	push("v1")
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	p = run(t, "up", "--package", stack, "--state-dir", state)
	p.says("packages")
	again := forgeOf(t, state)
	if again.password != f.password {
		t.Error("a restart changes the password")
	}
	f = again
	client = clientOf(t, filepath.Join(state, "cluster", "kubeconfig"))
	f.put("made", "manifests/four.yaml", settings("four", "fourth"))
	has("made", "four", "fourth")
	push("v2")
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestUpListsWorkingCopy lists the directory that up serves for its user alone.
func TestUpListsWorkingCopy(t *testing.T) {
	t.Parallel()
	state, copied := shortDir(t), t.TempDir()
	writeFile(t, filepath.Join(copied, "size.yaml"), settings("size", "small"))
	p := run(t, "up", copied, "--path", ".", "--state-dir", state)
	client := clientOf(t, filepath.Join(state, "cluster", "kubeconfig"))
	var f forge
	eventually(t, "the working copy is listed", func() (bool, string) {
		secret, err := client.CoreV1().Secrets("kube-system").Get(t.Context(), "headgate-git-server", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		f = forge{t: t, password: string(secret.Data["password"]), url: string(secret.Data["url"])}
		out, err := f.git(true, "repository", "ls-remote", "URL")
		return err == nil && strings.Contains(out, "refs/heads/"), strings.ReplaceAll(out, f.password, "***")
	})
	if out, err := f.git(false, "repository", "ls-remote", "URL"); err == nil {
		t.Errorf("anyone reads the working copy:\n%s", out)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := f.git(true, "repository", "clone", "-q", "URL", clone); err != nil {
		t.Fatalf("cloning the working copy: %v\n%s", err, strings.ReplaceAll(out, f.password, "***"))
	}
	if out, err := f.git(true, "repository", "-C", clone, "push", "URL", "HEAD:refs/heads/other"); err == nil || !strings.Contains(out, "mirrors the directory") {
		t.Errorf("a push to the working copy: %v\n%s", err, strings.ReplaceAll(out, f.password, "***"))
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
