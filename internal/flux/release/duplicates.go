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
	of    map[engine.UnitID]twin
}

// releaseName is a release of Helm as its storage knows it.
type releaseName struct{ cluster, storage, name string }

// twin is what a HelmRelease declares, and as whom it is made: no one is the engine itself.
type twin struct {
	releaseName

	user string
	// home is set when the storage is in the namespace of the HelmRelease.
	home bool
}

// excludes reports whether a HelmRelease keeps another one from the release that both declare. One that may not write the records of
// another namespace does not get in its way by naming them.
func (w twin) excludes(other twin) bool {
	switch {
	case w.user == other.user || w.home && other.home:
		return true
	case w.user == "" || other.user == "":
		return w.user == ""
	default:
		return w.home
	}
}

func newTwins() *twins {
	return &twins{named: map[releaseName]map[engine.UnitID]bool{}, of: map[engine.UnitID]twin{}}
}

// Put enters what a HelmRelease declares that is made as a user, and returns those for which that makes a difference. One that
// is suspended, or deleted, declares nothing.
func (t *twins) Put(hr *helmv2.HelmRelease, user string) []engine.UnitID {
	id := toolkit.ReleaseID(hr.Namespace, hr.Name)
	if hr.Spec.Suspend || hr.DeletionTimestamp != nil {
		return t.Drop(id)
	}
	w := twin{
		releaseName: releaseName{kustomize.Target(hr.Namespace, hr.Spec.KubeConfig, "").Cluster, hr.GetStorageNamespace(), releaseNameOf(hr)},
		user:        user, home: hr.GetStorageNamespace() == hr.Namespace,
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if was, known := t.of[id]; known && was == w {
		return nil
	}
	affected := t.leave(id)
	if t.named[w.releaseName] == nil {
		t.named[w.releaseName] = map[engine.UnitID]bool{}
	}
	affected = append(affected, slices.Collect(maps.Keys(t.named[w.releaseName]))...)
	t.named[w.releaseName][id], t.of[id] = true, w
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
	was, known := t.of[id]
	if !known {
		return nil
	}
	delete(t.of, id)
	delete(t.named[was.releaseName], id)
	if len(t.named[was.releaseName]) == 0 {
		delete(t.named, was.releaseName)
	}
	return slices.Collect(maps.Keys(t.named[was.releaseName]))
}

// Refusal says with which others a HelmRelease shares its release; it is empty when there are none that exclude it.
func (t *twins) Refusal(id engine.UnitID) engine.Invalid {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.of[id]
	var others []string
	for other := range t.named[w.releaseName] {
		if other != id && t.of[other].excludes(w) {
			others = append(others, other.String())
		}
	}
	if len(others) == 0 {
		return engine.Invalid{}
	}
	slices.Sort(others)
	return engine.Invalid{Reason: reasonReleaseConflict, Message: fmt.Sprintf(
		"release %q in storage namespace %q is also declared by %s; change spec.releaseName or spec.storageNamespace of one, or suspend or delete it",
		w.name, w.storage, strings.Join(others, " and by "))}
}

// reasonReleaseConflict is our reason for HelmReleases that name one release.
const reasonReleaseConflict = "ReleaseConflict"
