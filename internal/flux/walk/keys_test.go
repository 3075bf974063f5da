package walk

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"filippo.io/age"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
)

// TestKeys reads the keys of a unit and those that serve every unit: one that cannot be read concerns only what the
// other does not open.
func TestKeys(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	closed, err := decrypttest.Encrypt([]byte("k: hunter2\n"), decrypt.YAML, "", identity.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	secrets := &walk{held: map[engine.ObjectID]*unstructured.Unstructured{}}
	for name, key := range map[string]string{"apps/own": identity.String(), "apps/foreign": other.String(), "flux-system/common": identity.String(), "flux-system/broken": "no key"} {
		namespace, name, _ := strings.Cut(name, "/")
		secrets.held[engine.ObjectID{Kind: "Secret", Namespace: namespace, Name: name}] = &unstructured.Unstructured{Object: map[string]any{
			"data": map[string]any{"age.agekey": base64.StdEncoding.EncodeToString([]byte(key))},
		}}
	}
	cases := map[string]struct {
		reason, own, common string
		// failure is that of the keys, opening that of what is encrypted.
		failure, opening []string
	}{
		"own":                     {reason: "a unit has its own key", own: "own"},
		"common":                  {reason: "a unit without one has that of all", common: "common"},
		"own, none in common":     {reason: "a missing Secret of all is no matter of a unit with its own", own: "own", common: "missing"},
		"own, broken in common":   {reason: "nor is one without keys", own: "own", common: "broken"},
		"foreign, common":         {reason: "either opens it", own: "foreign", common: "common"},
		"foreign, none in common": {reason: "what is missing is named where it would have helped", own: "foreign", common: "missing", opening: []string{`--sops-age-secret, "flux-system/missing", has no usable key`, "encrypted for age1"}},
		"none":                    {reason: "both ways to name a key are named", opening: []string{"no decryption key: spec.decryption has no secretRef, and --sops-age-secret names no Secret; it is encrypted for age1"}},
		"missing in common":       {reason: "the flag is named", common: "missing", failure: []string{"spec.decryption has no secretRef", `--sops-age-secret, "flux-system/missing"`, "not found"}},
		"missing":                 {reason: "the field is named", own: "missing", failure: []string{`spec.decryption.secretRef: reading Secret "apps/missing"`, "not found"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ks := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "app"}}
			ks.Spec.Decryption = &kustomizev1.Decryption{Provider: "sops"}
			if c.own != "" {
				ks.Spec.Decryption.SecretRef = &meta.LocalObjectReference{Name: c.own}
			}
			keys, err := kustomize.KeysOf(t.Context(), policies.Policy{AgeSecret: c.common}, ks, secrets)
			if !tells(t, err, c.failure) || err != nil {
				return
			}
			plain, err := keys.Data(closed, decrypt.YAML, decrypt.YAML)
			var none *decrypt.NoKeyError
			if tells(t, err, c.opening) && err == nil && string(plain) != "k: hunter2\n" || err != nil && !errors.As(err, &none) {
				t.Errorf("%s: it is %q: %v", c.reason, plain, err)
			}
		})
	}
}

// tells demands an error with texts, or none where there are no texts.
func tells(t *testing.T, err error, texts []string) bool {
	t.Helper()
	if (err == nil) != (len(texts) == 0) {
		t.Errorf("error %v, want %q", err, texts)
		return false
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q says nothing of %q", err, text)
			return false
		}
	}
	return true
}
