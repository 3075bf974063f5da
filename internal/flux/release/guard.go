package release

import (
	"context"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/runner"
)

// releaseGuard is what the actions on a release ask about the objects of other units.
type releaseGuard struct {
	peers   runner.Peers
	cluster string
	// patient is set for actions that wait for what others are about to release.
	patient bool
	// needs are objects that others have to release first; deferred are those whose deletion waits for others.
	needs    []apply.Need
	deferred []engine.Entry
}

func newReleaseGuard(w runner.Work, hr *helmv2.HelmRelease) *releaseGuard {
	return &releaseGuard{peers: w.Peers, cluster: kustomize.Target(hr.Namespace, hr.Spec.KubeConfig, "").Cluster}
}

// here are objects as the units know them.
func (g *releaseGuard) here(objects []engine.Entry) []engine.Entry {
	out := make([]engine.Entry, len(objects))
	for i, e := range objects {
		e.ID.Cluster = g.cluster
		out[i] = e
	}
	return out
}

// Claim has the release claim what a revision is about to have.
func (g *releaseGuard) Claim(ctx context.Context, objects []engine.Entry) error {
	needs, err := g.peers.Claim(ctx, g.here(objects))
	if err != nil {
		return err
	}
	if g.needs = needs; g.patient && len(needs) > 0 {
		return helm.ErrClaimed
	}
	return nil
}

// Outdated keeps what others claim, and what they may be about to claim: that is deleted later.
func (g *releaseGuard) Outdated(ctx context.Context, objects []engine.Entry) (map[engine.ObjectID]bool, error) {
	entries := g.here(objects)
	deletions, err := g.peers.Deletions(ctx, entries)
	if err != nil {
		return nil, err
	}
	stay := g.theirs(deletions.Claimed)
	for i, e := range entries {
		if deletions.Waiting[e.ID] && !deletions.Claimed[e.ID] {
			g.deferred = append(g.deferred, e)
			stay[objects[i].ID] = true
		}
	}
	return stay, nil
}

// Uninstalled keeps what others claim.
func (g *releaseGuard) Uninstalled(ctx context.Context, objects []engine.Entry) (map[engine.ObjectID]bool, error) {
	claimed, err := g.peers.Claimed(ctx, g.here(objects))
	return g.theirs(claimed), err
}

// theirs are objects as Helm knows them.
func (g *releaseGuard) theirs(claimed map[engine.ObjectID]bool) map[engine.ObjectID]bool {
	out := make(map[engine.ObjectID]bool, len(claimed))
	for id := range claimed {
		id.Cluster = ""
		out[id] = true
	}
	return out
}

// waiting is what a release waits for that others are about to release.
func (g *releaseGuard) waiting() runner.Acted {
	out := runner.Acted{Needs: g.needs}
	for _, need := range g.needs {
		out.Waiting = append(out.Waiting, need.Wait)
	}
	return out
}
