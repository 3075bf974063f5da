package source_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/headgate-dev/headgate/internal/source"
)

const simpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json"

// public is a key as cosign writes it into cosign.pub.
func public(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func sign(t *testing.T, key crypto.Signer, data []byte) []byte {
	t.Helper()
	var opts crypto.SignerOpts = crypto.SHA256
	sum := sha256.Sum256(data)
	message := sum[:]
	if _, ok := key.(ed25519.PrivateKey); ok {
		opts, message = crypto.Hash(0), data
	}
	signature, err := key.Sign(rand.Reader, message, opts)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func claim(digest string) []byte {
	return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"x/app"},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`, digest)
}

// attach puts a signature where cosign put it before there were bundles.
func (s *ociServer) attach(t *testing.T, repo string, of v1.Hash, payload, signature []byte) {
	t.Helper()
	s.push(t, repo, nil, []ociLayer{{
		mediaType: simpleSigning, data: payload,
		annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signature)},
	}}, "sha256-"+of.Hex+".sig")
}

// refer puts a bundle where cosign puts it now: it refers to one digest and states another one.
func (s *ociServer) refer(t *testing.T, repo string, of, states v1.Hash, key crypto.Signer, predicate string) {
	t.Helper()
	const kind = "application/vnd.in-toto+json"
	statement := fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":%q,"predicate":{}}`, states.Hex, predicate)
	signature := sign(t, key, fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(statement), statement))
	bundle, err := json.Marshal(map[string]any{
		"mediaType":    "application/vnd.dev.sigstore.bundle.v0.3+json",
		"dsseEnvelope": map[string]any{"payload": statement, "payloadType": kind, "signatures": []any{map[string]any{"sig": signature}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"
	image := s.image(t, nil, []ociLayer{{mediaType: bundleType, data: bundle}})
	image = mutate.ConfigMediaType(image, bundleType)
	image = mutate.Subject(image, v1.Descriptor{MediaType: types.OCIManifestSchema1, Digest: of, Size: 1}).(v1.Image)
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, repo+"@"+digest.String(), image)
}

func TestFetchOCIVerifies(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := newOCIServer(t, false)
	all := map[string]crypto.Signer{"ecdsa": ec, "ecdsa384": ec384, "rsa": rsaKey, "ed25519": ed}
	const signed = "https://sigstore.dev/cosign/sign/v1"
	fetch := func(repo string, v *source.OCIVerification) (*source.OCIResult, error) {
		return source.FetchOCI(t.Context(), source.OCIOptions{URL: "oci://" + s.host() + "/" + repo, Verify: v}, "", nil)
	}
	artifact := func(repo string) v1.Hash {
		return s.push(t, repo, nil, []ociLayer{{mediaType: fluxLayer, data: packed(t, map[string]string{"repo": repo})}}, "latest")
	}
	for kind, key := range all {
		digest := artifact(kind)
		s.attach(t, kind, digest, claim(digest.String()), sign(t, key, claim(digest.String())))
		bundled := artifact(kind + "-bundle")
		s.refer(t, kind+"-bundle", bundled, bundled, key, signed)
		for _, repo := range []string{kind, kind + "-bundle"} {
			got, err := fetch(repo, &source.OCIVerification{Provider: "cosign", Keys: map[string][]byte{
				"a.pub": public(t, other(t)), "b.pub": public(t, key), "cosign.key": []byte("x"),
			}})
			if err != nil {
				t.Errorf("%s: %v", repo, err)
				continue
			}
			if diff := cmp.Diff([]string{"b.pub"}, got.Verified); diff != "" {
				t.Errorf("%s: verified (-want +got):\n%s", repo, diff)
			}
			_, err = fetch(repo, &source.OCIVerification{Keys: map[string][]byte{"a.pub": public(t, other(t))}})
			if !errors.Is(err, source.ErrSignature) {
				t.Errorf("%s: by another key: %v", repo, err)
			}
		}
	}

	artifact("unsigned")
	elsewhere := artifact("elsewhere")
	moved := artifact("moved")
	s.attach(t, "moved", moved, claim(elsewhere.String()), sign(t, ec, claim(elsewhere.String())))
	forged := artifact("forged")
	s.attach(t, "forged", forged, claim(forged.String()), sign(t, ec, claim(elsewhere.String())))
	untyped := artifact("untyped")
	claims := []byte(strings.Replace(string(claim(untyped.String())), "cosign container image signature", "something else", 1))
	s.attach(t, "untyped", untyped, claims, sign(t, ec, claims))
	attested := artifact("attested")
	s.refer(t, "attested", attested, attested, ec, "https://spdx.dev/Document")
	s.refer(t, "restated", artifact("restated"), elsewhere, ec, signed)
	ours := map[string][]byte{"cosign.pub": public(t, ec)}
	for repo, test := range map[string]struct {
		v    *source.OCIVerification
		want error
	}{
		"unsigned":  {&source.OCIVerification{Keys: ours}, source.ErrSignature},
		"moved":     {&source.OCIVerification{Keys: ours}, source.ErrSignature},
		"forged":    {&source.OCIVerification{Keys: ours}, source.ErrSignature},
		"untyped":   {&source.OCIVerification{Keys: ours}, source.ErrSignature},
		"restated":  {&source.OCIVerification{Keys: ours}, source.ErrSignature},
		"attested":  {&source.OCIVerification{Keys: ours}, source.ErrSignature},
		"ecdsa":     {&source.OCIVerification{Keys: map[string][]byte{"a.pub": []byte("hunter2")}}, source.ErrSignature},
		"rsa":       {&source.OCIVerification{Keys: map[string][]byte{"key.pem": public(t, rsaKey)}}, source.ErrSignature},
		"ed25519":   {&source.OCIVerification{Provider: "notation", Keys: ours}, source.ErrUnsupported},
		"elsewhere": {&source.OCIVerification{Provider: "cosign"}, source.ErrUnsupported},
	} {
		got, err := fetch(repo, test.v)
		if !errors.Is(err, test.want) || got != nil {
			t.Errorf("%s: error %v, want %v", repo, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a key: %v", repo, err)
		}
	}
}

func other(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
