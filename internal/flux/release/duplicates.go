package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// twins finds HelmReleases that declare one and the same release of Helm: each of them would undo what the
// other one did, for ever. It is safe for concurrent use.
type twins struct {
	mu    sync.Mutex
	named map[releaseName]map[engine.UnitID]bool
	names map[engine.UnitID]releaseName
}

// releaseName is a release of Helm as its storage knows it.
type releaseName struct{ cluster, storage, name string }

func newTwins() *twins {
	return &twins{named: map[releaseName]map[engine.UnitID]bool{}, names: map[engine.UnitID]releaseName{}}
}

// Put enters what a HelmRelease declares, and returns those for which that makes a difference. One that
// is suspended, or deleted, declares nothing.
func (t *twins) Put(hr *helmv2.HelmRelease) []engine.UnitID {
	id := toolkit.ReleaseID(hr.Namespace, hr.Name)
	if hr.Spec.Suspend || hr.DeletionTimestamp != nil {
		return t.Drop(id)
	}
	name := releaseName{kustomize.Target(hr.Namespace, hr.Spec.KubeConfig, "").Cluster, hr.GetStorageNamespace(), releaseNameOf(hr)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names[id] == name {
		return nil
	}
	affected := t.leave(id)
	if t.named[name] == nil {
		t.named[name] = map[engine.UnitID]bool{}
	}
	affected = append(affected, slices.Collect(maps.Keys(t.named[name]))...)
	t.named[name][id], t.names[id] = true, name
	return affected
}

// Drop forgets a HelmRelease, and returns those for which that makes a difference.
func (t *twins) Drop(id engine.UnitID) []engine.UnitID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leave(id)
}

// leave takes a HelmRelease out. The lock is held.
func (t *twins) leave(id engine.UnitID) []engine.UnitID {
	name, known := t.names[id]
	if !known {
		return nil
	}
	delete(t.names, id)
	delete(t.named[name], id)
	if len(t.named[name]) == 0 {
		delete(t.named, name)
	}
	return slices.Collect(maps.Keys(t.named[name]))
}

// Refusal says with which others a HelmRelease shares its release; it is empty when there are none.
func (t *twins) Refusal(id engine.UnitID) engine.Invalid {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := t.names[id]
	var others []string
	for other := range t.named[name] {
		if other != id {
			others = append(others, other.String())
		}
	}
	if len(others) == 0 {
		return engine.Invalid{}
	}
	slices.Sort(others)
	return engine.Invalid{Reason: reasonReleaseConflict, Message: fmt.Sprintf(
		"release %q in storage namespace %q is also declared by %s; change spec.releaseName or spec.storageNamespace of one, or suspend or delete it",
		name.name, name.storage, strings.Join(others, " and by "))}
}

// reasonReleaseConflict is our reason for HelmReleases that name one release.
const reasonReleaseConflict = "ReleaseConflict"
