package secrets

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	generators "github.com/headgate-dev/headgate/api/externalsecrets/generators/v1alpha1"
	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/secrets/generate"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/templates"
)

// gather fetches the values of an ExternalSecret, and executes its templates.
func (p *part) gather(ctx context.Context, id engine.UnitID, es *esv1.ExternalSecret) (plan.Made, error) {
	open := opened{part: p, by: id, namespace: es.Namespace, clients: map[engine.UnitID]store.Client{}}
	defer open.close()
	made := plan.Made{Values: map[string][]byte{}}
	retains := es.Spec.Target.DeletionPolicy == "" || es.Spec.Target.DeletionPolicy == esv1.DeleteRetain
	for i, from := range es.Spec.DataFrom {
		values, err := open.set(ctx, es, from)
		if errors.Is(err, store.ErrNotFound) && !retains {
			continue
		}
		if err == nil {
			values, err = plan.Named(from, values, templates.Transform)
		}
		if err != nil {
			return made, fmt.Errorf("spec.dataFrom[%d]: %w", i, err)
		}
		maps.Copy(made.Values, values)
	}
	for i, d := range es.Spec.Data {
		value, err := open.single(ctx, es, d)
		if errors.Is(err, store.ErrNotFound) && !retains {
			continue
		}
		if err == nil {
			value, err = plan.Single(d, value)
		}
		if err != nil {
			return made, fmt.Errorf("spec.data[%d], key %q: %w", i, d.SecretKey, err)
		}
		made.Values[d.SecretKey] = value
	}
	if es.Spec.Target.Template == nil {
		return made, nil
	}
	return made, p.template(ctx, id, es, &made)
}

func (o opened) single(ctx context.Context, es *esv1.ExternalSecret, d esv1.Data) ([]byte, error) {
	if d.SourceRef != nil && d.SourceRef.GeneratorRef != nil {
		return nil, errors.New("sourceRef.generatorRef is for dataFrom")
	}
	client, err := o.client(ctx, refOf(es, d.SourceRef))
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, remote(d.RemoteRef))
}

func (o opened) set(ctx context.Context, es *esv1.ExternalSecret, from esv1.DataFrom) (map[string][]byte, error) {
	if from.SourceRef != nil && from.SourceRef.GeneratorRef != nil {
		return o.generated(*from.SourceRef.GeneratorRef)
	}
	client, err := o.client(ctx, refOf(es, from.SourceRef))
	switch {
	case err != nil:
		return nil, err
	case from.Extract != nil:
		return client.Map(ctx, remote(*from.Extract))
	case from.Find != nil:
		find := store.Find{Tags: from.Find.Tags}
		if from.Find.Path != nil {
			find.Path = *from.Find.Path
		}
		if from.Find.Name != nil {
			find.Name = from.Find.Name.RegExp
		}
		return client.Find(ctx, find)
	}
	return nil, errors.New("it has none of extract, find, sourceRef.generatorRef")
}

func remote(r esv1.RemoteRef) store.Ref {
	return store.Ref{Key: r.Key, Property: r.Property, Version: r.Version, MetadataPolicy: store.MetadataPolicy(r.MetadataPolicy)}
}

// refOf is the store of an entry: its own, or that of the ExternalSecret.
func refOf(es *esv1.ExternalSecret, source *esv1.SourceRef) esv1.SecretStoreRef {
	if source != nil && source.StoreRef != nil {
		return *source.StoreRef
	}
	return es.Spec.SecretStoreRef
}

// storesOf are the stores that an ExternalSecret names.
func storesOf(es *esv1.ExternalSecret) []esv1.SecretStoreRef {
	all := []esv1.SecretStoreRef{es.Spec.SecretStoreRef}
	for _, d := range es.Spec.Data {
		all = append(all, refOf(es, d.SourceRef))
	}
	for _, from := range es.Spec.DataFrom {
		all = append(all, refOf(es, from.SourceRef))
	}
	return all
}

func generatorID(namespace string, ref esv1.GeneratorRef) engine.UnitID {
	if ref.Kind == generators.ClusterGeneratorKind {
		namespace = ""
	}
	return idOf(ref.Kind, &metav1.ObjectMeta{Namespace: namespace, Name: ref.Name})
}

// generation is the state of a generator.
func (p *part) generation(id engine.UnitID) string {
	if g, there := p.passwords.Get(id); there {
		return fmt.Sprint(g.UID, g.Generation)
	}
	if g, there := p.anywhere.Get(id); there {
		return fmt.Sprint(g.UID, g.Generation)
	}
	return ""
}

// generated are fresh values.
func (o opened) generated(ref esv1.GeneratorRef) (map[string][]byte, error) {
	id := generatorID(o.namespace, ref)
	missing := fmt.Errorf("there is no generator %s %q", ref.Kind, ref.Name)
	switch ref.Kind {
	case generators.PasswordKind:
		g, there := o.part.passwords.Get(id)
		if !there {
			return nil, missing
		}
		return generate.Password(g.Spec, rand.Reader)
	case generators.UUIDKind:
		if _, there := o.part.uuids.Get(id); !there {
			return nil, missing
		}
		return generate.UUID(rand.Reader)
	case generators.ClusterGeneratorKind:
		g, there := o.part.anywhere.Get(id)
		switch {
		case !there:
			return nil, missing
		case g.Spec.Generator.PasswordSpec != nil:
			return generate.Password(*g.Spec.Generator.PasswordSpec, rand.Reader)
		case g.Spec.Generator.UUIDSpec != nil:
			return generate.UUID(rand.Reader)
		}
		return nil, fmt.Errorf("ClusterGenerator %q: generators of kind %s are not supported", ref.Name, g.Spec.Kind)
	}
	return nil, fmt.Errorf("generators of kind %s are not supported; use Password, UUID or a ClusterGenerator of one", ref.Kind)
}
