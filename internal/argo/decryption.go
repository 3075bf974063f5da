package argo

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// keys are those that an Application decrypts by. One that may do without has stand-ins for what they do not decrypt.
func (d *driver) keys(ctx context.Context, id engine.UnitID, obj *v1alpha1.Application) (*decrypt.Keys, error) {
	keys, err := d.decryption(ctx, obj)
	if d.Substitutes == nil {
		return keys, err
	}
	mark := d.Substitutes.Marks(id)
	if mark == nil {
		return keys, err
	}
	if err != nil {
		keys = nil
	}
	return keys.WithStandIn(mark, simulate.Label), nil
}

// decryption are the keys for what SOPS encrypted, where the Application requests that. That its project permits it is part of
// the declaration: an Application whose project does not is invalid, and nothing is rendered.
func (d *driver) decryption(ctx context.Context, obj *v1alpha1.Application) (*decrypt.Keys, error) {
	name, err := policy.DecryptionSecret(obj)
	if err != nil || name == "" {
		return nil, err
	}
	secret, err := d.kube.CoreV1().Secrets(d.options.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("annotation %s: reading Secret %s/%s: %w", policy.Decryption, d.options.Namespace, name, err)
	}
	keys, err := decrypt.NewKeys(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: Secret %s/%s: %w", policy.Decryption, d.options.Namespace, name, err)
	}
	return keys, nil
}
