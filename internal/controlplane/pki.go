package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Identities of the parts, as RBAC knows them.
const (
	adminUser             = "headgate-admin"
	mastersGroup          = "system:masters"
	controllerManagerUser = "system:kube-controller-manager"
	schedulerUser         = "system:kube-scheduler"
	proxyUser             = "front-proxy-client"
)

// validity of certificates, which are created again at each start, except the authority.
const validity = 10 * 365 * 24 * time.Hour

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// pki is the directory with the keys of one control plane. Every file in it has mode 0600.
type pki struct {
	dir string
	ca  *authority
}

func (p *pki) path(name string) string { return filepath.Join(p.dir, name) }

// newPKI makes the keys of a control plane, or takes those that are there.
func newPKI(dir string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the key directory: %w", err)
	}
	p := &pki{dir: dir}
	var err error
	if p.ca, err = p.authority("ca"); err != nil {
		return nil, err
	}
	proxy, err := p.authority("front-proxy-ca")
	if err != nil {
		return nil, err
	}
	if err := p.serving(); err != nil {
		return nil, err
	}
	if err := p.client(proxy, "front-proxy", proxyUser, ""); err != nil {
		return nil, err
	}
	for _, who := range []struct{ file, user, group string }{
		{"admin", adminUser, mastersGroup},
		{"controller-manager", controllerManagerUser, mastersGroup},
		{"scheduler", schedulerUser, ""},
	} {
		if err := p.client(p.ca, who.file, who.user, who.group); err != nil {
			return nil, err
		}
	}
	return p, p.serviceAccountKey()
}

// authority reads a certificate authority, or makes one.
func (p *pki) authority(name string) (*authority, error) {
	certPEM, errCert := os.ReadFile(p.path(name + ".crt"))
	keyPEM, errKey := os.ReadFile(p.path(name + ".key"))
	if errCert == nil && errKey == nil {
		return parseAuthority(certPEM, keyPEM)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("creating the key of %s: %w", name, err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "headgate-" + name},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(validity),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", name, err)
	}
	if err := p.write(name, der, key); err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading %s back: %w", name, err)
	}
	return &authority{cert: cert, key: key, pem: encodePEM("CERTIFICATE", der)}, nil
}

func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	certBlock, _ := pem.Decode(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certBlock == nil || keyBlock == nil {
		return nil, errors.New("reading the certificate authority: not PEM")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the key of the certificate authority: %w", err)
	}
	return &authority{cert: cert, key: key, pem: certPEM}, nil
}

func (p *pki) serving() error {
	return p.sign(p.ca, "apiserver", &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, serviceIP},
	})
}

func (p *pki) client(by *authority, file, user, group string) error {
	subject := pkix.Name{CommonName: user}
	if group != "" {
		subject.Organization = []string{group}
	}
	return p.sign(by, file, &x509.Certificate{
		Subject: subject, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (p *pki) sign(by *authority, file string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("creating the key of %s: %w", file, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fmt.Errorf("creating the serial number of %s: %w", file, err)
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Minute), time.Now().Add(validity)
	template.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key.Public(), by.key)
	if err != nil {
		return fmt.Errorf("signing %s: %w", file, err)
	}
	return p.write(file, der, key)
}

func (p *pki) write(file string, der []byte, key *ecdsa.PrivateKey) error {
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding the key of %s: %w", file, err)
	}
	if err := writeWhole(p.path(file+".key"), encodePEM("EC PRIVATE KEY", raw)); err != nil {
		return fmt.Errorf("writing the key of %s: %w", file, err)
	}
	if err := writeWhole(p.path(file+".crt"), encodePEM("CERTIFICATE", der)); err != nil {
		return fmt.Errorf("writing the certificate of %s: %w", file, err)
	}
	return nil
}

// serviceAccountKey keeps the key that signs service account tokens, so that tokens outlive a
// restart.
func (p *pki) serviceAccountKey() error {
	file := p.path("service-account.key")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("creating the service account key: %w", err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding the service account key: %w", err)
	}
	return writeWhole(file, encodePEM("EC PRIVATE KEY", raw))
}

func encodePEM(kind string, data []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data})
}

// kubeconfig writes the configuration by which a client reaches the server as the given identity.
// It holds the credentials themselves, so that it can be copied.
func (p *pki) kubeconfig(file, server, identity string) error {
	cert, err := os.ReadFile(p.path(identity + ".crt"))
	if err != nil {
		return fmt.Errorf("reading the certificate of %s: %w", identity, err)
	}
	key, err := os.ReadFile(p.path(identity + ".key"))
	if err != nil {
		return fmt.Errorf("reading the key of %s: %w", identity, err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["headgate"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: p.ca.pem}
	config.AuthInfos[identity] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts["headgate"] = &clientcmdapi.Context{Cluster: "headgate", AuthInfo: identity}
	config.CurrentContext = "headgate"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return fmt.Errorf("writing the kubeconfig of %s: %w", identity, err)
	}
	return os.Chmod(file, 0o600)
}

// encryptionConfig writes the configuration by which the API server encrypts Secrets at rest. The
// key is made once: without it, what is stored cannot be read any more.
func encryptionConfig(file string) error {
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("creating the encryption key: %w", err)
	}
	text := fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - secretbox:
      keys:
      - {name: headgate, secret: %s}
`, base64.StdEncoding.EncodeToString(key))
	return writeWhole(file, []byte(text))
}
