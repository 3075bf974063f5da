package argo

import (
	"context"
	"fmt"

	"github.com/headgate-dev/headgate/internal/argo/destination"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// clusterOf is a destination.
type clusterOf = settings.Cluster

// Connect reports how the cluster of an Application is reached.
func (d dialectPort) Connect(_ context.Context, id engine.UnitID) (runner.Connection, error) {
	a := d.apps.get(id)
	if a == nil {
		return runner.Connection{}, fmt.Errorf("reading %s: it was deleted", id)
	}
	c, err := policy.Destination(a.now().Spec.Destination, d.settings.Now())
	if err != nil {
		return runner.Connection{}, err
	}
	config, err := destination.Config(c)
	if err != nil {
		return runner.Connection{}, err
	}
	text := fmt.Sprint(config.Host, config.Username, config.Password, config.BearerToken, config.Insecure, config.ServerName) +
		string(config.CAData) + string(config.CertData) + string(config.KeyData) + c.Connection.Proxy.Reveal()
	return runner.Connection{Config: config, Digest: digest(text), Cluster: clusterName(c)}, nil
}
