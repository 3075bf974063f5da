package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
)

// auditPolicy records the requests, without bodies: those may contain secrets.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// files writes the configuration files that the API server reads.
func (r *Running) files() error {
	if err := encryptionConfig(filepath.Join(r.cfg.Dir, "encryption.yaml")); err != nil {
		return fmt.Errorf("writing the encryption configuration: %w", err)
	}
	if r.cfg.AuditLog == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(r.cfg.Dir, "audit-policy.yaml"), []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	return nil
}

func writeSchedulerConfig(file, kubeconfig string) error {
	text := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %q, qps: %d, burst: %d}
`, kubeconfig, controllerQPS, controllerBurst)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing the scheduler configuration: %w", err)
	}
	return nil
}

// writeWhole writes a file that only its user can read, and that is there as a whole or not at all: a process killed meanwhile leaves no half of
// a key, with which nothing would start again.
func writeWhole(file string, data []byte) error {
	next := file + ".next"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}
