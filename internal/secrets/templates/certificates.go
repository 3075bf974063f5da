package templates

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // what encrypted the value chose it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"software.sslmate.com/src/go-pkcs12"
)

// The types of blocks of PEM.
const (
	blockCertificate = "CERTIFICATE"
	blockPrivate     = "PRIVATE KEY"
	blockPublic      = "PUBLIC KEY"
)

// maxCertificates bounds a chain: each certificate is compared with each.
const maxCertificates = 1000

func pkcs12key(password, in string) (string, error) {
	key, _, _, err := pkcs12.DecodeChain([]byte(in), password)
	if err != nil {
		return "", fmt.Errorf("reading PKCS#12: %w", err)
	}
	return privatePEM(key)
}

func pkcs12cert(password, in string) (string, error) {
	_, leaf, others, err := pkcs12.DecodeChain([]byte(in), password)
	if err != nil {
		return "", fmt.Errorf("reading PKCS#12: %w", err)
	}
	return certificatesPEM(chain(append([]*x509.Certificate{leaf}, others...))), nil
}

func pemToPKCS12(cert, key, password string) (string, error) {
	return archive(cert, key, password, false)
}

func fullPEMToPKCS12(cert, key, password string) (string, error) {
	return archive(cert, key, password, true)
}

// archive is a key with its certificate, and the certificates of the authorities where they are wanted, as PKCS#12 in Base64.
func archive(cert, key, password string, full bool) (string, error) {
	certs, err := certificates(cert)
	if err != nil {
		return "", err
	}
	private, err := privateKey(key)
	if err != nil {
		return "", err
	}
	var authorities []*x509.Certificate
	if full {
		authorities = certs[1:]
	}
	data, err := pkcs12.Modern.WithRand(rand.Reader).Encode(private, certs[0], authorities, password)
	return base64.StdEncoding.EncodeToString(data), err
}

// truststore has certificates that are trusted, as PKCS#12 in Base64.
func truststore(certs, password string) (string, error) {
	all, err := certificates(certs)
	if err != nil {
		return "", err
	}
	data, err := pkcs12.Modern.WithRand(rand.Reader).EncodeTrustStore(all, password)
	return base64.StdEncoding.EncodeToString(data), err
}

func certificates(text string) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != blockCertificate {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("reading a certificate: %w", err)
		}
		if all = append(all, cert); len(all) > maxCertificates {
			return nil, fmt.Errorf("there are more than %d certificates", maxCertificates)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there is no certificate as PEM")
	}
	return all, nil
}

func privateKey(text string) (any, error) {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("there is no private key as PEM")
		}
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			return key, nil
		}
		if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return key, nil
		}
		if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
			return key, nil
		}
	}
}

// chain puts the certificate that signed none of the others first, then that of its authority, and so on. Those of no chain are last.
func chain(certs []*x509.Certificate) []*x509.Certificate {
	left := slices.Clone(certs)
	at := slices.IndexFunc(left, func(c *x509.Certificate) bool {
		return !slices.ContainsFunc(left, func(o *x509.Certificate) bool { return o != c && signed(c, o) })
	})
	var ordered []*x509.Certificate
	for at >= 0 {
		current := left[at]
		ordered, left = append(ordered, current), slices.Delete(left, at, at+1)
		at = slices.IndexFunc(left, func(c *x509.Certificate) bool { return signed(c, current) })
	}
	return append(ordered, left...)
}

func signed(by, cert *x509.Certificate) bool {
	return bytes.Equal(by.RawSubject, cert.RawIssuer) && cert.CheckSignatureFrom(by) == nil
}

func certificatesPEM(certs []*x509.Certificate) string {
	var b bytes.Buffer
	for _, cert := range certs {
		b.Write(pem.EncodeToMemory(&pem.Block{Type: blockCertificate, Bytes: cert.Raw}))
	}
	return b.String()
}

func privatePEM(key any) (string, error) {
	data, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: blockPrivate, Bytes: data})), nil
}

// filterPEM has the blocks of one type.
func filterPEM(kind, in string) (string, error) {
	var b bytes.Buffer
	found := false
	for rest := []byte(in); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			if !found && strings.TrimSpace(in) != "" {
				return "", errors.New("there is no block of PEM")
			}
			return b.String(), nil
		}
		found = true
		if block.Type == kind {
			b.Write(pem.EncodeToMemory(block))
		}
	}
}

// filterCertChain has the certificates of a chain that are the leaf, intermediate ones or the root.
func filterCertChain(kind, in string) (string, error) {
	certs, err := certificates(in)
	if err != nil {
		return "", err
	}
	var left []*x509.Certificate
	for i, cert := range chain(certs) {
		root := bytes.Equal(cert.RawIssuer, cert.RawSubject)
		is := map[string]bool{"leaf": i == 0 && !root, "intermediate": i > 0 && !root, "root": root}
		if _, known := is[kind]; !known {
			return "", fmt.Errorf("%q is not one of leaf, intermediate, root", kind)
		}
		if is[kind] {
			left = append(left, cert)
		}
	}
	return certificatesPEM(left), nil
}

func jwkPublicKeyPEM(in string) (string, error) {
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON([]byte(in)); err != nil {
		return "", err
	}
	data, err := x509.MarshalPKIXPublicKey(key.Public().Key)
	return string(pem.EncodeToMemory(&pem.Block{Type: blockPublic, Bytes: data})), err
}

func jwkPrivateKeyPEM(in string) (string, error) {
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON([]byte(in)); err != nil {
		return "", err
	}
	return privatePEM(key.Key)
}

// hashes are those of encryption, by their names.
var hashes = map[string]func() hash.Hash{"SHA1": sha1.New, "SHA224": sha256.New224, "SHA256": sha256.New, "SHA384": sha512.New384, "SHA512": sha512.New}

// rsaDecrypt decrypts a value with a private key. Either may come first, so that both can be what a pipeline hands over.
func rsaDecrypt(scheme, with, in, key string) (string, error) {
	if strings.Contains(in, blockPrivate+"-----") {
		in, key = key, in
	}
	private, err := privateKey(key)
	if err != nil {
		return "", err
	}
	of, is := private.(*rsa.PrivateKey)
	if !is {
		return "", errors.New("the key is not one of RSA")
	}
	var options crypto.DecrypterOpts
	switch scheme {
	case "None", "RSA-OAEP":
		digest, known := hashes[strings.ToUpper(with)]
		if !known {
			return "", fmt.Errorf("%q is not a hash that is known", with)
		}
		out, err := rsa.DecryptOAEP(digest(), rand.Reader, of, []byte(in), nil)
		return string(out), err
	case "RSA-PKCS1", "RSAES-PKCS1-V1_5":
		options = &rsa.PKCS1v15DecryptOptions{}
	default:
		return "", fmt.Errorf("%q is not a scheme that is known", scheme)
	}
	out, err := of.Decrypt(rand.Reader, []byte(in), options)
	return string(out), err
}
