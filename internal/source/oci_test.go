package source_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

func TestFetchOCI(t *testing.T) {
	s := newOCIServer(t, false)
	annotations := map[string]string{"org.opencontainers.image.revision": "main@sha1:abc", "org.opencontainers.image.source": "https://git"}
	first := packed(t, map[string]string{
		"deploy.yaml": "a: 1", "logo.png": "x", ".sops.yaml": "x", "same.yaml": "s", "link.yaml": "->deploy.yaml",
	})
	digest := s.push(t, "team/app", annotations, []ociLayer{{mediaType: fluxLayer, data: first}}, "latest", "v1")
	s.requests()

	o := source.OCIOptions{URL: "oci://" + s.host() + "/team/app"}
	got, err := source.FetchOCI(t.Context(), o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "latest@" + digest.String(); got.Revision != want || got.Unchanged {
		t.Errorf("revision %q, want %q", got.Revision, want)
	}
	if diff := cmp.Diff([]string{"deploy.yaml", "same.yaml"}, got.Tree.Paths()); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(annotations, got.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}

	s.requests()
	again, err := source.FetchOCI(t.Context(), o, got.Revision, got.Tree)
	if err != nil || !again.Unchanged || again.Tree != got.Tree || again.Revision != got.Revision {
		t.Errorf("nothing changed: %+v, %v", again, err)
	}
	if diff := cmp.Diff([]string{"HEAD /v2/team/app/manifests/latest"}, s.requests()); diff != "" {
		t.Errorf("a look asks for (-want +got):\n%s", diff)
	}

	second := packed(t, map[string]string{"deploy.yaml": "a: 2", "same.yaml": "s"})
	s.push(t, "team/app", nil, []ociLayer{{mediaType: fluxLayer, data: second}}, "latest")
	next, err := source.FetchOCI(t.Context(), o, got.Revision, got.Tree)
	if err != nil || next.Unchanged || next.Revision == got.Revision {
		t.Fatalf("a new artifact: %+v, %v", next, err)
	}
	was, _ := got.Tree.File("same.yaml")
	if is, _ := next.Tree.File("same.yaml"); is != was {
		t.Error("a file that did not change is not shared")
	}
	// spec.ignore goes in place of the defaults.
	own := "deploy.yaml"
	o.Ignore, o.Ref.Tag = &own, "v1"
	other, err := source.FetchOCI(t.Context(), o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".sops.yaml", "logo.png", "same.yaml"}, other.Tree.Paths()); diff != "" {
		t.Errorf("paths with rules (-want +got):\n%s", diff)
	}
}

func TestFetchOCIReferences(t *testing.T) {
	s := newOCIServer(t, false)
	digests := map[string]string{}
	for _, tag := range []string{"latest", "6.5.0", "v6.6.0", "7.0.0-rc.1", "6.5", "sha-1", "6.9.0-arm", "6.4.0-prod", "6.3.0-prod"} {
		digests[tag] = s.push(t, "app", map[string]string{"tag": tag},
			[]ociLayer{{mediaType: fluxLayer, data: packed(t, map[string]string{"tag": tag})}}, tag).String()
	}
	for reason, test := range map[string]struct {
		ref  source.OCIRef
		want string
		kind error
	}{
		"nothing means latest":             {source.OCIRef{}, "latest@" + digests["latest"], nil},
		"a tag":                            {source.OCIRef{Tag: "sha-1"}, "sha-1@" + digests["sha-1"], nil},
		"a range before a tag":             {source.OCIRef{Tag: "sha-1", SemVer: "6.x"}, "v6.6.0@" + digests["v6.6.0"], nil},
		"a digest before all":              {source.OCIRef{Tag: "6.5.0", SemVer: "*", Digest: digests["sha-1"]}, digests["sha-1"], nil},
		"no pre-releases":                  {source.OCIRef{SemVer: "*"}, "v6.6.0@" + digests["v6.6.0"], nil},
		"pre-releases when one is named":   {source.OCIRef{SemVer: ">=6.0.0-0"}, "7.0.0-rc.1@" + digests["7.0.0-rc.1"], nil},
		"a filter":                         {source.OCIRef{SemVer: ">=6.0.0-0", SemVerFilter: "-prod$"}, "6.4.0-prod@" + digests["6.4.0-prod"], nil},
		"no version in the range":          {source.OCIRef{SemVer: ">8"}, "", source.ErrReference},
		"no range":                         {source.OCIRef{SemVer: "what?"}, "", source.ErrReference},
		"no regular expression":            {source.OCIRef{SemVer: "*", SemVerFilter: "("}, "", source.ErrReference},
		"no such tag":                      {source.OCIRef{Tag: "gone"}, "", source.ErrReference},
		"what cannot be a tag":             {source.OCIRef{Tag: "a b"}, "", source.ErrReference},
		"a tag that would be another host": {source.OCIRef{Tag: "x/../y:latest"}, "", source.ErrReference},
		"no digest":                        {source.OCIRef{Digest: "sha256:abc"}, "", source.ErrReference},
		"no such digest":                   {source.OCIRef{Digest: "sha256:" + strings.Repeat("0", 64)}, "", source.ErrPull},
	} {
		got, err := source.FetchOCI(t.Context(), source.OCIOptions{URL: "oci://" + s.host() + "/app", Ref: test.ref}, "", nil)
		if !errors.Is(err, test.kind) || test.kind == nil && err != nil {
			t.Errorf("%s: error %v, want %v", reason, err, test.kind)
			continue
		}
		if err == nil && got.Revision != test.want {
			t.Errorf("%s: revision %q, want %q", reason, got.Revision, test.want)
		}
	}
}

func TestFetchOCILayers(t *testing.T) {
	s := newOCIServer(t, false)
	chart := packed(t, map[string]string{"podinfo/Chart.yaml": "name: podinfo"})
	s.push(t, "app", nil, []ociLayer{
		{mediaType: "text/plain", data: []byte("hello")},
		{mediaType: "application/x-chart", data: chart},
	}, "latest")
	s.push(t, "none", nil, nil, "latest")
	s.push(t, "bad", nil, []ociLayer{{mediaType: fluxLayer, data: packed(t, map[string]string{"a": "1"})[:40]}}, "latest")
	for reason, test := range map[string]struct {
		repo  string
		layer source.OCILayer
		data  []byte
		paths []string
		kind  error
	}{
		"the first as it is":     {repo: "app", layer: source.OCILayer{Copy: true}, data: []byte("hello")},
		"one by type as it is":   {repo: "app", layer: source.OCILayer{MediaType: "application/x-chart", Copy: true}, data: chart},
		"one by type extracted":  {repo: "app", layer: source.OCILayer{MediaType: "application/x-chart"}, paths: []string{"podinfo/Chart.yaml"}},
		"the first is no tar.gz": {repo: "app", kind: source.ErrLayer},
		"no such type":           {repo: "app", layer: source.OCILayer{MediaType: "text/html"}, kind: source.ErrLayer},
		"no layers":              {repo: "none", kind: source.ErrLayer},
		"a broken archive":       {repo: "bad", kind: source.ErrLayer},
	} {
		got, err := source.FetchOCI(t.Context(), source.OCIOptions{URL: "oci://" + s.host() + "/" + test.repo, Layer: test.layer}, "", nil)
		if test.kind != nil || err != nil {
			if !errors.Is(err, test.kind) || test.kind == nil {
				t.Errorf("%s: error %v, want %v", reason, err, test.kind)
			}
			continue
		}
		var paths []string
		if got.Tree != nil {
			paths = got.Tree.Paths()
		}
		if diff := cmp.Diff(test.paths, paths); diff != "" || !bytes.Equal(got.Data, test.data) {
			t.Errorf("%s: data %q, paths (-want +got):\n%s", reason, got.Data, diff)
		}
	}
}

func TestFetchOCILogins(t *testing.T) {
	s := newOCIServer(t, false)
	for _, repo := range []string{"team/app", "other/app"} {
		s.push(t, repo, nil, []ociLayer{{mediaType: fluxLayer, data: packed(t, map[string]string{"a": "1"})}}, "latest")
	}
	s.demand("flux:" + registryPwd)
	auth := base64.StdEncoding.EncodeToString([]byte("flux:" + registryPwd))
	config := func(key, login string) []byte { return fmt.Appendf(nil, `{"auths":{%q:{%s}}}`, key, login) }
	right, wrong := fmt.Sprintf(`"auth":%q`, auth), `"username":"flux","password":"hunter2"`
	for reason, test := range map[string]struct {
		access source.RegistryAccess
		want   error
	}{
		"nobody":                       {source.RegistryAccess{}, source.ErrAuth},
		"a user":                       {source.RegistryAccess{Access: source.Access{Username: "flux", Password: registryPwd}}, nil},
		"a wrong password":             {source.RegistryAccess{Access: source.Access{Username: "flux", Password: "hunter2"}}, source.ErrAuth},
		"a config by host":             {source.RegistryAccess{DockerConfig: config(s.host(), right)}, nil},
		"a config by URL":              {source.RegistryAccess{DockerConfig: config("https://"+s.host()+"/v1/", right)}, nil},
		"a config by pattern":          {source.RegistryAccess{DockerConfig: config(strings.Replace(s.host(), "127.", "*.", 1), right)}, nil},
		"a config by repository":       {source.RegistryAccess{DockerConfig: config(s.host()+"/team", right)}, nil},
		"a config of another path":     {source.RegistryAccess{DockerConfig: config(s.host()+"/tea", right)}, source.ErrAuth},
		"a config of another host":     {source.RegistryAccess{DockerConfig: config("ghcr.io", right)}, source.ErrAuth},
		"a config with wrong password": {source.RegistryAccess{DockerConfig: config(s.host(), wrong)}, source.ErrAuth},
		"no config":                    {source.RegistryAccess{DockerConfig: []byte(`{"auths": hunter2`)}, source.ErrAuth},
		"a config with a broken login": {source.RegistryAccess{DockerConfig: config(s.host(), `"auth":"hunter2"`)}, source.ErrAuth},
		"the closest of a config": {source.RegistryAccess{DockerConfig: fmt.Appendf(nil, `{"auths":{%q:{%s},%q:{%s}}}`,
			s.host(), wrong, s.host()+"/team/app", right)}, nil},
	} {
		o := source.OCIOptions{RegistryAccess: test.access, URL: "oci://" + s.host() + "/team/app"}
		_, err := source.FetchOCI(t.Context(), o, "", nil)
		if !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", reason, err, test.want)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), registryPwd)) {
			t.Errorf("%s: the error shows a credential: %v", reason, err)
		}
	}
}

func TestFetchOCIRefusesURLs(t *testing.T) {
	for _, address := range []string{
		"", "https://ghcr.io/app", "ghcr.io/app", "oci://", "oci://ghcr.io/app:v1", "oci://ghcr.io/app@sha256:abc",
		"oci://flux:hunter2@ghcr.io/app", "oci://ghcr.io/UPPER",
	} {
		_, err := source.FetchOCI(t.Context(), source.OCIOptions{URL: address}, "", nil)
		if !errors.Is(err, source.ErrURL) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v", address, err)
		}
	}
}

func TestFetchOCIByTLS(t *testing.T) {
	s := newOCIServer(t, true)
	s.push(t, "app", nil, []ociLayer{{mediaType: fluxLayer, data: packed(t, map[string]string{"a": "1"})}}, "latest")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	for reason, test := range map[string]struct {
		access source.RegistryAccess
		want   error
	}{
		"the CA":         {source.RegistryAccess{Access: source.Access{CAFile: ca}}, nil},
		"no CA":          {source.RegistryAccess{}, source.ErrPull},
		"insecure":       {source.RegistryAccess{Insecure: true}, nil},
		"no certificate": {source.RegistryAccess{Access: source.Access{CAFile: []byte("x")}}, source.ErrAuth},
		"no key":         {source.RegistryAccess{Access: source.Access{ClientCert: ca}}, source.ErrAuth},
	} {
		_, err := source.FetchOCI(t.Context(), source.OCIOptions{RegistryAccess: test.access, URL: "oci://" + s.host() + "/app"}, "", nil)
		if !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", reason, err, test.want)
		}
	}
}

func TestFetchOCIByProxy(t *testing.T) {
	s := newOCIServer(t, false)
	s.push(t, "app", nil, []ociLayer{{mediaType: fluxLayer, data: packed(t, map[string]string{"a": "1"})}}, "latest")
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var logins []string
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			http.Error(w, "no tunnels", http.StatusMethodNotAllowed)
			return
		}
		logins = append(logins, r.Header.Get("Proxy-Authorization"))
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	o := source.OCIOptions{URL: "oci://registry.invalid/app", RegistryAccess: source.RegistryAccess{Insecure: true}}
	o.Proxy = strings.Replace(proxy.URL, "://", "://me:hunter2@", 1)
	if _, err := source.FetchOCI(t.Context(), o, "", nil); err != nil {
		t.Fatal(err)
	}
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:hunter2")); len(logins) == 0 || logins[0] != want {
		t.Errorf("the proxy was told %q", logins)
	}
	proxy.Close()
	if _, err := source.FetchOCI(t.Context(), o, "", nil); !errors.Is(err, source.ErrPull) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a proxy that is gone: %v", err)
	}
	o.Proxy = "ftp://me:hunter2@x"
	if _, err := source.FetchOCI(t.Context(), o, "", nil); !errors.Is(err, source.ErrURL) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a proxy of another scheme: %v", err)
	}
}

// TestFetchOCIWithoutHEAD has a registry that does not know how to answer HEAD.
func TestFetchOCIWithoutHEAD(t *testing.T) {
	s := newOCIServer(t, false)
	digest := s.push(t, "app", nil, []ociLayer{{mediaType: fluxLayer, data: packed(t, map[string]string{"a": "1"})}}, "latest")
	s.mu.Lock()
	s.deny = "HEAD "
	s.mu.Unlock()
	got, err := source.FetchOCI(t.Context(), source.OCIOptions{URL: "oci://" + s.host() + "/app"}, "", nil)
	if err != nil || got.Revision != "latest@"+digest.String() {
		t.Errorf("revision %+v: %v", got, err)
	}
}

// TestFetchOCIGivesUp asks a server that never answers.
func TestFetchOCIGivesUp(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	o := source.OCIOptions{URL: "oci://" + server.Listener.Addr().String() + "/app"}
	o.Timeout = 100 * time.Millisecond
	_, err := source.FetchOCI(t.Context(), o, "", nil)
	if !errors.Is(err, source.ErrPull) || !strings.Contains(err.Error(), "timed out after 100ms") {
		t.Errorf("error %v", err)
	}
}

// TestFetchOCIRefusesOtherLayers has a registry that gives another archive of the same length.
func TestFetchOCIRefusesOtherLayers(t *testing.T) {
	s := newOCIServer(t, false)
	want, other := packed(t, map[string]string{"a": "1"}), packed(t, map[string]string{"a": "2"})
	if len(want) != len(other) {
		t.Fatalf("the archives have %d and %d bytes", len(want), len(other))
	}
	s.push(t, "app", nil, []ociLayer{{mediaType: fluxLayer, data: want}}, "latest")
	honest := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, fmt.Sprintf("/blobs/sha256:%x", sha256.Sum256(want))) {
			_, _ = w.Write(other)
			return
		}
		honest.ServeHTTP(w, r)
	})
	for _, whole := range []bool{false, true} {
		o := source.OCIOptions{URL: "oci://" + s.host() + "/app", Layer: source.OCILayer{Copy: whole}}
		if got, err := source.FetchOCI(t.Context(), o, "", nil); !errors.Is(err, source.ErrLayer) || got != nil {
			t.Errorf("copied %v: %+v, %v", whole, got, err)
		}
	}
}
