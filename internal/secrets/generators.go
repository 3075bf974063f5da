package secrets

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	generators "github.com/headgate-dev/headgate/api/externalsecrets/generators/v1alpha1"
	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/secrets/generate"
	"github.com/headgate-dev/headgate/internal/secrets/generate/github"
	"github.com/headgate-dev/headgate/internal/secrets/store"
)

func generatorID(namespace string, ref esv1.GeneratorRef) engine.UnitID {
	if ref.Kind == generators.ClusterGeneratorKind {
		namespace = ""
	}
	return idOf(ref.Kind, &metav1.ObjectMeta{Namespace: namespace, Name: ref.Name})
}

// generator is a generator as it was seen last: the spec of its kind, and which state of the object that is. It is nil where there is none.
func (p *part) generator(kind string, id engine.UnitID) (spec *generators.GeneratorSpec, of metav1.Object) {
	switch kind {
	case generators.PasswordKind:
		if g, there := p.passwords.Get(id); there {
			return &generators.GeneratorSpec{PasswordSpec: &g.Spec}, g
		}
	case generators.UUIDKind:
		if g, there := p.uuids.Get(id); there {
			return &generators.GeneratorSpec{UUIDSpec: &generators.UUIDSpec{}}, g
		}
	case generators.WebhookKind:
		if g, there := p.webhooks.Get(id); there {
			return &generators.GeneratorSpec{WebhookSpec: &g.Spec}, g
		}
	case generators.GithubAccessTokenKind:
		if g, there := p.githubs.Get(id); there {
			return &generators.GeneratorSpec{GithubAccessTokenSpec: &g.Spec}, g
		}
	case generators.ClusterGeneratorKind:
		if g, there := p.anywhere.Get(id); there {
			return &g.Spec.Generator, g
		}
	}
	return nil, nil
}

// generation is the state of a generator.
func (p *part) generation(id engine.UnitID) string {
	if _, of := p.generator(id.Kind, id); of != nil {
		return fmt.Sprint(of.GetUID(), of.GetGeneration())
	}
	return ""
}

// generated are fresh values.
func (o opened) generated(ctx context.Context, ref esv1.GeneratorRef) (map[string][]byte, error) {
	switch ref.Kind {
	case generators.PasswordKind, generators.UUIDKind, generators.WebhookKind, generators.GithubAccessTokenKind, generators.ClusterGeneratorKind:
	default:
		return nil, fmt.Errorf("generators of kind %s are not supported; use Password, UUID, Webhook, GithubAccessToken or a ClusterGenerator of one", ref.Kind)
	}
	spec, of := o.part.generator(ref.Kind, generatorID(o.namespace, ref))
	if spec == nil {
		return nil, fmt.Errorf("there is no generator %s %q", ref.Kind, ref.Name)
	}
	// Also those that a ClusterGenerator names are in the namespace that uses it.
	l := login{part: o.part, by: o.by, namespace: o.namespace}
	var values map[string][]byte
	var err error
	switch {
	case spec.PasswordSpec != nil:
		values, err = generate.Password(*spec.PasswordSpec, rand.Reader)
	case spec.UUIDSpec != nil:
		values, err = generate.UUID(rand.Reader)
	case spec.WebhookSpec != nil:
		values, err = l.answered(ctx, spec.WebhookSpec)
	case spec.GithubAccessTokenSpec != nil:
		values, err = l.githubToken(ctx, spec.GithubAccessTokenSpec)
	default:
		kind := ref.Kind
		if g, is := of.(*generators.ClusterGenerator); is {
			kind = g.Spec.Kind
		}
		err = fmt.Errorf("generators of kind %s are not supported", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("generator %s %q: %w", ref.Kind, ref.Name, err)
	}
	return values, nil
}

// answered are the fields of what a webhook answers.
func (l login) answered(ctx context.Context, w *generators.WebhookSpec) (map[string][]byte, error) {
	as := &esv1.WebhookProvider{
		URL: w.URL, Method: w.Method, Headers: w.Headers, Body: w.Body, Result: w.Result, Secrets: w.Secrets, CABundle: w.CABundle, CAProvider: w.CAProvider,
	}
	if w.Timeout != nil {
		as.Timeout = w.Timeout.Duration.String()
	}
	client, err := l.webhook(ctx, as)
	if err != nil {
		return nil, err
	}
	values, err := client.Map(ctx, store.Ref{})
	return values, errors.Join(err, client.Close())
}

// githubToken is a token of an installation of a GitHub App.
func (l login) githubToken(ctx context.Context, g *generators.GithubAccessTokenSpec) (map[string][]byte, error) {
	c := github.Config{URL: g.URL, Repositories: g.Repositories, Permissions: g.Permissions}
	var err error
	if c.App, err = l.either(ctx, "appID", g.AppID, g.AppIDRef); err != nil {
		return nil, err
	}
	if c.Installation, err = l.either(ctx, "installID", g.InstallID, g.InstallIDRef); err != nil {
		return nil, err
	}
	if c.Key, err = l.lookup(ctx, l.key(g.Auth.PrivateKey.SecretRef)); err != nil {
		return nil, fmt.Errorf("auth.privateKey.secretRef: %w", err)
	}
	return github.Token(ctx, c, l.part.http)
}

// either is a text that a field has, or a key of a Secret that another field names.
func (l login) either(ctx context.Context, field, text string, ref *esv1.SecretKeySelector) (string, error) {
	if (text == "") == (ref == nil) {
		return "", fmt.Errorf("exactly one of %s and %sRef has to be set", field, field)
	}
	if ref == nil {
		return text, nil
	}
	text, err := store.Credential(l.lookup(ctx, l.key(*ref)))
	if err != nil {
		return "", fmt.Errorf("%sRef: %w", field, err)
	}
	return text, nil
}
