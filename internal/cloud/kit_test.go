package cloud_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"golang.org/x/oauth2"

	"github.com/headgate-dev/headgate/internal/cloud"
)

// began is when the clock of a test starts.
var began = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const (
	token     = "the-token"
	readToken = "the-read-token"
	publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPPGDUUVMfqyB7M2RH8pAqhuXj5ut8LZ8STlZcKXzxT5 ada@example.com"
	otherKey  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINLEQdiyZ9P3rWbKHGwGvb8wZPGhPzHkCfXU9uT3ZbYc bob@example.com"
)

// account is a cloud with a clock that the test holds, and the clients of it.
type account struct {
	*testing.T
	*cloud.Server
	do    *godo.Client
	clock *cloud.Manual
}

func start(t *testing.T, change ...func(*cloud.Options)) *account {
	t.Helper()
	clock := cloud.At(began)
	o := cloud.Options{
		Token: token, ReadToken: readToken, Clock: clock,
		Timing: cloud.Timing{Create: time.Minute, Act: 10 * time.Second, Destroy: 10 * time.Second, Queue: time.Minute, Import: 5 * time.Minute},
	}
	for _, c := range change {
		c(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s, err := cloud.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return &account{T: t, Server: s, do: client(t, s.URL, token), clock: clock}
}

// client is the real client, without its retries.
func client(t *testing.T, url, token string) *godo.Client {
	t.Helper()
	c, err := godo.New(oauth2.NewClient(t.Context(), oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})), godo.SetBaseURL(url+"/"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// must fails the test on an error.
func must[T any](t *testing.T) func(T, *godo.Response, error) T {
	t.Helper()
	return func(got T, _ *godo.Response, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// status is that of the answer behind an error, 0 for none.
func status(err error) int {
	var refused *godo.ErrorResponse
	if errors.As(err, &refused) {
		return refused.Response.StatusCode
	}
	return 0
}

// refused checks the answer behind an error.
func refused(t *testing.T, err error, want int, message string) {
	t.Helper()
	var r *godo.ErrorResponse
	if !errors.As(err, &r) {
		t.Fatalf("error %v, want the status %d and %q", err, want, message)
	}
	if r.Response.StatusCode != want || r.Message != message {
		t.Errorf("status %d, message %q; want %d, %q", r.Response.StatusCode, r.Message, want, message)
	}
	if r.RequestID == "" || r.RequestID != r.Response.Header.Get("X-Request-Id") {
		t.Errorf("the answer has the request id %q, its header %q", r.RequestID, r.Response.Header.Get("X-Request-Id"))
	}
}

// raw gets a path and decodes the answer without the client.
func (a *account) raw(path string) map[string]any {
	a.Helper()
	q, err := http.NewRequestWithContext(a.Context(), http.MethodGet, a.URL+path, nil)
	if err != nil {
		a.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		a.Fatal(err)
	}
	defer answer.Body.Close()
	var body map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		a.Fatal(err)
	}
	return body
}

// key registers the key of the tests.
func (a *account) key() *godo.Key {
	a.Helper()
	return must[*godo.Key](a.T)(a.do.Keys.Create(a.Context(), &godo.KeyCreateRequest{Name: "ada", PublicKey: publicKey}))
}

// serve serves the content of an image, and is the URL of it.
func serve(t *testing.T, content []byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "nixos.qcow2", began, bytes.NewReader(content))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/nixos.qcow2"
}

// qcow2 is the head of an image of a disk.
func qcow2(virtual uint64) []byte {
	b := make([]byte, 512)
	copy(b, "QFI\xfb\x00\x00\x00\x03")
	binary.BigEndian.PutUint64(b[24:], virtual)
	return b
}

// imported imports an image of a disk of 20 GiB to fra1, and waits until it is available.
func (a *account) imported(name string, tags ...string) *godo.Image {
	a.Helper()
	i := must[*godo.Image](a.T)(a.do.Images.Create(a.Context(), &godo.CustomImageCreateRequest{
		Name: name, Url: serve(a.T, qcow2(20<<30)), Region: "fra1", Distribution: "nixos", Description: "built", Tags: tags,
	}))
	a.Settle()
	a.clock.Advance(5 * time.Minute)
	return must[*godo.Image](a.T)(a.do.Images.GetByID(a.Context(), i.ID))
}

// ubuntu requests a Droplet of a public image.
func ubuntu(name string) *godo.DropletCreateRequest {
	return &godo.DropletCreateRequest{Name: name, Region: "fra1", Size: "s-1vcpu-1gb", Image: godo.DropletCreateImage{Slug: "ubuntu-24-04-x64"}}
}

// running creates a Droplet of a public image that is active.
func (a *account) running(name string) *godo.Droplet {
	a.Helper()
	d := must[*godo.Droplet](a.T)(a.do.Droplets.Create(a.Context(), ubuntu(name)))
	a.clock.Advance(time.Minute)
	return must[*godo.Droplet](a.T)(a.do.Droplets.Get(a.Context(), d.ID))
}
