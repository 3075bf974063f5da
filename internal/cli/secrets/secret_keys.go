package secrets

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// The Secret that up keeps its age key in.
const (
	keyNamespace = "flux-system"
	keySecret    = "sops-age"
)

// clusterKeys reads the keys that the chosen cluster decrypts with.
func clusterKeys(ctx context.Context, g *console.Globals) (*decrypt.Keys, error) {
	config, err := g.RestConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	secret, err := client.CoreV1().Secrets(keyNamespace).Get(ctx, keySecret, metav1.GetOptions{})
	if err != nil {
		return nil, console.Unreachable(fmt.Errorf("reading Secret %s/%s: %w", keyNamespace, keySecret, err))
	}
	keys, err := decrypt.NewKeys(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", keyNamespace, keySecret, err)
	}
	return keys, nil
}
