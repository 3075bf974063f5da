package v1alpha1

// The annotations of Applications and ApplicationSets.
const (
	// RefreshAnnotation asks for a comparison: RefreshNormal, or RefreshHard without anything that was kept.
	RefreshAnnotation = "argocd.argoproj.io/refresh"
	RefreshNormal     = "normal"
	RefreshHard       = "hard"
	// HydrateAnnotation asks for a hydration.
	HydrateAnnotation = "argocd.argoproj.io/hydrate"
	// ManifestPathsAnnotation are paths, with semicolons between them, outside which a change is nothing.
	ManifestPathsAnnotation = "argocd.argoproj.io/manifest-generate-paths"
	// SkipReconcileAnnotation is "true" on what is not to be touched.
	SkipReconcileAnnotation = "argocd.argoproj.io/skip-reconcile"
	// DeletionApprovedAnnotation is the time at which a person agreed to a deletion.
	DeletionApprovedAnnotation = "argocd.argoproj.io/deletion-approved"
	// MigrationManagerAnnotation is the field manager from which fields are taken over.
	MigrationManagerAnnotation = "argocd.argoproj.io/client-side-apply-migration-manager"
	// ApplicationSetRefreshAnnotation is "true" to have the generators of an ApplicationSet asked.
	ApplicationSetRefreshAnnotation = "argocd.argoproj.io/application-set-refresh"
)

// The annotations of the objects of an Application.
const (
	TrackingAnnotation            = "argocd.argoproj.io/tracking-id"
	InstallationAnnotation        = "argocd.argoproj.io/installation-id"
	SyncWaveAnnotation            = "argocd.argoproj.io/sync-wave"
	SyncOptionsAnnotation         = "argocd.argoproj.io/sync-options"
	CompareOptionsAnnotation      = "argocd.argoproj.io/compare-options"
	HookAnnotation                = "argocd.argoproj.io/hook"
	HookDeletePolicyAnnotation    = "argocd.argoproj.io/hook-delete-policy"
	IgnoreHealthAnnotation        = "argocd.argoproj.io/ignore-healthcheck"
	IgnoreUpdatesAnnotation       = "argocd.argoproj.io/ignore-resource-updates"
	LegacyApplicationNameLabelKey = "applications.argoproj.io/app-name"
)

// The finalizers. The first three are for deletions of an Application with its objects.
const (
	ResourcesFinalizer           = "resources-finalizer.argocd.argoproj.io"
	ResourcesFinalizerForeground = "resources-finalizer.argocd.argoproj.io/foreground"
	ResourcesFinalizerBackground = "resources-finalizer.argocd.argoproj.io/background"
	PreDeleteFinalizer           = "pre-delete-finalizer.argocd.argoproj.io"
	PostDeleteFinalizer          = "post-delete-finalizer.argocd.argoproj.io"
	// HookFinalizer is on objects that are hooks, so that their end is seen.
	HookFinalizer = "argocd.argoproj.io/hook-finalizer"
)
