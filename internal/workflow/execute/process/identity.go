package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// accountDir is where programs expect the token of their account.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// The times for which a token is valid: of a process without a deadline, and at least and at most of one that has one.
const (
	usualToken    = 6 * time.Hour
	shortestToken = 10 * time.Minute
	longestToken  = 24 * time.Hour
	afterDeadline = 5 * time.Minute
)

// identity has the process be the account of its template in the cluster, as a pod is. Where it can have paths of its own, what it
// needs for that is in memory alone; elsewhere it is a file of this user's, which goes when the process ends.
func (p *preparation) identity(ctx context.Context) error {
	for _, automount := range []*bool{p.run.Template.AutomountServiceAccountToken, p.run.Settings.AutomountServiceAccountToken} {
		if automount == nil {
			continue
		}
		if !*automount {
			return nil
		}
		break
	}
	token, err := p.account.token(ctx, lasting(p.run.Deadline))
	if err != nil {
		return err
	}
	p.hide([]byte(token))
	authority, err := p.account.authority()
	if err != nil {
		return err
	}
	kubeconfig, err := p.account.kubeconfig(token, authority)
	if err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	if !p.able() {
		file := filepath.Join(p.x.file(privateDir), "kubeconfig")
		if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
			return fmt.Errorf("writing a kubeconfig: %w", err)
		}
		p.unlessSet("KUBECONFIG", file)
		return nil
	}
	host, port, err := p.account.address()
	if err != nil {
		return err
	}
	p.mount(mount{Path: accountDir, Memory: true, ReadOnly: true, Mode: 0o600, Files: map[string][]byte{
		"token": []byte(token), "ca.crt": authority, "namespace": []byte(p.x.intent.Namespace), "kubeconfig": kubeconfig,
	}})
	p.unlessSet("KUBECONFIG", accountDir+"/kubeconfig")
	p.unlessSet("KUBERNETES_SERVICE_HOST", host)
	p.unlessSet("KUBERNETES_SERVICE_PORT", port)
	return nil
}

// unlessSet leaves to the template what it declares.
func (p *preparation) unlessSet(name, value string) {
	if _, has := p.values[name]; !has {
		p.set(name, value)
	}
}

// lasting is for how long a token is requested.
func lasting(deadline time.Time) time.Duration {
	if deadline.IsZero() {
		return usualToken
	}
	return min(max(time.Until(deadline)+afterDeadline, shortestToken), longestToken)
}
