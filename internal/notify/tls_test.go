package notify_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/notify"
)

func newServer(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// identity makes a certificate that signs itself.
func identity(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// TestCertificates talks to a server that has a certificate of its own, and wants one.
func TestCertificates(t *testing.T) {
	cert, key := identity(t)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(cert)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	cases := map[string]struct {
		reason string
		s      notify.Settings
		want   string
	}{
		"both":    {"the client shows its own and knows the server's", notify.Settings{CA: ca, Cert: cert, Key: key}, ""},
		"no ca":   {"a server that nobody vouches for is not told", notify.Settings{Cert: cert, Key: key}, "certificate"},
		"no cert": {"the server knows no nobody", notify.Settings{CA: ca}, "certificate"},
		"bad ca":  {"what is wrong is named", notify.Settings{CA: []byte("x")}, "spec.certSecretRef: ca.crt contains no certificate"},
		"no pair": {"what is wrong is named", notify.Settings{Cert: cert, Key: []byte("x")}, "spec.certSecretRef: tls.crt and tls.key do not match"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.s.Type, tc.s.Address = "generic", server.URL
			err := notify.Send(t.Context(), tc.s, sample("info"))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
