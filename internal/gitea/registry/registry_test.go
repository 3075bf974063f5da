package registry

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestPushAndPull(t *testing.T) {
	for name, dir := range map[string]string{"Memory": "", "Disk": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Config{Dir: dir})
			pushed := picture(t, 1000)
			s.push(t, "dev", "dev/app:v1", pushed)
			if got := s.events.take(); !slices.Equal(got, []string{"created dev/app:v1 by dev"}) {
				t.Errorf("the events are %q", got)
			}
			if !slices.Contains(s.requests, "GET /v2/token") {
				t.Errorf("no token was requested: %q", s.requests)
			}
			for _, ref := range []string{"dev/app:v1", "dev/app@" + digestOf(t, pushed)} {
				pulled, err := remote.Image(s.ref(t, ref), as(t, "reader")...)
				if err != nil {
					t.Fatal(err)
				}
				if err := validate.Image(pulled); err != nil {
					t.Error(err)
				}
				if digestOf(t, pulled) != digestOf(t, pushed) {
					t.Errorf("%s is another image", ref)
				}
			}
			tags, err := remote.List(s.ref(t, "dev/app").Context(), as(t, "dev")...)
			if err != nil || !slices.Equal(tags, []string{"v1"}) {
				t.Errorf("the tags are %q, %v", tags, err)
			}
		})
	}
}

func TestIndexAndReferrers(t *testing.T) {
	s := serve(t, Config{})
	index, err := random.Index(500, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(s.ref(t, "dev/team/app:all"), index, as(t, "dev")...); err != nil {
		t.Fatal(err)
	}
	pulled, err := remote.Index(s.ref(t, "dev/team/app:all"), as(t, "dev")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(pulled); err != nil {
		t.Error(err)
	}
	about, err := remote.Get(s.ref(t, "dev/team/app:all"), as(t, "dev")...)
	if err != nil {
		t.Fatal(err)
	}
	signature, is := mutate.Subject(mutate.MediaType(picture(t, 10), types.OCIManifestSchema1), about.Descriptor).(v1.Image)
	if !is {
		t.Fatal("the signature is no image")
	}
	s.push(t, "dev", "dev/team/app:sig", signature)
	digest, isDigest := s.ref(t, "dev/team/app@"+about.Digest.String()).(name.Digest)
	if !isDigest {
		t.Fatal("the reference is no digest")
	}
	referring, err := remote.Referrers(digest, as(t, "dev")...)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := referring.IndexManifest()
	if err != nil || len(listed.Manifests) != 1 {
		t.Errorf("%v refer to the index, %v", listed, err)
	}
}

// layer is one that belongs to no image.
func layer(t *testing.T) v1.Layer {
	t.Helper()
	made, err := random.Layer(300, types.DockerLayer)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestAccess has each account do what it may, and nothing else.
func TestAccess(t *testing.T) {
	s := serve(t, Config{})
	s.push(t, "dev", "dev/app:v1", picture(t, 100))
	s.push(t, "giteaAdmin", "giteaadmin/public:v1", picture(t, 100))
	cases := map[string]struct {
		user, image string
		pull, push  int
	}{
		"Owner":      {"dev", "dev/app:v1", http.StatusOK, http.StatusOK},
		"Reader":     {"reader", "dev/app:v1", http.StatusOK, http.StatusUnauthorized},
		"Intruder":   {"intruder", "dev/app:v1", http.StatusUnauthorized, http.StatusUnauthorized},
		"Anonymous":  {"", "dev/app:v1", http.StatusUnauthorized, http.StatusUnauthorized},
		"Public":     {"", "giteaadmin/public:v1", http.StatusOK, http.StatusUnauthorized},
		"PublicPush": {"dev", "giteaadmin/public:v1", http.StatusOK, http.StatusUnauthorized},
		"NoOwner":    {"dev", "nosuch/app:v1", http.StatusUnauthorized, http.StatusUnauthorized},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := remote.Image(s.ref(t, c.image), as(t, c.user)...)
			if got := statusOf(t, err); got != c.pull {
				t.Errorf("pulling answers %d, want %d", got, c.pull)
			}
			err = remote.Write(s.ref(t, c.image), picture(t, 50), as(t, c.user)...)
			if got := statusOf(t, err); got != c.push {
				t.Errorf("pushing answers %d, want %d", got, c.push)
			}
		})
	}
	limited := []remote.Option{remote.WithContext(t.Context()), remote.WithAuth(&authn.Basic{Username: "dev", Password: readOnly})}
	if _, err := remote.Image(s.ref(t, "dev/app:v1"), limited...); err != nil {
		t.Errorf("a token for pulling does not pull: %v", err)
	}
	if err := remote.Write(s.ref(t, "dev/app:v1"), picture(t, 50), limited...); statusOf(t, err) != http.StatusUnauthorized {
		t.Errorf("a token for pulling pushes: %v", err)
	}
	answer, _ := s.do(t, "reader", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil)
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("basic authentication without permission answers %d", answer.StatusCode)
	}
}

// statusOf is that of the answer behind an error of the client.
func statusOf(t *testing.T, err error) int {
	t.Helper()
	var of *transport.Error
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &of):
		return of.StatusCode
	default:
		t.Fatal(err)
		return 0
	}
}

// TestIsolation has a blob be readable through the images only that it was pushed to.
func TestIsolation(t *testing.T) {
	s := serve(t, Config{})
	private := picture(t, 1000)
	s.push(t, "dev", "dev/app:v1", private)
	s.push(t, "intruder", "intruder/mine:v1", picture(t, 10))
	layers, err := private.Layers()
	if err != nil {
		t.Fatal(err)
	}
	blob := digestOf(t, layers[0])
	for _, path := range []string{"/v2/intruder/mine/blobs/" + blob, "/v2/intruder/mine/manifests/" + digestOf(t, private)} {
		if answer, _ := s.do(t, "intruder", http.MethodGet, path, nil); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers %d", path, answer.StatusCode)
		}
	}
	mount := "/v2/intruder/mine/blobs/uploads/?mount=" + blob + "&from=dev/app"
	if answer, _ := s.do(t, "intruder", http.MethodPost, mount, nil); answer.StatusCode != http.StatusAccepted {
		t.Errorf("a blob that it may not read was mounted: %d", answer.StatusCode)
	}
	mount = "/v2/reader/mine/blobs/uploads/?mount=" + blob + "&from=dev/app"
	if answer, _ := s.do(t, "reader", http.MethodPost, mount, nil); answer.StatusCode != http.StatusCreated {
		t.Errorf("a blob that it may read was not mounted: %d", answer.StatusCode)
	}
	raw, err := private.RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	media, err := private.MediaType()
	if err != nil {
		t.Fatal(err)
	}
	answer, text := s.do(t, "intruder", http.MethodPut, "/v2/intruder/mine/manifests/stolen", strings.NewReader(string(raw)), "Content-Type", string(media))
	if answer.StatusCode != http.StatusNotFound || !strings.Contains(text, "MANIFEST_BLOB_UNKNOWN") {
		t.Errorf("a manifest of blobs that are not there: %d %s", answer.StatusCode, text)
	}
	if _, text := s.do(t, "intruder", http.MethodGet, "/v2/_catalog", nil); strings.Contains(text, "dev/app") || !strings.Contains(text, "intruder/mine") {
		t.Errorf("the catalog is %s", text)
	}
}

// TestRestart has images survive the process, and not what no image has.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, Config{Dir: dir})
	pushed := picture(t, 1000)
	s.push(t, "dev", "dev/app:v1", pushed)
	index, err := random.Index(500, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(s.ref(t, "dev/app:all"), index, as(t, "dev")...); err != nil {
		t.Fatal(err)
	}
	// A blob without a manifest, and an upload that is not complete.
	if err := remote.WriteLayer(s.ref(t, "dev/app").Context(), layer(t), as(t, "dev")...); err != nil {
		t.Fatal(err)
	}
	s.do(t, "dev", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil)
	before, _ := s.Get(t.Context(), "dev", "app", "v1")

	again := serve(t, Config{Dir: dir})
	pulled, err := remote.Image(again.ref(t, "dev/app:v1"), as(t, "dev")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(pulled); err != nil || digestOf(t, pulled) != digestOf(t, pushed) {
		t.Errorf("the image is another after a restart: %v", err)
	}
	indexed, err := remote.Index(again.ref(t, "dev/app:all"), as(t, "dev")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(indexed); err != nil {
		t.Error(err)
	}
	after, _ := again.Get(t.Context(), "dev", "app", "v1")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the package differs after a restart:\n%s", diff)
	}
	files, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil || len(files) != len(again.stored) {
		t.Errorf("%d files are kept for %d contents, %v", len(files), len(again.stored), err)
	}
	spools, err := os.ReadDir(filepath.Join(dir, "uploads"))
	if err != nil || len(spools) != 0 {
		t.Errorf("uploads remain: %v, %v", spools, err)
	}
	if again.used["dev"] >= s.used["dev"] {
		t.Errorf("%d bytes are counted, %d before", again.used["dev"], s.used["dev"])
	}
}

// TestDamage has a record that cannot be read cost its own image alone, and nothing that it may name.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, Config{Dir: dir})
	s.push(t, "dev", "dev/good:v1", picture(t, 100))
	s.push(t, "dev", "dev/bad:v1", picture(t, 100))
	bad := filepath.Join(dir, "images", s.images["dev/bad"].file())
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	again := serve(t, Config{Dir: dir})
	if _, err := remote.Image(again.ref(t, "dev/good:v1"), as(t, "dev")...); err != nil {
		t.Error(err)
	}
	if answer, _ := again.do(t, "dev", http.MethodGet, "/v2/dev/bad/manifests/v1", nil); answer.StatusCode != http.StatusNotFound {
		t.Errorf("the damaged image answers %d", answer.StatusCode)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "blobs")); err != nil || len(left) != len(files) {
		t.Errorf("%d of %d files are left, %v", len(left), len(files), err)
	}
	if !strings.Contains(again.log.String(), filepath.Base(bad)) {
		t.Errorf("the log does not name the record: %s", again.log.String())
	}
}

// TestQuota has an owner run out of space, be told so, and get it back.
func TestQuota(t *testing.T) {
	s := serve(t, Config{Quota: 200_000})
	s.push(t, "dev", "dev/app:v1", picture(t, 50_000))
	used := s.used["dev"]
	err := remote.Write(s.ref(t, "dev/app:v2"), picture(t, 80_000), as(t, "dev")...)
	if statusOf(t, err) != http.StatusRequestEntityTooLarge || !strings.Contains(err.Error(), "quota") {
		t.Errorf("pushing beyond the quota gives %v", err)
	}
	s.push(t, "giteaAdmin", "giteaadmin/app:v1", picture(t, 50_000))
	if err := remote.Delete(s.ref(t, "dev/app:v1"), as(t, "dev")...); err != nil {
		t.Fatal(err)
	}
	s.push(t, "dev", "dev/app:v3", picture(t, 50_000))
	if used > 200_000 || s.used["dev"] > 200_000 {
		t.Errorf("%d and %d bytes are counted", used, s.used["dev"])
	}
}

func TestDeletion(t *testing.T) {
	s := serve(t, Config{Dir: t.TempDir()})
	one, two := picture(t, 100), picture(t, 100)
	s.push(t, "dev", "dev/app:v1", one)
	s.push(t, "dev", "dev/app:latest", one)
	s.push(t, "dev", "dev/app:latest", two)
	s.push(t, "dev", "dev/app:v2", two)
	s.events.take()
	if err := remote.Delete(s.ref(t, "dev/app@"+digestOf(t, two)), as(t, "dev")...); err != nil {
		t.Fatal(err)
	}
	got := s.events.take()
	slices.Sort(got)
	if !slices.Equal(got, []string{"deleted dev/app:latest by dev", "deleted dev/app:v2 by dev"}) {
		t.Errorf("the events are %q", got)
	}
	if _, err := remote.Image(s.ref(t, "dev/app:v1"), as(t, "dev")...); err != nil {
		t.Errorf("another image was deleted: %v", err)
	}
	if err := remote.Delete(s.ref(t, "dev/app:v1"), as(t, "reader")...); statusOf(t, err) != http.StatusUnauthorized {
		t.Errorf("a reader deletes: %v", err)
	}
	if err := remote.Delete(s.ref(t, "dev/app:v1"), as(t, "dev")...); err != nil {
		t.Fatal(err)
	}
	if len(s.images) != 0 || len(s.stored) != 0 || s.used["dev"] != 0 {
		t.Errorf("%d images, %d contents and %d bytes are left", len(s.images), len(s.stored), s.used["dev"])
	}
	if err := remote.Delete(s.ref(t, "dev/app:v1"), as(t, "dev")...); statusOf(t, err) != http.StatusNotFound {
		t.Errorf("what is gone is deleted again: %v", err)
	}
}

// TestRetag keeps what a tag meant before, by its digest: pods may run it.
func TestRetag(t *testing.T) {
	s := serve(t, Config{})
	first := picture(t, 100)
	s.push(t, "dev", "dev/app:latest", first)
	s.push(t, "dev", "dev/app:latest", picture(t, 100))
	if _, err := remote.Image(s.ref(t, "dev/app@"+digestOf(t, first)), as(t, "dev")...); err != nil {
		t.Error(err)
	}
	if _, there := s.Get(t.Context(), "dev", "app", digestOf(t, first)); !there {
		t.Error("what the tag meant before is no version of its own")
	}
}

// TestSlowPush has a client that stops in the middle of a blob hold up no other.
func TestSlowPush(t *testing.T) {
	s := serve(t, Config{})
	answer, _ := s.do(t, "dev", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil)
	at := answer.Header.Get("Location")
	read, write := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.do(t, "dev", http.MethodPatch, at, read)
	}()
	if _, err := write.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	s.push(t, "dev", "dev/app:v1", picture(t, 1000))
	s.push(t, "giteaAdmin", "giteaadmin/app:v1", picture(t, 1000))
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	<-done
	if answer, _ := s.do(t, "dev", http.MethodDelete, at, nil); answer.StatusCode != http.StatusNoContent {
		t.Errorf("the upload cannot be cancelled: %d", answer.StatusCode)
	}
}

// TestSecretsAreNotLogged has no password and no token reach the log.
func TestSecretsAreNotLogged(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, Config{Dir: dir})
	s.push(t, "dev", "dev/app:v1", picture(t, 100))
	// The disk refuses what comes next.
	if err := os.RemoveAll(filepath.Join(dir, "uploads")); err != nil {
		t.Fatal(err)
	}
	err := remote.Write(s.ref(t, "dev/app:v2"), picture(t, 100), append(as(t, "dev"), remote.WithRetryBackoff(remote.Backoff{Steps: 1}))...)
	if statusOf(t, err) != http.StatusInternalServerError {
		t.Fatalf("pushing to a broken disk gives %v", err)
	}
	if strings.Contains(err.Error(), dir) {
		t.Errorf("the client is shown a path of the server: %v", err)
	}
	_, text := s.do(t, "dev", http.MethodGet, "/v2/token", nil)
	var issued struct{ Token string }
	if err := json.Unmarshal([]byte(text), &issued); err != nil || issued.Token == "" {
		t.Fatalf("no token was issued: %s", text)
	}
	log := s.log.String()
	if log == "" || strings.Contains(log, "s3cr3t") || strings.Contains(log, issued.Token) || strings.Contains(log, "eyJ") {
		t.Errorf("the log is %q", log)
	}
}
