package secrets

import (
	"context"
	"fmt"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/webhook"
	"github.com/headgate-dev/headgate/internal/secrets/templates"
)

// property is a path of GJSON over a JSON object.
type property struct {
	Object []byte
	Path   string
}

// rename is a template of a rewrite with the keys that it makes others of.
type rename struct {
	Template string
	Keys     []string
}

// job is a pure function that the sandbox calls.
type job[In, Out any] struct {
	name string
	call func(In) (Out, error)
}

// Name tells it apart.
func (j job[In, Out]) Name() string { return j.name }

// Run calls the function.
func (j job[In, Out]) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	var in In
	if err := sandbox.Decode(input, &in); err != nil {
		return nil, err
	}
	out, err := j.call(in)
	if err != nil {
		return nil, err
	}
	return sandbox.Encode(out)
}

// in has the sandbox call the function. Values pass through pipes alone.
func (j job[In, Out]) in(ctx context.Context, box *sandbox.Client, in In) (out Out, err error) {
	input, err := sandbox.Encode(in)
	if err != nil {
		return out, err
	}
	output, err := box.Do(ctx, j, input, nil)
	if err != nil {
		return out, err
	}
	return out, sandbox.Decode(output, &out)
}

func propertyJob() job[property, store.Selected] {
	return job[property, store.Selected]{"external-secret-property", func(p property) (store.Selected, error) { return store.Select(p.Object, p.Path), nil }}
}

func pathJob() job[webhook.Query, webhook.Selected] {
	return job[webhook.Query, webhook.Selected]{"external-secret-path", webhook.Select}
}

func renameJob() job[rename, []string] {
	return job[rename, []string]{"external-secret-rewrite", func(r rename) ([]string, error) { return templates.Transform(r.Template, r.Keys) }}
}

// box is where programs of an object are executed: in the share of its namespace.
func (p *part) box(by engine.UnitID) *sandbox.Client {
	return p.Sandbox.For(by.Namespace, by.Kind+" "+by.Namespace+"/"+by.Name)
}

// within is a context for what one pass fetches for an object.
func (p *part) within(ctx context.Context, by engine.UnitID) context.Context {
	return store.Within(ctx, func(ctx context.Context, object []byte, path string) (store.Selected, error) {
		return propertyJob().in(ctx, p.box(by), property{object, path})
	})
}

// transformer executes templates of rewrites of an object.
func (p *part) transformer(ctx context.Context, by engine.UnitID) plan.Transformer {
	return func(text string, keys []string) ([]string, error) {
		made, err := renameJob().in(ctx, p.box(by), rename{text, keys})
		if err == nil && len(made) != len(keys) {
			return nil, fmt.Errorf("the template gave %d keys of %d", len(made), len(keys))
		}
		return made, err
	}
}
