package wrapper

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
)

// upload sends an artifact to the URL that is its place: from where it is if nothing has to be packed, since it may be large.
func upload(dir string, artifact v1alpha1.Artifact) error {
	info, err := os.Stat(artifact.Path)
	if err != nil {
		return err
	}
	file := artifact.Path
	if artifact.Archive == nil || artifact.Archive.None == nil || !info.Mode().IsRegular() {
		packed, err := os.CreateTemp(dir, "upload-")
		if err != nil {
			return err
		}
		defer os.Remove(packed.Name())
		if err := errors.Join(artifacts.Pack(packed, artifact.Path, artifact.Archive), packed.Close()); err != nil {
			return err
		}
		file = packed.Name()
	}
	trust(dir)
	return (&artifacts.Places{}).Upload(context.Background(), artifact.HTTP, variables{}, file) //nolint:forbidigo // it ends with the process, whose main this is
}

// withoutSecrets is an environment without the Secrets of artifacts: they are not meant for the program.
func withoutSecrets(environment []string) []string {
	return slices.DeleteFunc(environment, func(one string) bool { return strings.HasPrefix(one, secretVariable) })
}

const (
	// bundle has the certificates that the image of the engine trusts; certificateFile is the variable by which another one is named.
	bundle          = "certificates"
	certificateFile = "SSL_CERT_FILE"
)

// bundles are where images have the certificates that they trust.
func bundles() []string {
	return []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem"}
}

// keepBundle keeps the certificates for images that have none.
func keepBundle(dir string) error {
	for _, path := range bundles() {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		defer file.Close()
		return writeTo(filepath.Join(dir, bundle), 0o644, file)
	}
	return nil
}

// trust has this process trust the kept certificates, unless the image of the program has its own.
func trust(dir string) {
	if os.Getenv(certificateFile) != "" {
		return
	}
	for _, path := range bundles() {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	// Where it fails, so does the verification of the server, which says so.
	_ = os.Setenv(certificateFile, filepath.Join(dir, bundle))
}
