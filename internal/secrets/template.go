package secrets

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/secrets/templates"
)

// templateJob executes templates in the sandbox. Values pass through pipes alone.
type templateJob struct{}

// Name tells it apart.
func (templateJob) Name() string { return "external-secret" }

// question is a key of a Secret that a template asks for.
type question struct{ Name, Namespace, Key string }

// Run executes the templates of one Secret.
func (templateJob) Run(input []byte, asking sandbox.Asker) ([]byte, error) {
	var w templates.Work
	if err := sandbox.Decode(input, &w); err != nil {
		return nil, err
	}
	made, err := templates.Execute(w, func(name, namespace, key string) (string, error) {
		q, err := sandbox.Encode(question{name, namespace, key})
		if err != nil {
			return "", err
		}
		answer, err := asking.Ask(q)
		return string(answer), err
	})
	if err != nil {
		return nil, err
	}
	return sandbox.Encode(made)
}

// within answers templates of one namespace.
type within struct {
	part      *part
	by        engine.UnitID
	namespace string
}

// Answer returns a key of a Secret of the namespace.
func (w within) Answer(ctx context.Context, asked []byte) ([]byte, error) {
	var q question
	if err := sandbox.Decode(asked, &q); err != nil {
		return nil, err
	}
	if q.Namespace != w.namespace {
		return nil, fmt.Errorf("getSecretKey: Secrets of namespace %q are not for templates of namespace %q", q.Namespace, w.namespace)
	}
	return w.part.key(ctx, w.by, secretKind, q.Namespace, q.Name, q.Key)
}

// template executes the templates of an ExternalSecret.
func (p *part) template(ctx context.Context, id engine.UnitID, es *esv1.ExternalSecret, made *plan.Made) error {
	parts, err := p.parts(ctx, id, es)
	if err != nil {
		return err
	}
	input, err := sandbox.Encode(templates.Work{Values: made.Values, Parts: parts})
	if err != nil {
		return err
	}
	output, err := p.box(id).Do(ctx, templateJob{}, input, within{p, id, es.Namespace})
	if err != nil {
		return fmt.Errorf("executing the templates: %w", err)
	}
	var result templates.Result
	if err := sandbox.Decode(output, &result); err != nil {
		return err
	}
	made.Data, made.Labels, made.Annotations = result.Data, result.Labels, result.Annotations
	for _, part := range parts {
		made.Templated = made.Templated || part.Target == templates.Data || part.Target == ""
	}
	return nil
}

// parts are the templates of an ExternalSecret, in the order of the upstream: those of other objects first.
func (p *part) parts(ctx context.Context, id engine.UnitID, es *esv1.ExternalSecret) ([]templates.Part, error) {
	t := es.Spec.Target.Template
	if t.EngineVersion != "" && t.EngineVersion != "v2" {
		return nil, fmt.Errorf("template.engineVersion: %q is not supported; use v2", t.EngineVersion)
	}
	var all []templates.Part
	for i, from := range t.TemplateFrom {
		of := fmt.Sprintf("template.templateFrom[%d]", i)
		target := templates.Target(from.Target)
		if from.Literal != "" {
			all = append(all, templates.Part{Of: of, Target: target, KeysAndValues: true, Templates: map[string]string{"literal": from.Literal}})
		}
		for kind, ref := range map[string]*esv1.TemplateRef{configMapKind: from.ConfigMap, secretKind: from.Secret} {
			if ref == nil {
				continue
			}
			for _, item := range ref.Items {
				text, err := p.key(ctx, id, kind, es.Namespace, ref.Name, item.Key)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", of, err)
				}
				all = append(all, templates.Part{
					Of: of, Target: target, Secret: kind == secretKind, KeysAndValues: item.TemplateAs == "KeysAndValues", Templates: map[string]string{item.Key: string(text)},
				})
			}
		}
	}
	if len(t.Data) > 0 {
		all = append(all, templates.Part{Of: "template.data", Target: templates.Data, Templates: t.Data})
	}
	return append(all,
		templates.Part{Of: "template.metadata.labels", Target: templates.Labels, Templates: t.Metadata.Labels},
		templates.Part{Of: "template.metadata.annotations", Target: templates.Annotations, Templates: t.Metadata.Annotations},
	), nil
}

// key is a key of a Secret or of a ConfigMap, whose changes wake who reads it.
func (p *part) key(ctx context.Context, by engine.UnitID, kind, namespace, name, key string) ([]byte, error) {
	p.use(by, idOf(kind, &metav1.ObjectMeta{Namespace: namespace, Name: name}))
	var value []byte
	has := false
	if kind == configMapKind {
		m, err := p.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		var text string
		text, has = m.Data[key]
		value = []byte(text)
	} else {
		s, err := p.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		value, has = s.Data[key]
	}
	if !has {
		return nil, fmt.Errorf("%s %s/%s has no key %q", kind, namespace, name, key)
	}
	return value, nil
}
