package secrets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/secrets/store"
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
			pattern, err := patterns.Regexp("^(?:" + text + ")$")
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
