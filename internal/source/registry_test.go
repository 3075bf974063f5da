package source_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	fluxLayer   = "application/vnd.cncf.flux.content.v1.tar+gzip"
	registryPwd = "s3cr3t+pass/word"
)

// ociServer is a registry that counts its requests, and may require a login.
type ociServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	// login, when set, is what callers have to send; deny refuses the requests that begin with it.
	login string
	deny  string
}

func newOCIServer(t *testing.T, tls bool) *ociServer {
	t.Helper()
	s := &ociServer{}
	handler := registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0)))
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		login, deny := s.login, s.deny
		s.mu.Unlock()
		user, password, _ := r.BasicAuth()
		switch {
		case login != "" && user+":"+password != login:
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case deny != "" && strings.HasPrefix(r.Method+" "+r.URL.Path, deny):
			http.Error(w, "not so", http.StatusMethodNotAllowed)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	s.Server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if tls {
		s.Server.StartTLS()
	} else {
		s.Server.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// host is where the registry is.
func (s *ociServer) host() string { return s.Listener.Addr().String() }

// requests returns the requests since the last call, without the ping of the API.
func (s *ociServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.asked {
		if r != "GET /v2/" {
			all = append(all, r)
		}
	}
	s.asked = nil
	return all
}

func (s *ociServer) demand(login string) {
	s.mu.Lock()
	s.login = login
	s.mu.Unlock()
}

// ociLayer is a layer to push.
type ociLayer struct {
	mediaType   string
	data        []byte
	annotations map[string]string
}

// push stores an artifact at tags, and returns its digest.
func (s *ociServer) push(t *testing.T, repo string, annotations map[string]string, layers []ociLayer, tags ...string) v1.Hash {
	t.Helper()
	image := s.image(t, annotations, layers)
	for _, tag := range tags {
		s.write(t, repo+":"+tag, image)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func (s *ociServer) image(t *testing.T, annotations map[string]string, layers []ociLayer) v1.Image {
	t.Helper()
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	for _, l := range layers {
		var err error
		image, err = mutate.Append(image, mutate.Addendum{
			Layer: static.NewLayer(l.data, types.MediaType(l.mediaType)), Annotations: l.annotations, MediaType: types.MediaType(l.mediaType),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return mutate.Annotations(image, annotations).(v1.Image)
}

func (s *ociServer) write(t *testing.T, ref string, image v1.Image) {
	t.Helper()
	to, err := name.ParseReference(s.host()+"/"+ref, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(to, image, remote.WithTransport(s.Client().Transport), remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}
