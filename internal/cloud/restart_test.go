package cloud_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/cloud"
)

// boot starts a cloud that is kept in a directory; end is how its process is killed.
func boot(t *testing.T, dir string, clock cloud.Clock) (s *cloud.Server, do *godo.Client, end context.CancelFunc) {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	s, err := cloud.Start(ctx, cloud.Options{Dir: dir, Clock: clock, Limits: cloud.Limits{Hour: -1, Minute: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return s, client(t, s.URL, s.Token()), end
}

// gone waits until a cloud is not reached any more.
func gone(t *testing.T, do *godo.Client) {
	t.Helper()
	for {
		if _, _, err := do.Account.Get(t.Context()); err != nil && status(err) == 0 {
			return
		}
	}
}

// TestNames has the cloud answer under the names of the loopback interface alone.
func TestNames(t *testing.T) {
	s, _, _ := boot(t, filepath.Join(t.TempDir(), "cloud"), cloud.At(began))
	for host, want := range map[string]int{"": http.StatusOK, "evil.example": http.StatusMisdirectedRequest} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v2/account", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		request.Header.Set("Authorization", "Bearer "+s.Token())
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("as %q: %s, want %d", host, answer.Status, want)
		}
	}
}

func TestRestart(t *testing.T) {
	dir, clock := filepath.Join(t.TempDir(), "cloud"), cloud.At(began)
	started, release := make(chan struct{}, 2), make(chan struct{})
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			started <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = w.Write(qcow2(1 << 30))
	}))
	defer images.Close()

	s, do, end := boot(t, dir, clock)
	key := must[*godo.Key](t)(do.Keys.Create(t.Context(), &godo.KeyCreateRequest{Name: "ada", PublicKey: publicKey}))
	r := ubuntu("vm")
	r.UserData, r.Tags = "the user data", []string{"one"}
	d := must[*godo.Droplet](t)(do.Droplets.Create(t.Context(), r))
	image := must[*godo.Image](t)(do.Images.Create(t.Context(), &godo.CustomImageCreateRequest{Name: "x", Url: images.URL + "/x?signature=secret", Region: "fra1"}))
	if err := s.Inject(cloud.Fault{Kind: cloud.Refuse, Path: "/v2/sizes"}, cloud.Fault{Kind: cloud.Refuse, Path: "/v2/regions"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := do.Regions.List(t.Context(), nil); status(err) != 502 {
		t.Errorf("the fault does not apply: %v", err)
	}
	<-started
	before := s.Audit()
	end()
	gone(t, do)

	again, do, _ := boot(t, dir, clock)
	if again.URL != s.URL || again.Token() != s.Token() {
		t.Errorf("it was at %s and is at %s", s.URL, again.URL)
	}
	writes := cloud.Log{}
	for _, e := range before {
		if e.Method != http.MethodGet || len(e.Faults) > 0 {
			writes = append(writes, e)
		}
	}
	if diff := cmp.Diff(writes, again.Audit()); diff != "" {
		t.Errorf("the audit log (-before +after):\n%s", diff)
	}
	close(release)
	again.Settle()
	clock.Advance(time.Minute)
	if got := must[*godo.Droplet](t)(do.Droplets.Get(t.Context(), d.ID)); got.Status != "active" || got.Name != "vm" || !cmp.Equal(got.Tags, []string{"one"}) {
		t.Errorf("the Droplet is %v", got)
	}
	if got := must[*godo.Image](t)(do.Images.GetByID(t.Context(), image.ID)); got.Status != "available" {
		t.Errorf("the image is %s", got.Status)
	}
	if got := must[*godo.Key](t)(do.Keys.GetByID(t.Context(), key.ID)); got.Fingerprint != key.Fingerprint {
		t.Errorf("the key is %v", got)
	}
	if _, _, err := do.Sizes.List(t.Context(), nil); status(err) != 502 {
		t.Errorf("the fault is forgotten: %v", err)
	}
	if _, _, err := do.Regions.List(t.Context(), nil); err != nil {
		t.Errorf("a fault that was used up applies again: %v", err)
	}
	if next := must[*godo.Droplet](t)(do.Droplets.Create(t.Context(), ubuntu("next"))); next.ID <= image.ID {
		t.Errorf("the number %d was given before", next.ID)
	}
	withoutSecrets(t, dir, "the user data")
}

// withoutSecrets searches the files of a cloud, which only their owner reads.
func withoutSecrets(t *testing.T, dir, secret string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files and directories, %v", len(files), err)
	}
	for _, f := range files {
		if f.IsDir() { // the buckets, which have nothing that no one stored
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), secret) || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v and the content %s", f.Name(), info.Mode(), data)
		}
	}
}

// TestKilledBetweenFiles is a process that stored a state, and half of the entry that explains it.
func TestKilledBetweenFiles(t *testing.T) {
	dir, clock := t.TempDir(), cloud.At(began)
	s, do, end := boot(t, dir, clock)
	must[*godo.Droplet](t)(do.Droplets.Create(t.Context(), ubuntu("one")))
	must[*godo.Droplet](t)(do.Droplets.Create(t.Context(), ubuntu("two")))
	want := s.Audit()
	end()
	log := filepath.Join(dir, "audit.jsonl")
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, data[:len(data)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	gone(t, do)
	for _, name := range []string{"three", "four"} {
		again, do, end := boot(t, dir, clock)
		if diff := cmp.Diff(want, again.Audit()); diff != "" {
			t.Errorf("the audit log before %s (-before +after):\n%s", name, diff)
		}
		must[*godo.Droplet](t)(do.Droplets.Create(t.Context(), ubuntu(name)))
		want = again.Audit()
		end()
		gone(t, do)
	}
}

func TestUnreadableState(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cloud.New(t.Context(), cloud.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error is %v", err)
	}
}
