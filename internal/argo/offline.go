package argo

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/argo/offline"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Walk renders the Applications of a repository.
func (*Dialect) Walk(_ context.Context, r *dialect.Repository) (dialect.Walk, error) {
	return offline.New(r)
}

// WalkLive renders an Application as a cluster has it.
func (*Dialect) WalkLive(ctx context.Context, r *dialect.Repository, config *rest.Config) (dialect.Walk, error) {
	return offline.Live(ctx, r, config)
}

var (
	_ dialect.Offline = (*Dialect)(nil)
	_ dialect.Live    = (*Dialect)(nil)
	_ dialect.Layouts = (*Dialect)(nil)
	_ dialect.Scans   = (*Dialect)(nil)
)
