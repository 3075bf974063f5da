package argo

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
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

// decryption are the keys for what SOPS encrypted, where the Application asks for that.
func (d *driver) decryption(ctx context.Context, obj *v1alpha1.Application) (*decrypt.Keys, error) {
	provider, name, _ := strings.Cut(obj.Annotations[annotationDecryption], "/")
	switch provider {
	case "":
		return nil, nil
	case "sops":
	default:
		return nil, &failure{condition: v1alpha1.ApplicationConditionInvalidSpecError, lasting: true, err: fmt.Errorf(
			"annotation %s: %q: want sops, or sops/NAME of a Secret in namespace %s", annotationDecryption, provider, d.options.Namespace)}
	}
	name = cmp.Or(name, "sops-age")
	secret, err := d.kube.CoreV1().Secrets(d.options.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("annotation %s: reading Secret %s/%s: %w", annotationDecryption, d.options.Namespace, name, err)
	}
	keys, err := decrypt.NewKeys(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: Secret %s/%s: %w", annotationDecryption, d.options.Namespace, name, err)
	}
	return keys, nil
}
