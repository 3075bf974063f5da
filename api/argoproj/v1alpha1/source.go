package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ApplicationSource is where objects come from, and how they are built.
type ApplicationSource struct {
	// RepoURL is the address of a Git repository, a Helm repository or an OCI artifact.
	RepoURL string `json:"repoURL"`
	// Path is a directory in the repository.
	Path string `json:"path,omitempty"`
	// TargetRevision is a branch, a tag, a commit, or the version of a chart.
	TargetRevision string `json:"targetRevision,omitempty"`
	// Helm says how a chart is rendered.
	Helm *ApplicationSourceHelm `json:"helm,omitempty"`
	// Kustomize says how a kustomization is changed before it is built.
	Kustomize *ApplicationSourceKustomize `json:"kustomize,omitempty"`
	// Directory says which files of a directory are read.
	Directory *ApplicationSourceDirectory `json:"directory,omitempty"`
	// Plugin names a program that makes the objects.
	Plugin *ApplicationSourcePlugin `json:"plugin,omitempty"`
	// Chart is the name of a chart in a Helm repository.
	Chart string `json:"chart,omitempty"`
	// Ref is a name by which other sources take files of this one.
	Ref string `json:"ref,omitempty"`
	// Name is for people.
	Name string `json:"name,omitempty"`
	// TagPrefix limits a range of versions to tags that begin so.
	TagPrefix string `json:"tagPrefix,omitempty"`
}

// ApplicationSourceHelm says how a chart is rendered.
type ApplicationSourceHelm struct {
	// ValueFiles are files of values, the last one wins.
	ValueFiles []string `json:"valueFiles,omitempty"`
	// Parameters are single values.
	Parameters []HelmParameter `json:"parameters,omitempty"`
	// ReleaseName is the name of the Application by default.
	ReleaseName string `json:"releaseName,omitempty"`
	// Values are values as YAML text.
	Values string `json:"values,omitempty"`
	// FileParameters are single values whose text is in files.
	FileParameters []HelmFileParameter `json:"fileParameters,omitempty"`
	// Version of Helm; there is but one.
	Version string `json:"version,omitempty"`
	// PassCredentials gives the login to other hosts too.
	PassCredentials bool `json:"passCredentials,omitempty"`
	// IgnoreMissingValueFiles leaves out files of values that are not there.
	IgnoreMissingValueFiles bool `json:"ignoreMissingValueFiles,omitempty"`
	// SkipCrds leaves out the definitions in the chart's directory crds.
	SkipCrds bool `json:"skipCrds,omitempty"`
	// ValuesObject are values as an object; they come before the text.
	// +kubebuilder:pruning:PreserveUnknownFields
	ValuesObject *runtime.RawExtension `json:"valuesObject,omitempty"`
	// Namespace for the templates, that of the destination by default.
	Namespace string `json:"namespace,omitempty"`
	// KubeVersion for the templates, that of the cluster by default.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// APIVersions for the templates, as [group/]version/kind.
	APIVersions []string `json:"apiVersions,omitempty"`
	// SkipTests leaves out the tests of the chart.
	SkipTests bool `json:"skipTests,omitempty"`
	// SkipSchemaValidation does not hold the values against the chart's schema.
	SkipSchemaValidation bool `json:"skipSchemaValidation,omitempty"`
}

// HelmParameter is a single value.
type HelmParameter struct {
	// Name is the path of the value.
	Name string `json:"name,omitempty"`
	// Value is its text.
	Value string `json:"value,omitempty"`
	// ForceString keeps the text a text.
	ForceString bool `json:"forceString,omitempty"`
}

// HelmFileParameter is a single value whose text is in a file.
type HelmFileParameter struct {
	// Name is the path of the value.
	Name string `json:"name,omitempty"`
	// Path is the file.
	Path string `json:"path,omitempty"`
}

// ApplicationSourceKustomize says how a kustomization is changed before it is built.
type ApplicationSourceKustomize struct {
	// NamePrefix is put before names.
	NamePrefix string `json:"namePrefix,omitempty"`
	// NameSuffix is put after names.
	NameSuffix string `json:"nameSuffix,omitempty"`
	// Images are overrides as [OLD=]NEW[:TAG|@DIGEST].
	Images []string `json:"images,omitempty"`
	// CommonLabels are set on every object.
	CommonLabels map[string]string `json:"commonLabels,omitempty"`
	// Version is the name of another build of Kustomize.
	Version string `json:"version,omitempty"`
	// CommonAnnotations are set on every object.
	CommonAnnotations map[string]string `json:"commonAnnotations,omitempty"`
	// ForceCommonLabels replaces labels that are there.
	ForceCommonLabels bool `json:"forceCommonLabels,omitempty"`
	// ForceCommonAnnotations replaces annotations that are there.
	ForceCommonAnnotations bool `json:"forceCommonAnnotations,omitempty"`
	// Namespace is set on every object.
	Namespace string `json:"namespace,omitempty"`
	// CommonAnnotationsEnvsubst puts variables into the annotations.
	CommonAnnotationsEnvsubst bool `json:"commonAnnotationsEnvsubst,omitempty"`
	// Replicas are counts of replicas.
	Replicas []KustomizeReplica `json:"replicas,omitempty"`
	// Patches are patches.
	Patches []KustomizePatch `json:"patches,omitempty"`
	// Components are components.
	Components []string `json:"components,omitempty"`
	// IgnoreMissingComponents leaves out components that are not there.
	IgnoreMissingComponents bool `json:"ignoreMissingComponents,omitempty"`
	// LabelWithoutSelector keeps the labels out of selectors.
	LabelWithoutSelector bool `json:"labelWithoutSelector,omitempty"`
	// KubeVersion for charts in the kustomization.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// APIVersions for charts in the kustomization, as [group/]version/kind.
	APIVersions []string `json:"apiVersions,omitempty"`
	// LabelIncludeTemplates puts the labels into templates of pods.
	LabelIncludeTemplates bool `json:"labelIncludeTemplates,omitempty"`
}

// KustomizeReplica is the count of replicas of one object.
type KustomizeReplica struct {
	// Name of the object.
	Name string `json:"name"`
	// Count of replicas.
	Count intstr.IntOrString `json:"count"`
}

// KustomizePatch is a patch, in a file or in place.
type KustomizePatch struct {
	// Path is the file of the patch.
	Path string `json:"path,omitempty"`
	// Patch is the text of the patch.
	Patch string `json:"patch,omitempty"`
	// Target chooses the objects.
	Target *KustomizeSelector `json:"target,omitempty"`
	// Options of the patch.
	Options map[string]bool `json:"options,omitempty"`
}

// KustomizeSelector chooses objects.
type KustomizeSelector struct {
	// Group of the objects.
	Group string `json:"group,omitempty"`
	// Version of the objects.
	Version string `json:"version,omitempty"`
	// Kind of the objects.
	Kind string `json:"kind,omitempty"`
	// Name of the objects.
	Name string `json:"name,omitempty"`
	// Namespace of the objects.
	Namespace string `json:"namespace,omitempty"`
	// AnnotationSelector chooses by annotations.
	AnnotationSelector string `json:"annotationSelector,omitempty"`
	// LabelSelector chooses by labels.
	LabelSelector string `json:"labelSelector,omitempty"`
}

// ApplicationSourceDirectory says which files of a directory are read.
type ApplicationSourceDirectory struct {
	// Recurse reads the directories below too.
	Recurse bool `json:"recurse,omitempty"`
	// Jsonnet says how files of Jsonnet are evaluated.
	Jsonnet *ApplicationSourceJsonnet `json:"jsonnet,omitempty"`
	// Exclude is a pattern of files that are left out.
	Exclude string `json:"exclude,omitempty"`
	// Include is a pattern of files that are read.
	Include string `json:"include,omitempty"`
}

// ApplicationSourceJsonnet says how files of Jsonnet are evaluated.
type ApplicationSourceJsonnet struct {
	// ExtVars are external variables.
	ExtVars []JsonnetVar `json:"extVars,omitempty"`
	// TLAs are arguments of the top level.
	TLAs []JsonnetVar `json:"tlas,omitempty"`
	// Libs are directories of libraries.
	Libs []string `json:"libs,omitempty"`
}

// JsonnetVar is a variable for Jsonnet.
type JsonnetVar struct {
	// Name of the variable.
	Name string `json:"name"`
	// Value of the variable.
	Value string `json:"value"`
	// Code has the value evaluated.
	Code bool `json:"code,omitempty"`
}

// ApplicationSourcePlugin names a program that makes the objects.
type ApplicationSourcePlugin struct {
	// Name of the plugin; without one, the plugins are asked.
	Name string `json:"name,omitempty"`
	// Env are variables of the environment.
	Env []EnvEntry `json:"env,omitempty"`
	// Parameters of the plugin.
	Parameters []PluginParameter `json:"parameters,omitempty"`
}

// EnvEntry is a variable of the environment.
type EnvEntry struct {
	// Name of the variable.
	Name string `json:"name"`
	// Value of the variable.
	Value string `json:"value"`
}

// PluginParameter is a text, a map or an array for a plugin.
type PluginParameter struct {
	// Name of the parameter.
	Name string `json:"name,omitempty"`
	// String is the value of a text.
	String *string `json:"string,omitempty"`
	// Map is the value of a map.
	Map map[string]string `json:"map,omitempty"`
	// Array is the value of an array.
	Array []string `json:"array,omitempty"`
}
