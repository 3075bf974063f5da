package access

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/source"
)

// References are the fields by which a source says how its server is reached.
type References struct {
	Namespace           string
	Login, Certs, Proxy *meta.LocalObjectReference
	Account             string
	Insecure            bool
	Timeout             *metav1.Duration
}

// RegistryAccess reads how a registry, or a server of charts, is reached.
func (s *Reach) RegistryAccess(ctx context.Context, r References) (source.RegistryAccess, error) {
	a := source.RegistryAccess{Access: source.Access{Egress: s.Egress}, Insecure: r.Insecure}
	if r.Timeout != nil {
		a.Timeout = r.Timeout.Duration
	}
	if r.Login != nil {
		data, err := s.Secret(ctx, r.Namespace, "spec.secretRef", r.Login.Name)
		if err != nil {
			return a, Unauthenticated(err)
		}
		a.Username, a.Password = string(data["username"]), string(data["password"])
		a.DockerConfig = data[corev1.DockerConfigJsonKey]
		// Older repositories keep their certificates beside the login.
		Certificates(&a.Access, data)
	}
	if r.Account != "" && len(a.DockerConfig) == 0 {
		config, err := s.pullSecrets(ctx, r.Namespace, r.Account)
		if err != nil {
			return a, Unauthenticated(err)
		}
		a.DockerConfig = config
	}
	return a, s.Transport(ctx, r, &a.Access)
}

// Transport reads the certificates and the proxy.
func (s *Reach) Transport(ctx context.Context, r References, a *source.Access) error {
	if r.Certs != nil {
		data, err := s.Secret(ctx, r.Namespace, "spec.certSecretRef", r.Certs.Name)
		if err != nil {
			return Unauthenticated(err)
		}
		Certificates(a, data)
	}
	if r.Proxy == nil {
		return nil
	}
	var err error
	if a.Proxy, err = s.Proxy(ctx, r.Namespace, r.Proxy.Name); err != nil {
		return Unauthenticated(err)
	}
	return nil
}

// Unauthenticated is the failure of a login, in the words of Flux.
func Unauthenticated(err error) error {
	return &Failure{Reason: sourcev1.AuthenticationFailedReason, Err: err}
}

// Certificates reads the certificates of a Secret, under the names of Kubernetes or under the older
// ones of Flux.
func Certificates(a *source.Access, data map[string][]byte) {
	a.CAFile = OrBytes(a.CAFile, OrBytes(data["ca.crt"], data["caFile"]))
	a.ClientCert = OrBytes(a.ClientCert, OrBytes(data["tls.crt"], data["certFile"]))
	a.ClientKey = OrBytes(a.ClientKey, OrBytes(data["tls.key"], data["keyFile"]))
}

// pullSecrets puts the image pull secrets of a service account together.
func (s *Reach) pullSecrets(ctx context.Context, namespace, account string) ([]byte, error) {
	held, err := s.Account(ctx, namespace, account)
	if err != nil {
		return nil, fmt.Errorf("spec.serviceAccountName: reading ServiceAccount %q: %w", namespace+"/"+account, err)
	}
	auths := map[string]json.RawMessage{}
	for _, ref := range held.ImagePullSecrets {
		data, err := s.Secret(ctx, namespace, "spec.serviceAccountName: imagePullSecrets", ref.Name)
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

// OrBytes returns the first of two values of a Secret that is there: the second has the older key.
func OrBytes(value, older []byte) []byte {
	if len(value) > 0 {
		return value
	}
	return older
}
