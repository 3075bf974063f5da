package source_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/source"
)

// clientPair is a self-signed certificate and its key.
func clientPair(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func TestAccessByCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, indexYAML)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	cert, key := clientPair(t)
	_, another := clientPair(t)
	for reason, test := range map[string]struct {
		access source.Access
		want   error
	}{
		"a certificate":    {source.Access{CAFile: ca, ClientCert: cert, ClientKey: key}, nil},
		"none":             {source.Access{CAFile: ca}, source.ErrPull},
		"no CA":            {source.Access{ClientCert: cert, ClientKey: key}, source.ErrPull},
		"another key":      {source.Access{CAFile: ca, ClientCert: cert, ClientKey: another}, source.ErrAuth},
		"a key that is no": {source.Access{CAFile: ca, ClientCert: cert, ClientKey: []byte("hunter2")}, source.ErrAuth},
	} {
		_, err := source.FetchIndex(t.Context(), source.IndexOptions{URL: server.URL, Access: test.access}, nil)
		if !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", reason, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a key: %v", reason, err)
		}
	}
}

// TestAccessKeepsHTTPS has a server that sends its callers to one that anybody can listen to.
func TestAccessKeepsHTTPS(t *testing.T) {
	plain := newHelmServer(t)
	plain.index("/index.yaml", "1.0.0", "", "x.tgz")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusFound)
	}))
	defer server.Close()
	o := source.IndexOptions{URL: server.URL, PassCredentials: true}
	o.Username, o.Password = "me", "hunter2"
	o.CAFile = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if _, err := source.FetchIndex(t.Context(), o, nil); !errors.Is(err, source.ErrPull) || len(plain.asked) != 0 {
		t.Errorf("error %v, asked %q", err, plain.asked)
	}
}
