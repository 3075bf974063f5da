package scenario

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/source"
)

// The name is such that the source comes before the one that it includes.
const appSource = `apiVersion: v1
kind: Secret
metadata: {name: app, namespace: fleet}
stringData:
  githubAppID: "12"
  githubAppInstallationID: "34"
  githubAppBaseURL: %q
  githubAppPrivateKey: %q
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: all, namespace: fleet}
spec:
  url: %q
  provider: github
  interval: 1h
  ref: {branch: main}
  secretRef: {name: app}
  include: [{repository: {name: repo}, fromPath: a, toPath: included}]
`

// tokens answers as GitHub does when an App asks for the token of an installation.
func tokens(t *testing.T, key *rsa.PrivateKey, git *gitserver.Server) (url string, given *atomic.Int64) {
	t.Helper()
	given = &atomic.Int64{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claim := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		_, err := jwt.Parse(claim, func(*jwt.Token) (any, error) { return &key.PublicKey, nil },
			jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer("12"))
		if err != nil || r.Method+" "+r.URL.Path != "POST /app/installations/34/access_tokens" {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		token := rand.Text()
		git.AddUser("x-access-token", token, false)
		given.Add(1)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"token": token, "expires_at": time.Now().Add(time.Hour)})
	}))
	t.Cleanup(api.Close)
	return api.URL, given
}

// TestSourcesStartAgain has a source that includes another one and logs in by a GitHub App, and starts the
// engine again: nothing of that is to be seen in the status.
func TestSourcesStartAgain(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	api, given := tokens(t, key, k.Git)
	f := newFleet(t, k)
	f.push("1")
	if err := f.world.put(fmt.Sprintf(appSource, api, string(private), k.Git.URL("fleet"))); err != nil {
		t.Fatal(err)
	}
	f.settled("1")
	f.condition("git", "all", "True", "")
	included(t, k, "1")

	k.StopEngine()
	if k.Store, err = source.NewStore(filepath.Join(k.Dir, "artifacts"), k.Git.Base()+"/artifacts"); err != nil {
		t.Fatal(err)
	}
	m, _, err := f.world.resource("git")
	if err != nil {
		t.Fatal(err)
	}
	watched, err := f.world.client.Resource(m.Resource).Namespace("fleet").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=all"})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	before := given.Load()
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the source is fetched again", func() (bool, string) { return given.Load() > before, "no token was asked for" })
	f.push("2")
	f.settled("2")
	eventually(t, "what is included has come", func() (bool, string) {
		a, ok := k.Store.Get(source.Key{Group: "source.toolkit.fluxcd.io", Kind: "GitRepository", Namespace: "fleet", Name: "all"})
		return ok && valueOf(t, a.Tree) == "2", "it has not"
	})
	f.condition("git", "all", "True", "")
	neverFailed(t, watched)
	if given.Load() > before+1 {
		t.Errorf("the App asked for %d tokens", given.Load())
	}
}

func included(t *testing.T, k *kit.Kit, value string) {
	t.Helper()
	a, ok := k.Store.Get(source.Key{Group: "source.toolkit.fluxcd.io", Kind: "GitRepository", Namespace: "fleet", Name: "all"})
	if !ok || valueOf(t, a.Tree) != value {
		t.Errorf("what is included is not there with value %q: %v", value, ok)
	}
}

// valueOf reads the value of what is included.
func valueOf(t *testing.T, tree *source.Tree) string {
	t.Helper()
	f, ok := tree.File("included/x.yaml")
	if !ok {
		return ""
	}
	data, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), `data: {k: "`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// neverFailed checks what a watch has seen so far.
func neverFailed(t *testing.T, watched watch.Interface) {
	t.Helper()
	for {
		select {
		case event := <-watched.ResultChan():
			u, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				t.Fatalf("the watch says %+v", event.Object)
			}
			if is, why := conditionOf(u, "Ready"); is != "True" {
				t.Errorf("the source was not ready: %s %s", is, why)
			}
		default:
			return
		}
	}
}
