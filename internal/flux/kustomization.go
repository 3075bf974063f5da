package flux

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
	"github.com/headgate-dev/headgate/internal/render"
)

// Policy is what holds for every Kustomization of a cluster.
type Policy struct {
	// DefaultServiceAccount is the account of Kustomizations that name none, in their namespace. The
	// root is the operator's own and has none by default.
	DefaultServiceAccount string
	// NoCrossNamespaceRefs refuses sources of other namespaces.
	NoCrossNamespaceRefs bool
	// NoRemoteBases refuses kustomizations that refer to something outside their source.
	NoRemoteBases bool
	// AgeSecret, when not empty, is a Secret in the namespace of the root whose keys serve every
	// Kustomization that decrypts, beside those of its own Secret.
	AgeSecret string
	// LaxSubstitution makes a variable empty that is not defined and has no default.
	LaxSubstitution bool
	// content, when set, has stand-ins made of what a unit cannot read.
	content *standInContent
}

// standInContent has stand-ins made of what units cannot read.
type standInContent struct {
	// leaveOut returns what has a unit do without what is not in its source, nil when nothing does.
	leaveOut func(engine.UnitID) func(what, entry string)
	// marks returns what makes stand-ins of the values that a unit cannot decrypt, nil when nothing does.
	marks func(engine.UnitID) func(key string) string
	// variables stand for those that nobody defines; nil leaves that an error.
	variables variables
}

// variables give what stands for the variables that a unit needs and nobody defines, nil when nothing does.
type variables interface {
	lacking(engine.UnitID) render.Lacking
}

// declare reads a Kustomization into a unit.
func (t Policy) declare(ks *kustomizev1.Kustomization) engine.Unit {
	u := engine.Unit{
		ID: unitID(ks.Namespace, ks.Name), UID: string(ks.UID), Generation: ks.Generation,
		Requested: ks.Annotations[requestedAt], Suspended: ks.Spec.Suspend, Deleting: !ks.DeletionTimestamp.IsZero(),
		Source: sourceOf(ks), Target: t.targetOf(ks),
		Interval: ks.Spec.Interval.Duration, RetryInterval: ks.GetRetryInterval(), Timeout: ks.GetTimeout(),
		Prune: ks.Spec.Prune, Force: ks.Spec.Force, Deletion: engine.DeletionPolicy(ks.GetDeletionPolicy()),
		Applied: ks.Status.LastAppliedRevision, Handled: ks.Status.LastHandledReconcileAt,
	}
	if ks.Status.Inventory != nil {
		for _, e := range ks.Status.Inventory.Entries {
			u.Inventory = appendEntry(u.Inventory, e.ID, e.Version, u.Target.Cluster)
		}
	}
	for _, d := range ks.Spec.DependsOn {
		u.Dependencies = append(u.Dependencies, engine.Dependency{
			Unit: unitID(cmp.Or(d.Namespace, ks.Namespace), d.Name), Expr: d.ReadyExpr,
		})
	}
	extra, malformed := parseDependsOn(ks.Annotations[dependsOn], ks.Namespace)
	u.Dependencies = append(u.Dependencies, extra...)
	u.Reads = t.readsOf(ks)
	u.Health = healthOf(ks, u.Target.Cluster)
	var illegible error
	u.Ignore, illegible = ignoreOf(ks)
	u.Invalid = firstOf(
		engine.Invalid{Reason: engine.ReasonAccessDenied, Message: t.denied(ks)},
		engine.Invalid{Reason: engine.ReasonUnsupported, Message: unsupported(ks)},
		engine.Invalid{Reason: engine.ReasonInvalid, Message: errorText(malformed)},
		engine.Invalid{Reason: engine.ReasonInvalid, Message: errorText(illegible)},
	)
	return u
}

// appendEntry adds a line of an inventory. An invalid one names nothing that could be read
// or pruned.
func appendEntry(entries []engine.Entry, text, version, cluster string) []engine.Entry {
	id, err := engine.DecodeID(text)
	if err != nil {
		return entries
	}
	return append(entries, engine.Entry{ID: id.In(cluster), Version: version})
}

// firstOf returns the first of several findings that there is.
func firstOf(found ...engine.Invalid) engine.Invalid {
	for _, one := range found {
		if one.Message != "" {
			return one
		}
	}
	return engine.Invalid{}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// targetOf tells where the objects of a Kustomization are, and as whom they are written.
func (t Policy) targetOf(ks *kustomizev1.Kustomization) engine.Target {
	account := ks.Spec.ServiceAccountName
	if root := ks.Namespace == Namespace && ks.Name == System; account == "" && !root {
		account = t.DefaultServiceAccount
	}
	return target(ks.Namespace, ks.Spec.KubeConfig, account)
}

func target(namespace string, ref *meta.KubeConfigReference, account string) engine.Target {
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
func (t Policy) denied(ks *kustomizev1.Kustomization) string {
	source := sourceOf(ks)
	if !t.NoCrossNamespaceRefs || source.Namespace == ks.Namespace {
		return ""
	}
	return fmt.Sprintf("spec.sourceRef: %s is in another namespace; references across namespaces are blocked on this cluster", source)
}

func sourceOf(ks *kustomizev1.Kustomization) engine.SourceID {
	ref := ks.Spec.SourceRef
	return sourceID(ref.Kind, cmp.Or(ref.Namespace, ks.Namespace), ref.Name)
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
func (t Policy) readsOf(ks *kustomizev1.Kustomization) []engine.ObjectID {
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
		reads = append(reads, engine.ObjectID{Kind: "Secret", Namespace: Namespace, Name: t.AgeSecret})
	}
	if k := ks.Spec.KubeConfig; k != nil && (k.SecretRef != nil || k.ConfigMapRef != nil) {
		reads = append(reads, clusterRef{ks.Namespace, ks.Generation, k}.heldBy())
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
	policy.Exprs = exprsOf(ks.Spec.HealthCheckExprs)
	return policy
}

func exprsOf(declared []kustomize.CustomHealthCheck) []engine.HealthExpr {
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

// parseDependsOn reads the annotation of that name.
func parseDependsOn(text, namespace string) ([]engine.Dependency, error) {
	deps, err := engine.ParseDependsOn(text, namespace)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", dependsOn, err)
	}
	return deps, nil
}
