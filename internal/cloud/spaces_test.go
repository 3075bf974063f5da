package cloud_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/cloud"
)

// TestSpaces stores files, reads them, and refuses what is not a file in a bucket.
func TestSpaces(t *testing.T) {
	dir := t.TempDir()
	a := start(t, func(o *cloud.Options) { o.Dir = dir })
	for _, tc := range []struct {
		reason, method, path string
		login                func(*http.Request)
		body                 string
		status               int
		answer               string
	}{
		{reason: "a stranger stores nothing", method: "PUT", path: "images/a.raw", body: "a", status: 403, answer: "only the token"},
		{reason: "the token to read stores nothing", method: "PUT", path: "images/a.raw", login: bearer(readToken), body: "a", status: 403},
		{reason: "the token stores a file", method: "PUT", path: "images/a.raw", login: bearer(token), body: "first", status: 200},
		{reason: "so does a login with it", method: "PUT", path: "images/dir/b.raw", login: func(r *http.Request) { r.SetBasicAuth("any", token) }, body: "b", status: 200},
		{reason: "another version takes its place", method: "PUT", path: "images/a.raw", login: bearer(token), body: "second", status: 200},
		{reason: "anybody reads it", method: "GET", path: "images/a.raw", status: 200, answer: "second"},
		{reason: "the importer asks for it first", method: "HEAD", path: "images/a.raw", status: 200},
		{reason: "nothing else is there", method: "GET", path: "images/c.raw", status: 404},
		{reason: "a bucket is no file", method: "PUT", path: "images", login: bearer(token), body: "a", status: 400, answer: "BUCKET/NAME"},
		{reason: "files stay in their bucket", method: "GET", path: "images/..%2f..%2fcloud.json", status: 400},
		{reason: "hidden files are parts of others", method: "PUT", path: "images/.a", login: bearer(token), body: "a", status: 400},
		{reason: "files are not deleted", method: "DELETE", path: "images/a.raw", login: bearer(token), status: 405},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, a.URL+cloud.Spaces+tc.path, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		if tc.login != nil {
			tc.login(r)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != tc.status || !strings.Contains(string(text), tc.answer) {
			t.Errorf("%s: got %d %s, want %d %q", tc.reason, answer.StatusCode, text, tc.status, tc.answer)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "spaces", "*", ".*")); err != nil || len(left) > 0 {
		t.Errorf("parts of files are left: %v, %v", left, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "spaces", "images", "a.raw")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the file: %v, %v", info, err)
	}
}

// TestImportFromSpaces imports an image that was stored in a bucket.
func TestImportFromSpaces(t *testing.T) {
	a := start(t, func(o *cloud.Options) { o.Dir = t.TempDir() })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, a.URL+cloud.Spaces+"images/nixos.qcow2", bytes.NewReader(qcow2(1<<30)))
	if err != nil {
		t.Fatal(err)
	}
	bearer(token)(r)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	made := must[*godo.Image](t)(a.do.Images.Create(t.Context(), &godo.CustomImageCreateRequest{
		Name: "nixos", Url: a.URL + cloud.Spaces + "images/nixos.qcow2", Region: "fra1", Distribution: "Unknown",
	}))
	a.Settle()
	a.clock.Advance(time.Hour)
	if got := must[*godo.Image](t)(a.do.Images.GetByID(t.Context(), made.ID)); got.Status != "available" {
		t.Errorf("the image is %s: %s", got.Status, got.ErrorMessage)
	}
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}
