package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func TestParse(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	cases := map[string]struct {
		reason, path string
		want         target
		known        bool
	}{
		"Root":      {"the version of the API", "/v2/", target{}, true},
		"Bare":      {"the same without a slash", "/v2", target{}, true},
		"Catalog":   {"all images", "/v2/_catalog", target{part: partCatalog}, true},
		"Manifest":  {"a tag", "/v2/Dev/app/manifests/v1", target{partManifests, "dev", "app", "v1"}, true},
		"Deep":      {"a name of several words", "/v2/dev/a/b-c/manifests/" + digest, target{partManifests, "dev", "a/b-c", digest}, true},
		"Upload":    {"an upload that begins", "/v2/dev/app/blobs/uploads/", target{partUploads, "dev", "app", ""}, true},
		"Part":      {"a part of one", "/v2/dev/app/blobs/uploads/X1", target{partUploads, "dev", "app", "X1"}, true},
		"NoOwner":   {"a name without an owner", "/v2/app/manifests/v1", target{}, false},
		"Upper":     {"an image in upper case", "/v2/dev/App/manifests/v1", target{}, false},
		"Escape":    {"a path out of the name", "/v2/dev/../x/manifests/v1", target{}, false},
		"Hidden":    {"a component that begins with a dot", "/v2/dev/.x/manifests/v1", target{}, false},
		"Tag":       {"a tag with other characters", "/v2/dev/app/manifests/a b", target{}, false},
		"LongTag":   {"a tag that is too long", "/v2/dev/app/manifests/" + strings.Repeat("a", 129), target{}, false},
		"LongName":  {"a name that is too long", "/v2/dev/" + strings.Repeat("a/", 200) + "b/manifests/v1", target{}, false},
		"Blob":      {"a blob that is no digest", "/v2/dev/app/blobs/sha256:xyz", target{}, false},
		"Algorithm": {"another algorithm", "/v2/dev/app/blobs/md5:" + strings.Repeat("a", 64), target{}, false},
		"Other":     {"another server", "/v1/dev/app/manifests/v1", target{}, false},
		"Unknown":   {"an unknown part", "/v2/dev/app/secrets/v1", target{}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, known := parse(c.path)
			if known != c.known || known && got != c.want {
				t.Errorf("%s: %+v, %v, want %+v", c.reason, got, known, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("/v2/dev/app/manifests/v1")
	f.Add("/v2/dev/app/blobs/uploads/x")
	f.Fuzz(func(t *testing.T, path string) {
		to, known := parse(path)
		if known && (strings.Contains(to.name(), "..") || strings.ContainsAny(to.reference, "/\\") || len(to.name()) > maxName+1) {
			t.Errorf("%q is read as %+v", path, to)
		}
	})
}

// TestChallenge has a client that is unknown be told where a token is to be had, and for what.
func TestChallenge(t *testing.T) {
	s := serve(t, Config{})
	outside := serve(t, Config{URL: "https://gitea.example.com/"})
	cases := map[string]struct {
		at           *server
		method, path string
		want         string
	}{
		"Root":    {s, http.MethodGet, "/v2/", `Bearer realm="http://` + s.at + `/v2/token",service="container_registry"`},
		"Pull":    {s, http.MethodGet, "/v2/dev/app/manifests/v1", `Bearer realm="http://` + s.at + `/v2/token",service="container_registry",scope="repository:dev/app:pull"`},
		"Push":    {s, http.MethodPost, "/v2/dev/app/blobs/uploads/", `Bearer realm="http://` + s.at + `/v2/token",service="container_registry",scope="repository:dev/app:pull,push"`},
		"Delete":  {s, http.MethodDelete, "/v2/dev/app/manifests/v1", `Bearer realm="http://` + s.at + `/v2/token",service="container_registry",scope="repository:dev/app:delete"`},
		"Outside": {outside, http.MethodGet, "/v2/", `Bearer realm="https://gitea.example.com/v2/token",service="container_registry"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer, text := c.at.do(t, "", c.method, c.path, nil)
			if answer.StatusCode != http.StatusUnauthorized || answer.Header.Get("WWW-Authenticate") != c.want || !strings.Contains(text, "UNAUTHORIZED") {
				t.Errorf("%d %q %s", answer.StatusCode, answer.Header.Get("WWW-Authenticate"), text)
			}
		})
	}
}

func TestWrongCredentials(t *testing.T) {
	s := serve(t, Config{})
	_, err := remote.Image(s.ref(t, "dev/app:v1"), remote.WithContext(t.Context()), remote.WithAuth(&authn.Basic{Username: "dev", Password: "wrong"}))
	if statusOf(t, err) != http.StatusUnauthorized {
		t.Errorf("a wrong password gives %v", err)
	}
	for name, header := range map[string]string{"Password": "Basic ZGV2Ondyb25n", "Token": "Bearer abc", "Scheme": "Digest x"} {
		t.Run(name, func(t *testing.T) {
			answer, _ := s.do(t, "", http.MethodGet, "/v2/", nil, "Authorization", header)
			if answer.StatusCode != http.StatusUnauthorized {
				t.Errorf("it answers %d", answer.StatusCode)
			}
			answer, _ = s.do(t, "", http.MethodGet, "/v2/token", nil, "Authorization", header)
			if answer.StatusCode != http.StatusUnauthorized {
				t.Errorf("a token is issued: %d", answer.StatusCode)
			}
		})
	}
}

// TestTokens has tokens give what they were issued for, for as long as they last.
func TestTokens(t *testing.T) {
	s := serve(t, Config{})
	s.push(t, "dev", "dev/app:v1", picture(t, 100))
	bearer := func(token, method, path string) int {
		answer, _ := s.do(t, "", method, path, nil, "Authorization", "Bearer "+token)
		return answer.StatusCode
	}
	_, text := s.do(t, "dev", http.MethodGet, "/v2/token?service=container_registry&scope="+url.QueryEscape("repository:dev/app:pull"), nil)
	var issued struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
		Lasts  int    `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(text), &issued); err != nil || issued.Token == "" || issued.Token != issued.Access || issued.Lasts != 300 {
		t.Fatalf("the token is %s", text)
	}
	if got := bearer(issued.Token, http.MethodGet, "/v2/dev/app/manifests/v1"); got != http.StatusOK {
		t.Errorf("pulling with a token answers %d", got)
	}
	if got := bearer(issued.Token, http.MethodPost, "/v2/dev/app/blobs/uploads/"); got != http.StatusUnauthorized {
		t.Errorf("pushing with a token for pulling answers %d", got)
	}
	full := []grant{{"repository", "dev/app", []Access{Pull, Push, Delete}}}
	sign := func(login string, at time.Time, of *tokens) string {
		token, err := of.sign(Account{Login: login}, full, at)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, claims{
		RegisteredClaims: jwt.RegisteredClaims{Issuer: service, Audience: jwt.ClaimStrings{service}, Subject: "dev", ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour))},
		Access:           full,
	}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token string
		want  int
	}{
		"Valid":    {sign("dev", time.Now(), &s.tokens), http.StatusOK},
		"Expired":  {sign("dev", time.Now().Add(-time.Hour), &s.tokens), http.StatusUnauthorized},
		"Forged":   {sign("dev", time.Now(), &tokens{}), http.StatusUnauthorized},
		"Unsigned": {none, http.StatusUnauthorized},
		// The permission ended after the token was issued.
		"Revoked": {sign("intruder", time.Now(), &s.tokens), http.StatusForbidden},
	} {
		if got := bearer(c.token, http.MethodGet, "/v2/dev/app/manifests/v1"); got != c.want {
			t.Errorf("%s: it answers %d, want %d", name, got, c.want)
		}
	}
	scopes := strings.Repeat("&scope=repository:dev/app:pull", maxScopes+1)
	if answer, _ := s.do(t, "dev", http.MethodGet, "/v2/token?"+scopes, nil); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("too many scopes answer %d", answer.StatusCode)
	}
	if answer, _ := s.do(t, "dev", http.MethodPost, "/v2/token", nil); answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST answers %d, by which clients know to use GET", answer.StatusCode)
	}
}

// TestMalformed has content that is wrong be refused, each with the code that clients know.
func TestMalformed(t *testing.T) {
	s := serve(t, Config{})
	const oci = "application/vnd.oci.image.manifest.v1+json"
	zeros := "sha256:" + strings.Repeat("0", 64)
	cases := map[string]struct {
		method, path, kind, body string
		status                   int
		code                     string
	}{
		"NotJSON":     {http.MethodPut, "/v2/dev/app/manifests/v1", oci, "x", 400, "MANIFEST_INVALID"},
		"Confused":    {http.MethodPut, "/v2/dev/app/manifests/v1", oci, `{"mediaType":"application/vnd.oci.image.index.v1+json"}`, 400, "MANIFEST_INVALID"},
		"Kind":        {http.MethodPut, "/v2/dev/app/manifests/v1", "text/html", `{}`, 400, "MANIFEST_INVALID"},
		"Digest":      {http.MethodPut, "/v2/dev/app/manifests/" + zeros, oci, `{}`, 400, "DIGEST_INVALID"},
		"Blobs":       {http.MethodPut, "/v2/dev/app/manifests/v1", oci, `{"schemaVersion":2,"config":{"digest":"` + zeros + `"}}`, 404, "MANIFEST_BLOB_UNKNOWN"},
		"Large":       {http.MethodPut, "/v2/dev/app/manifests/v1", oci, strings.Repeat(" ", maxManifest+1), 413, "MANIFEST_INVALID"},
		"IndexPart":   {http.MethodPut, "/v2/dev/app/manifests/v1", "application/vnd.oci.image.index.v1+json", `{"schemaVersion":2,"manifests":[{"mediaType":"` + oci + `","digest":"` + zeros + `"}]}`, 404, "MANIFEST_UNKNOWN"},
		"Content":     {http.MethodPost, "/v2/dev/app/blobs/uploads/?digest=" + zeros, "", "x", 400, "DIGEST_INVALID"},
		"NoUpload":    {http.MethodPatch, "/v2/dev/app/blobs/uploads/none", "", "x", 404, "BLOB_UPLOAD_UNKNOWN"},
		"NoBlob":      {http.MethodGet, "/v2/dev/app/blobs/" + zeros, "", "", 404, "BLOB_UNKNOWN"},
		"NoTag":       {http.MethodGet, "/v2/dev/app/manifests/none", "", "", 404, "MANIFEST_UNKNOWN"},
		"NoImage":     {http.MethodGet, "/v2/dev/none/tags/list", "", "", 404, "NAME_UNKNOWN"},
		"Name":        {http.MethodGet, "/v2/app/manifests/v1", "", "", 404, "NAME_INVALID"},
		"Method":      {http.MethodDelete, "/v2/dev/app/tags/list", "", "", 405, "UNSUPPORTED"},
		"Pagination":  {http.MethodGet, "/v2/_catalog?n=-1", "", "", 400, "PAGINATION_NUMBER_INVALID"},
		"Unsupported": {http.MethodPatch, "/v2/dev/app/blobs/" + zeros, "", "", 405, "UNSUPPORTED"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer, text := s.do(t, "dev", c.method, c.path, strings.NewReader(c.body), "Content-Type", c.kind)
			if answer.StatusCode != c.status || !strings.Contains(text, `"`+c.code+`"`) {
				t.Errorf("%d %s, want %d %s", answer.StatusCode, text, c.status, c.code)
			}
		})
	}
	if len(s.images) != 0 || s.used["dev"] != 0 {
		t.Errorf("what was refused is kept: %d images, %d bytes", len(s.images), s.used["dev"])
	}
}

// TestUploads has parts of a blob follow each other, and an upload belong to who began it.
func TestUploads(t *testing.T) {
	s := serve(t, Config{})
	answer, _ := s.do(t, "dev", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil)
	at := answer.Header.Get("Location")
	steps := []struct {
		user, method, path, body, span string
		want                           int
		received                       string
	}{
		{"dev", http.MethodPatch, at, "abc", "0-2", http.StatusAccepted, "0-2"},
		{"dev", http.MethodPatch, at, "x", "7-7", http.StatusRequestedRangeNotSatisfiable, "0-2"},
		{"dev", http.MethodPatch, at, "def", "3-5", http.StatusAccepted, "0-5"},
		{"dev", http.MethodGet, at, "", "", http.StatusNoContent, "0-5"},
		{"dev", http.MethodPatch, strings.Replace(at, "/app/", "/other/", 1), "x", "", http.StatusNotFound, ""},
		{"reader", http.MethodGet, at, "", "", http.StatusNotFound, ""},
		{"dev", http.MethodPut, at + "?digest=sha256:bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721", "", "", http.StatusCreated, ""},
		{"dev", http.MethodPut, at + "?digest=sha256:bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721", "", "", http.StatusNotFound, ""},
	}
	for i, step := range steps {
		headers := []string{}
		if step.span != "" {
			headers = []string{"Content-Range", step.span}
		}
		answer, text := s.do(t, step.user, step.method, step.path, strings.NewReader(step.body), headers...)
		if answer.StatusCode != step.want || answer.Header.Get("Range") != step.received {
			t.Errorf("step %d: %d %q %s", i, answer.StatusCode, answer.Header.Get("Range"), text)
		}
	}
	blob := "/v2/dev/app/blobs/sha256:bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721"
	if answer, text := s.do(t, "dev", http.MethodGet, blob, nil, "Range", "bytes=2-"); answer.StatusCode != http.StatusPartialContent || text != "cdef" {
		t.Errorf("a range answers %d %q", answer.StatusCode, text)
	}
	for range maxUploads {
		s.do(t, "dev", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil)
	}
	if answer, _ := s.do(t, "dev", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil); answer.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one upload too many answers %d", answer.StatusCode)
	}
	if answer, _ := s.do(t, "reader", http.MethodPost, "/v2/reader/app/blobs/uploads/", nil); answer.StatusCode != http.StatusAccepted {
		t.Errorf("another user is held up: %d", answer.StatusCode)
	}
}

// TestTidy drops uploads and blobs that were left behind.
func TestTidy(t *testing.T) {
	s := serve(t, Config{})
	kept := picture(t, 100)
	s.push(t, "dev", "dev/app:v1", kept)
	used := s.used["dev"]
	s.do(t, "dev", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil)
	if err := remote.WriteLayer(s.ref(t, "dev/other").Context(), layer(t), as(t, "dev")...); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * idle)
	s.Registry.mu.Lock()
	for _, u := range s.uploads {
		u.touched = long
	}
	for at := range s.loose {
		s.loose[at] = long
	}
	s.Registry.mu.Unlock()
	answer, _ := s.do(t, "dev", http.MethodPost, "/v2/dev/app/blobs/uploads/", nil)
	s.do(t, "dev", http.MethodDelete, answer.Header.Get("Location"), nil)
	if len(s.uploads) != 0 || len(s.images) != 1 || s.used["dev"] != used {
		t.Errorf("%d uploads, %d images, %d bytes of %d", len(s.uploads), len(s.images), s.used["dev"], used)
	}
	if _, err := remote.Image(s.ref(t, "dev/app:v1"), as(t, "dev")...); err != nil {
		t.Error(err)
	}
}

func TestTagPages(t *testing.T) {
	s := serve(t, Config{})
	one := picture(t, 10)
	for i := range 5 {
		s.push(t, "dev", fmt.Sprintf("dev/app:v%d", i), one)
	}
	tags, err := remote.List(s.ref(t, "dev/app").Context(), append(as(t, "dev"), remote.WithPageSize(2))...)
	if err != nil || !slices.Equal(tags, []string{"v0", "v1", "v2", "v3", "v4"}) {
		t.Errorf("the tags are %q, %v", tags, err)
	}
	if _, text := s.do(t, "dev", http.MethodGet, "/v2/dev/app/tags/list?last=v9", nil); !strings.Contains(text, `"tags":[]`) {
		t.Errorf("after the last tag there are %s", text)
	}
}

func TestPackages(t *testing.T) {
	s := serve(t, Config{})
	s.push(t, "dev", "dev/app:v1", picture(t, 10))
	s.push(t, "dev", "dev/team/tool:v2", picture(t, 10))
	// Clients of the test cannot request tokens there.
	s.cfg.URL = "https://gitea.example.com"
	_, text := s.do(t, "dev", http.MethodGet, "/api/v1/packages/dev", nil)
	var listed []map[string]any
	if err := json.Unmarshal([]byte(text), &listed); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	want := []map[string]any{
		{
			"id": 2.0, "owner": map[string]any{"login": "dev"}, "repository": nil, "creator": map[string]any{"login": "dev"}, "type": "container",
			"name": "team/tool", "version": "v2", "html_url": "https://gitea.example.com/dev/-/packages/container/team%2Ftool/v2",
		},
		{
			"id": 1.0, "owner": map[string]any{"login": "dev"}, "repository": nil, "creator": map[string]any{"login": "dev"}, "type": "container",
			"name": "app", "version": "v1", "html_url": "https://gitea.example.com/dev/-/packages/container/app/v1",
		},
	}
	if diff := cmp.Diff(want, listed, cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "created_at" })); diff != "" {
		t.Errorf("the packages differ (-want +got):\n%s", diff)
	}
	s.events.take()
	steps := []struct {
		user, method, path string
		want               int
		total              string
	}{
		{"dev", http.MethodGet, "/api/v1/packages/DEV?q=tool", 200, "1"},
		{"dev", http.MethodGet, "/api/v1/packages/dev?type=npm", 200, "0"},
		{"dev", http.MethodGet, "/api/v1/packages/dev?limit=1&page=2", 200, "2"},
		{"dev", http.MethodGet, "/api/v1/packages/dev?page=9223372036854775807", 200, "2"},
		{"dev", http.MethodGet, "/api/v1/packages/dev/container/app", 200, "1"},
		{"dev", http.MethodGet, "/api/v1/packages/dev/container/team%2Ftool/v2", 200, ""},
		{"dev", http.MethodGet, "/api/v1/packages/dev/container/app/v9", 404, ""},
		{"dev", http.MethodGet, "/api/v1/packages/dev/npm/app/v1", 404, ""},
		{"dev", http.MethodGet, "/api/v1/packages/nosuch", 404, ""},
		{"intruder", http.MethodGet, "/api/v1/packages/dev", 404, ""},
		{"", http.MethodGet, "/api/v1/packages/dev", 404, ""},
		{"reader", http.MethodGet, "/api/v1/packages/dev/container/app/v1", 200, ""},
		{"reader", http.MethodDelete, "/api/v1/packages/dev/container/app/v1", 403, ""},
		{"dev", http.MethodDelete, "/api/v1/packages/dev/container/team%2Ftool/v2", 204, ""},
		{"dev", http.MethodDelete, "/api/v1/packages/dev/container/team%2Ftool/v2", 404, ""},
		{"dev", http.MethodDelete, "/api/v1/packages/dev/container/app/v1", 204, ""},
		{"dev", http.MethodGet, "/api/v1/packages/dev", 200, "0"},
	}
	for _, step := range steps {
		answer, text := s.do(t, step.user, step.method, step.path, nil)
		if answer.StatusCode != step.want || answer.Header.Get("X-Total-Count") != step.total {
			t.Errorf("%s %s by %q: %d, %q of %s", step.method, step.path, step.user, answer.StatusCode, answer.Header.Get("X-Total-Count"), text)
		}
	}
	if got := s.events.take(); !slices.Equal(got, []string{"deleted dev/team/tool:v2 by dev", "deleted dev/app:v1 by dev"}) {
		t.Errorf("the events are %q", got)
	}
	answer, _ := s.do(t, "", http.MethodGet, "/api/v1/packages/dev", bytes.NewReader(nil), "Authorization", "Basic ZGV2Ondyb25n")
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong password answers %d", answer.StatusCode)
	}
}

func FuzzDescribe(f *testing.F) {
	f.Add("application/vnd.oci.image.manifest.v1+json", []byte(`{"schemaVersion":2,"config":{"digest":"sha256:`+strings.Repeat("0", 64)+`"},"layers":[]}`))
	f.Add("application/vnd.oci.image.index.v1+json", []byte(`{"schemaVersion":2,"manifests":[{"digest":"sha256:`+strings.Repeat("0", 64)+`"}]}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		made, err := describe(kind, body)
		if err == nil && (made.MediaType == "" || made.Size != int64(len(body))) {
			t.Errorf("%q is read as %+v", body, made)
		}
	})
}
