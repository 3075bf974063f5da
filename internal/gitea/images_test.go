package gitea

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// told is what the receiver of a hook got.
type told struct {
	event  string
	fields map[string]any
}

// ask makes a request of the API as the administrator.
func ask(t *testing.T, at, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, at+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("giteaAdmin", "s3cr3t-pass")
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestImages pushes an image by docker's token flow with accounts of the Git server, and has hooks of the system and of an
// organisation hear of it.
func TestImages(t *testing.T) {
	rules, err := egress.Parse(egress.Loopback)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), Config{Dir: t.TempDir(), Client: rules.Client(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EnsureAdmin("giteaAdmin", "admin@example.com", "s3cr3t-pass"); err != nil {
		t.Fatal(err)
	}
	if err := s.ServeImages(t.Context()); err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	defer listening.Close()

	got := make(chan told, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := webhook.New(webhook.Config{Find: func(path string) (webhook.Hook, bool) {
			return webhook.Hook{Name: path, Type: "github", Token: "key", Deliver: func(_ context.Context, d webhook.Delivery) error {
				fields, err := d.Payload()
				got <- told{path + " " + d.Event, fields}
				return err
			}}, true
		}})
		handler.ServeHTTP(w, r)
	}))
	defer receiver.Close()
	hook := func(path string) string {
		return fmt.Sprintf(`{"type":"gitea","active":true,"events":["package"],"config":{"url":"%s%s","content_type":"json","secret":"key"}}`, receiver.URL, path)
	}
	for _, step := range []struct{ path, body string }{
		{"/orgs", `{"username":"team"}`}, {"/admin/hooks", hook("/system")}, {"/orgs/team/hooks", hook("/team")},
	} {
		if status, text := ask(t, listening.URL, http.MethodPost, step.path, step.body); status != http.StatusCreated {
			t.Fatalf("POST %s answers %d %s", step.path, status, text)
		}
	}

	ref, err := name.ParseReference(strings.TrimPrefix(listening.URL, "http://")+"/team/app:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	wrong := remote.WithAuth(&authn.Basic{Username: "giteaAdmin", Password: "wrong"})
	if err := remote.Write(ref, image, remote.WithContext(t.Context()), wrong); err == nil {
		t.Error("a wrong password pushes")
	}
	right := remote.WithAuth(&authn.Basic{Username: "giteaAdmin", Password: "s3cr3t-pass"})
	if err := remote.Write(ref, image, remote.WithContext(t.Context()), right); err != nil {
		t.Fatal(err)
	}
	heard := map[string]bool{}
	for range 2 {
		one := <-got
		heard[one.event] = true
		pack, _ := one.fields["package"].(map[string]any)
		owner, _ := one.fields["organization"].(map[string]any)
		sender, _ := one.fields["sender"].(map[string]any)
		if one.fields["action"] != "created" || pack["name"] != "app" || pack["version"] != "v1" || owner["username"] != "team" || sender["login"] != "giteaAdmin" {
			t.Errorf("%s got %v", one.event, one.fields)
		}
	}
	if !heard["/system package"] || !heard["/team package"] {
		t.Errorf("these heard of the image: %v", heard)
	}
	if _, err := remote.Image(ref, remote.WithContext(t.Context())); err != nil {
		t.Errorf("an image of a public organisation is not pulled: %v", err)
	}
	status, text := ask(t, listening.URL, http.MethodGet, "/packages/team", "")
	var listed []struct{ Name, Version string }
	if err := json.Unmarshal([]byte(text), &listed); err != nil || status != http.StatusOK || len(listed) != 1 || listed[0].Name != "app" {
		t.Errorf("the packages are %d %s", status, text)
	}
	var latest struct{ Name, Version string }
	status, text = ask(t, listening.URL, http.MethodGet, "/packages/team/container/app/-/latest", "")
	if err := json.Unmarshal([]byte(text), &latest); err != nil || status != http.StatusOK || latest.Version != "v1" {
		t.Errorf("the latest version is %d %s", status, text)
	}
	if status, text := ask(t, listening.URL, http.MethodGet, "/packages/team/container/none/-/latest", ""); status != http.StatusNotFound {
		t.Errorf("the latest version of no image is %d %s", status, text)
	}
	if status, text := ask(t, listening.URL, http.MethodDelete, "/packages/team/container/app/v1", ""); status != http.StatusNoContent {
		t.Errorf("deleting the package answers %d %s", status, text)
	}
	if one := <-got; one.fields["action"] != "deleted" {
		t.Errorf("%s got %v", one.event, one.fields)
	}
}
