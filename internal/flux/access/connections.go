package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"golang.org/x/oauth2"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Connections reads how the clusters are reached that Kustomizations name. It is safe for concurrent
// use.
type Connections struct {
	Client  kubernetes.Interface
	Objects *cluster.Objects
	// Insecure permits kubeconfigs that leave the server's certificate unchecked.
	Insecure bool

	mu   sync.Mutex
	Held map[engine.UnitID]Connection
}

// Connection is what was read for a Kustomization last.
type Connection struct {
	runner.Connection
	version string
}

// ClusterRef is how an object names another cluster.
type ClusterRef struct {
	Namespace  string
	Generation int64
	Config     *meta.KubeConfigReference
}

// Read returns what is held while the watch has nothing new to say of the object that it came from.
func (c *Connections) Read(ctx context.Context, id engine.UnitID, of ClusterRef) (runner.Connection, error) {
	ref, from := of.Config, of.HeldBy()
	version := ""
	if rec, exists := c.Objects.Get(from); exists {
		version = fmt.Sprintf("%s/%d/%d", from, rec.ResourceVersion, of.Generation)
	}
	c.mu.Lock()
	known := c.Held[id]
	c.mu.Unlock()
	if version != "" && known.version == version {
		return known.Connection, nil
	}
	var made runner.Connection
	var err error
	if ref.SecretRef != nil {
		made, err = c.fromSecret(ctx, of.Namespace, *ref.SecretRef)
	} else {
		made, err = c.fromConfigMap(ctx, of.Namespace, ref.ConfigMapRef.Name)
	}
	if err != nil {
		return made, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Held[id] = Connection{made, version}
	return made, nil
}

// HeldBy is the object that says how the cluster is reached.
func (r ClusterRef) HeldBy() engine.ObjectID {
	if r.Config.SecretRef != nil {
		return engine.ObjectID{Kind: "Secret", Namespace: r.Namespace, Name: r.Config.SecretRef.Name}
	}
	return engine.ObjectID{Kind: "ConfigMap", Namespace: r.Namespace, Name: r.Config.ConfigMapRef.Name}
}

// Look has the reader note the version of what says how the cluster is reached, so that a change of
// it begins a pass. Connect reports what is wrong with it.
func (c *Connections) Look(ctx context.Context, ref ClusterRef, reader Reader) {
	if ref.Config == nil {
		return
	}
	if from := ref.HeldBy(); from.Kind == "Secret" {
		_, _ = reader.Secret(ctx, from.Namespace, from.Name)
	} else {
		_, _ = reader.ConfigMap(ctx, from.Namespace, from.Name)
	}
}

// Forget drops what is kept for a unit that is gone.
func (c *Connections) Forget(id engine.UnitID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.Held, id)
}

// fromSecret reads a kubeconfig.
func (c *Connections) fromSecret(ctx context.Context, namespace string, ref meta.SecretKeyReference) (runner.Connection, error) {
	const field = "spec.kubeConfig.secretRef"
	name := strconv.Quote(namespace + "/" + ref.Name)
	secret, err := c.Client.CoreV1().Secrets(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return runner.Connection{}, fmt.Errorf("%s: reading Secret %s: %w", field, name, err)
	}
	keys := []string{"value", "value.yaml"}
	if ref.Key != "" {
		keys = []string{ref.Key}
	}
	for _, key := range keys {
		data, ok := secret.Data[key]
		if !ok {
			continue
		}
		config, err := kubeconfig(data, c.Insecure)
		if err != nil {
			return runner.Connection{}, fmt.Errorf("%s: Secret %s: key %q: %w", field, name, key, err)
		}
		return runner.Connection{Config: config, Digest: digest(data)}, nil
	}
	return runner.Connection{}, fmt.Errorf("%s: Secret %s has no key %q", field, name, keys[0])
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// kubeconfig reads a kubeconfig of a tenant: it may refer to nothing outside itself, since files,
// programs and plugins would be those of the engine.
func kubeconfig(data []byte, insecure bool) (*rest.Config, error) {
	loaded, err := clientcmd.Load(data)
	if err != nil {
		return nil, fmt.Errorf("not a kubeconfig")
	}
	if err := selfContained(loaded, insecure); err != nil {
		return nil, err
	}
	config, err := clientcmd.NewDefaultClientConfig(*loaded, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("not a complete kubeconfig: %w", err)
	}
	return config, nil
}

func selfContained(config *api.Config, insecure bool) error {
	context, ok := config.Contexts[config.CurrentContext]
	if !ok {
		return fmt.Errorf("current-context: no context %q", config.CurrentContext)
	}
	user, there := config.AuthInfos[context.AuthInfo], config.Clusters[context.Cluster]
	switch {
	case there == nil:
		return fmt.Errorf("contexts[%q].cluster: no cluster %q", config.CurrentContext, context.Cluster)
	case there.CertificateAuthority != "":
		return fmt.Errorf("certificate-authority names a file; use certificate-authority-data")
	case there.InsecureSkipTLSVerify && !insecure:
		return fmt.Errorf("insecure-skip-tls-verify is not allowed; use certificate-authority-data, or --insecure-kubeconfig-tls")
	case user == nil:
		return nil
	case user.ClientCertificate != "":
		return fmt.Errorf("client-certificate names a file; use client-certificate-data")
	case user.ClientKey != "":
		return fmt.Errorf("client-key names a file; use client-key-data")
	case user.TokenFile != "":
		return fmt.Errorf("tokenFile names a file; use token")
	case user.Exec != nil:
		return fmt.Errorf("exec runs a program, which is not allowed; use token or client certificates")
	case user.AuthProvider != nil:
		return fmt.Errorf("auth-provider is not supported; use token or client certificates")
	default:
		return nil
	}
}

// fromConfigMap reads how a cluster is reached that trusts tokens of this one.
func (c *Connections) fromConfigMap(ctx context.Context, namespace, name string) (runner.Connection, error) {
	field := "spec.kubeConfig.configMapRef: ConfigMap " + strconv.Quote(namespace+"/"+name)
	held, err := c.Client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return runner.Connection{}, fmt.Errorf("%s: %w", field, err)
	}
	data := held.Data
	address, account := data[meta.KubeConfigKeyAddress], data[meta.KubeConfigKeyServiceAccountName]
	switch provider := data[meta.KubeConfigKeyProvider]; {
	case provider != "generic":
		return runner.Connection{}, fmt.Errorf("%s: key %q: provider %q is not supported; use \"generic\", or a kubeconfig in a Secret",
			field, meta.KubeConfigKeyProvider, provider)
	case address == "":
		return runner.Connection{}, fmt.Errorf("%s: key %q is missing", field, meta.KubeConfigKeyAddress)
	case account == "":
		return runner.Connection{}, fmt.Errorf("%s: key %q is missing: the engine runs without a ServiceAccount of its own",
			field, meta.KubeConfigKeyServiceAccountName)
	}
	audiences := strings.Fields(data[meta.KubeConfigKeyAudiences])
	if len(audiences) == 0 {
		audiences = []string{address}
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return runner.Connection{}, fmt.Errorf("%s: %w", field, err)
	}
	tokens := transport.NewCachedTokenSource(&accountTokens{
		ctx: context.WithoutCancel(ctx), client: c.Client, namespace: namespace, account: account, audiences: audiences,
	})
	config := &rest.Config{
		Host:            address,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(data[meta.KubeConfigKeyCACert])},
		WrapTransport:   transport.ResettableTokenSourceWrapTransport(tokens),
	}
	return runner.Connection{Config: config, Digest: digest(encoded)}, nil
}

// accountTokens are tokens of a service account for some audiences.
type accountTokens struct {
	ctx                context.Context
	client             kubernetes.Interface
	namespace, account string
	audiences          []string
}

// tokenTimeout bounds the request for a token.
const tokenTimeout = 30 * time.Second

// Token asks for a token; the caller keeps it for as long as it holds.
func (a *accountTokens) Token() (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(a.ctx, tokenTimeout)
	defer cancel()
	got, err := a.client.CoreV1().ServiceAccounts(a.namespace).CreateToken(ctx, a.account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: slices.Clone(a.audiences)},
	}, metav1.CreateOptions{})
	if err != nil {
		if apierrors.IsForbidden(err) {
			err = fmt.Errorf("%w; rbac.tokensOf of the chart permits it by name", err)
		}
		return nil, fmt.Errorf("requesting a token of ServiceAccount %q: %w", a.namespace+"/"+a.account, err)
	}
	return &oauth2.Token{AccessToken: got.Status.Token, TokenType: "Bearer", Expiry: got.Status.ExpirationTimestamp.Time}, nil
}
