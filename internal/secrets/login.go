package secrets

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// tokenSeconds is how long the token of an account is valid with which a store is logged in to.
const tokenSeconds = 600

// login reads the credentials of one store. Those of a SecretStore are in its namespace, those of a ClusterSecretStore where it says, or in the namespace
// that uses it.
type login struct {
	part      *part
	by        engine.UnitID
	namespace string
	// anywhere is set for ClusterSecretStores.
	anywhere bool
}

// in is the namespace of what a store names.
func (l login) in(named string) string {
	if l.anywhere && named != "" {
		return named
	}
	return l.namespace
}

// key is where a credential is.
func (l login) key(k esv1.SecretKeySelector) store.SecretRef {
	return store.SecretRef{Namespace: l.in(k.Namespace), Name: k.Name, Key: k.Key}
}

// lookup reads a credential. A Secret that a simulation has made is none.
func (l login) lookup(ctx context.Context, ref store.SecretRef) ([]byte, error) {
	if l.part.Substitutes != nil {
		s, err := l.part.client.CoreV1().Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err == nil && s.Labels[simulate.Label] != "" {
			l.part.use(l.by, idOf(secretKind, s))
			return nil, fmt.Errorf("Secret %s/%s is simulated", ref.Namespace, ref.Name)
		}
	}
	return l.part.key(ctx, l.by, secretKind, ref.Namespace, ref.Name, ref.Key)
}

// optional is a credential that a store need not have; nil for none.
func (l login) optional(ctx context.Context, k *esv1.SecretKeySelector) ([]byte, error) {
	if k == nil || k.Name == "" {
		return nil, nil
	}
	return l.lookup(ctx, l.key(*k))
}

// authorities are certificates: those given, or those of an object.
func (l login) authorities(ctx context.Context, bundle []byte, from *esv1.CAProvider) ([]byte, error) {
	if len(bundle) > 0 || from == nil {
		return bundle, nil
	}
	kind, key := secretKind, from.Key
	if from.Type == configMapKind {
		kind = configMapKind
	}
	if key == "" {
		key = corev1.ServiceAccountRootCAKey
	}
	pem, err := l.part.key(ctx, l.by, kind, l.in(from.Namespace), from.Name, key)
	if err != nil {
		return nil, fmt.Errorf("caProvider: %w", err)
	}
	return pem, nil
}

// token has the API server issue a token of an account.
func (l login) token(account esv1.ServiceAccountSelector, more ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if account.Name == "" {
			return "", errors.New("serviceAccountRef has no name")
		}
		seconds := int64(tokenSeconds)
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: append(more, account.Audiences...), ExpirationSeconds: &seconds}}
		in := l.in(account.Namespace)
		made, err := l.part.client.CoreV1().ServiceAccounts(in).CreateToken(ctx, account.Name, request, metav1.CreateOptions{})
		if err != nil {
			if apierrors.IsForbidden(err) {
				err = fmt.Errorf("%w; rbac.tokensOf of the chart permits it by name", err)
			}
			return "", fmt.Errorf("a token of ServiceAccount %s/%s: %w", in, account.Name, err)
		}
		return made.Status.Token, nil
	}
}

// account is an account that a store names.
func (l login) account(ctx context.Context, ref esv1.ServiceAccountSelector) (*corev1.ServiceAccount, error) {
	account, err := l.part.client.CoreV1().ServiceAccounts(l.in(ref.Namespace)).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("serviceAccountRef: %w", err)
	}
	return account, nil
}
