package secrets

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	bounds "github.com/headgate-dev/headgate/internal/secrets/store/rest"
	"github.com/headgate-dev/headgate/internal/secrets/store/webhook"
	"github.com/headgate-dev/headgate/internal/secrets/templates"
)

// text is a template with what it knows.
type text struct {
	Text   string
	Values map[string]any
}

// textJob executes one template of a webhook in the sandbox.
func textJob() job[text, string] {
	return job[text, string]{"external-secret-webhook", func(t text) (string, error) { return templates.Text(t.Text, t.Values) }}
}

// webhook opens a store whose requests are templates.
func (l login) webhook(ctx context.Context, w *esv1.WebhookProvider) (store.Client, error) {
	if w.Auth != nil && w.Auth.NTLM != nil {
		return nil, fmt.Errorf("webhook.auth.ntlm: %w; use a header", store.ErrUnsupported)
	}
	pem, err := l.authorities(ctx, w.CABundle, w.CAProvider)
	if err != nil {
		return nil, fmt.Errorf("webhook.%w", err)
	}
	c := webhook.Config{
		Method: w.Method, URL: w.URL, Headers: w.Headers, Body: w.Body, JSONPath: w.Result.JSONPath, TLS: bounds.TLS{CA: pem},
		Secrets: func(ctx context.Context) (map[string]map[string]string, error) { return l.known(ctx, w.Secrets) },
	}
	if w.Timeout != "" {
		if c.Timeout, err = time.ParseDuration(w.Timeout); err != nil {
			return nil, fmt.Errorf("webhook.timeout: %w", err)
		}
	}
	box := l.part.box(l.by)
	render := func(ctx context.Context, template string, values map[string]any) (string, error) {
		return textJob().in(ctx, box, text{template, values})
	}
	selects := func(ctx context.Context, q webhook.Query) (webhook.Selected, error) { return pathJob().in(ctx, box, q) }
	return webhook.New(c, render, selects, l.part.http)
}

// webhookLabel is the label without which a Secret is not for templates of webhooks, as with the upstream.
const webhookLabel = "external-secrets.io/type"

// known are the Secrets that a webhook names.
func (l login) known(ctx context.Context, named []esv1.WebhookSecret) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	for i, one := range named {
		in := l.in(one.SecretRef.Namespace)
		s, err := l.part.client.CoreV1().Secrets(in).Get(ctx, one.SecretRef.Name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("webhook.secrets[%d]: %w", i, err)
		}
		if s.Labels[webhookLabel] != "webhook" {
			return nil, fmt.Errorf("webhook.secrets[%d]: Secret %s/%s lacks the label %s=webhook", i, in, s.Name, webhookLabel)
		}
		l.part.use(l.by, idOf(secretKind, s))
		all[one.Name] = texts(s)
	}
	return all, nil
}

func texts(s *corev1.Secret) map[string]string {
	all := make(map[string]string, len(s.Data))
	for key, value := range s.Data {
		all[key] = string(value)
	}
	return all
}
