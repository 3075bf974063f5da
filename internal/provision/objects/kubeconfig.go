package objects

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/headgate-dev/headgate/internal/egress"
)

// kubeconfig reads a kubeconfig that a configuration names: it may refer to nothing outside itself, since files, programs and
// plugins would be those of the engine. The server and its proxy are where the rules permit it. Errors show nothing of it but names.
func kubeconfig(data []byte, rules egress.Rules) (*rest.Config, error) {
	loaded, err := clientcmd.Load(data)
	if err != nil {
		return nil, errors.New("not a kubeconfig")
	}
	if err := selfContained(loaded); err != nil {
		return nil, err
	}
	config, err := clientcmd.NewDefaultClientConfig(*loaded, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, errors.New("not a complete kubeconfig")
	}
	config.Proxy, config.Dial = rules.ToCluster(config.Proxy)
	return config, nil
}

func selfContained(config *api.Config) error {
	context, has := config.Contexts[config.CurrentContext]
	if !has {
		return fmt.Errorf("current-context: no context %q", config.CurrentContext)
	}
	cluster, user := config.Clusters[context.Cluster], config.AuthInfos[context.AuthInfo]
	switch {
	case cluster == nil:
		return fmt.Errorf("contexts[%q].cluster: no cluster %q", config.CurrentContext, context.Cluster)
	case cluster.CertificateAuthority != "":
		return errors.New("certificate-authority names a file; use certificate-authority-data")
	case cluster.InsecureSkipTLSVerify:
		return errors.New("insecure-skip-tls-verify is not allowed; use certificate-authority-data")
	case user == nil:
		return nil
	case user.ClientCertificate != "" || user.ClientKey != "" || user.TokenFile != "":
		return errors.New("client-certificate, client-key and tokenFile name files; use client-certificate-data, client-key-data or token")
	case user.Exec != nil || user.AuthProvider != nil:
		return errors.New("exec and auth-provider run programs, which is not allowed; use token or client certificates")
	}
	return nil
}
