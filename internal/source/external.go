package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// ErrDigest is content that is not what its digest says.
var ErrDigest = errors.New("the digest does not match")

// maxArtifact bounds an artifact that another controller packaged.
const maxArtifact = 256 << 20

// FetchArtifact downloads an artifact that another controller serves over http or https. It must have the
// digest, "sha256:" and hexadecimal digits, and at most 256 MiB.
func FetchArtifact(ctx context.Context, a Access, address, digest string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%w: the URL of an artifact must be http or https", ErrURL)
	}
	ctx, cancel := a.bound(ctx)
	defer cancel()
	transport, err := a.transport()
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	secrets := a.secrets()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL of an artifact is invalid", ErrURL)
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("downloading the artifact: %s", secrets.text(ctx, err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("downloading the artifact: %s returned %s", u.Host, answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxArtifact+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("downloading the artifact: %s", secrets.text(ctx, err))
	case len(data) > maxArtifact:
		return nil, fmt.Errorf("downloading the artifact: it has more than %d bytes", maxArtifact)
	}
	sum := sha256.Sum256(data)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != digest {
		return nil, fmt.Errorf("%w: the artifact has %s, want %s", ErrDigest, got, digest)
	}
	return data, nil
}
