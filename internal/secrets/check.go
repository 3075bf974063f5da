package secrets

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// The reasons and messages of stores, which are those of the upstream.
const (
	reasonValid    = "Valid"
	reasonInvalid  = "InvalidProviderConfig"
	reasonFailed   = "ValidationFailed"
	textValid      = "store validated"
	textNoClient   = "unable to create client"
	textUnready    = "unable to validate store"
	reads          = "ReadOnly"
	readsAndWrites = "ReadWrite"
)

// check has the status of a store say whether it answers.
func (p *part) check(ctx context.Context, id engine.UnitID) rounds.Next {
	s, there := p.store(id)
	if !there || s.object.GetDeletionTimestamp() != nil {
		return rounds.Rest()
	}
	reason, err := p.validate(ctx, s)
	switch {
	case ctx.Err() != nil:
		return rounds.Rest()
	case err == nil:
		p.give(id)
	case p.Substitutes != nil && p.Yields(engine.ObjectID{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}):
		// A simulation says how it stands.
		p.Log.V(1).Info("a store is left to the simulation", "store", id.String(), "error", redaction.Text(err.Error()))
		return again(err)
	}
	ok, text := err == nil, said(reason, err)
	after := s.status
	after.Conditions = plan.Condition(s.status.Conditions, plan.Ready, ok, reason, text, time.Now())
	if ok {
		after.Capabilities = capabilities(s.spec.Provider)
	}
	if !isReady(s.status.Conditions) || !ok {
		kind := corev1.EventTypeNormal
		if !ok {
			kind = corev1.EventTypeWarning
		}
		p.emit(s.object, esv1.GroupVersion.WithKind(id.Kind), kind, reason, text)
	}
	if werr := p.stated(ctx, s, after); werr != nil {
		return rounds.Retry(werr)
	}
	switch {
	case err != nil && errors.Is(err, store.ErrUnsupported):
		return rounds.Rest()
	case err != nil:
		return again(err)
	case s.spec.RefreshInterval > 0:
		return rounds.After(time.Duration(s.spec.RefreshInterval) * time.Second)
	}
	return rounds.Rest()
}

// said is the message of a condition, which begins as that of the upstream.
func said(reason string, err error) string {
	switch {
	case err == nil:
		return textValid
	case reason == reasonInvalid:
		return redaction.Text(textNoClient + ": " + err.Error())
	}
	return redaction.Text(textUnready + ": " + err.Error())
}

// capabilities are what a provider can do. They are known of stores that answer.
func capabilities(of *esv1.Provider) string {
	if of != nil && (of.GitLab != nil || of.Webhook != nil) {
		return reads
	}
	return readsAndWrites
}

// validate finds out whether a store answers, and begins to follow its changes where it can report them.
func (p *part) validate(ctx context.Context, s standing) (reason string, err error) {
	client, err := p.open(ctx, s.id, s.id.Namespace, s)
	if err != nil {
		return reasonInvalid, err
	}
	reason = reasonValid
	if err = client.Check(ctx); err != nil {
		reason = reasonFailed
	}
	if err != nil || !p.watch(s, client) {
		err = errors.Join(err, client.Close())
	}
	return reason, err
}

// stated writes the status of a store.
func (p *part) stated(ctx context.Context, s standing, after esv1.SecretStoreStatus) error {
	if of, is := s.object.(*esv1.ClusterSecretStore); is {
		return p.clusterly.State(ctx, p.writer(clusterStoreKind()), of, s.status, after)
	}
	of, _ := s.object.(*esv1.SecretStore)
	return p.stores.State(ctx, p.writer(storeKind()), of, s.status, after)
}
