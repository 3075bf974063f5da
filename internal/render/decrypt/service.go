package decrypt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/getsops/sops/v3"
	sopsage "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/azkv"
	"github.com/getsops/sops/v3/gcpkms"
	"github.com/getsops/sops/v3/hcvault"
	"github.com/getsops/sops/v3/keyservice"
	"github.com/getsops/sops/v3/kms"
	"github.com/getsops/sops/v3/logging"
	vault "github.com/hashicorp/vault/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// patience is how long a service may take to open a data key.
const patience = 30 * time.Second

// errNoKey says that there is no key of a kind, or that none of that kind fits.
var errNoKey = errors.New("no key fits")

// service opens data keys for the SOPS library; it is the library's port. It serves one call.
type service struct {
	keys *Keys
	// reasons are why services did not open what they were asked for.
	reasons []string
}

// Encrypt is not offered.
func (*service) Encrypt(context.Context, *keyservice.EncryptRequest, ...grpc.CallOption) (*keyservice.EncryptResponse, error) {
	return nil, errors.New("this key service only decrypts")
}

// Decrypt opens a data key with the keys of the kind that it was closed for. It never falls back to
// what the library finds by itself.
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
		return ask(ctx, s, s.keys.vault, &hcvault.MasterKey{
			VaultAddress: v.VaultAddress, EnginePath: v.EnginePath, KeyName: v.KeyName, EncryptedKey: closed,
		})
	case *keyservice.Key_KmsKey:
		a := kind.KmsKey
		key := &kms.MasterKey{Arn: a.Arn, Role: a.Role, EncryptedKey: closed, EncryptionContext: map[string]*string{}}
		for name, value := range a.Context {
			key.EncryptionContext[name] = &value
		}
		// A profile would be one of the home of the user.
		return ask(ctx, s, s.keys.aws, key)
	case *keyservice.Key_AzureKeyvaultKey:
		a := kind.AzureKeyvaultKey
		return ask(ctx, s, s.keys.azure, &azkv.MasterKey{
			VaultURL: a.VaultUrl, Name: a.Name, Version: a.Version, EncryptedKey: closed,
		})
	case *keyservice.Key_GcpKmsKey:
		return ask(ctx, s, s.keys.gcp, &gcpkms.MasterKey{ResourceID: kind.GcpKmsKey.ResourceId, EncryptedKey: closed})
	default:
		return nil, errNoKey
	}
}

// master is a key that a service keeps for itself.
type master interface {
	DecryptContext(ctx context.Context) ([]byte, error)
	TypeToIdentifier() string
}

// ask has a service open a data key with the account for it, and notes why it did not.
func ask[M master](ctx context.Context, s *service, account func(M), key M) ([]byte, error) {
	if account == nil {
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

// reason is what a service answered, in a line without what differs from one answer to the next.
func reason(err error) string {
	var coded interface {
		ErrorCode() string
		ErrorMessage() string
	}
	var azure *azcore.ResponseError
	var vaulted *vault.ResponseError
	text := err.Error()
	switch {
	case errors.As(err, &coded):
		text = coded.ErrorCode() + ": " + coded.ErrorMessage()
	case errors.As(err, &azure):
		text = fmt.Sprintf("status %d %s", azure.StatusCode, azure.ErrorCode)
	case errors.As(err, &vaulted):
		text = fmt.Sprintf("status %d: %s", vaulted.StatusCode, strings.Join(vaulted.Errors, ", "))
	case errors.Is(err, context.DeadlineExceeded):
		text = "it did not answer in time"
	default:
		if st, ok := status.FromError(err); ok {
			text = st.Code().String() + ": " + st.Message()
		}
	}
	return short(strings.Join(strings.Fields(text), " "), 200)
}

// short cuts the middle out of a text that is longer than a line.
func short(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	const end = 12
	return string(runes[:most-end]) + "…" + string(runes[len(runes)-end:])
}

// NoKeyError is returned when none of the keys can open something.
type NoKeyError struct {
	// Recipients are those that it was closed for, sorted: age recipients as they are, others after
	// the name that SOPS has for their kind, such as "pgp", "kms" or "hc_vault".
	Recipients []string
	// Reasons are why services did not open it, sorted; none when no service was asked.
	Reasons []string
}

// Error names the recipients, long ones shortened, and the reasons.
func (e *NoKeyError) Error() string {
	var names []string
	for _, name := range e.Recipients {
		// A post-quantum recipient is two thousand letters long.
		names = append(names, short(name, 160))
	}
	text := "none of the keys can decrypt it; it is encrypted for " + strings.Join(names, ", ")
	if len(e.Reasons) > 0 {
		text += "; " + strings.Join(e.Reasons, "; ")
	}
	return text
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
	return nil, &NoKeyError{Recipients: Recipients(tree), Reasons: slices.Compact(s.reasons)}
}

// Recipients names those that a tree is encrypted for, as NoKeyError does.
func Recipients(tree *sops.Tree) []string {
	var all []string
	for _, group := range tree.Metadata.KeyGroups {
		for _, key := range group {
			if a, ok := key.(*sopsage.MasterKey); ok {
				all = append(all, a.Recipient)
				continue
			}
			all = append(all, key.TypeToIdentifier()+" "+key.ToString())
		}
	}
	if len(all) == 0 {
		return []string{"nobody"}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
