package sources

import (
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// SourceKind is a kind of object that declares sources.
type SourceKind struct {
	Name     string
	Resource schema.GroupVersionResource
	// failed is the reason of Flux for a fetch that failed and has no reason of its own.
	failed string
	// foreign is set when nothing is written to the objects: neither a status nor a finalizer.
	foreign bool
}

var gitRepositoryKinds = &SourceKind{Name: sourcev1.GitRepositoryKind, Resource: toolkit.GitRepositories, failed: sourcev1.GitOperationFailedReason}

// The other kinds of sources.
var (
	OCIRepositoryKinds    = &SourceKind{Name: sourcev1.OCIRepositoryKind, Resource: toolkit.OCIRepositories, failed: sourcev1.OCIPullFailedReason}
	bucketKinds           = &SourceKind{Name: sourcev1.BucketKind, Resource: toolkit.Buckets, failed: sourcev1.BucketOperationFailedReason}
	helmRepositoryKinds   = &SourceKind{Name: sourcev1.HelmRepositoryKind, Resource: toolkit.HelmRepositories, failed: sourcev1.IndexationFailedReason}
	helmRegistryKinds     = &SourceKind{Name: sourcev1.HelmRepositoryKind, Resource: toolkit.HelmRepositories, foreign: true}
	HelmChartKinds        = &SourceKind{Name: sourcev1.HelmChartKind, Resource: toolkit.HelmCharts, failed: reasonChartPull}
	externalArtifactKinds = &SourceKind{Name: sourcev1.ExternalArtifactKind, Resource: toolkit.ExternalArtifacts, failed: sourcev1.ReadOperationFailedReason, foreign: true}
)

// ServedSource is a kind of sources that is served, and how its objects are read.
type ServedSource struct {
	*SourceKind
	Read func(u *unstructured.Unstructured) (Origin, error)
}

// ServedSources are the kinds that are served, in the order in which they are watched.
var ServedSources = []ServedSource{
	{gitRepositoryKinds, newGitRepository},
	{OCIRepositoryKinds, NewOCIRepository},
	{bucketKinds, newBucket},
	{helmRepositoryKinds, newHelmRepository},
	{HelmChartKinds, newHelmChart},
	{externalArtifactKinds, newExternalArtifact},
}
