package boot

import (
	"context"
	"fmt"
	"net/http"

	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/server"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// startReceivers accepts the requests of forges and registries, if requested.
func (s *system) startReceivers(context.Context) error {
	addr := s.options.serving.receiverAddr
	if addr == "" {
		return nil
	}
	var err error
	if s.receivers, err = server.StartHooks(addr, hooksOf(s.leader.current)); err != nil {
		return fmt.Errorf("--receiver-addr: %w", err)
	}
	s.say.Done("receivers", "http://"+s.receivers.Addr()+"/hook/")
	return nil
}

// hooksOf serves the hooks of the engine of now. While there is none, another process may have them, and the
// sender is asked to retry.
func hooksOf(current func() *host.Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		engine := current()
		if engine == nil {
			webhook.Unavailable(w)
			return
		}
		engine.Hooks().ServeHTTP(w, r)
	})
}
