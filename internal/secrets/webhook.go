package secrets

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	bounds "github.com/headgate-dev/headgate/internal/secrets/store/rest"
	"github.com/headgate-dev/headgate/internal/secrets/store/webhook"
	"github.com/headgate-dev/headgate/internal/secrets/templates"
)

// textJob executes one template of a webhook in the sandbox.
type textJob struct{}

// text is a template with what it knows.
type text struct {
	Text   string
	Values map[string]any
}

// Name tells it apart.
func (textJob) Name() string { return "external-secret-webhook" }

// Run executes the template.
func (textJob) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	var t text
	if err := sandbox.Decode(input, &t); err != nil {
		return nil, err
	}
	made, err := templates.Text(t.Text, t.Values)
	return []byte(made), err
}

// silent answers nothing.
type silent struct{}

func (silent) Answer(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("templates of webhooks have no questions")
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
	render := func(ctx context.Context, template string, values map[string]any) (string, error) {
		input, err := sandbox.Encode(text{template, values})
		if err != nil {
			return "", err
		}
		made, err := l.part.Sandbox.For(l.by.Namespace, l.by.String()).Do(ctx, textJob{}, input, silent{})
		return string(made), err
	}
	return webhook.New(c, render, l.part.http)
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
