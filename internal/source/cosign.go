package source

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	_ "crypto/sha256" // The digests of signatures.
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ErrSignature is an artifact without a signature by one of the keys.
var ErrSignature = errors.New("no signature by a known key")

// OCIVerification says how an artifact has to be signed.
type OCIVerification struct {
	// Provider is "cosign", which is also meant when it is empty. Another one is an ErrUnsupported.
	Provider string
	// Keys are the entries of a Secret. Public keys in PEM form are those whose names end in ".pub": ECDSA,
	// RSA or Ed25519. A signature by one of them is enough. Without any this is about keyless signatures,
	// which are an ErrUnsupported.
	Keys map[string][]byte
}

const (
	maxSignatures  = 100
	maxSignature   = 1 << 20
	signatureType  = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureValue = "dev.cosignproject.cosign/signature"
	signatureClaim = "cosign container image signature"
	bundleType     = "application/vnd.dev.sigstore.bundle."
	inTotoType     = "application/vnd.in-toto+json"
	inToto         = "https://in-toto.io/Statement/"
	signPredicate  = "https://sigstore.dev/cosign/sign/v1"
)

// check refuses unsupported settings by name, before any request.
func (v *OCIVerification) check() error {
	switch {
	case v == nil:
		return nil
	case v.Provider == "notation":
		return fmt.Errorf("%w: notation signatures; sign with cosign and a key", ErrUnsupported)
	case v.Provider != "" && v.Provider != "cosign":
		return fmt.Errorf("%w: %q signatures; use cosign with a key", ErrUnsupported, v.Provider)
	case len(v.Keys) == 0:
		return fmt.Errorf("%w: keyless cosign signatures; sign with a key and name its public key in verify.secretRef", ErrUnsupported)
	}
	return nil
}

// publicKey is one that may have signed.
type publicKey struct {
	name string
	key  crypto.PublicKey
}

func (v *OCIVerification) publicKeys() ([]publicKey, error) {
	var keys []publicKey
	for _, name := range slices.Sorted(maps.Keys(v.Keys)) {
		if !strings.HasSuffix(name, ".pub") {
			continue
		}
		block, _ := pem.Decode(v.Keys[name])
		if block == nil {
			return nil, fmt.Errorf("%w: key %q is not in PEM form", ErrSignature, name)
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%w: key %q is invalid: it must be a public key", ErrSignature, name)
		}
		keys = append(keys, publicKey{name, key})
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: the Secret has no entry that ends in %q", ErrSignature, ".pub")
	}
	return keys, nil
}

// verify demands a signature of the artifact with a digest, and returns the name of the key that made it.
// Signatures are where cosign puts them: at the tag that is named after the digest, or as bundles that
// refer to it. What a transparency log says is not asked, as Flux does for keys.
func (r *registry) verify(ctx context.Context, digest v1.Hash, v *OCIVerification) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	keys, err := v.publicKeys()
	if err != nil {
		return nil, err
	}
	for _, find := range []func(context.Context, v1.Hash, []publicKey) (string, error){r.findSignature, r.findBundle} {
		name, err := find(ctx, digest, keys)
		if err != nil {
			return nil, r.explain(ctx, ErrSignature, "reading the signatures", err)
		}
		if name != "" {
			return []string{name}, nil
		}
	}
	return nil, fmt.Errorf("%w: %q at %s", ErrSignature, r.url, digest)
}

// findSignature searches for a signature at the tag that is named after the digest.
func (r *registry) findSignature(ctx context.Context, digest v1.Hash, keys []publicKey) (string, error) {
	tag := r.repo.Tag(digest.Algorithm + "-" + digest.Hex + ".sig")
	got, err := r.puller.Get(ctx, tag)
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	image, err := got.Image()
	if err != nil {
		return "", err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return "", err
	}
	for _, l := range manifest.Layers[:min(len(manifest.Layers), maxSignatures)] {
		signature, err := base64.StdEncoding.DecodeString(l.Annotations[signatureValue])
		if err != nil || len(signature) == 0 || string(l.MediaType) != signatureType {
			continue
		}
		payload, err := readLayer(image, l)
		if err != nil {
			return "", err
		}
		if name := signedBy(keys, payload, signature); name != "" && claims(payload, digest) {
			return name, nil
		}
	}
	return "", nil
}

// claims reports whether a payload is about the artifact with a digest.
func claims(payload []byte, digest v1.Hash) bool {
	var claim struct {
		Critical struct {
			Type  string `json:"type"`
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
		} `json:"critical"`
	}
	return json.Unmarshal(payload, &claim) == nil && claim.Critical.Type == signatureClaim && claim.Critical.Image.Digest == digest.String()
}

// findBundle searches for a signature in the bundles that refer to the digest.
func (r *registry) findBundle(ctx context.Context, digest v1.Hash, keys []publicKey) (string, error) {
	index, err := ggcr.Referrers(r.repo.Digest(digest.String()), append(slices.Clone(r.options), ggcr.WithContext(ctx))...)
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	list, err := index.IndexManifest()
	if err != nil {
		return "", err
	}
	tried := 0
	for _, m := range list.Manifests {
		if !strings.HasPrefix(m.ArtifactType, bundleType) || tried == maxSignatures {
			continue
		}
		tried++
		image, manifest, err := r.image(ctx, m.Digest)
		if err != nil {
			return "", err
		}
		for _, l := range manifest.Layers[:min(len(manifest.Layers), 1)] {
			data, err := readLayer(image, l)
			if err != nil {
				return "", err
			}
			if name := bundleSignedBy(keys, data, digest); name != "" {
				return name, nil
			}
		}
	}
	return "", nil
}

// bundleSignedBy returns the key by which a bundle signs a digest, or "". An attestation of something
// else, by the same key, is no signature.
func bundleSignedBy(keys []publicKey, data []byte, digest v1.Hash) string {
	var bundle struct {
		Envelope struct {
			Payload     []byte `json:"payload"`
			PayloadType string `json:"payloadType"`
			Signatures  []struct {
				Sig []byte `json:"sig"`
			} `json:"signatures"`
		} `json:"dsseEnvelope"`
	}
	if json.Unmarshal(data, &bundle) != nil || bundle.Envelope.PayloadType != inTotoType || !states(bundle.Envelope.Payload, digest) {
		return ""
	}
	e := bundle.Envelope
	signed := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
	for _, s := range e.Signatures[:min(len(e.Signatures), maxSignatures)] {
		if name := signedBy(keys, signed, s.Sig); name != "" {
			return name
		}
	}
	return ""
}

// states reports whether an in-toto statement says that the artifact with a digest is signed.
func states(payload []byte, digest v1.Hash) bool {
	var statement struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
		Subject       []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
	}
	if json.Unmarshal(payload, &statement) != nil || !strings.HasPrefix(statement.Type, inToto) || statement.PredicateType != signPredicate {
		return false
	}
	for _, s := range statement.Subject {
		if s.Digest[digest.Algorithm] == digest.Hex {
			return true
		}
	}
	return false
}

// signedBy returns the name of the key that signed data, or "".
func signedBy(keys []publicKey, data, signature []byte) string {
	for _, k := range keys {
		if signs(k.key, data, signature) {
			return k.name
		}
	}
	return ""
}

// signs verifies a signature as cosign makes it: over SHA-256, or over the hash that goes with the key.
func signs(key crypto.PublicKey, data, signature []byte) bool {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		hashes := map[int]crypto.Hash{384: crypto.SHA384, 521: crypto.SHA512}
		own, ok := hashes[key.Curve.Params().BitSize]
		return ecdsa.VerifyASN1(key, hashed(crypto.SHA256, data), signature) || ok && ecdsa.VerifyASN1(key, hashed(own, data), signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, hashed(crypto.SHA256, data), signature) == nil
	case ed25519.PublicKey:
		sum := sha512.Sum512(data)
		return ed25519.Verify(key, data, signature) ||
			ed25519.VerifyWithOptions(key, sum[:], signature, &ed25519.Options{Hash: crypto.SHA512}) == nil
	default:
		return false
	}
}

func hashed(h crypto.Hash, data []byte) []byte {
	sum := h.New()
	sum.Write(data)
	return sum.Sum(nil)
}

// readLayer reads a small layer.
func readLayer(image v1.Image, d v1.Descriptor) ([]byte, error) {
	if d.Size > maxSignature {
		return nil, fmt.Errorf("layer %s has %d bytes, too many for a signature", d.Digest, d.Size)
	}
	found, err := image.LayerByDigest(d.Digest)
	if err != nil {
		return nil, err
	}
	body, err := found.Compressed()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

func missing(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}
