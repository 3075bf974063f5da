package alerts

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	notifyv1beta3 "github.com/fluxcd/notification-controller/api/v1beta3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/notify"
	"github.com/headgate-dev/headgate/internal/source"
)

// notifierID is the identity of a Provider of notifications.
func notifierID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: toolkit.Notification.Name, Kind: notifyv1beta3.ProviderKind, Namespace: namespace, Name: name}
}

func (n *Keeper) putProvider(u *unstructured.Unstructured) {
	p, err := n.providers.Put(u)
	if err != nil {
		n.unreadable(err)
		return
	}
	n.desk.Wake(notifierID(p.Namespace, p.Name))
	n.providerChanged(p.Namespace, p.Name)
}

func (n *Keeper) dropProvider(u *unstructured.Unstructured) {
	id := notifierID(u.GetNamespace(), u.GetName())
	n.providers.Drop(id)
	n.forget(id)
	n.providerChanged(id.Namespace, id.Name)
}

func (n *Keeper) providerChanged(namespace, name string) {
	n.Reindex()
	if notifier := n.notifier.Load(); notifier != nil {
		notifier.Changed(notify.Ref{Namespace: namespace, Name: name})
	}
}

// examineProvider says what is wrong with a Provider.
func (n *Keeper) examineProvider(ctx context.Context, id engine.UnitID) error {
	p, there := n.providers.Get(id)
	if !there {
		return nil
	}
	s, err := n.settings(ctx, p)
	if err == nil {
		err = s.Check()
	}
	if err == nil {
		_, err = expressionOf(p)
	}
	if err == nil || p.Spec.Suspend {
		n.say(p, id, "", "")
		return nil
	}
	// A server that does not answer says nothing about the Provider; it is asked again.
	var unanswered *url.Error
	if errors.As(err, &unanswered) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) {
		return err
	}
	n.say(p, id, reasonInvalidConfig, err.Error())
	return nil
}

// resolve reads what it takes to deliver.
func (n *Keeper) resolve(ctx context.Context, d notify.Delivery) (notify.Settings, error) {
	id := notifierID(d.Provider.Namespace, d.Provider.Name)
	p, there := n.providers.Get(id)
	switch {
	case !there:
		alert, told := n.alerts.Get(alertID(d.Alert.Namespace, d.Alert.Name))
		if told && young(alert) {
			// The Provider is about to come, with the same commit.
			return notify.Settings{}, fmt.Errorf("Provider %q does not exist yet", d.Provider)
		}
		return notify.Settings{}, notify.ErrGone
	case p.Spec.Suspend:
		return notify.Settings{}, notify.ErrSuspended
	}
	s, err := n.settings(ctx, p)
	if err != nil {
		return s, fmt.Errorf("%s: %w", id, err)
	}
	if notify.Forge(p.Spec.Type) {
		s.Context, err = n.statusContext(p, d)
	}
	return s, err
}

// statusContext is what the status of a commit is filed under.
func (n *Keeper) statusContext(p *notifyv1beta3.Provider, d notify.Delivery) (string, error) {
	x, err := expressionOf(p)
	if err != nil {
		return "", err
	}
	if x == nil {
		return notify.DefaultContext(d.Event, string(p.UID)), nil
	}
	alert, there := n.alerts.Get(alertID(d.Alert.Namespace, d.Alert.Name))
	if !there {
		return "", notify.ErrGone
	}
	context, err := x.Evaluate(d.Event, n.alerts.Raw(alertID(alert.Namespace, alert.Name)), n.providers.Raw(notifierID(p.Namespace, p.Name)))
	if err != nil {
		return "", fmt.Errorf("spec.commitStatusExpr: %w", err)
	}
	return context, nil
}

// expressionOf is nil for a Provider that has none.
func expressionOf(p *notifyv1beta3.Provider) (*notify.Expression, error) {
	if p.Spec.CommitStatusExpr == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	if !notify.Forge(p.Spec.Type) {
		return nil, fmt.Errorf("spec.commitStatusExpr: providers of type %q do not set a commit status", p.Spec.Type)
	}
	x, err := notify.Compile(p.Spec.CommitStatusExpr)
	if err != nil {
		return nil, fmt.Errorf("spec.commitStatusExpr: %w", err)
	}
	return x, nil
}

// settings reads a Provider and its Secrets.
func (n *Keeper) settings(ctx context.Context, p *notifyv1beta3.Provider) (notify.Settings, error) {
	spec := p.Spec
	s := notify.Settings{
		Type: spec.Type, Address: spec.Address, Channel: spec.Channel, Username: spec.Username, Proxy: spec.Proxy, Timeout: p.GetTimeout(),
	}
	if spec.ServiceAccountName != "" {
		return s, errors.New("spec.serviceAccountName: cloud identities are not supported; use spec.secretRef")
	}
	var transport source.Access
	if spec.SecretRef != nil {
		data, err := n.reach.Secret(ctx, p.Namespace, "spec.secretRef", spec.SecretRef.Name)
		if err != nil {
			return s, err
		}
		if err := login(&s, data); err != nil {
			return s, fmt.Errorf("spec.secretRef: Secret %q: %w", p.Namespace+"/"+spec.SecretRef.Name, err)
		}
		if notify.Forge(spec.Type) && spec.CertSecretRef == nil {
			access.Certificates(&transport, data)
		}
	}
	if spec.CertSecretRef != nil {
		data, err := n.reach.Secret(ctx, p.Namespace, "spec.certSecretRef", spec.CertSecretRef.Name)
		if err != nil {
			return s, err
		}
		access.Certificates(&transport, data)
		if len(transport.CAFile)+len(transport.ClientCert) == 0 || len(transport.ClientCert) > 0 != (len(transport.ClientKey) > 0) {
			return s, fmt.Errorf("spec.certSecretRef: Secret %q: requires ca.crt, or tls.crt and tls.key, or all three",
				p.Namespace+"/"+spec.CertSecretRef.Name)
		}
	}
	s.CA, s.Cert, s.Key = transport.CAFile, transport.ClientCert, transport.ClientKey
	if spec.ProxySecretRef != nil {
		var err error
		if s.Proxy, err = n.reach.Proxy(ctx, p.Namespace, spec.ProxySecretRef.Name); err != nil {
			return s, err
		}
	}
	return s, nil
}

// login reads the Secret of a Provider. No error quotes a value.
func login(s *notify.Settings, data map[string][]byte) error {
	text := func(key string) string { return strings.TrimSpace(string(data[key])) }
	s.Token = text("token")
	if address := text("address"); address != "" {
		s.Address = address
	}
	if proxy := text("proxy"); proxy != "" {
		s.Proxy = proxy
	}
	if user, password := text("username"), text("password"); user != "" && password != "" {
		s.Username, s.Password = user, password
	}
	if len(data["headers"]) > 0 {
		if yaml.Unmarshal(data["headers"], &s.Headers) != nil {
			return errors.New("entry headers: not a YAML map of strings")
		}
	}
	if s.Token == "" && len(data[sources.KeyAppID]) > 0 {
		return fmt.Errorf("entry %s: GitHub Apps are not supported here; use the entry token", sources.KeyAppID)
	}
	return nil
}
