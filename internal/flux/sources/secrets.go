package sources

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/engine"
)

// heldSecret reads a Secret. A poll finds it in memory while its watch has nothing new to say.
func (s *Keeper) heldSecret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	id := engine.ObjectID{Kind: "Secret", Namespace: namespace, Name: name}
	s.objects.Follow(id, "v1")
	rec, exists := s.objects.Get(id)
	s.mu.RLock()
	known, read := s.read[id]
	s.mu.RUnlock()
	if exists && read && known.version == strconv.FormatUint(rec.ResourceVersion, 10) {
		return known.data, nil
	}
	held, err := s.secrets.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.read, id)
		return nil, err
	}
	s.read[id] = readSecret{version: held.ResourceVersion, data: held.Data}
	return held.Data, nil
}

// heldAccount reads a ServiceAccount.
func (s *Keeper) heldAccount(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	return s.secrets.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
}

// readSecret is a Secret as it was read last.
type readSecret struct {
	version string
	data    map[string][]byte
}
