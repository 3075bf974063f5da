package digitalocean

import (
	"context"
	"strconv"

	"github.com/digitalocean/godo"

	types "github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// key is an SSH key for the length of a pass.
type key struct {
	simple
	want, create types.KeyParameters
	have         *godo.Key
}

func newKey(s session) (*key, error) {
	k := &key{simple: simple{session: s}}
	return k, s.declared(&k.want, &k.create)
}

// Observe compares the key.
func (k *key) Observe(ctx context.Context) (managed.Observation, error) {
	id, fingerprint, err := kinds.ParseKeyName(k.ExternalName())
	if err != nil {
		return managed.Observation{}, managed.Invalid("%w", err)
	}
	switch {
	case fingerprint != "":
		k.have, _, err = k.do.Keys.GetByFingerprint(ctx, fingerprint)
	case id != 0:
		k.have, _, err = k.do.Keys.GetByID(ctx, id)
	}
	if api.NotFound(err) {
		k.have, err = nil, nil
	}
	if err != nil {
		return managed.Observation{}, failure("observing SSH key "+k.ExternalName(), err)
	}
	o, err := k.decide(kinds.Key(k.want, k.have))
	if err != nil || !o.Exists {
		return o, err
	}
	o.AtProvider, o.Connection = kinds.ObserveKey(k.have), connection(kinds.KeyConnection(k.have))
	return o, nil
}

// Find searches for a key whose creation was not answered. Keys have no tags, but an account has each of them once. One that was
// there before the first creation is not the resource's: people may rely on it.
func (k *key) Find(ctx context.Context, i managed.Intent) (managed.Finding, error) {
	if i.Attempt == 0 {
		return managed.Finding{}, nil
	}
	all, err := pages(ctx, func(o *godo.ListOptions) ([]godo.Key, *godo.Response, error) { return k.do.Keys.List(ctx, o) })
	if err != nil {
		return managed.Finding{}, failure("searching for an SSH key that was created", err)
	}
	var found []kinds.Candidate
	for _, one := range all {
		if kinds.SameKey(text(k.create.PublicKey), one.PublicKey) && one.Name == text(k.create.Name) {
			found = append(found, kinds.Candidate{Name: strconv.Itoa(one.ID), Attempt: i.Attempt})
		}
	}
	return findingOf(kinds.Recover(found, i.Began, k.clock.Now()), i), nil
}

// Create adds the key.
func (k *key) Create(ctx context.Context, _ managed.Intent) (managed.Result, error) {
	request, err := kinds.CreateKey(k.create)
	if err != nil {
		return managed.Result{}, managed.Invalid("%w", err)
	}
	made, _, err := k.do.Keys.Create(ctx, request)
	if _, refused := api.Unprocessable(err); refused {
		return managed.Result{}, managed.Invalid("%w; if the account has the key already, set the annotation %s to its number", failure("adding the SSH key", err), managed.AnnotationExternalName)
	}
	if err != nil {
		return managed.Result{}, failure("adding the SSH key", err)
	}
	return managed.Result{ExternalName: strconv.Itoa(made.ID), Ready: managed.Available(), Connection: connection(kinds.KeyConnection(made))}, nil
}

// Update makes the next step.
func (k *key) Update(ctx context.Context) (managed.Result, error) { return k.update(ctx, k) }

// Delete deletes the key.
func (k *key) Delete(ctx context.Context) (managed.Result, error) {
	return managed.Result{}, k.destroy(ctx)
}

func (k *key) destroy(ctx context.Context) error {
	if _, err := k.do.Keys.DeleteByID(ctx, k.have.ID); err != nil && !api.NotFound(err) {
		return failure("deleting SSH key "+k.ExternalName(), err)
	}
	return nil
}

func (k *key) call(ctx context.Context, c kinds.Call) error {
	_, _, err := k.do.Keys.UpdateByID(ctx, k.have.ID, &godo.KeyUpdateRequest{Name: c.To})
	return err
}
