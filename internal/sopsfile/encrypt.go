package sopsfile

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	"github.com/getsops/sops/v3/keyservice"
	"google.golang.org/grpc"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// Encrypt encrypts a text for the recipients and in the way that the nearest .sops.yaml asks for at the
// place of the file. The file need not exist; its name tells the format. It fails with ErrNoRules, a
// *NoRuleError, ErrEncrypted or a *SyntaxError, each as it is or wrapped.
func Encrypt(file string, plain []byte) ([]byte, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	path, err := findRules(file)
	if err != nil {
		return nil, err
	}
	r, err := readRules(path)
	if err != nil {
		return nil, err
	}
	index := r.index(file)
	if index < 0 {
		return nil, &NoRuleError{Rules: path}
	}
	c, err := r.load(index, file)
	if err != nil {
		return nil, err
	}
	format := decrypt.FormatOf(file)
	store := storeOf(format, r.stores)
	branches, err := parse(store, format, plain)
	if err != nil {
		return nil, err
	}
	tree := &sops.Tree{Branches: branches, Metadata: metadata(c, format), FilePath: file}
	if tree.Metadata.MasterKeyCount() == 0 {
		return nil, fmt.Errorf("creation rule %d of %s names no recipients", index+1, path)
	}
	key, errs := tree.GenerateDataKeyWithKeyServices([]keyservice.KeyServiceClient{closer{keyservice.NewLocalClient()}})
	if len(errs) > 0 {
		// What gpg says has several lines.
		return nil, fmt.Errorf("encrypting its data key: %s", strings.Join(strings.Fields(errors.Join(errs...).Error()), " "))
	}
	if err := seal(tree, key, aes.NewCipher(), time.Now()); err != nil {
		return nil, err
	}
	out, err := store.EmitEncryptedFile(*tree)
	if err != nil {
		return nil, fmt.Errorf("encrypted, but it cannot be written as %s", format)
	}
	return out, nil
}

// closer closes data keys as the sops command does, and says what PGP takes.
type closer struct{ keyservice.LocalClient }

// Encrypt closes a data key.
func (c closer) Encrypt(ctx context.Context, in *keyservice.EncryptRequest, options ...grpc.CallOption) (*keyservice.EncryptResponse, error) {
	out, err := c.LocalClient.Encrypt(ctx, in, options...)
	pgp, ok := in.Key.KeyType.(*keyservice.Key_PgpKey)
	if err == nil || !ok {
		return out, err
	}
	if _, missing := exec.LookPath("gpg"); missing != nil {
		return nil, errors.New("a PGP recipient requires the gpg command, which is not installed")
	}
	return nil, fmt.Errorf("a PGP recipient requires the gpg command, and the public key %s in its keyring: %w", pgp.PgpKey.Fingerprint, err)
}
