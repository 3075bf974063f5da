package boot

import (
	"context"
	"path/filepath"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/planes"
	"github.com/headgate-dev/headgate/internal/virtual"
)

// planesDir is the directory of further control planes, below that of the main one.
func planesDir(cluster string) string { return filepath.Join(cluster, "planes") }

// startPlanes prepares further control planes beside an embedded one, for VirtualClusters. It starts none: their users do.
func (s *system) startPlanes(ctx context.Context) error {
	if s.plane == nil {
		return nil
	}
	s.planes = planes.NewPool(ctx, planes.Config{
		Dir: planesDir(s.state), Ephemeral: s.options.ephemeral, Start: lightPlane(s.options.ephemeral, s.options.serving.egress.Served, s.note),
		Notify: func(text string) { s.say.Info("cluster", text) },
	})
	for _, d := range s.options.Catalogue {
		switch d := d.(type) {
		case *virtual.Dialect:
			d.Backing, d.ArgoNamespace = s.planes, s.options.serving.argoNamespace
		case *argo.Dialect:
			d.VirtualClusters = true
		}
	}
	return nil
}

func (s *system) note(text string) { s.say.Info("note", text) }

// lightPlane starts a control plane that takes little beside the main one. It is stopped when no one uses it, so that also
// an ephemeral one keeps its state: its directory goes with the main one's.
func lightPlane(ephemeral bool, served *egress.Served, notify func(string)) planes.Start {
	return func(ctx context.Context, name, dir string) (planes.Running, error) {
		plane, err := controlplane.Start(ctx, controlplane.Config{
			Dir: dir, Ephemeral: ephemeral, Keep: true, Light: true,
			Notify: func(text string) { notify("cluster " + name + ": " + text) },
		})
		if err != nil {
			return nil, err
		}
		served.Add(plane.RESTConfig().Host)
		return plane, nil
	}
}
