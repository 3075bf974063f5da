package flux

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/headgate-dev/headgate/internal/source"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// references are the fields by which a source says how its server is reached.
type references struct {
	namespace           string
	login, certs, proxy *meta.LocalObjectReference
	account             string
	insecure            bool
	timeout             *metav1.Duration
}

// registryAccess reads how a registry, or a server of charts, is reached.
func (s *reach) registryAccess(ctx context.Context, r references) (source.RegistryAccess, error) {
	a := source.RegistryAccess{Insecure: r.insecure}
	if r.timeout != nil {
		a.Timeout = r.timeout.Duration
	}
	if r.login != nil {
		data, err := s.secret(ctx, r.namespace, "spec.secretRef", r.login.Name)
		if err != nil {
			return a, unauthenticated(err)
		}
		a.Username, a.Password = string(data["username"]), string(data["password"])
		a.DockerConfig = data[corev1.DockerConfigJsonKey]
		// Older repositories keep their certificates beside the login.
		certificates(&a.Access, data)
	}
	if r.account != "" && len(a.DockerConfig) == 0 {
		config, err := s.pullSecrets(ctx, r.namespace, r.account)
		if err != nil {
			return a, unauthenticated(err)
		}
		a.DockerConfig = config
	}
	return a, s.transport(ctx, r, &a.Access)
}

// transport reads the certificates and the proxy.
func (s *reach) transport(ctx context.Context, r references, a *source.Access) error {
	if r.certs != nil {
		data, err := s.secret(ctx, r.namespace, "spec.certSecretRef", r.certs.Name)
		if err != nil {
			return unauthenticated(err)
		}
		certificates(a, data)
	}
	if r.proxy == nil {
		return nil
	}
	var err error
	if a.Proxy, err = s.proxy(ctx, r.namespace, r.proxy.Name); err != nil {
		return unauthenticated(err)
	}
	return nil
}

func unauthenticated(err error) error {
	return &sourceFailure{reason: sourcev1.AuthenticationFailedReason, err: err}
}

// certificates reads the certificates of a Secret, under the names of Kubernetes or under the older
// ones of Flux.
func certificates(a *source.Access, data map[string][]byte) {
	a.CAFile = orBytes(a.CAFile, orBytes(data["ca.crt"], data["caFile"]))
	a.ClientCert = orBytes(a.ClientCert, orBytes(data["tls.crt"], data["certFile"]))
	a.ClientKey = orBytes(a.ClientKey, orBytes(data["tls.key"], data["keyFile"]))
}

// pullSecrets puts the image pull secrets of a service account together.
func (s *reach) pullSecrets(ctx context.Context, namespace, account string) ([]byte, error) {
	held, err := s.account(ctx, namespace, account)
	if err != nil {
		return nil, fmt.Errorf("spec.serviceAccountName: reading ServiceAccount %q: %w", namespace+"/"+account, err)
	}
	auths := map[string]json.RawMessage{}
	for _, ref := range held.ImagePullSecrets {
		data, err := s.secret(ctx, namespace, "spec.serviceAccountName: imagePullSecrets", ref.Name)
		if err != nil {
			return nil, err
		}
		var config struct {
			Auths map[string]json.RawMessage `json:"auths"`
		}
		if json.Unmarshal(data[corev1.DockerConfigJsonKey], &config) != nil {
			return nil, fmt.Errorf("spec.serviceAccountName: Secret %q: %s is invalid", namespace+"/"+ref.Name, corev1.DockerConfigJsonKey)
		}
		for server, auth := range config.Auths {
			if _, known := auths[server]; !known {
				auths[server] = auth
			}
		}
	}
	return json.Marshal(map[string]any{"auths": auths})
}

// orBytes returns the first of two values of a Secret that is there: the second has the older key.
func orBytes(value, older []byte) []byte {
	if len(value) > 0 {
		return value
	}
	return older
}

func withoutCredentials(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}
