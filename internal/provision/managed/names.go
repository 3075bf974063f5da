package managed

// The annotations of managed resources. Those of the upstream have its names.
const (
	AnnotationExternalName = "crossplane.io/external-name"
	AnnotationPaused       = "crossplane.io/paused"
	AnnotationRequestedAt  = "crossplane.io/reconcile-requested-at"

	annotationPending   = "crossplane.io/external-create-pending"
	annotationSucceeded = "crossplane.io/external-create-succeeded"
	annotationFailed    = "crossplane.io/external-create-failed"
	annotationPoll      = "crossplane.io/poll-interval"
	// annotationAttempt has the number of the last creation and when it began, to the nanosecond: the times of the upstream are
	// in whole seconds, so that a creation may seem to have ended that began in the second of an earlier one.
	annotationAttempt = "provision.headgate.dev/attempt"
)

// Finalizer keeps a resource until what it stands for is gone; InUse keeps a provider configuration that is used.
const (
	Finalizer = "finalizer.managedresource.crossplane.io"
	InUse     = "in-use.crossplane.io"
)

// Conditions of managed resources.
const (
	ConditionSynced   = "Synced"
	ConditionReady    = "Ready"
	ConditionUpToDate = "UpToDate"
)

// Reasons of conditions.
const (
	ReasonSuccess     = "ReconcileSuccess"
	ReasonError       = "ReconcileError"
	ReasonPaused      = "ReconcilePaused"
	ReasonAvailable   = "Available"
	ReasonUnavailable = "Unavailable"
	ReasonCreating    = "Creating"
	ReasonDeleting    = "Deleting"
	// ReasonMatches and ReasonRestricted are those of UpToDate.
	ReasonMatches    = "ObserveMatched"
	ReasonRestricted = "UpdateRestricted"
	ReasonDiffers    = "UpdatePending"
)

// ConnectionType is the type of connection Secrets.
const ConnectionType = "connection.crossplane.io/v1alpha1"
