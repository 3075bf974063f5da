package secrets

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientrest "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/aws"
	"github.com/headgate-dev/headgate/internal/secrets/store/azure"
	"github.com/headgate-dev/headgate/internal/secrets/store/fake"
	"github.com/headgate-dev/headgate/internal/secrets/store/gcp"
	"github.com/headgate-dev/headgate/internal/secrets/store/gitlab"
	"github.com/headgate-dev/headgate/internal/secrets/store/kubernetes"
	"github.com/headgate-dev/headgate/internal/secrets/store/onepassword"
	bounds "github.com/headgate-dev/headgate/internal/secrets/store/rest"
	"github.com/headgate-dev/headgate/internal/secrets/store/vault"
)

// open logs in to a store, or opens what the local file has instead of it.
func (p *part) open(ctx context.Context, by engine.UnitID, namespace string, s standing) (store.Client, error) {
	if client, err := p.local(ctx, s.id); client != nil || err != nil {
		return client, err
	}
	provider := s.spec.Provider
	if provider == nil {
		return nil, errors.New("spec.provider is missing")
	}
	l := login{part: p, by: by, namespace: namespace, anywhere: s.id.Kind == esv1.ClusterSecretStoreKind}
	switch {
	case provider.Fake != nil:
		return fake.New(fakeConfig(s, provider.Fake), p.pushed), nil
	case provider.OnePassword != nil:
		o := provider.OnePassword
		return onepassword.New(ctx, onepassword.Config{Host: o.ConnectHost, Vaults: o.Vaults, Token: l.key(o.Auth.SecretRef.ConnectToken)}, l.lookup, p.http)
	case provider.Vault != nil:
		config, err := l.vault(ctx, provider.Vault)
		if err != nil {
			return nil, err
		}
		return vault.New(ctx, config, l.lookup, p.http)
	case provider.GitLab != nil:
		config, err := l.gitlab(ctx, provider.GitLab)
		if err != nil {
			return nil, err
		}
		return gitlab.New(ctx, config, l.lookup, p.http)
	case provider.AWS != nil:
		config, err := l.aws(ctx, provider.AWS)
		if err != nil {
			return nil, err
		}
		return aws.New(ctx, config, l.lookup, p.http)
	case provider.AzureKV != nil:
		config, err := l.azure(ctx, provider.AzureKV)
		if err != nil {
			return nil, err
		}
		return azure.New(ctx, config, l.lookup, p.http)
	case provider.GCPSM != nil:
		config, err := l.gcp(provider.GCPSM)
		if err != nil {
			return nil, err
		}
		return gcp.New(ctx, config, l.lookup, p.http)
	case provider.OnePasswordSDK != nil:
		return nil, fmt.Errorf("onepasswordSDK: %w; use the provider onepassword with a 1Password Connect server", store.ErrUnsupported)
	case provider.Webhook != nil:
		return l.webhook(ctx, provider.Webhook)
	case provider.Kubernetes != nil:
		config, err := l.kubernetes(ctx, provider.Kubernetes)
		if err != nil {
			return nil, err
		}
		return kubernetes.New(config, provider.Kubernetes.RemoteNamespace)
	}
	return nil, fmt.Errorf("its provider is not one of aws, azurekv, fake, gcpsm, gitlab, kubernetes, onepassword, vault, webhook: %w", store.ErrUnsupported)
}

func fakeConfig(s standing, f *esv1.FakeProvider) fake.Config {
	c := fake.Config{Name: s.id.String()}
	for _, d := range f.Data {
		c.Entries = append(c.Entries, fake.Entry{Key: d.Key, Value: d.Value, Version: d.Version})
	}
	const unknown = 2
	if f.ValidationResult != nil && *f.ValidationResult != 0 && *f.ValidationResult != unknown {
		c.Rejected = "validationResult says so"
	}
	return c
}

func (l login) vault(ctx context.Context, v *esv1.VaultProvider) (vault.Config, error) {
	c := vault.Config{
		Server: v.Server, Path: v.Path, Version: v.Version, Namespace: v.Namespace, Headers: v.Headers, ForwardInconsistent: v.ForwardInconsistent,
	}
	var err error
	if c.TLS.CA, err = l.authorities(ctx, v.CABundle, v.CAProvider); err != nil {
		return c, fmt.Errorf("vault.%w", err)
	}
	if c.TLS.Certificate, err = l.optional(ctx, v.TLS.Cert); err != nil {
		return c, fmt.Errorf("vault.tls.certSecretRef: %w", err)
	}
	if c.TLS.Key, err = l.optional(ctx, v.TLS.Key); err != nil {
		return c, fmt.Errorf("vault.tls.keySecretRef: %w", err)
	}
	switch auth := v.Auth; {
	case auth == nil:
		return c, errors.New("vault.auth is missing")
	case auth.Token != nil:
		token := l.key(*auth.Token)
		c.Auth.Token = &token
	case auth.AppRole != nil:
		c.Auth.AppRole = &vault.AppRole{Path: auth.AppRole.Path, RoleID: auth.AppRole.RoleID, Secret: l.key(auth.AppRole.SecretRef)}
		if auth.AppRole.RoleRef != nil {
			role := l.key(*auth.AppRole.RoleRef)
			c.Auth.AppRole.RoleRef = &role
		}
	case auth.Kubernetes != nil:
		k := auth.Kubernetes
		c.Auth.Kubernetes = &vault.Kubernetes{Path: k.MountPath, Role: k.Role}
		switch {
		case k.ServiceAccountRef != nil:
			c.Auth.Kubernetes.JWT = l.token(*k.ServiceAccountRef)
		case k.SecretRef != nil:
			c.Auth.Kubernetes.JWT = func(ctx context.Context) (string, error) {
				ref := l.key(*k.SecretRef)
				if ref.Key == "" {
					ref.Key = "token"
				}
				return store.Credential(l.lookup(ctx, ref))
			}
		default:
			return c, fmt.Errorf("vault.auth.kubernetes without serviceAccountRef and secretRef: the account of the engine is not used for tenants: %w", store.ErrUnsupported)
		}
	default:
		return c, fmt.Errorf("vault.auth: %w; use tokenSecretRef, appRole or kubernetes", store.ErrUnsupported)
	}
	c.Auth.Namespace = v.Auth.Namespace
	return c, nil
}

func (l login) gitlab(ctx context.Context, g *esv1.GitLabProvider) (gitlab.Config, error) {
	pem, err := l.authorities(ctx, g.CABundle, g.CAProvider)
	if err != nil {
		return gitlab.Config{}, fmt.Errorf("gitlab.%w", err)
	}
	return gitlab.Config{
		URL: g.URL, Token: l.key(g.Auth.SecretRef.AccessToken), Project: g.ProjectID, Groups: g.GroupIDs, Inherit: g.InheritFromGroups, Environment: g.Environment,
		TLS: bounds.TLS{CA: pem},
	}, nil
}

// kubernetes is how a cluster is reached. Without a way to log in it is refused: the rights of the engine are not those of a store.
func (l login) kubernetes(ctx context.Context, k *esv1.KubernetesProvider) (*clientrest.Config, error) {
	if k.AuthRef != nil {
		text, err := l.lookup(ctx, l.key(*k.AuthRef))
		if err != nil {
			return nil, fmt.Errorf("kubernetes.authRef: %w", err)
		}
		config, err := kubeconfig(text)
		if err == nil {
			config.Proxy, config.Dial = l.part.Egress.Requests.ToCluster(nil)
		}
		return config, err
	}
	config, err := l.server(ctx, k.Server)
	if err != nil {
		return nil, err
	}
	switch auth := k.Auth; {
	case auth == nil:
		return nil, errors.New("kubernetes.auth is missing")
	case auth.Token != nil:
		if config.BearerToken, err = store.Credential(l.lookup(ctx, l.key(auth.Token.BearerToken))); err != nil {
			return nil, fmt.Errorf("kubernetes.auth.token: %w", err)
		}
	case auth.ServiceAccount != nil:
		if config.BearerToken, err = l.token(*auth.ServiceAccount)(ctx); err != nil {
			return nil, fmt.Errorf("kubernetes.auth.serviceAccount: %w", err)
		}
	case auth.Cert != nil:
		if config.CertData, err = l.lookup(ctx, l.key(auth.Cert.ClientCert)); err != nil {
			return nil, fmt.Errorf("kubernetes.auth.cert.clientCert: %w", err)
		}
		if config.KeyData, err = l.lookup(ctx, l.key(auth.Cert.ClientKey)); err != nil {
			return nil, fmt.Errorf("kubernetes.auth.cert.clientKey: %w", err)
		}
	default:
		return nil, errors.New("kubernetes.auth has none of token, serviceAccount, cert")
	}
	return config, nil
}

// inCluster are addresses that mean the cluster which the store is in.
var inCluster = map[string]bool{"": true, "kubernetes.default": true, "https://kubernetes.default": true, "https://kubernetes.default.svc": true}

// server is the address of a cluster, without credentials. Other clusters are reached as any store is.
func (l login) server(ctx context.Context, s esv1.KubernetesServer) (*clientrest.Config, error) {
	home := clientrest.AnonymousClientConfig(l.part.Config)
	if inCluster[strings.TrimSuffix(s.URL, "/")] {
		return home, nil
	}
	pem, err := l.authorities(ctx, s.CABundle, s.CAProvider)
	if err != nil {
		return nil, fmt.Errorf("kubernetes.server.%w", err)
	}
	config := &clientrest.Config{Host: s.URL, TLSClientConfig: clientrest.TLSClientConfig{CAData: pem}, Timeout: Timeout}
	config.Proxy, config.Dial = l.part.Egress.Requests.ToCluster(nil)
	return config, nil
}

// kubeconfig reads one that has everything which it needs: it starts no program, and reads no file of this machine.
func kubeconfig(text []byte) (*clientrest.Config, error) {
	raw, err := clientcmd.Load(text)
	if err != nil {
		return nil, errors.New("kubernetes.authRef is not a kubeconfig")
	}
	for _, user := range raw.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil || user.TokenFile != "" || user.ClientCertificate != "" || user.ClientKey != "" {
			return nil, errors.New("kubernetes.authRef: programs and files are not permitted; put the credentials themselves into it")
		}
	}
	for _, c := range raw.Clusters {
		if c.CertificateAuthority != "" || c.ProxyURL != "" {
			return nil, errors.New("kubernetes.authRef: files and proxies are not permitted; use certificate-authority-data")
		}
	}
	config, err := clientcmd.NewDefaultClientConfig(*raw, nil).ClientConfig()
	if err != nil {
		return nil, errors.New("kubernetes.authRef is not a usable kubeconfig")
	}
	config.Timeout = Timeout
	return config, nil
}
