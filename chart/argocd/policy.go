package argocd

import "github.com/headgate-dev/headgate/api/argoproj/v1alpha1"

// Options of a sync, as SyncPolicy and the annotation of objects take them.
const (
	CreateNamespace          = "CreateNamespace=true"
	ServerSideApply          = "ServerSideApply=true"
	ApplyOutOfSyncOnly       = "ApplyOutOfSyncOnly=true"
	SkipDryRun               = "SkipDryRunOnMissingResource=true"
	RespectIgnoreDifferences = "RespectIgnoreDifferences=true"
	PruneLast                = "PruneLast=true"
	Replace                  = "Replace=true"
)

// Manual is a policy of syncs that people request.
func Manual(options ...string) *v1alpha1.SyncPolicy {
	return &v1alpha1.SyncPolicy{SyncOptions: options}
}

// Automated is a policy that syncs what changes in the source, deletes what left it, and reverts drift.
func Automated(options ...string) *v1alpha1.SyncPolicy { return AutomatedWith(true, true, options...) }

// AutomatedWith is a policy that syncs what changes in the source, and deletes and reverts if told to.
func AutomatedWith(prune, selfHeal bool, options ...string) *v1alpha1.SyncPolicy {
	policy := Manual(options...)
	policy.Automated = &v1alpha1.SyncPolicyAutomated{Prune: &prune, SelfHeal: &selfHeal}
	return policy
}

// Retry repeats a sync that failed up to limit times: after duration, then factor times longer each time, and at most after longest.
func Retry(limit int64, duration string, factor int64, longest string) *v1alpha1.RetryStrategy {
	return &v1alpha1.RetryStrategy{Limit: limit, Backoff: &v1alpha1.Backoff{Duration: duration, Factor: &factor, MaxDuration: longest}}
}
