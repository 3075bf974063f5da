package boot

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean"
)

// The Secret with the login of the simulated account, which the provider configurations of a repository may name as well.
const (
	loginNamespace = "crossplane-system"
	loginName      = "digitalocean-credentials"
	loginKey       = "credentials"
	// loginUser is a name to log in with where a password is the token.
	loginUser = "headgate"
	// loginManager is the field manager of both.
	loginManager = "headgate-cloud"
)

// connectCloud stores the login of the simulated account, and a default configuration for each kind that is served and has none.
func (s *system) connectCloud(ctx context.Context) error {
	if s.cloud == nil {
		return nil
	}
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	if err := putLogin(ctx, client, cloud.Endpoint{URL: s.cloud.URL, Token: s.cloud.Token()}); err != nil {
		return err
	}
	for _, k := range digitalocean.Defaults() {
		if !s.options.serving.groups.Serves(k.Group) {
			continue
		}
		if err := putDefault(ctx, client, k); err != nil {
			return err
		}
	}
	return nil
}

// putLogin stores the login. An embedded cluster encrypts it at rest, as every Secret.
func putLogin(ctx context.Context, client dynamic.Interface, to cloud.Endpoint) error {
	login, err := json.Marshal(map[string]string{"token": to.Token, "api_endpoint": to.URL})
	if err != nil {
		return fmt.Errorf("encoding the login of the simulated cloud: %w", err)
	}
	options := metav1.ApplyOptions{FieldManager: loginManager, Force: true}
	namespace := declaration("v1", "Namespace", loginNamespace, nil)
	if _, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Apply(ctx, loginNamespace, namespace, options); err != nil {
		return fmt.Errorf("creating namespace %s: %w", loginNamespace, err)
	}
	secret := declaration("v1", "Secret", loginName, map[string]any{"stringData": map[string]any{
		loginKey: string(login),
		// What workflows need that upload images and call the API themselves.
		"token": to.Token, "endpoint": to.URL, "spaces": to.URL + strings.TrimSuffix(cloud.Spaces, "/"), "username": loginUser,
		"authorization": "Bearer " + to.Token,
	}})
	secrets := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(loginNamespace)
	if _, err := secrets.Apply(ctx, loginName, secret, options); err != nil {
		return fmt.Errorf("storing the login of the simulated cloud in Secret %s/%s: %w", loginNamespace, loginName, err)
	}
	return nil
}

// putDefault creates a configuration by which resources that name none use the login. One that there is stays as it is.
func putDefault(ctx context.Context, client dynamic.Interface, k dialect.Kind) error {
	o := declaration(k.Group+"/"+k.Version, k.GroupKind.Kind, "default", map[string]any{"spec": map[string]any{"credentials": map[string]any{
		"source": "Secret", "secretRef": map[string]any{"namespace": loginNamespace, "name": loginName, "key": loginKey},
	}}})
	_, err := client.Resource(k.GroupVersionResource()).Create(ctx, o, metav1.CreateOptions{FieldManager: loginManager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the default %s of %s: %w", k.GroupKind.Kind, k.Group, err)
	}
	return nil
}

func declaration(version, kind, name string, fields map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range fields {
		u.Object[key] = value
	}
	u.SetAPIVersion(version)
	u.SetKind(kind)
	u.SetName(name)
	return u
}
