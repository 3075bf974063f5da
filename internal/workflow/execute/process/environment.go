package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// environment is what the container declares.
func (p *preparation) environment(ctx context.Context) error {
	for _, from := range p.container.EnvFrom {
		if err := p.from(ctx, from); err != nil {
			return fmt.Errorf("envFrom: %w", err)
		}
	}
	for _, one := range p.container.Env {
		value, has, err := p.value(ctx, one)
		if err != nil {
			return fmt.Errorf("env %s: %w", one.Name, err)
		}
		if has {
			p.set(one.Name, value)
		}
	}
	return nil
}

// from adds everything that a ConfigMap or a Secret has.
func (p *preparation) from(ctx context.Context, from corev1.EnvFromSource) error {
	var data map[string][]byte
	var err error
	var optional *bool
	switch {
	case from.ConfigMapRef != nil:
		optional = from.ConfigMapRef.Optional
		data, err = p.account.configMap(ctx, from.ConfigMapRef.Name)
	case from.SecretRef != nil:
		optional = from.SecretRef.Optional
		data, err = p.account.secret(ctx, from.SecretRef.Name)
		for _, value := range data {
			p.hide(value)
		}
	}
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil
	}
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		p.set(from.Prefix+key, string(data[key]))
	}
	return nil
}

// value is that of one variable; false for an optional one that does not exist.
func (p *preparation) value(ctx context.Context, one corev1.EnvVar) (value string, has bool, err error) {
	from := one.ValueFrom
	if from == nil {
		return expand(one.Value, p.values), true, nil
	}
	var data []byte
	var optional *bool
	switch {
	case from.SecretKeyRef != nil:
		optional = from.SecretKeyRef.Optional
		data, err = p.account.Secret(ctx, from.SecretKeyRef.Name, from.SecretKeyRef.Key)
		p.hide(data)
	case from.ConfigMapKeyRef != nil:
		optional = from.ConfigMapKeyRef.Optional
		var all map[string][]byte
		if all, err = p.account.configMap(ctx, from.ConfigMapKeyRef.Name); err == nil {
			data, err = keyOf(all, "ConfigMap", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
		}
	case from.FieldRef != nil:
		return p.field(from.FieldRef.FieldPath)
	default:
		return "", false, never("it has its value from what is not supported: use value, configMapKeyRef, secretKeyRef or fieldRef")
	}
	var lacks *keyError
	if (apierrors.IsNotFound(err) || errors.As(err, &lacks)) && optional != nil && *optional {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// field is a field that the pod would have.
func (p *preparation) field(path string) (string, bool, error) {
	fields := map[string]string{
		"metadata.name": p.run.Name, "metadata.namespace": p.x.intent.Namespace, "spec.serviceAccountName": accountOf(p.run),
		"spec.nodeName": p.executor.ability.Host,
	}
	value, has := fields[path]
	if !has {
		return "", false, never("fieldRef %q is not supported: there is no pod; use one of %v", path, slices.Sorted(maps.Keys(fields)))
	}
	return value, true, nil
}

// keyError is a key that an object does not have.
type keyError struct{ kind, name, key string }

func (e *keyError) Error() string { return fmt.Sprintf("%s %q has no key %q", e.kind, e.name, e.key) }

func keyOf(data map[string][]byte, kind, name, key string) ([]byte, error) {
	value, has := data[key]
	if !has {
		return nil, &keyError{kind, name, key}
	}
	return value, nil
}
