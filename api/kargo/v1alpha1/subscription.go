package v1alpha1

// RepoSubscription is a repository that is followed: exactly one of the types is set.
type RepoSubscription struct {
	// Git is a Git repository.
	Git *GitSubscription `json:"git,omitempty"`
	// Image is a repository of container images.
	Image *ImageSubscription `json:"image,omitempty"`
	// Chart is a Helm chart.
	Chart *ChartSubscription `json:"chart,omitempty"`
}

// CommitSelectionStrategy says which commit is the newest.
//
// +kubebuilder:validation:Enum=Lexical;NewestFromBranch;NewestTag;SemVer
type CommitSelectionStrategy string

// The ways to select a commit.
const (
	CommitLexical          CommitSelectionStrategy = "Lexical"
	CommitNewestFromBranch CommitSelectionStrategy = "NewestFromBranch"
	CommitNewestTag        CommitSelectionStrategy = "NewestTag"
	CommitSemVer           CommitSelectionStrategy = "SemVer"
)

// GitSubscription follows a Git repository.
type GitSubscription struct {
	// RepoURL of the repository.
	// +kubebuilder:validation:MinLength=1
	RepoURL string `json:"repoURL"`
	// CommitSelectionStrategy is NewestFromBranch by default.
	// +kubebuilder:default=NewestFromBranch
	CommitSelectionStrategy CommitSelectionStrategy `json:"commitSelectionStrategy,omitempty"`
	// Branch for NewestFromBranch; none is the default branch.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Branch string `json:"branch,omitempty"`
	// StrictSemvers demands all three numbers of a version, true by default.
	// +kubebuilder:default=true
	StrictSemvers *bool `json:"strictSemvers,omitempty"`
	// SemverConstraint limits the tags for SemVer.
	SemverConstraint string `json:"semverConstraint,omitempty"`
	// AllowTags is a regular expression for tags; Kargo 1.11 refuses it.
	AllowTags string `json:"allowTags,omitempty"`
	// AllowTagsRegexes are regular expressions, one of which a tag has to match.
	AllowTagsRegexes []string `json:"allowTagsRegexes,omitempty"`
	// IgnoreTags are tags to ignore; Kargo 1.11 refuses them.
	IgnoreTags []string `json:"ignoreTags,omitempty"`
	// IgnoreTagsRegexes are regular expressions for tags to ignore.
	IgnoreTagsRegexes []string `json:"ignoreTagsRegexes,omitempty"`
	// ExpressionFilter has to be true of a commit or tag.
	ExpressionFilter string `json:"expressionFilter,omitempty"`
	// InsecureSkipTLSVerify accepts any certificate.
	InsecureSkipTLSVerify bool `json:"insecureSkipTLSVerify,omitempty"`
	// IncludePaths are paths whose change makes Freight: paths, "glob:" or "regex:" patterns.
	IncludePaths []string `json:"includePaths,omitempty"`
	// ExcludePaths are paths whose change does not.
	ExcludePaths []string `json:"excludePaths,omitempty"`
	// DiscoveryLimit is how many commits a search keeps, 20 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=20
	DiscoveryLimit int64 `json:"discoveryLimit,omitempty"`
}

// ImageSelectionStrategy says which image is the newest.
//
// +kubebuilder:validation:Enum=Digest;Lexical;NewestBuild;SemVer
type ImageSelectionStrategy string

// The ways to select an image.
const (
	ImageDigest      ImageSelectionStrategy = "Digest"
	ImageLexical     ImageSelectionStrategy = "Lexical"
	ImageNewestBuild ImageSelectionStrategy = "NewestBuild"
	ImageSemVer      ImageSelectionStrategy = "SemVer"
)

// ImageSubscription follows a repository of container images.
type ImageSubscription struct {
	// RepoURL of the repository, without a tag.
	// +kubebuilder:validation:MinLength=1
	RepoURL string `json:"repoURL"`
	// ImageSelectionStrategy is SemVer by default.
	// +kubebuilder:default=SemVer
	ImageSelectionStrategy ImageSelectionStrategy `json:"imageSelectionStrategy,omitempty"`
	// StrictSemvers demands all three numbers of a version, true by default.
	// +kubebuilder:default=true
	StrictSemvers *bool `json:"strictSemvers,omitempty"`
	// Constraint is versions for SemVer, and the tag for Digest.
	Constraint string `json:"constraint,omitempty"`
	// SemverConstraint is the name of Constraint in Kargo before 1.7.
	SemverConstraint string `json:"semverConstraint,omitempty"`
	// GitRepoURL is where the source of the image is; Kargo 1.7 and later take it from annotations of the image.
	GitRepoURL string `json:"gitRepoURL,omitempty"`
	// AllowTags is a regular expression for tags; Kargo 1.11 refuses it.
	AllowTags string `json:"allowTags,omitempty"`
	// AllowTagsRegexes are regular expressions, one of which a tag has to match.
	AllowTagsRegexes []string `json:"allowTagsRegexes,omitempty"`
	// IgnoreTags are tags to ignore; Kargo 1.11 refuses them.
	IgnoreTags []string `json:"ignoreTags,omitempty"`
	// IgnoreTagsRegexes are regular expressions for tags to ignore.
	IgnoreTagsRegexes []string `json:"ignoreTagsRegexes,omitempty"`
	// Platform is "OS/ARCHITECTURE"; none is that of the controller.
	Platform string `json:"platform,omitempty"`
	// InsecureSkipTLSVerify accepts any certificate.
	InsecureSkipTLSVerify bool `json:"insecureSkipTLSVerify,omitempty"`
	// CacheByTag remembers what a tag names; only for tags that never move.
	CacheByTag bool `json:"cacheByTag,omitempty"`
	// DiscoveryLimit is how many images a search keeps, 20 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=20
	DiscoveryLimit int64 `json:"discoveryLimit,omitempty"`
}

// ChartSubscription follows a Helm chart.
type ChartSubscription struct {
	// RepoURL is the address of a repository, or of a chart in a registry with "oci://".
	// +kubebuilder:validation:MinLength=1
	RepoURL string `json:"repoURL"`
	// Name of the chart in the repository; none for a registry.
	Name string `json:"name,omitempty"`
	// SemverConstraint limits the versions.
	SemverConstraint string `json:"semverConstraint,omitempty"`
	// DiscoveryLimit is how many versions a search keeps, 20 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=20
	DiscoveryLimit int64 `json:"discoveryLimit,omitempty"`
}
