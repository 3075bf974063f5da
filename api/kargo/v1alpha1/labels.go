package v1alpha1

// Labels and annotations of the group.
const (
	// ProjectLabel is "true" on a Namespace that a Project may take over.
	ProjectLabel = "kargo.akuity.io/project"
	// AliasLabel is the alias of a Freight.
	AliasLabel = "kargo.akuity.io/alias"
	// StageLabel, FreightLabel and ShardLabel name what an object belongs to.
	StageLabel   = "kargo.akuity.io/stage"
	FreightLabel = "kargo.akuity.io/freight"
	ShardLabel   = "kargo.akuity.io/shard"
	// CredentialsLabel says on a Secret what its credentials are for: one of the constants below.
	CredentialsLabel = "kargo.akuity.io/cred-type"

	// AuthorizedStageAnnotation is "PROJECT:STAGE" on an Application of Argo CD that the Stage may update.
	AuthorizedStageAnnotation = "kargo.akuity.io/authorized-stage"
	// RefreshAnnotation has an object reconciled when its value changes.
	RefreshAnnotation = "kargo.akuity.io/refresh"
	// ReverifyAnnotation has the current Freight of a Stage verified once more.
	ReverifyAnnotation = "kargo.akuity.io/reverify"
	// AbortAnnotation ends a running verification or Promotion.
	AbortAnnotation = "kargo.akuity.io/abort"
	// CreateActorAnnotation names who created an object.
	CreateActorAnnotation = "kargo.akuity.io/create-actor"
	// RollbackAnnotation is on a Promotion that goes back to an earlier Freight.
	RollbackAnnotation = "kargo.akuity.io/rollback"
	// DescriptionAnnotation is a line for people.
	DescriptionAnnotation = "kargo.akuity.io/description"
)

// Values of CredentialsLabel.
const (
	GitCredentials     = "git"
	ImageCredentials   = "image"
	HelmCredentials    = "helm"
	GenericCredentials = "generic"
)
