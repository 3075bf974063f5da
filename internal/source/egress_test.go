package source

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/headgate-dev/headgate/internal/egress"
)

// TestEgress has sources of every kind on this machine, and proxies, which the repository of others names: nothing is sent there. Without rules they are
// requested, so that the table proves something.
func TestEgress(t *testing.T) {
	var reached atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		http.Error(w, "no", http.StatusTeapot)
	}))
	defer server.Close()
	policy, err := egress.Run{Remote: true}.Policy()
	if err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	host := strings.TrimPrefix(server.URL, "http://")
	for name, fetch := range map[string]func(context.Context, egress.Rules) error{
		"Git": func(ctx context.Context, r egress.Rules) error {
			_, err := FetchGit(ctx, GitOptions{URL: server.URL + "/x.git", Egress: r}, "", nil)
			return err
		},
		"Commit": func(ctx context.Context, r egress.Rules) error {
			_, err := FetchGit(ctx, GitOptions{URL: server.URL + "/x.git", Ref: GitRef{Commit: strings.Repeat("a", 40)}, Egress: r}, "", nil)
			return err
		},
		"Proxy": func(ctx context.Context, r egress.Rules) error {
			_, err := ListGit(ctx, GitOptions{URL: "http://git.invalid/x.git", Proxy: server.URL, Egress: r})
			return err
		},
		"App": func(ctx context.Context, r egress.Rules) error {
			app := &App{AppConfig: AppConfig{ID: "1", InstallationID: "2", PrivateKey: private, BaseURL: server.URL}}
			_, err := ListGit(ctx, GitOptions{URL: "https://git.invalid/x.git", App: app, Egress: r})
			return err
		},
		"Push": func(ctx context.Context, r egress.Rules) error {
			_, err := EditGit(ctx, GitEdit{GitOptions: GitOptions{URL: server.URL + "/x.git", Egress: r}, Branch: "main"})
			return err
		},
		"Registry": func(ctx context.Context, r egress.Rules) error {
			_, err := ListTags(ctx, "oci://"+host+"/x", RegistryAccess{Access: Access{Egress: r}, Insecure: true})
			return err
		},
		"Index": func(ctx context.Context, r egress.Rules) error {
			_, err := FetchIndex(ctx, IndexOptions{Access: Access{Egress: r}, URL: server.URL}, nil)
			return err
		},
		"Bucket": func(ctx context.Context, r egress.Rules) error {
			_, err := FetchBucket(ctx, BucketOptions{Access: Access{Egress: r}, Endpoint: host, Bucket: "bucket", Insecure: true, Region: "r"}, nil)
			return err
		},
		"File": func(ctx context.Context, r egress.Rules) error {
			_, err := FetchFile(ctx, FileOptions{Access: Access{Egress: r}, URL: server.URL, Limit: 1})
			return err
		},
		"Artifact": func(ctx context.Context, r egress.Rules) error {
			_, err := FetchArtifact(ctx, Access{Egress: r}, server.URL, "sha256:")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := reached.Load()
			err := fetch(t.Context(), policy.Fetches)
			if err == nil || !strings.Contains(err.Error(), "the address is not permitted") || reached.Load() != before {
				t.Errorf("it reaches this machine: %v", err)
			}
			if err := fetch(t.Context(), egress.Rules{}); err == nil || reached.Load() == before {
				t.Errorf("without rules it reaches nothing: %v", err)
			}
		})
	}
	for address, want := range map[string]bool{"ssh://git@" + host + "/x.git": false, "ssh://git@localhost/x.git": false, "ssh://git@1.1.1.1/x.git": true} {
		r := &remote{options: GitOptions{Egress: policy.Fetches}, url: address}
		if err := r.permitted(t.Context()); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
