package secrets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/api/externalsecrets/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// What the upstream says of PushSecrets, and its finalizer on those whose values are deleted with them.
const (
	reasonPushed    = "Synced"
	reasonNotPushed = "Errored"
	textPushed      = "PushSecret synced successfully"
	textUnchanged   = ". Existing secrets in providers unchanged."
	textNoSource    = "could not get source secret"
	textNotPushed   = "set secret failed"
	textNotDeleted  = "Failed to Delete Secrets from Provider"
	pushFinalizer   = "pushsecret.externalsecrets.io/finalizer"
)

// push writes what a PushSecret declares to its stores if that is due, and takes away what it no longer declares.
func (p *part) push(ctx context.Context, id engine.UnitID, ps *v1alpha1.PushSecret) rounds.Next {
	if ps.DeletionTimestamp != nil {
		return p.withdraw(ctx, id, ps)
	}
	deletes := ps.Spec.DeletionPolicy == v1alpha1.DeletionDelete
	if _, err := p.writer(pushKind()).Finalizer(ctx, ps, pushFinalizer, deletes); err != nil {
		return rounds.Retry(err)
	}
	if len(ps.Spec.DataTo) > 0 {
		return p.notPushed(ctx, ps, errors.New("spec.dataTo is not supported; name each value in spec.data"))
	}
	stores, err := p.targets(id, ps)
	if err != nil {
		return p.notPushed(ctx, ps, err)
	}
	if p.Substitutes != nil && slices.ContainsFunc(stores, func(s standing) bool { return !p.isGiven(s.id) }) {
		return rounds.Rest()
	}
	interval, err := plan.Interval(ps.Spec.RefreshInterval)
	if err != nil {
		return p.notPushed(ctx, ps, fmt.Errorf("spec.refreshInterval: %w", err))
	}
	sources, inputs, err := p.sources(p.within(ctx, id), id, ps)
	if err != nil {
		return p.notPushed(ctx, ps, err)
	}
	for _, s := range stores {
		inputs += fmt.Sprintln(s.id, s.uid, s.generation)
	}
	now := time.Now()
	if after, is := p.standsPushed(id, ps, inputs, interval, now); is {
		return rest(after)
	}
	synced, err := p.pushAll(p.within(ctx, id), id, ps, stores, sources)
	if err != nil {
		err = fmt.Errorf("%s: %w", textNotPushed, err)
	} else if deletes {
		err = p.remove(ctx, id, ps, synced)
	}
	if err != nil {
		return p.notPushed(ctx, ps, err, joined(synced, ps.Status.SyncedPushSecrets))
	}
	text := pushedText(ps)
	p.mu.Lock()
	p.inputs[id] = inputs
	p.mu.Unlock()
	after := ps.Status
	after.RefreshTime, after.SyncedResourceVersion, after.SyncedPushSecrets = metav1.NewTime(now.Truncate(time.Second)), plan.Version(ps), synced
	after.Conditions = plan.Condition(ps.Status.Conditions, plan.Ready, true, reasonPushed, text, now)
	if err := p.pushes.State(ctx, p.writer(pushKind()), ps, ps.Status, after); err != nil {
		return rounds.Retry(err)
	}
	p.emit(ps, v1alpha1.GroupVersion.WithKind(v1alpha1.PushSecretKind), corev1.EventTypeNormal, reasonPushed, text)
	return rest(interval)
}

// pushedText is the message of a PushSecret whose values are in its stores.
func pushedText(ps *v1alpha1.PushSecret) string {
	if ps.Spec.UpdatePolicy == v1alpha1.UpdateIfNotExists {
		return textPushed + textUnchanged
	}
	return textPushed
}

// standsPushed reports whether what a PushSecret declares was pushed as it is, and after what time it is pushed again.
func (p *part) standsPushed(id engine.UnitID, ps *v1alpha1.PushSecret, inputs string, interval time.Duration, now time.Time) (time.Duration, bool) {
	p.mu.Lock()
	same := p.inputs[id] == inputs
	p.mu.Unlock()
	left := ps.Status.RefreshTime.Add(interval).Sub(now)
	return left, same && isReady(ps.Status.Conditions) && ps.Status.SyncedResourceVersion == plan.Version(ps) && (interval <= 0 || left > 0)
}

// joined is what was written now and what was written before, so that it is taken away later.
func joined(synced, before map[string]map[string]v1alpha1.Data) map[string]map[string]v1alpha1.Data {
	for at, all := range before {
		if synced[at] == nil {
			synced[at] = map[string]v1alpha1.Data{}
		}
		maps.Copy(synced[at], all)
	}
	return synced
}

// targets are the stores that a PushSecret names or selects.
func (p *part) targets(id engine.UnitID, ps *v1alpha1.PushSecret) ([]standing, error) {
	var all []standing
	for i, ref := range ps.Spec.SecretStoreRefs {
		at := storeID(ps.Namespace, esv1.SecretStoreRef{Name: ref.Name, Kind: ref.Kind})
		if ref.LabelSelector == nil {
			p.use(id, at)
			s, there := p.store(at)
			if !there {
				return nil, fmt.Errorf("could not get %s %q, which spec.secretStoreRefs[%d] names: it does not exist", at.Kind, ref.Name, i)
			}
			all = append(all, s)
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(ref.LabelSelector)
		if err != nil {
			return nil, fmt.Errorf("spec.secretStoreRefs[%d].labelSelector: %w", i, err)
		}
		for _, s := range p.standings(at.Kind, ps.Namespace) {
			p.use(id, s.id)
			if selector.Matches(labels.Set(s.object.GetLabels())) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// standings are the stores of a kind, those of a namespace for SecretStores.
func (p *part) standings(kind, namespace string) []standing {
	var all []standing
	if kind == esv1.ClusterSecretStoreKind {
		for _, s := range p.clusterly.All() {
			all = append(all, standing{idOf(kind, s), s.UID, s.Generation, s.Spec, s.Status, s})
		}
		return all
	}
	for _, s := range p.stores.All() {
		if s.Namespace == namespace {
			all = append(all, standing{idOf(kind, s), s.UID, s.Generation, s.Spec, s.Status, s})
		}
	}
	return all
}

// sources are the values of a PushSecret, one set for each Secret or generator, and what shows that they have changed.
func (p *part) sources(ctx context.Context, id engine.UnitID, ps *v1alpha1.PushSecret) (all []map[string][]byte, inputs string, err error) {
	from := ps.Spec.Selector
	switch {
	case from.GeneratorRef != nil:
		values, err := opened{part: p, by: id, namespace: ps.Namespace}.generated(ctx, *from.GeneratorRef)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", textNoSource, err)
		}
		return []map[string][]byte{values}, "", nil
	case from.Secret == nil:
		return nil, "", errors.New(textNoSource + ": spec.selector has none of secret, generatorRef")
	}
	var found []corev1.Secret
	if from.Secret.Name != "" {
		p.use(id, idOf(secretKind, &metav1.ObjectMeta{Namespace: ps.Namespace, Name: from.Secret.Name}))
		s, err := p.client.CoreV1().Secrets(ps.Namespace).Get(ctx, from.Secret.Name, metav1.GetOptions{})
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", textNoSource, err)
		}
		found = []corev1.Secret{*s}
	} else {
		selector, err := metav1.LabelSelectorAsSelector(from.Secret.Selector)
		if err != nil {
			return nil, "", fmt.Errorf("%s: spec.selector.secret.selector: %w", textNoSource, err)
		}
		p.use(id, anyOf(secretKind, ps.Namespace))
		if found, err = p.secretsOf(ctx, ps.Namespace, selector); err != nil {
			return nil, "", fmt.Errorf("%s: spec.selector.secret: %w", textNoSource, err)
		}
		if len(found) == 0 {
			return nil, "", fmt.Errorf("%s: spec.selector.secret.selector selects no Secret of namespace %q", textNoSource, ps.Namespace)
		}
	}
	for i := range found {
		s := &found[i]
		p.use(id, idOf(secretKind, s))
		values, err := p.shaped(ctx, id, ps, s.Data)
		if err != nil {
			return nil, "", err
		}
		all, inputs = append(all, values), inputs+fmt.Sprintln(s.UID, s.ResourceVersion)
	}
	return all, inputs, nil
}

// secretsOf are the Secrets of a namespace that a selector selects, as far as a PushSecret may push them.
func (p *part) secretsOf(ctx context.Context, namespace string, selector labels.Selector) ([]corev1.Secret, error) {
	const page = 50
	var all []corev1.Secret
	size, options := 0, metav1.ListOptions{LabelSelector: selector.String(), Limit: page}
	for {
		list, err := p.client.CoreV1().Secrets(namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			size += plan.Size(list.Items[i].Data)
		}
		if err := plan.Few(size); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if options.Continue = list.Continue; options.Continue == "" {
			return all, nil
		}
	}
}

// shaped are values as the template of a PushSecret makes them.
func (p *part) shaped(ctx context.Context, id engine.UnitID, ps *v1alpha1.PushSecret, values map[string][]byte) (map[string][]byte, error) {
	if ps.Spec.Template == nil {
		return values, nil
	}
	es := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: ps.Namespace, Name: ps.Name}}
	es.Spec.Target.Template = ps.Spec.Template
	made := plan.Made{Values: values}
	if err := p.template(ctx, id, es, &made); err != nil {
		return nil, err
	}
	if !made.Templated {
		return values, nil
	}
	all := map[string][]byte{}
	if ps.Spec.Template.MergePolicy == esv1.TemplateMerge {
		maps.Copy(all, values)
	}
	maps.Copy(all, made.Data)
	return all, nil
}

// pushAll writes all values to all stores, and reports what is there.
func (p *part) pushAll(ctx context.Context, id engine.UnitID, ps *v1alpha1.PushSecret, stores []standing, sources []map[string][]byte) (map[string]map[string]v1alpha1.Data, error) {
	synced := map[string]map[string]v1alpha1.Data{}
	open := opened{part: p, by: id, namespace: ps.Namespace, clients: map[engine.UnitID]store.Client{}}
	defer open.close()
	for _, s := range stores {
		at := s.id.Kind + "/" + s.id.Name
		client, err := open.client(ctx, esv1.SecretStoreRef{Name: s.id.Name, Kind: s.id.Kind})
		if err != nil {
			return synced, err
		}
		synced[at] = map[string]v1alpha1.Data{}
		for _, values := range sources {
			for i, d := range ps.Spec.Data {
				ref, value, err := pushed(d, values)
				if err != nil {
					return synced, fmt.Errorf("spec.data[%d]: %w", i, err)
				}
				if ps.Spec.UpdatePolicy == v1alpha1.UpdateIfNotExists {
					exists, err := client.Exists(ctx, ref)
					if err != nil {
						return synced, fmt.Errorf("spec.data[%d]: could not verify if secret exists in store %s: %w", i, s.id.Name, err)
					}
					if exists {
						synced[at][place(d)] = d
						continue
					}
				}
				if err := client.Push(ctx, ref, value); err != nil {
					return synced, fmt.Errorf("spec.data[%d]: could not write remote ref %s to target secretstore %s: %w", i, place(d), s.id.Name, err)
				}
				synced[at][place(d)] = d
			}
		}
	}
	return synced, nil
}

// remove takes away what was written and is not among what is there by now. A store that is gone keeps it.
func (p *part) remove(ctx context.Context, id engine.UnitID, ps *v1alpha1.PushSecret, now map[string]map[string]v1alpha1.Data) error {
	open := opened{part: p, by: id, namespace: ps.Namespace, clients: map[engine.UnitID]store.Client{}}
	defer open.close()
	for _, at := range slices.Sorted(maps.Keys(ps.Status.SyncedPushSecrets)) {
		kind, name, _ := strings.Cut(at, "/")
		for _, key := range slices.Sorted(maps.Keys(ps.Status.SyncedPushSecrets[at])) {
			if _, stays := now[at][key]; stays {
				continue
			}
			if _, there := p.store(storeID(ps.Namespace, esv1.SecretStoreRef{Name: name, Kind: kind})); !there {
				continue
			}
			external, err := open.client(ctx, esv1.SecretStoreRef{Name: name, Kind: kind})
			if err != nil {
				return fmt.Errorf("%s: %w", textNotDeleted, err)
			}
			d := ps.Status.SyncedPushSecrets[at][key]
			ref := store.PushRef{Key: d.Match.RemoteRef.RemoteKey, Property: d.Match.RemoteRef.Property}
			if err := external.Delete(ctx, ref); err != nil {
				return fmt.Errorf("%s: %s of %s: %w", textNotDeleted, key, at, err)
			}
		}
	}
	return nil
}

// withdraw takes everything away that a PushSecret has written, and lets it go.
func (p *part) withdraw(ctx context.Context, id engine.UnitID, ps *v1alpha1.PushSecret) rounds.Next {
	if !slices.Contains(ps.Finalizers, pushFinalizer) {
		return rounds.Rest()
	}
	if ps.Spec.DeletionPolicy == v1alpha1.DeletionDelete {
		if err := p.remove(ctx, id, ps, nil); err != nil {
			return p.notPushed(ctx, ps, err)
		}
	}
	_, err := p.writer(pushKind()).Finalizer(ctx, ps, pushFinalizer, false)
	return rounds.Done(err)
}

// notPushed writes why a PushSecret is not pushed, and what it has pushed anyway.
func (p *part) notPushed(ctx context.Context, ps *v1alpha1.PushSecret, cause error, synced ...map[string]map[string]v1alpha1.Data) rounds.Next {
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	text := redaction.Text(cause.Error())
	after := ps.Status
	for _, one := range synced {
		after.SyncedPushSecrets = one
	}
	after.Conditions = plan.Condition(ps.Status.Conditions, plan.Ready, false, reasonNotPushed, text, time.Now())
	if err := p.pushes.State(ctx, p.writer(pushKind()), ps, ps.Status, after); err != nil {
		return rounds.Retry(err)
	}
	p.emit(ps, v1alpha1.GroupVersion.WithKind(v1alpha1.PushSecretKind), corev1.EventTypeWarning, reasonNotPushed, text)
	return again(cause)
}
