package settings

import (
	"encoding/pem"
	"strings"
)

// knownHosts reads argocd-ssh-known-hosts-cm.
func (r *reader) knownHosts() {
	r.text("ssh_known_hosts", &r.settings.KnownHosts)
	r.unknown()
}

// webhooks reads what argocd-secret says of forges.
func (r *reader) webhooks() {
	for _, key := range r.sorted() {
		if name, ok := strings.CutPrefix(key, "webhook."); ok {
			delete(r.left, key)
			r.settings.Webhook.Secrets[name] = NewSecret(strings.TrimSpace(r.data[key]))
		}
	}
}

// certificates reads argocd-tls-certs-cm, whose keys are hosts.
func (r *reader) certificates() {
	for _, host := range r.sorted() {
		text, ok := r.take(host)
		if !ok {
			continue
		}
		if block, _ := pem.Decode([]byte(text)); block == nil || block.Type != "CERTIFICATE" {
			r.bad(host, "is not a PEM certificate")
			continue
		}
		r.settings.Certificates[host] = text
	}
}

// keys reads argocd-gpg-keys-cm, whose keys are identities of OpenPGP keys.
func (r *reader) keys() {
	for _, id := range r.sorted() {
		text, ok := r.take(id)
		if !ok {
			continue
		}
		if !strings.Contains(text, "-----BEGIN PGP PUBLIC KEY BLOCK-----") {
			r.bad(id, "is not an armored OpenPGP public key")
			continue
		}
		r.settings.Keys[id] = text
	}
}
