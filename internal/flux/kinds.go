package flux

import (
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sourceKind is a kind of object that declares sources.
type sourceKind struct {
	name     string
	resource schema.GroupVersionResource
	// failed is the reason of Flux for a fetch that failed and has no reason of its own.
	failed string
	// foreign is set when nothing is written to the objects: neither a status nor a finalizer.
	foreign bool
}

var gitRepositoryKinds = &sourceKind{name: sourcev1.GitRepositoryKind, resource: gitRepositories, failed: sourcev1.GitOperationFailedReason}

var (
	ociRepositoryKinds    = &sourceKind{name: sourcev1.OCIRepositoryKind, resource: ociRepositories, failed: sourcev1.OCIPullFailedReason}
	bucketKinds           = &sourceKind{name: sourcev1.BucketKind, resource: buckets, failed: sourcev1.BucketOperationFailedReason}
	helmRepositoryKinds   = &sourceKind{name: sourcev1.HelmRepositoryKind, resource: helmRepositories, failed: sourcev1.IndexationFailedReason}
	helmRegistryKinds     = &sourceKind{name: sourcev1.HelmRepositoryKind, resource: helmRepositories, foreign: true}
	helmChartKinds        = &sourceKind{name: sourcev1.HelmChartKind, resource: helmCharts, failed: reasonChartPull}
	externalArtifactKinds = &sourceKind{name: sourcev1.ExternalArtifactKind, resource: externalArtifacts, failed: sourcev1.ReadOperationFailedReason, foreign: true}
)

// servedSource is a kind of sources that is served, and how its objects are read.
type servedSource struct {
	*sourceKind
	read func(u *unstructured.Unstructured) (origin, error)
}

var servedSources = []servedSource{
	{gitRepositoryKinds, newGitRepository},
	{ociRepositoryKinds, newOCIRepository},
	{bucketKinds, newBucket},
	{helmRepositoryKinds, newHelmRepository},
	{helmChartKinds, newHelmChart},
	{externalArtifactKinds, newExternalArtifact},
}
