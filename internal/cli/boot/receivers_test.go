package boot

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/host"
)

// TestNoEngineNoHooks asks a process that does not serve the cluster.
func TestNoEngineNoHooks(t *testing.T) {
	answer := httptest.NewRecorder()
	hooksOf(func() *host.Engine { return nil }).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/hook/x", strings.NewReader("{}")))
	if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" || answer.Body.Len() != 0 {
		t.Errorf("status %d, header %v, body %q", answer.Code, answer.Header(), answer.Body)
	}
}
