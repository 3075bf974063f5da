package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/engine"
)

// What was verified was so by the keys of then: it is verified again when these change, and a source whose keys are gone is not
// ready.

// keysDigest stands for keys.
func keysDigest(keys map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		fmt.Fprintf(sum, "%q %q\n", name, keys[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// verifyingSecret is the Secret with the keys by which a source is verified; empty when there is none.
func verifyingSecret(o Origin) string {
	switch of := o.(type) {
	case GitRepository:
		if v := of.Spec.Verification; v != nil {
			return v.SecretRef.Name
		}
	case OCIRepository:
		if v := of.Spec.Verify; v != nil && v.SecretRef != nil {
			return v.SecretRef.Name
		}
	case HelmChart:
		if v := of.Spec.Verify; v != nil && v.SecretRef != nil {
			return v.SecretRef.Name
		}
	}
	return ""
}

// ObjectChanged has the sources fetched at once whose keys are in a Secret that changed, came or went.
func (s *Keeper) ObjectChanged(id engine.ObjectID) {
	if id.Kind != "Secret" || id.Group != corev1.GroupName || id.Cluster != "" {
		return
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range s.feeds {
		o := f.Current()
		if f.Key.Namespace == id.Namespace && o != nil && verifyingSecret(o) == id.Name {
			f.Nudge()
		}
	}
}
