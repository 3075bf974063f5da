// Package kustomize reads Kustomizations into units, gathers what their render needs beside the source, and words their status.
//
// It renders and applies nothing.
package kustomize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// Declare reads a Kustomization into a unit.
func Declare(t policies.Policy, ks *kustomizev1.Kustomization) engine.Unit {
	u := engine.Unit{
		ID: toolkit.KustomizationID(ks.Namespace, ks.Name), UID: string(ks.UID), Generation: ks.Generation,
		Requested: ks.Annotations[toolkit.RequestedAt], Suspended: ks.Spec.Suspend, Deleting: !ks.DeletionTimestamp.IsZero(),
		Source: SourceOf(ks), Target: TargetOf(t, ks),
		Interval: ks.Spec.Interval.Duration, RetryInterval: ks.GetRetryInterval(), Timeout: ks.GetTimeout(),
		Prune: ks.Spec.Prune, Force: ks.Spec.Force, Deletion: engine.DeletionPolicy(ks.GetDeletionPolicy()),
		Applied: ks.Status.LastAppliedRevision, Handled: ks.Status.LastHandledReconcileAt,
		DeletionHold: ks.Annotations[engine.DeletionHold], Confined: t.NoCrossNamespaceRefs,
	}
	if ks.Status.Inventory != nil {
		for _, e := range ks.Status.Inventory.Entries {
			u.Inventory = toolkit.AppendEntry(u.Inventory, e.ID, e.Version, u.Target.Cluster)
		}
	}
	for _, d := range ks.Spec.DependsOn {
		u.Dependencies = append(u.Dependencies, engine.Dependency{
			Unit: toolkit.KustomizationID(cmp.Or(d.Namespace, ks.Namespace), d.Name), Expr: d.ReadyExpr,
		})
	}
	extra, malformed := ParseDependsOn(ks.Annotations[engine.DependsOn], ks.Namespace)
	u.Dependencies = append(u.Dependencies, extra...)
	u.Reads = readsOf(t, ks)
	u.Health = healthOf(ks, u.Target.Cluster)
	var illegible error
	u.Ignore, illegible = ignoreOf(ks)
	u.Invalid = toolkit.FirstInvalid(
		engine.Invalid{Reason: engine.ReasonAccessDenied, Message: denied(t, ks)},
		engine.Invalid{Reason: engine.ReasonUnsupported, Message: unsupported(ks)},
		engine.Invalid{Reason: engine.ReasonInvalid, Message: toolkit.ErrorText(malformed)},
		engine.Invalid{Reason: engine.ReasonInvalid, Message: toolkit.ErrorText(illegible)},
	)
	return u
}

// TargetOf reports where the objects of a Kustomization are, and as whom they are written.
func TargetOf(t policies.Policy, ks *kustomizev1.Kustomization) engine.Target {
	account := ks.Spec.ServiceAccountName
	if root := ks.Namespace == toolkit.Namespace && ks.Name == toolkit.System; account == "" && !root {
		account = t.DefaultServiceAccount
	}
	return Target(ks.Namespace, ks.Spec.KubeConfig, account)
}

// Target is the cluster and the account that a kubeConfig and a service account of a namespace stand for.
func Target(namespace string, ref *meta.KubeConfigReference, account string) engine.Target {
	var target engine.Target
	switch {
	case ref == nil:
	case ref.SecretRef != nil:
		target.Cluster = "Secret/" + namespace + "/" + ref.SecretRef.Name + "/" + ref.SecretRef.Key
	case ref.ConfigMapRef != nil:
		target.Cluster = "ConfigMap/" + namespace + "/" + ref.ConfigMapRef.Name
	}
	if account != "" {
		target.User = "system:serviceaccount:" + namespace + ":" + account
	}
	return target
}

// denied names a reference that tenants may not have.
func denied(t policies.Policy, ks *kustomizev1.Kustomization) string {
	source := SourceOf(ks)
	if !t.NoCrossNamespaceRefs || source.Namespace == ks.Namespace {
		return ""
	}
	return fmt.Sprintf("spec.sourceRef: %s is in another namespace; references across namespaces are blocked on this cluster", source)
}

// SourceOf is the source that a Kustomization reads.
func SourceOf(ks *kustomizev1.Kustomization) engine.SourceID {
	ref := ks.Spec.SourceRef
	return toolkit.SourceID(ref.Kind, cmp.Or(ref.Namespace, ks.Namespace), ref.Name)
}

// treeKinds are the kinds of sources that hold files.
var treeKinds = []string{
	sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind, sourcev1.ExternalArtifactKind,
}

// unsupported names a field that this engine would have to ignore, which would do something else
// than what was declared.
func unsupported(ks *kustomizev1.Kustomization) string {
	switch {
	case !slices.Contains(treeKinds, ks.Spec.SourceRef.Kind):
		return fmt.Sprintf("spec.sourceRef.kind: sources of kind %q are not supported; use one of %s",
			ks.Spec.SourceRef.Kind, strings.Join(treeKinds, ", "))
	case ks.Spec.KubeConfig != nil && ks.Spec.KubeConfig.SecretRef == nil && ks.Spec.KubeConfig.ConfigMapRef == nil:
		return "spec.kubeConfig: name a Secret with secretRef, or a ConfigMap with configMapRef"
	case ks.Spec.Decryption != nil && ks.Spec.Decryption.ServiceAccountName != "":
		return "spec.decryption.serviceAccountName: workload identity is not supported; use spec.decryption.secretRef"
	default:
		return ""
	}
}

// readsOf are the ConfigMaps and Secrets that the render of a Kustomization reads.
func readsOf(t policies.Policy, ks *kustomizev1.Kustomization) []engine.ObjectID {
	var reads []engine.ObjectID
	if pb := ks.Spec.PostBuild; pb != nil {
		for _, from := range pb.SubstituteFrom {
			reads = append(reads, engine.ObjectID{Kind: from.Kind, Namespace: ks.Namespace, Name: from.Name})
		}
	}
	if d := ks.Spec.Decryption; d != nil && d.SecretRef != nil {
		reads = append(reads, engine.ObjectID{Kind: "Secret", Namespace: ks.Namespace, Name: d.SecretRef.Name})
	}
	if ks.Spec.Decryption != nil && t.AgeSecret != "" {
		reads = append(reads, engine.ObjectID{Kind: "Secret", Namespace: toolkit.Namespace, Name: t.AgeSecret})
	}
	if k := ks.Spec.KubeConfig; k != nil && (k.SecretRef != nil || k.ConfigMapRef != nil) {
		reads = append(reads, access.ClusterRef{Namespace: ks.Namespace, Generation: ks.Generation, Config: k}.HeldBy())
	}
	return reads
}

func healthOf(ks *kustomizev1.Kustomization, cluster string) engine.HealthPolicy {
	policy := engine.HealthPolicy{Wait: ks.Spec.Wait}
	for _, check := range ks.Spec.HealthChecks {
		gv, err := schema.ParseGroupVersion(cmp.Or(check.APIVersion, "apps/v1"))
		if err != nil {
			continue
		}
		policy.Checks = append(policy.Checks, engine.Entry{
			ID:      engine.ObjectID{Group: gv.Group, Kind: check.Kind, Namespace: check.Namespace, Name: check.Name, Cluster: cluster},
			Version: gv.Version,
		})
	}
	policy.Exprs = ExprsOf(ks.Spec.HealthCheckExprs)
	return policy
}

// ExprsOf reads the CEL expressions by which kinds are judged.
func ExprsOf(declared []kustomize.CustomHealthCheck) []engine.HealthExpr {
	var exprs []engine.HealthExpr
	for _, e := range declared {
		gv, err := schema.ParseGroupVersion(e.APIVersion)
		if err != nil {
			// It is no group either, and refused as that.
			gv.Group = e.APIVersion
		}
		exprs = append(exprs, engine.HealthExpr{
			Group: gv.Group, Kind: e.Kind, Current: e.Current, InProgress: e.InProgress, Failed: e.Failed,
		})
	}
	return exprs
}

// ParseDependsOn reads the annotation of that name.
func ParseDependsOn(text, namespace string) ([]engine.Dependency, error) {
	deps, err := engine.ParseDependsOn(text, namespace)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", engine.DependsOn, err)
	}
	return deps, nil
}
