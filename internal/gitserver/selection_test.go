package gitserver_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

// clientCertificate is one that signs itself.
func clientCertificate(t *testing.T) (certificate, key []byte, pool *x509.CertPool) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "reader"}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), pool
}

func TestFetchWithClientCertificate(t *testing.T) {
	s := serve(t)
	certificate, key, pool := clientCertificate(t)
	front := httptest.NewUnstartedServer(before(t, s.server))
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	front.StartTLS()
	defer front.Close()
	o := s.options(source.GitRef{Branch: "main"})
	o.URL = front.URL + "/git/app.git"
	o.CAFile = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	if _, err := source.FetchGit(t.Context(), o, "", nil); err == nil {
		t.Error("the server did not ask for a certificate")
	}
	o.ClientCert, o.ClientKey = certificate, key
	if _, err := source.FetchGit(t.Context(), o, "", nil); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	o.ClientKey = []byte("PRIVATE")
	if _, err := source.FetchGit(t.Context(), o, "", nil); !errors.Is(err, source.ErrAuth) || strings.Contains(err.Error(), "PRIVATE") {
		t.Errorf("with a key that is none: %v", err)
	}
}

func TestFetchSparse(t *testing.T) {
	s := serve(t)
	commit(t, s.work, "more", map[string]string{"apps/a/x.yaml": "a\n", "apps/b/y.yaml": "b\n", "appsets/z.yaml": "c\n"})
	s.push(t, "main")
	for name, c := range map[string]struct {
		sparse []string
		want   []string
		fails  string
	}{
		"one":     {sparse: []string{"./apps"}, want: []string{"apps/a/x.yaml", "apps/b/y.yaml"}},
		"two":     {sparse: []string{"apps/b/", "appsets"}, want: []string{"apps/b/y.yaml", "appsets/z.yaml"}},
		"missing": {sparse: []string{"apps", "nope"}, fails: `spec.sparseCheckout[1]: no such directory "nope"`},
	} {
		o := s.options(source.GitRef{Branch: "main"})
		o.Sparse = c.sparse
		got, err := source.FetchGit(t.Context(), o, "", nil)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want one with %q", name, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got.Tree.Paths()); diff != "" {
			t.Errorf("%s: the files (-want +got):\n%s", name, diff)
		}
	}
}

func TestFetchSubmodules(t *testing.T) {
	s := serve(t)
	if err := s.server.CreateRepo(t.Context(), "lib"); err != nil {
		t.Fatal(err)
	}
	lib := workingCopy(t)
	commit(t, lib, "lib", map[string]string{"lib.yaml": "lib: 1\n", "deep/x.yaml": "x: 1\n"})
	git(t, lib, "push", "-q", as(s.server.URL("lib"), writer, writerToken), "HEAD:refs/heads/main")
	pinned := git(t, lib, "rev-parse", "HEAD")
	commit(t, lib, "later", map[string]string{"lib.yaml": "lib: 2\n"})
	git(t, lib, "push", "-q", as(s.server.URL("lib"), writer, writerToken), "HEAD:refs/heads/main")

	commit(t, s.work, "with", map[string]string{".gitmodules": "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = ../lib.git\n"})
	git(t, s.work, "update-index", "--add", "--cacheinfo", "160000,"+pinned+",vendor/lib")
	git(t, s.work, "commit", "-q", "-m", "a submodule")
	s.push(t, "main")
	o := s.options(source.GitRef{Branch: "main"})
	without, err := source.FetchGit(t.Context(), o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, there := without.Tree.File("vendor/lib/lib.yaml"); there {
		t.Error("a submodule was fetched that nobody asked for")
	}
	o.RecurseSubmodules = true
	with, err := source.FetchGit(t.Context(), o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	f, there := with.Tree.File("vendor/lib/lib.yaml")
	if !there {
		t.Fatalf("the submodule is missing in %q", with.Tree.Paths())
	}
	if data, err := f.Read(); err != nil || string(data) != "lib: 1\n" {
		t.Errorf("the submodule has %q (%v), not what the recorded commit has", data, err)
	}
	if _, there := with.Tree.File("vendor/lib/deep/x.yaml"); !there {
		t.Error("a directory of the submodule is missing")
	}

	if err := os.WriteFile(filepath.Join(s.work, ".gitmodules"), []byte("[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = ../nothere.git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, s.work, "commit", "-q", "-m", "elsewhere", ".gitmodules")
	s.push(t, "main")
	if _, err := source.FetchGit(t.Context(), o, "", nil); err == nil || !strings.Contains(err.Error(), `submodule "vendor/lib"`) {
		t.Errorf("a submodule that is not there gives %v", err)
	}
}
