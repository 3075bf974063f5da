package argo

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
)

// retryInterval is when a unit is tried again whose failure says nothing of when.
const retryInterval = 3 * time.Minute

// unitOf is what an Application declares, in the engine's terms. The caller holds the lock.
func (e *Engine) unitOf(a *app, s settings.Settings) engine.Unit {
	obj := a.obj
	version, _ := strconv.ParseUint(obj.ResourceVersion, 10, 64)
	u := engine.Unit{
		ID: a.id, UID: string(obj.UID), Generation: a.generation, Version: version, Requested: a.requested,
		Suspended: obj.Annotations[v1alpha1.SkipReconcileAnnotation] == "true",
		Deleting:  obj.DeletionTimestamp != nil, Observed: true,
		Target: e.targetOf(a, s), Source: a.source(), Interval: s.Reconciliation.Hard, RetryInterval: retryInterval, Timeout: retryInterval,
		Prune: true, Deletion: deletionOf(obj, a.cluster), Health: engine.HealthPolicy{Wait: true, Patient: true},
		Inventory: e.inventoryOf(a), Applied: appliedOf(obj), Handled: a.requested,
		LetGo:        "remove the finalizer " + v1alpha1.ResourcesFinalizer,
		DeletionHold: obj.Annotations[engine.DeletionHold], Project: obj.Spec.Project,
	}
	deps, err := engine.ParseDependsOn(obj.Annotations[engine.DependsOn], obj.Namespace)
	if err != nil {
		u.Invalid = engine.Invalid{Reason: v1alpha1.ApplicationConditionInvalidSpecError, Message: "annotation " + engine.DependsOn + ": " + err.Error()}
	}
	u.Dependencies = deps
	if len(a.invalid) > 0 {
		u.Invalid = engine.Invalid{Reason: v1alpha1.ApplicationConditionInvalidSpecError, Message: messages(a.invalid)}
	}
	return u
}

func messages(conditions []v1alpha1.ApplicationCondition) string {
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = c.Message
	}
	return strings.Join(texts, "; ")
}

// generationOf stands for metadata.generation, which moves with each status where that is no subresource: it is made of
// what a person declares. A requested sync that brings its own manifests declares these as long as it lasts.
func generationOf(obj *v1alpha1.Application) int64 {
	declared := []any{obj.Spec, obj.Annotations[AnnotationPin], obj.Annotations[policy.Decryption]}
	if sync := operationOf(obj); sync != nil && len(sync.Manifests) > 0 {
		declared = append(declared, sync.Manifests)
	}
	text, err := json.Marshal(declared)
	if err != nil {
		return obj.Generation
	}
	sum := sha256.Sum256(text)
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// targetOf is where the objects of an Application are, and as whom they are written there.
func (e *Engine) targetOf(a *app, s settings.Settings) engine.Target {
	t := engine.Target{Owner: owner, Cluster: clusterName(a.cluster)}
	if a.project != nil {
		user, err := a.project.Account(a.obj, a.cluster, s.Impersonation)
		if err != nil && len(a.invalid) == 0 {
			a.invalid = []v1alpha1.ApplicationCondition{{Type: v1alpha1.ApplicationConditionInvalidSpecError, Message: err.Error()}}
		}
		t.User = user
	}
	return t
}

// unknownCluster is the name of the cluster of an Application with an unknown destination: it is never the host.
const unknownCluster = "unknown destination"

// clusterName is how targets name a destination: the cluster of the installation has no name.
func clusterName(c clusterOf) string {
	if c.Server == settings.InClusterServer {
		return ""
	}
	return cmp.Or(c.Server, unknownCluster)
}

// deletionOf says whether anything is to be done before an Application goes: objects that go with it, hooks that run. What is
// in a cluster that is no longer known stays, as with the upstream.
func deletionOf(obj *v1alpha1.Application, c clusterOf) engine.DeletionPolicy {
	if c.Server == "" {
		return engine.DeletionOrphan
	}
	for _, f := range obj.Finalizers {
		if ours(f) {
			return engine.DeletionDelete
		}
	}
	return engine.DeletionOrphan
}

// inventoryOf is what the status says that the Application holds.
func (e *Engine) inventoryOf(a *app) []engine.Entry {
	var entries []engine.Entry
	cluster := clusterName(a.cluster)
	for _, r := range a.obj.Status.Resources {
		if r.Hook {
			continue
		}
		id := engine.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Cluster: cluster}
		entries = append(entries, engine.Entry{ID: id, Version: r.Version})
	}
	return entries
}

func appliedOf(obj *v1alpha1.Application) string {
	if obj.Status.Sync.Status != v1alpha1.SyncStatusCodeSynced {
		return ""
	}
	if len(obj.Status.Sync.Revisions) > 0 {
		return strings.Join(obj.Status.Sync.Revisions, ",")
	}
	return obj.Status.Sync.Revision
}
