package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Artifact is a file or a directory.
type Artifact struct {
	// Name of the artifact.
	Name string `json:"name"`
	// Path in the main container.
	Path string `json:"path,omitempty"`
	// Mode of the file, for inputs.
	Mode *int32 `json:"mode,omitempty"`
	// RecurseMode sets the mode on everything in a directory.
	RecurseMode bool `json:"recurseMode,omitempty"`
	// From is the artifact of a step or task.
	From string `json:"from,omitempty"`
	// FromExpression selects the artifact of a step or task.
	FromExpression string `json:"fromExpression,omitempty"`
	// GlobalName has an output available everywhere, as workflow.outputs.artifacts.
	GlobalName string `json:"globalName,omitempty"`
	// Archive says how it is stored.
	Archive *ArchiveStrategy `json:"archive,omitempty"`
	// Optional artifacts need not exist.
	Optional bool `json:"optional,omitempty"`
	// SubPath within what is stored.
	SubPath string `json:"subPath,omitempty"`
	// Deleted is set once it was deleted from its store.
	Deleted bool `json:"deleted,omitempty"`

	ArtifactLocation `json:",inline"`
}

// ArtifactLocation is where an artifact is stored.
type ArtifactLocation struct {
	// Raw is content written in place.
	Raw *RawArtifact `json:"raw,omitempty"`
	// Git is a working copy.
	Git *GitArtifact `json:"git,omitempty"`
	// HTTP is a download.
	HTTP *HTTPArtifact `json:"http,omitempty"`
	// Local is content in the store of this engine, by its digest.
	Local *LocalArtifact `json:"local,omitempty"`

	LaterLocation `json:",inline"`
}

// LaterLocation are stores that nothing acts on yet.
type LaterLocation struct {
	// S3 is an object in a bucket.
	S3 *runtime.RawExtension `json:"s3,omitempty"`
	// GCS is an object in a bucket of Google.
	GCS *runtime.RawExtension `json:"gcs,omitempty"`
	// OSS is an object in a bucket of Alibaba.
	OSS *runtime.RawExtension `json:"oss,omitempty"`
	// Azure is a blob.
	Azure *runtime.RawExtension `json:"azure,omitempty"`
	// Artifactory is a file in an Artifactory.
	Artifactory *runtime.RawExtension `json:"artifactory,omitempty"`
	// HDFS is a file in Hadoop.
	HDFS *runtime.RawExtension `json:"hdfs,omitempty"`
	// Plugin is a store that a plugin knows.
	Plugin *runtime.RawExtension `json:"plugin,omitempty"`
	// ArchiveLogs has logs stored as artifacts.
	ArchiveLogs *bool `json:"archiveLogs,omitempty"`
	// ArtifactGC says when the artifact is deleted.
	ArtifactGC *runtime.RawExtension `json:"artifactGC,omitempty"`
}

// RawArtifact is content written in place.
type RawArtifact struct {
	// Data of the file.
	Data string `json:"data"`
}

// LocalArtifact is content in the store of this engine. It has no like in the upstream's API, where every output is in a bucket.
type LocalArtifact struct {
	// Digest of the content, such as sha256:...
	Digest string `json:"digest"`
	// Size of the content in bytes.
	Size int64 `json:"size,omitempty"`
}

// GitArtifact is a working copy.
type GitArtifact struct {
	// Repo is the URL.
	Repo string `json:"repo"`
	// Revision is a commit, tag or branch.
	Revision string `json:"revision,omitempty"`
	// Branch to clone.
	Branch string `json:"branch,omitempty"`
	// SingleBranch clones only the branch.
	SingleBranch bool `json:"singleBranch,omitempty"`
	// Depth is how many commits are fetched.
	Depth *uint64 `json:"depth,omitempty"`
	// Fetch are more references to fetch.
	Fetch []string `json:"fetch,omitempty"`
	// UsernameSecret is for HTTP.
	UsernameSecret *corev1.SecretKeySelector `json:"usernameSecret,omitempty"`
	// PasswordSecret is for HTTP.
	PasswordSecret *corev1.SecretKeySelector `json:"passwordSecret,omitempty"`
	// SSHPrivateKeySecret is for SSH.
	SSHPrivateKeySecret *corev1.SecretKeySelector `json:"sshPrivateKeySecret,omitempty"`
	// InsecureIgnoreHostKey accepts any host.
	InsecureIgnoreHostKey bool `json:"insecureIgnoreHostKey,omitempty"`
	// InsecureSkipTLS accepts any certificate.
	InsecureSkipTLS bool `json:"insecureSkipTLS,omitempty"`
	// DisableSubmodules leaves submodules out.
	DisableSubmodules bool `json:"disableSubmodules,omitempty"`
}

// HTTPArtifact is a download.
type HTTPArtifact struct {
	// URL of the file.
	URL string `json:"url"`
	// Headers of the request.
	Headers []HTTPArtifactHeader `json:"headers,omitempty"`
	// Auth are logins.
	Auth *HTTPAuth `json:"auth,omitempty"`
}

// HTTPArtifactHeader is a header of a request.
type HTTPArtifactHeader struct {
	// Name of the header.
	Name string `json:"name"`
	// Value of the header.
	Value string `json:"value"`
}

// HTTPAuth are logins for a download.
type HTTPAuth struct {
	// BasicAuth is a name and a password.
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`
	// ClientCert is not acted on yet.
	ClientCert *runtime.RawExtension `json:"clientCert,omitempty"`
	// OAuth2 is not acted on yet.
	OAuth2 *runtime.RawExtension `json:"oauth2,omitempty"`
}

// BasicAuth is a name and a password.
type BasicAuth struct {
	// UsernameSecret holds the name.
	UsernameSecret *corev1.SecretKeySelector `json:"usernameSecret,omitempty"`
	// PasswordSecret holds the password.
	PasswordSecret *corev1.SecretKeySelector `json:"passwordSecret,omitempty"`
}

// ArchiveStrategy says how an artifact is stored; a compressed archive by default.
type ArchiveStrategy struct {
	// Tar is a compressed archive.
	Tar *TarStrategy `json:"tar,omitempty"`
	// None stores the file as it is.
	None *NoneStrategy `json:"none,omitempty"`
	// Zip is an archive of that format.
	Zip *ZipStrategy `json:"zip,omitempty"`
}

// TarStrategy is a compressed archive.
type TarStrategy struct {
	// CompressionLevel as gzip takes it.
	CompressionLevel *int32 `json:"compressionLevel,omitempty"`
}

// NoneStrategy has no fields.
type NoneStrategy struct{}

// ZipStrategy has no fields.
type ZipStrategy struct{}
