package decrypt

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/azkv"
	"github.com/getsops/sops/v3/gcpkms"
	"github.com/getsops/sops/v3/hcvault"
	"github.com/getsops/sops/v3/keyservice"
	"github.com/getsops/sops/v3/kms"
	"github.com/getsops/sops/v3/logging"
	"google.golang.org/grpc"
)

// patience is how long a service may take to open a data key.
const patience = 30 * time.Second

// errNoKey says that there is no key of a kind, or that none of that kind fits.
var errNoKey = errors.New("no matching key")

// service opens data keys for the SOPS library; it is the library's port. It serves one call.
type service struct {
	keys *Keys
	// reasons are why services did not decrypt.
	reasons []string
}

// Encrypt is not offered.
func (*service) Encrypt(context.Context, *keyservice.EncryptRequest, ...grpc.CallOption) (*keyservice.EncryptResponse, error) {
	return nil, errors.New("this key service only decrypts")
}

// Decrypt opens a data key with the keys of the kind that it was closed for. It never falls back to
// what the library finds on its own.
func (s *service) Decrypt(ctx context.Context, in *keyservice.DecryptRequest, _ ...grpc.CallOption) (out *keyservice.DecryptResponse, err error) {
	defer func() {
		// A data key that was made by hand is none that fits.
		if recover() != nil {
			out, err = nil, errNoKey
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	plain, err := s.open(ctx, in)
	if err != nil {
		return nil, err
	}
	return &keyservice.DecryptResponse{Plaintext: plain}, nil
}

func (s *service) open(ctx context.Context, in *keyservice.DecryptRequest) ([]byte, error) {
	closed := string(in.Ciphertext)
	switch kind := in.Key.KeyType.(type) {
	case *keyservice.Key_AgeKey:
		return s.keys.openAge(in.Ciphertext)
	case *keyservice.Key_PgpKey:
		return s.keys.openPGP(in.Ciphertext)
	case *keyservice.Key_VaultKey:
		v := kind.VaultKey
		key := &hcvault.MasterKey{VaultAddress: v.VaultAddress, EnginePath: v.EnginePath, KeyName: v.KeyName, EncryptedKey: closed}
		web, err := vaultClient(s.keys.egress)
		if err != nil {
			return nil, err
		}
		hcvault.NewHTTPClient(web).ApplyToMasterKey(key)
		return ask(ctx, s, s.keys.vault, key, s.keys.permitVault(key))
	case *keyservice.Key_KmsKey:
		a := kind.KmsKey
		key := &kms.MasterKey{Arn: a.Arn, Role: a.Role, EncryptedKey: closed, EncryptionContext: map[string]*string{}}
		for name, value := range a.Context {
			key.EncryptionContext[name] = &value
		}
		// A profile would be one of the home of the user.
		return ask(ctx, s, s.keys.aws, key, permitAWS(key))
	case *keyservice.Key_AzureKeyvaultKey:
		a := kind.AzureKeyvaultKey
		key := &azkv.MasterKey{VaultURL: a.VaultUrl, Name: a.Name, Version: a.Version, EncryptedKey: closed}
		return ask(ctx, s, s.keys.azure, key, s.keys.permitAzure(ctx, key))
	case *keyservice.Key_GcpKmsKey:
		return ask(ctx, s, s.keys.gcp, &gcpkms.MasterKey{ResourceID: kind.GcpKmsKey.ResourceId, EncryptedKey: closed}, nil)
	default:
		return nil, errNoKey
	}
}

// serviceKey is a key that a service keeps for itself.
type serviceKey interface {
	DecryptContext(ctx context.Context) ([]byte, error)
	TypeToIdentifier() string
}

// ask has a service open a data key with the account for it, and notes why it did not. The account is not given to a key
// that forbidden says something against.
func ask[M serviceKey](ctx context.Context, s *service, account func(M), key M, forbidden error) ([]byte, error) {
	if account == nil {
		return nil, errNoKey
	}
	if forbidden != nil {
		s.reasons = append(s.reasons, key.TypeToIdentifier()+": not requested: "+s.keys.redact(forbidden.Error()))
		return nil, errNoKey
	}
	account(key)
	plain, err := key.DecryptContext(ctx)
	if err != nil {
		s.reasons = append(s.reasons, key.TypeToIdentifier()+": "+s.keys.redact(reason(err)))
		return nil, errNoKey
	}
	return plain, nil
}

// DataKey returns the key by which the values of a tree are encrypted. It fails with a *NoKeyError
// when too few of the tree's key groups can be opened.
func (k *Keys) DataKey(tree *sops.Tree) ([]byte, error) {
	// The library tells about each key on standard error; what matters is in the error.
	logging.SetLevel(0)
	s := &service{keys: k}
	key, err := tree.Metadata.GetDataKeyWithKeyServices([]keyservice.KeyServiceClient{s}, sops.DefaultDecryptionOrder)
	if err == nil {
		return key, nil
	}
	slices.Sort(s.reasons)
	return nil, &NoKeyError{Recipients: Recipients(tree), Reasons: slices.Compact(s.reasons), Lacking: k.lacking, none: k.Empty()}
}
