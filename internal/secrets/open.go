package secrets

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/fake"
	"github.com/headgate-dev/headgate/internal/secrets/store/onepassword"
	"github.com/headgate-dev/headgate/internal/secrets/store/vault"
)

// standing is a store of either kind.
type standing struct {
	id         engine.UnitID
	uid        types.UID
	generation int64
	spec       esv1.SecretStoreSpec
	status     esv1.SecretStoreStatus
	object     metav1.Object
}

func storeID(namespace string, ref esv1.SecretStoreRef) engine.UnitID {
	kind := ref.Kind
	if kind == "" {
		kind = esv1.SecretStoreKind
	}
	if kind == esv1.ClusterSecretStoreKind {
		namespace = ""
	}
	return idOf(kind, &metav1.ObjectMeta{Namespace: namespace, Name: ref.Name})
}

// store is a store as it was seen last.
func (p *part) store(id engine.UnitID) (standing, bool) {
	if id.Kind == esv1.ClusterSecretStoreKind {
		s, there := p.clusterly.Get(id)
		if !there {
			return standing{}, false
		}
		return standing{id, s.UID, s.Generation, s.Spec, s.Status, s}, true
	}
	s, there := p.stores.Get(id)
	if !there {
		return standing{}, false
	}
	return standing{id, s.UID, s.Generation, s.Spec, s.Status, s}, true
}

// opened are the stores that one pass has opened.
type opened struct {
	part      *part
	by        engine.UnitID
	namespace string
	clients   map[engine.UnitID]store.Client
}

func (o opened) close() {
	for id, client := range o.clients {
		if err := client.Close(); err != nil {
			o.part.Log.V(1).Info("a store cannot be closed", "store", id.String(), "error", err.Error())
		}
	}
}

// client is a store that the namespace may use.
func (o opened) client(ctx context.Context, ref esv1.SecretStoreRef) (store.Client, error) {
	if ref.Name == "" {
		return nil, errors.New("secretStoreRef.name is missing")
	}
	id := storeID(o.namespace, ref)
	if client := o.clients[id]; client != nil {
		return client, nil
	}
	o.part.use(o.by, id)
	s, there := o.part.store(id)
	if !there {
		return nil, fmt.Errorf("there is no %s %q", id.Kind, id.Name)
	}
	if id.Kind == esv1.ClusterSecretStoreKind {
		if err := o.part.permitted(ctx, s.spec.Conditions, o.namespace); err != nil {
			return nil, fmt.Errorf("%s %q: %w", id.Kind, id.Name, err)
		}
	}
	client, err := o.part.open(ctx, o.by, o.namespace, s)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", id.Kind, id.Name, err)
	}
	o.clients[id] = client
	return client, nil
}

// permitted refuses a namespace that none of the conditions of a ClusterSecretStore has.
func (p *part) permitted(ctx context.Context, conditions []esv1.NamespaceCondition, namespace string) error {
	if len(conditions) == 0 {
		return nil
	}
	for _, c := range conditions {
		if slices.Contains(c.Namespaces, namespace) {
			return nil
		}
		for _, text := range c.NamespaceRegexes {
			pattern, err := regexp.Compile("^(?:" + text + ")$")
			if err != nil {
				return fmt.Errorf("conditions: %q is not a valid regular expression", text)
			}
			if pattern.MatchString(namespace) {
				return nil
			}
		}
		if c.NamespaceSelector == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(c.NamespaceSelector)
		if err != nil {
			return fmt.Errorf("conditions: namespaceSelector: %w", err)
		}
		ns, err := p.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if selector.Matches(labels.Set(ns.Labels)) {
			return nil
		}
	}
	return fmt.Errorf("using it from namespace %q is denied by spec.conditions", namespace)
}

// open logs in to a store. Credentials of a SecretStore are in its namespace, those of a ClusterSecretStore where it says, or in the
// namespace that uses it.
func (p *part) open(ctx context.Context, by engine.UnitID, namespace string, s standing) (store.Client, error) {
	provider := s.spec.Provider
	if provider == nil {
		return nil, errors.New("spec.provider is missing")
	}
	key := func(k esv1.SecretKeySelector) store.SecretRef {
		in := namespace
		if s.id.Kind == esv1.ClusterSecretStoreKind && k.Namespace != "" {
			in = k.Namespace
		}
		return store.SecretRef{Namespace: in, Name: k.Name, Key: k.Key}
	}
	lookup := func(ctx context.Context, ref store.SecretRef) ([]byte, error) {
		return p.key(ctx, by, secretKind, ref.Namespace, ref.Name, ref.Key)
	}
	if provider.Fake != nil {
		return fake.New(fakeConfig(s, provider.Fake), p.pushed), nil
	}
	if p.options.HTTP == nil {
		return nil, fmt.Errorf("stores that are reached by the network are not permitted here: %w", store.ErrUnsupported)
	}
	switch {
	case provider.OnePassword != nil:
		o := provider.OnePassword
		return onepassword.New(ctx, onepassword.Config{Host: o.ConnectHost, Vaults: o.Vaults, Token: key(o.Auth.SecretRef.ConnectToken)}, lookup, p.options.HTTP)
	case provider.Vault != nil:
		config, err := vaultConfig(provider.Vault, key)
		if err != nil {
			return nil, err
		}
		return vault.New(ctx, config, lookup, p.options.HTTP)
	}
	return nil, fmt.Errorf("its provider is not one of fake, onepassword, vault: %w", store.ErrUnsupported)
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

func vaultConfig(v *esv1.VaultProvider, key func(esv1.SecretKeySelector) store.SecretRef) (vault.Config, error) {
	c := vault.Config{
		Server: v.Server, Path: v.Path, Version: v.Version, Namespace: v.Namespace, Headers: v.Headers, ForwardInconsistent: v.ForwardInconsistent,
	}
	c.TLS.CA = v.CABundle
	switch auth := v.Auth; {
	case auth == nil:
		return c, errors.New("vault.auth is missing")
	case v.CAProvider != nil || v.TLS.Cert != nil:
		return c, fmt.Errorf("vault.caProvider and vault.tls: %w; use caBundle", store.ErrUnsupported)
	case auth.Token != nil:
		token := key(*auth.Token)
		c.Auth.Token = &token
	case auth.AppRole != nil:
		c.Auth.AppRole = &vault.AppRole{Path: auth.AppRole.Path, RoleID: auth.AppRole.RoleID, Secret: key(auth.AppRole.SecretRef)}
		if auth.AppRole.RoleRef != nil {
			role := key(*auth.AppRole.RoleRef)
			c.Auth.AppRole.RoleRef = &role
		}
	default:
		return c, fmt.Errorf("vault.auth: %w; use tokenSecretRef or appRole", store.ErrUnsupported)
	}
	c.Auth.Namespace = v.Auth.Namespace
	return c, nil
}
