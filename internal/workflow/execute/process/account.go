package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/headgate-dev/headgate/internal/workflow/execute"
)

// account reads with the rights of a ServiceAccount.
type account struct {
	config          *rest.Config
	namespace, name string
}

func (e *Executor) account(namespace, name string) *account {
	return &account{e.options.Config, namespace, name}
}

// client is one that the API server takes for the account.
func (a *account) client() (kubernetes.Interface, error) {
	user, err := execute.User(a.namespace, a.name)
	if err != nil {
		return nil, never("%s", err)
	}
	config := rest.CopyConfig(a.config)
	// The API server adds the groups of accounts.
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	return kubernetes.NewForConfig(config)
}

// refused says what to change where the account may not read something.
func (a *account) refused(err error, kind, name string) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	return fmt.Errorf("ServiceAccount %q may not get %s %q in namespace %q, and a process gets what its account may read: permit it by a Role", a.name, kind, name, a.namespace)
}

func (a *account) secret(ctx context.Context, name string) (map[string][]byte, error) {
	client, err := a.client()
	if err != nil {
		return nil, err
	}
	found, err := client.CoreV1().Secrets(a.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, a.refused(err, "Secret", name)
	}
	return found.Data, nil
}

// Secret reads one key of a Secret.
func (a *account) Secret(ctx context.Context, name, key string) ([]byte, error) {
	data, err := a.secret(ctx, name)
	if err != nil {
		return nil, err
	}
	return keyOf(data, "Secret", name, key)
}

func (a *account) configMap(ctx context.Context, name string) (map[string][]byte, error) {
	client, err := a.client()
	if err != nil {
		return nil, err
	}
	found, err := client.CoreV1().ConfigMaps(a.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, a.refused(err, "ConfigMap", name)
	}
	data := map[string][]byte{}
	for key, value := range found.Data {
		data[key] = []byte(value)
	}
	for key, value := range found.BinaryData {
		data[key] = value
	}
	return data, nil
}

// token requests one for the account, which expires. It is requested by the engine: accounts may not do so.
func (a *account) token(ctx context.Context, lasting time.Duration) (string, error) {
	if _, err := execute.User(a.namespace, a.name); err != nil {
		return "", never("%s", err)
	}
	client, err := kubernetes.NewForConfig(a.config)
	if err != nil {
		return "", err
	}
	seconds := int64(lasting / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	granted, err := client.CoreV1().ServiceAccounts(a.namespace).CreateToken(ctx, a.name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token for ServiceAccount %q in namespace %q: %w", a.name, a.namespace, err)
	}
	return granted.Status.Token, nil
}

// authority are the certificates by which the API server is known.
func (a *account) authority() ([]byte, error) {
	tls := a.config.TLSClientConfig
	if len(tls.CAData) > 0 || tls.CAFile == "" {
		return tls.CAData, nil
	}
	data, err := os.ReadFile(tls.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading the certificates of the API server: %w", err)
	}
	return data, nil
}

// kubeconfig is one with a token, for the namespace of the account.
func (a *account) kubeconfig(token string, authority []byte) ([]byte, error) {
	const only = "headgate"
	return clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{only: {
			Server: a.config.Host, CertificateAuthorityData: authority,
			InsecureSkipTLSVerify: a.config.Insecure, TLSServerName: a.config.ServerName,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{only: {Token: token}},
		Contexts:       map[string]*clientcmdapi.Context{only: {Cluster: only, AuthInfo: only, Namespace: a.namespace}},
		CurrentContext: only,
	})
}

// address is the host and port of the API server.
func (a *account) address() (host, port string, err error) {
	u, err := url.Parse(a.config.Host)
	if err != nil {
		return "", "", errors.New("the address of the API server is not a URL")
	}
	if host, port, err = net.SplitHostPort(u.Host); err != nil {
		return u.Hostname(), "443", nil //nolint:nilerr // it names no port
	}
	return host, port, nil
}
