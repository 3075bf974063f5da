package release

import (
	"cmp"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/helm/plan"
)

// Declare reads a HelmRelease into a unit.
func Declare(t policies.Policy, hr *helmv2.HelmRelease) engine.Unit {
	account := cmp.Or(hr.Spec.ServiceAccountName, t.DefaultServiceAccount)
	u := engine.Unit{
		ID: toolkit.ReleaseID(hr.Namespace, hr.Name), UID: string(hr.UID), Generation: hr.Generation,
		FollowsDrift: hr.GetDriftDetection().MustDetectChanges(),
		Requested:    hr.Annotations[toolkit.RequestedAt], Suspended: hr.Spec.Suspend, Deleting: !hr.DeletionTimestamp.IsZero(),
		Source: SourceOf(hr), Target: kustomize.Target(hr.Namespace, hr.Spec.KubeConfig, account),
		Interval: hr.Spec.Interval.Duration, RetryInterval: hr.Spec.Interval.Duration, Timeout: hr.GetTimeout().Duration,
		Prune: true, Deletion: engine.DeletionDelete,
		Applied: hr.Status.LastAttemptedRevision, Handled: hr.Status.LastHandledReconcileAt,
		DeletionHold: hr.Annotations[engine.DeletionHold], Steered: engine.SteeredBy(hr.Annotations, allowReinstall, helmv2.ResetRequestAnnotation), Confined: t.NoCrossNamespaceRefs,
	}
	u.Target.Owner = toolkit.ReleaseOwner
	if hr.Status.Inventory != nil {
		for _, e := range hr.Status.Inventory.Entries {
			u.Inventory = toolkit.AppendEntry(u.Inventory, e.ID, e.Version, u.Target.Cluster)
		}
	}
	for _, d := range hr.Spec.DependsOn {
		u.Dependencies = append(u.Dependencies, engine.Dependency{
			Unit: toolkit.ReleaseID(cmp.Or(d.Namespace, hr.Namespace), d.Name), Expr: d.ReadyExpr,
		})
	}
	extra, malformed := kustomize.ParseDependsOn(hr.Annotations[engine.DependsOn], hr.Namespace)
	u.Dependencies = append(u.Dependencies, extra...)
	u.Reads = releaseReads(hr)
	u.Health = releaseHealth(hr)
	var illegible error
	u.Ignore, illegible = kustomize.IgnoredDrift(hr)
	u.Invalid = toolkit.FirstInvalid(
		engine.Invalid{Reason: engine.ReasonAccessDenied, Message: deniedChart(t, hr)},
		engine.Invalid{Reason: engine.ReasonUnsupported, Message: Unsupported(hr)},
		engine.Invalid{Reason: engine.ReasonInvalid, Message: toolkit.ErrorText(malformed)},
		engine.Invalid{Reason: engine.ReasonInvalid, Message: toolkit.ErrorText(illegible)},
	)
	return u
}

// SourceOf is where the chart of a release comes from.
func SourceOf(hr *helmv2.HelmRelease) engine.SourceID {
	if ref := hr.Spec.ChartRef; ref != nil {
		return toolkit.SourceID(ref.Kind, cmp.Or(ref.Namespace, hr.Namespace), ref.Name)
	}
	if hr.Spec.Chart == nil {
		return engine.SourceID{}
	}
	return toolkit.SourceID(sourcev1.HelmChartKind, hr.Spec.Chart.GetNamespace(hr.Namespace), hr.GetHelmChartName())
}

func deniedChart(t policies.Policy, hr *helmv2.HelmRelease) string {
	source := SourceOf(hr)
	if !t.NoCrossNamespaceRefs || source.Namespace == hr.Namespace {
		return ""
	}
	field := "spec.chart.spec.sourceRef"
	if hr.Spec.ChartRef != nil {
		field = "spec.chartRef"
	}
	return fmt.Sprintf("%s: %s is in another namespace; references across namespaces are blocked on this cluster", field, source)
}

// Unsupported names a field of a HelmRelease that this engine would have to ignore; it is empty when there is none.
func Unsupported(hr *helmv2.HelmRelease) string {
	switch {
	case hr.Spec.ChartRef == nil && hr.Spec.Chart == nil:
		return "spec.chart or spec.chartRef is required"
	case hr.Spec.WaitStrategy != nil && hr.Spec.WaitStrategy.Name == helmv2.WaitStrategyLegacy:
		return "spec.waitStrategy: \"legacy\" is not supported; remove the field"
	default:
		return ""
	}
}

// releaseNameOf is the name of a release: one that is too long for Helm is cut.
func releaseNameOf(hr *helmv2.HelmRelease) string { return helm.ReleaseName(hr.GetReleaseName()) }

// releaseReads are the ConfigMaps and Secrets that the values of a release come from.
func releaseReads(hr *helmv2.HelmRelease) []engine.ObjectID {
	var reads []engine.ObjectID
	for _, from := range hr.Spec.ValuesFrom {
		reads = append(reads, engine.ObjectID{Kind: from.Kind, Namespace: hr.Namespace, Name: from.Name})
	}
	if k := hr.Spec.KubeConfig; k != nil && (k.SecretRef != nil || k.ConfigMapRef != nil) {
		reads = append(reads, access.ClusterRef{Namespace: hr.Namespace, Generation: hr.Generation, Config: k}.HeldBy())
	}
	return reads
}

// releaseHealth is how the objects of a release are judged. Whether they are waited for depends on the
// action, see waits.
func releaseHealth(hr *helmv2.HelmRelease) engine.HealthPolicy {
	exprs := kustomize.ExprsOf(hr.Spec.HealthCheckExprs)
	withoutJobs := hr.GetUpgrade().DisableWaitForJobs
	latest := hr.Status.History.Latest()
	if latest == nil || latest.Action == helmv2.ReleaseActionInstall && hr.Status.LastAttemptedGeneration == hr.Generation {
		withoutJobs = hr.GetInstall().DisableWaitForJobs
	}
	if withoutJobs {
		exprs = append(exprs, engine.HealthExpr{Group: "batch", Kind: "Job", Current: "true"})
	}
	return engine.HealthPolicy{Wait: true, Once: true, Exprs: exprs}
}

// allowReinstall is the annotation by which a change is allowed that uninstalls a release and installs
// it again; its value is the generation that does so.
const allowReinstall = "headgate.dev/allow-reinstall"

// declaredRelease is what a HelmRelease wants, in the words of the plan.
func declaredRelease(hr *helmv2.HelmRelease, p *Prepared) plan.Declared {
	test := hr.GetTest()
	return plan.Declared{
		Name: releaseNameOf(hr), Namespace: hr.GetReleaseNamespace(), StorageNamespace: hr.GetStorageNamespace(),
		ChartName: p.chart.Name(), ChartVersion: p.chart.Version(), ConfigDigest: p.values.Digest(), OCIDigest: p.ociDigest,
		PostRenderDigest: postRenderDigest(hr), Generation: hr.Generation,
		Install: installRemediation(hr, test.IgnoreFailures), Upgrade: upgradeRemediation(hr, test.IgnoreFailures),
		Test: test.Enable, Drift: plan.DriftMode(hr.GetDriftDetection().GetMode()),
		ChartNameInPlace: hr.GetUpgrade().GetChartNameChangeStrategy() == helmv2.ChartNameChangeStrategyInPlaceUpdate,
		AllowReinstall:   hr.Annotations[allowReinstall] == fmt.Sprint(hr.Generation),
		HowToReset:       "to try again, change it, or annotate it with " + toolkit.RequestedAt + " and " + helmv2.ResetRequestAnnotation + " of the same value",
		HowToAllow:       fmt.Sprintf("to allow that, annotate it with %s: %q", allowReinstall, fmt.Sprint(hr.Generation)),
	}
}

func installRemediation(hr *helmv2.HelmRelease, ignoreTests bool) plan.Remediation {
	in := hr.GetInstall()
	out := plan.Remediation{Strategy: plan.ByUninstall, IgnoreTests: ignoreTests}
	if r := in.Remediation; r != nil {
		out.Retries, out.RemediateLast = r.GetRetries(), r.MustRemediateLastFailure()
		out.IgnoreTests = r.MustIgnoreTestFailures(ignoreTests)
	}
	if retry := in.GetRetry(false); retry != nil {
		out.RetryOnFailure, out.RetryInterval = true, retry.GetRetryInterval()
	}
	return out
}

func upgradeRemediation(hr *helmv2.HelmRelease, ignoreTests bool) plan.Remediation {
	up := hr.GetUpgrade()
	out := plan.Remediation{Strategy: plan.ByRollback, IgnoreTests: ignoreTests}
	if r := up.Remediation; r != nil {
		out.Retries, out.RemediateLast = r.GetRetries(), r.MustRemediateLastFailure()
		out.IgnoreTests = r.MustIgnoreTestFailures(ignoreTests)
		out.Strategy = plan.Strategy(r.GetStrategy())
	}
	if retry := up.GetRetry(false); retry != nil {
		out.RetryOnFailure, out.RetryInterval = true, retry.GetRetryInterval()
	}
	return out
}

// commonOptions are what an install and an upgrade of a release share.
func commonOptions(hr *helmv2.HelmRelease, p *Prepared) helm.Common {
	return helm.Common{
		Name: releaseNameOf(hr), Namespace: hr.GetReleaseNamespace(), Chart: p.chart, Values: p.values,
		PostRender: postRenderOf(hr, p.renderer),
	}
}

// releaseLabels are on every object of a release.
func releaseLabels(hr *helmv2.HelmRelease) map[string]string {
	return map[string]string{toolkit.ReleasePrefix + "name": hr.Name, toolkit.ReleasePrefix + "namespace": hr.Namespace}
}

func postRenderOf(hr *helmv2.HelmRelease, renderer Patcher) helm.PostRender {
	out := helm.PostRender{
		Labels:   releaseLabels(hr),
		Strategy: helm.PostRenderStrategy(hr.GetPostRenderStrategy()),
	}
	for _, step := range hr.Spec.PostRenderers {
		if k := step.Kustomize; k != nil {
			patches, images := kustomize.PatchesOf(k.Patches), kustomize.ImagesOf(k.Images)
			out.Steps = append(out.Steps, func(manifests []byte) ([]byte, error) { return renderer.Patch(manifests, patches, images) })
		}
	}
	if m := hr.Spec.CommonMetadata; m != nil {
		for k, v := range m.Labels {
			if _, ours := out.Labels[k]; !ours {
				out.Labels[k] = v
			}
		}
		out.Annotations = m.Annotations
	}
	return out
}

// InstallOptions are how the Helm SDK installs a release.
func InstallOptions(hr *helmv2.HelmRelease, p *Prepared) helm.InstallOptions {
	in := hr.GetInstall()
	o := helm.InstallOptions{Common: commonOptions(hr, p), Replace: in.Replace, CreateNamespace: in.CreateNamespace}
	o.Timeout = in.GetTimeout(hr.GetTimeout()).Duration
	o.DisableHooks, o.DisableOpenAPIValidation = in.DisableHooks, in.DisableOpenAPIValidation
	o.DisableSchemaValidation, o.DisableTakeOwnership = in.DisableSchemaValidation, in.DisableTakeOwnership
	o.CRDs = helm.CRDPolicy(in.CRDs)
	if in.SkipCRDs {
		o.CRDs = helm.SkipCRDs
	}
	if in.ServerSideApply != nil && !*in.ServerSideApply {
		o.ServerSideApply = helm.Disabled
	}
	return o
}

// UpgradeOptions are how the Helm SDK upgrades a release.
func UpgradeOptions(hr *helmv2.HelmRelease, p *Prepared) helm.UpgradeOptions {
	up := hr.GetUpgrade()
	o := helm.UpgradeOptions{
		Common: commonOptions(hr, p), Force: up.Force, PreserveValues: up.PreserveValues, CleanupOnFail: up.CleanupOnFail,
		MaxHistory: hr.GetMaxHistory(),
	}
	o.Timeout = up.GetTimeout(hr.GetTimeout()).Duration
	o.DisableHooks, o.DisableOpenAPIValidation = up.DisableHooks, up.DisableOpenAPIValidation
	o.DisableSchemaValidation, o.DisableTakeOwnership = up.DisableSchemaValidation, up.DisableTakeOwnership
	o.CRDs, o.ServerSideApply = helm.CRDPolicy(up.CRDs), helm.ServerSideApply(up.ServerSideApply)
	return o
}

func rollbackOptions(hr *helmv2.HelmRelease, version int) helm.RollbackOptions {
	back := hr.GetRollback()
	return helm.RollbackOptions{
		Name: releaseNameOf(hr), Namespace: hr.GetReleaseNamespace(), Version: version,
		Timeout: back.GetTimeout(hr.GetTimeout()).Duration, DisableHooks: back.DisableHooks, Force: back.Force,
		CleanupOnFail: back.CleanupOnFail, MaxHistory: hr.GetMaxHistory(), ServerSideApply: helm.ServerSideApply(back.ServerSideApply),
	}
}

func uninstallOptions(hr *helmv2.HelmRelease, name, namespace string) helm.UninstallOptions {
	un := hr.GetUninstall()
	return helm.UninstallOptions{
		Name: name, Namespace: namespace, Timeout: un.GetTimeout(hr.GetTimeout()).Duration,
		DisableHooks: un.DisableHooks, KeepHistory: un.KeepHistory, DeletionPropagation: un.GetDeletionPropagation(),
		Wait: !un.GetDisableWait(),
	}
}

func testOptions(hr *helmv2.HelmRelease) helm.TestOptions {
	test := hr.GetTest()
	o := helm.TestOptions{Name: releaseNameOf(hr), Namespace: hr.GetReleaseNamespace(), Timeout: test.GetTimeout(hr.GetTimeout()).Duration}
	for _, f := range test.GetFilters() {
		o.Filters = append(o.Filters, helm.TestFilter{Name: f.Name, Exclude: f.Exclude})
	}
	return o
}
