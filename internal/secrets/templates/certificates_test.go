package templates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// made are a root, an intermediate authority and a leaf, each as PEM, and the key of the leaf.
func made(t *testing.T) (root, middle, leaf, key string) {
	t.Helper()
	sign := func(name string, serial int64, authority bool, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			IsCA: authority, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		}
		if parent == nil {
			parent, by = c, own
		}
		data, err := x509.CreateCertificate(rand.Reader, c, parent, own.Public(), by)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(data)
		if err != nil {
			t.Fatal(err)
		}
		return cert, own
	}
	r, rk := sign("root", 1, true, nil, nil)
	m, mk := sign("middle", 2, true, r, rk)
	l, lk := sign("leaf", 3, false, m, mk)
	key, err := privatePEM(lk)
	if err != nil {
		t.Fatal(err)
	}
	one := func(c *x509.Certificate) string { return certificatesPEM([]*x509.Certificate{c}) }
	return one(r), one(m), one(l), key
}

// TestCertificates takes certificates and keys through templates, there and back.
func TestCertificates(t *testing.T) {
	root, middle, leaf, key := made(t)
	values := map[string][]byte{"root": []byte(root), "middle": []byte(middle), "leaf": []byte(leaf), "key": []byte(key)}
	cases := map[string]struct{ reason, text, want string }{
		"Key":          {"a key comes back", `{{ pemToPkcs12 .leaf .key | b64dec | pkcs12key }}`, key},
		"KeyPass":      {"with a password", `{{ pemToPkcs12Pass .leaf .key "x" | b64dec | pkcs12keyPass "x" }}`, key},
		"Cert":         {"so does a certificate, without those of authorities", `{{ pemToPkcs12 (print .leaf .middle) .key | b64dec | pkcs12cert }}`, leaf},
		"Full":         {"or with them, in order", `{{ fullPemToPkcs12 (print .leaf .root .middle) .key | b64dec | pkcs12cert }}`, leaf + middle + root},
		"FullPass":     {"and with a password", `{{ fullPemToPkcs12Pass (print .leaf .middle) .key "x" | b64dec | pkcs12certPass "x" }}`, leaf + middle},
		"Filter":       {"blocks of a type", `{{ print .leaf .key | filterPEM "PRIVATE KEY" }}`, key},
		"Leaf":         {"parts of a chain", `{{ print .root .leaf .middle | filterCertChain "leaf" }}`, leaf},
		"Intermediate": {"parts of a chain", `{{ print .root .leaf .middle | filterCertChain "intermediate" }}`, middle},
		"Root":         {"parts of a chain", `{{ print .root .leaf .middle | filterCertChain "root" }}`, root},
		"Truststore":   {"certificates that are trusted", `{{ pemTruststoreToPKCS12 .root | b64dec | len | lt 100 }}{{ pemTruststoreToPKCS12Pass .root "x" | empty }}`, "truefalse"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Execute(Work{Values: values, Parts: []Part{{Templates: map[string]string{"k": tc.text}}}}, nil)
			if err != nil || string(got.Data["k"]) != tc.want {
				t.Errorf("%s: %v\n%s\nwant\n%s", tc.reason, err, got.Data["k"], tc.want)
			}
		})
	}
}

func TestJWK(t *testing.T) {
	_, _, _, key := made(t)
	block, _ := pem.Decode([]byte(key))
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := (&jose.JSONWebKey{Key: private}).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Execute(Work{Values: map[string][]byte{"jwk": jwk}, Parts: []Part{{Templates: map[string]string{"private": "{{ jwkPrivateKeyPem .jwk }}", "public": "{{ jwkPublicKeyPem .jwk }}"}}}}, nil)
	if err != nil || string(got.Data["private"]) != key || !strings.HasPrefix(string(got.Data["public"]), "-----BEGIN PUBLIC KEY-----") {
		t.Errorf("%v: the keys are not those of the JWK", err)
	}
}

func TestRSADecrypt(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key, err := privatePEM(private)
	if err != nil {
		t.Fatal(err)
	}
	in, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &private.PublicKey, []byte("text"), nil)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]byte{"in": []byte(base64.StdEncoding.EncodeToString(in)), "key": []byte(key)}
	got, err := Execute(Work{Values: values, Parts: []Part{{Templates: map[string]string{"k": `{{ .in | b64dec | rsaDecrypt "RSA-OAEP" "SHA256" .key }}`}}}}, nil)
	if err != nil || string(got.Data["k"]) != "text" {
		t.Errorf("%q, %v", got.Data["k"], err)
	}
}
