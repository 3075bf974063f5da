package meter_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/meter"
)

func TestForget(t *testing.T) {
	m := meter.New(t.Context(), func() meter.Engine { return nil })
	m.Pass("Kustomization", "team", "app", time.Second, true)
	m.Pass("Kustomization", "team", "other", time.Second, false)
	const app, other = `kind="Kustomization",name="app",namespace="team"`, `kind="Kustomization",name="other",namespace="team"`
	if text := scraped(t, m); !strings.Contains(text, app) || !strings.Contains(text, other) {
		t.Fatalf("the passes are not counted:\n%s", text)
	}
	m.Forget("Kustomization", "team", "app")
	text := scraped(t, m)
	if strings.Contains(text, app) || !strings.Contains(text, other) {
		t.Errorf("the wrong series are left:\n%s", text)
	}
	// What all objects of a kind have in common goes on.
	if !strings.Contains(text, `controller_runtime_reconcile_total{controller="kustomization",result="success"} 1`) {
		t.Errorf("a count of all objects has gone:\n%s", text)
	}
}

func scraped(t *testing.T, m *meter.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	return answer.Body.String()
}
