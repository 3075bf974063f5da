package secrets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// gatherTime bounds what an ExternalSecret takes to fetch its values and to execute its templates.
const gatherTime = 10 * time.Minute

// gather fetches the values of an ExternalSecret, and executes its templates.
func (p *part) gather(ctx context.Context, id engine.UnitID, es *esv1.ExternalSecret) (plan.Made, error) {
	ctx, cancel := context.WithTimeoutCause(p.within(ctx, id), gatherTime, fmt.Errorf("its stores and templates take longer than %s", gatherTime))
	defer cancel()
	made, err := p.values(ctx, id, es)
	if err == nil && es.Spec.Target.Template != nil {
		err = p.template(ctx, id, es, &made)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return made, err
}

// values are those that an ExternalSecret fetches, by keys of its Secret.
func (p *part) values(ctx context.Context, id engine.UnitID, es *esv1.ExternalSecret) (plan.Made, error) {
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
			values, err = plan.Named(from, values, p.transformer(ctx, id))
		}
		if err == nil {
			maps.Copy(made.Values, values)
			err = errors.Join(ctx.Err(), plan.Few(plan.Size(made.Values)))
		}
		if err != nil {
			return made, fmt.Errorf("spec.dataFrom[%d]: %w", i, err)
		}
	}
	size := plan.Size(made.Values)
	for i, d := range es.Spec.Data {
		value, err := open.single(ctx, es, d)
		if errors.Is(err, store.ErrNotFound) && !retains {
			continue
		}
		if err == nil {
			value, err = plan.Single(d, value)
		}
		if size += len(d.SecretKey) + len(value); err == nil {
			err = errors.Join(ctx.Err(), plan.Few(size))
		}
		if err != nil {
			return made, fmt.Errorf("spec.data[%d], key %q: %w", i, d.SecretKey, err)
		}
		made.Values[d.SecretKey] = value
	}
	return made, nil
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
		return o.generated(ctx, *from.SourceRef.GeneratorRef)
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
