package boot

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/gitea"
	"github.com/headgate-dev/headgate/internal/guard"
)

const (
	// gitAdmin administers the embedded Git server, with the token of this process as the password.
	gitAdmin, gitAdminEmail = "giteaAdmin", "gitea@cnoe.io"
	// hookTargets are what hooks have access to: like the server itself, this machine and private networks too.
	hookTargets = egress.External + "," + egress.Private + "," + egress.Loopback
	// hookTimeout bounds a delivery, as Gitea does.
	hookTimeout = 5 * time.Second
)

// startGitea has the Git server answer as Gitea. There is none beside a cluster that others share: its state is not ours.
func (s *system) startGitea(ctx context.Context, late *lateHandler) error {
	if s.plane == nil {
		late.set(http.NotFoundHandler())
		return nil
	}
	rules, err := egress.Parse(hookTargets)
	if err != nil {
		return err
	}
	log := logr.FromContextOrDiscard(ctx).WithName("gitea")
	s.gitea, err = gitea.New(ctx, gitea.Config{
		Dir: filepath.Join(s.state, "gitea"), Root: s.server.Base(), Client: rules.Client(hookTimeout), Guard: guard.New(log, nil), Log: log,
	})
	if err != nil {
		return fmt.Errorf("starting the API of the Git server: %w", err)
	}
	if err := s.gitea.EnsureAdmin(gitAdmin, gitAdminEmail, s.token); err != nil {
		return err
	}
	if err := s.gitea.ServeImages(ctx); err != nil {
		return fmt.Errorf("starting the registry of the Git server: %w", err)
	}
	s.gitea.OnChange(func(owner, name string) {
		if engine := s.leader.current(); engine != nil {
			engine.Nudge(func(url string) bool { return isPushed(url, s.server.Base(), owner, name) })
		}
	})
	late.set(s.gitea)
	return nil
}

// isPushed tells whether a URL is that of a repository of the Git server.
func isPushed(url, base, owner, name string) bool {
	return strings.EqualFold(strings.TrimSuffix(url, ".git"), base+"/"+owner+"/"+name)
}
