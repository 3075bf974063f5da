package controlplane

import (
	"fmt"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
)

type schemaGroupVersion = schema.GroupVersion

// teller tells the user of each thing once.
type teller struct {
	notify func(string)
	// isolated is set where webhooks are skipped that call a URL, too.
	isolated bool

	mu   sync.Mutex
	told map[string]bool
}

func newTeller(cfg Config) *teller {
	return &teller{notify: cfg.Notify, isolated: cfg.Isolated, told: map[string]bool{}}
}

func (t *teller) tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.mu.Lock()
	known := t.told[text]
	t.told[text] = true
	t.mu.Unlock()
	if !known && t.notify != nil {
		t.notify(text)
	}
}

// skipServiceWebhooks takes webhooks that call a Service out of what admission sees: no pod really
// runs here, so they would fail. The objects themselves are not changed.
func skipServiceWebhooks(factory informers.SharedInformerFactory, told *teller) error {
	registration := factory.Admissionregistration().V1()
	err := registration.ValidatingWebhookConfigurations().Informer().SetTransform(func(obj any) (any, error) {
		c, ok := obj.(*admissionv1.ValidatingWebhookConfiguration)
		if !ok {
			return obj, nil
		}
		kept := make([]admissionv1.ValidatingWebhook, 0, len(c.Webhooks))
		for _, w := range c.Webhooks {
			if told.skipped(c.Name, w.Name, w.ClientConfig) {
				continue
			}
			kept = append(kept, w)
		}
		c = c.DeepCopy()
		c.Webhooks = kept
		return c, nil
	})
	if err != nil {
		return fmt.Errorf("skipping validating webhooks: %w", err)
	}
	err = registration.MutatingWebhookConfigurations().Informer().SetTransform(func(obj any) (any, error) {
		c, ok := obj.(*admissionv1.MutatingWebhookConfiguration)
		if !ok {
			return obj, nil
		}
		kept := make([]admissionv1.MutatingWebhook, 0, len(c.Webhooks))
		for _, w := range c.Webhooks {
			if told.skipped(c.Name, w.Name, w.ClientConfig) {
				continue
			}
			kept = append(kept, w)
		}
		c = c.DeepCopy()
		c.Webhooks = kept
		return c, nil
	})
	if err != nil {
		return fmt.Errorf("skipping mutating webhooks: %w", err)
	}
	return nil
}

func (t *teller) skipped(configuration, webhook string, client admissionv1.WebhookClientConfig) bool {
	switch {
	case client.Service == nil && !t.isolated:
		return false
	case client.Service == nil:
		t.tell("webhook %s of %s calls a URL, and this cluster calls nothing outside: it is skipped", webhook, configuration)
		return true
	}
	t.tell("webhook %s of %s calls Service %s/%s, whose pods are simulated: it is skipped",
		webhook, configuration, client.Service.Namespace, client.Service.Name)
	return true
}

// skipServiceConversions lets the server of custom resources convert by name only where a CRD asks
// for a conversion by a Service.
func skipServiceConversions(factory extensionsinformers.SharedInformerFactory, told *teller) error {
	err := factory.Apiextensions().V1().CustomResourceDefinitions().Informer().SetTransform(func(obj any) (any, error) {
		crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
		if !ok || crd.Spec.Conversion == nil || crd.Spec.Conversion.Webhook == nil || crd.Spec.Conversion.Webhook.ClientConfig == nil {
			return obj, nil
		}
		switch s := crd.Spec.Conversion.Webhook.ClientConfig.Service; {
		case s == nil && !told.isolated:
			return obj, nil
		case s == nil:
			told.tell("CRD %s converts by a URL, and this cluster calls nothing outside: versions differ only by name", crd.Name)
		default:
			told.tell("CRD %s converts by Service %s/%s, whose pods are simulated: versions differ only by name",
				crd.Name, s.Namespace, s.Name)
		}
		crd = crd.DeepCopy()
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		return crd, nil
	})
	if err != nil {
		return fmt.Errorf("skipping CRD conversions: %w", err)
	}
	return nil
}
