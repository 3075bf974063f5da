package engine

import "testing"

func TestPlain(t *testing.T) {
	for name, tc := range map[string]struct{ said, want string }{
		"plain":       {"Applied revision: main@sha1:1234", "Applied revision: main@sha1:1234"},
		"timeout":     {"health check failed after 30s: timeout waiting for: [Deployment/q/web status: 'InProgress': Replicas: 0/2]", "health check failed after 30s: Deployment/q/web: 0 of 2 replicas"},
		"without":     {"waiting for the health of: Job/a/b status: 'InProgress', Service/a/c status: 'NotFound'", "waiting for the health of: Job/a/b is not ready yet, Service/a/c does not exist"},
		"failed":      {"health check failed for: Job/a/b status: 'Failed': 1 pod failed", "health check failed for: Job/a/b: 1 pod failed"},
		"generations": {"Deployment/a/b status: 'InProgress': Deployment generation is 7, but latest observed generation is 6", "Deployment/a/b: its controller has not seen its latest change yet"},
		"never seen":  {"DaemonSet/a/b status: 'InProgress': DaemonSet status.observedGeneration not found", "DaemonSet/a/b: its controller has not seen it yet"},
		"available":   {"StatefulSet/a/b status: 'InProgress': Ready: 1/3", "StatefulSet/a/b: 1 of 3 replicas are ready"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Plain(tc.said); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
