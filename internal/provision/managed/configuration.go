package managed

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/declared"
)

// The labels of records of who uses a provider configuration.
const (
	labelConfig     = "crossplane.io/provider-config"
	labelConfigKind = "crossplane.io/provider-config-kind"
)

// configuration reads the provider configuration that the resource names, and records that it is used.
func (p *pass) configuration(ctx context.Context) (*unstructured.Unstructured, error) {
	of, name, err := p.configured()
	if of == nil || err != nil {
		return nil, err
	}
	config := Key{Group: of.Group, Kind: of.Kind.Kind, Namespace: name.Namespace, Name: name.Name}
	o, err := p.configs.read(ctx, p.key, config, of)
	if err != nil {
		return nil, fmt.Errorf("cannot get provider config: %w", err)
	}
	if o == nil {
		return nil, Invalid("cannot get provider config: %s.%s %q not found", of.Resource, of.Group, name.Name)
	}
	if err := p.use(ctx, of, config); err != nil {
		return nil, fmt.Errorf("cannot track ProviderConfig usage: %w", err)
	}
	return o, nil
}

// configured is the kind and the name of the configuration; nil for kinds that need none.
func (p *pass) configured() (*Configuration, types.NamespacedName, error) {
	all := p.served.Configurations
	if len(all) == 0 {
		return nil, types.NamespacedName{}, nil
	}
	ref, _, _ := unstructured.NestedStringMap(p.object.Object, "spec", "providerConfigRef")
	of := &all[0]
	if wanted := ref["kind"]; wanted != "" {
		of = nil
		for i := range all {
			if all[i].Kind.Kind == wanted {
				of = &all[i]
			}
		}
	}
	name := types.NamespacedName{Name: ref["name"]}
	if name.Name == "" {
		name.Name = p.served.DefaultName
	}
	switch {
	case of == nil:
		return nil, name, Invalid("spec.providerConfigRef.kind %q is not supported", ref["kind"])
	case name.Name == "":
		return nil, name, Invalid("spec.providerConfigRef.name is required")
	case of.Namespaced:
		name.Namespace = p.object.GetNamespace()
	}
	return of, name, nil
}

// use records that the resource uses a configuration. The record of one that was written just now is unknown yet.
func (p *pass) use(ctx context.Context, of *Configuration, config Key) error {
	o, name := p.object, config.Name
	record := Key{Group: of.Usage.Group, Kind: of.Usage.Kind, Namespace: o.GetNamespace(), Name: string(o.GetUID())}
	switch {
	case p.configs.recorded(record, config):
		p.memory.used = Key{}
		return nil
	case p.memory.used == config:
		return nil
	}
	usage := &unstructured.Unstructured{Object: map[string]any{
		"providerConfigRef": map[string]any{"name": name, "kind": of.Kind.Kind},
		"resourceRef":       map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "name": o.GetName(), "uid": string(o.GetUID())},
	}}
	usage.SetGroupVersionKind(of.Usage.WithVersion(of.Usage.Version))
	usage.SetName(string(o.GetUID()))
	usage.SetNamespace(o.GetNamespace())
	usage.SetLabels(map[string]string{labelConfig: name, labelConfigKind: of.Kind.Kind})
	usage.SetOwnerReferences([]metav1.OwnerReference{p.controller()})
	client := p.usages(of)
	_, err := client.Create(ctx, usage, metav1.CreateOptions{FieldManager: manager})
	if apierrors.IsAlreadyExists(err) {
		_, err = declared.Writer{Client: p.Home.Dynamic.Resource(of.Usage.GroupVersionResource()), Manager: manager}.Patch(ctx, usage, map[string]any{
			"metadata": map[string]any{"labels": usage.GetLabels()}, "providerConfigRef": usage.Object["providerConfigRef"],
		})
	}
	if err == nil {
		p.memory.used = config
	}
	return err
}

func (p *pass) usages(of *Configuration) dynamic.ResourceInterface {
	return p.Home.Dynamic.Resource(of.Usage.GroupVersionResource()).Namespace(p.object.GetNamespace())
}

// unuse deletes the record.
func (p *pass) unuse(ctx context.Context) error {
	of, _, err := p.configured()
	if of == nil || err != nil {
		return nil
	}
	if err := p.usages(of).Delete(ctx, string(p.object.GetUID()), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the ProviderConfigUsage: %w", err)
	}
	return nil
}
