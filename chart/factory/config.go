package factory

import (
	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// Config is what there is to deploy.
type Config struct {
	// Environments by their names: dev, staging, production.
	Environments map[string]Environment `json:"environments,omitempty"`
	// ImagesFile has images of environments, in JSON or YAML: it is what promotions write. See kargo.GitPipeline.
	ImagesFile string `json:"imagesFile,omitempty"`
	// Destination of applications that have none, and whose environment has none; the cluster of Argo CD by default.
	Destination Destination `json:"destination,omitzero"`
	// Source is where the packages are; next to their Application by default, as idpbuilder has it.
	Source Source `json:"source,omitzero"`
	// ArgoCD is what the Applications of all have in common. Labels, annotations and the rest of an application win.
	ArgoCD ArgoCD `json:"argocd,omitzero"`
	// Applications in any order.
	Applications []Application `json:"applications"`

	// origin is where the parts of a loaded configuration are.
	origin origin
}

// Application is one application: a chart with its props, and how it is deployed.
type Application struct {
	// Name of the package and of the Application. With Environments there is one for each: NAME-ENVIRONMENT.
	Name string `json:"name"`
	// Namespace that its objects go to.
	Namespace string `json:"namespace"`
	// Chart that makes its objects.
	Chart Chart `json:"chart"`
	// Dependencies are the names of the applications that it waits for.
	Dependencies []string `json:"dependencies,omitempty"`
	// Environment that it belongs to, if it has but one.
	Environment string `json:"environment,omitempty"`
	// Environments that it is deployed to, with what differs there.
	Environments map[string]Override `json:"environments,omitempty"`
	// Destination is the cluster that it is deployed to.
	Destination Destination `json:"destination,omitzero"`
	// ArgoCD is how Argo CD, or Headgate in its dialect, deploys it.
	ArgoCD ArgoCD `json:"argocd,omitzero"`
	// Values are written to values.yaml of the package; ValuesFile is copied there.
	Values     map[string]any `json:"values,omitempty"`
	ValuesFile string         `json:"valuesFile,omitempty"`
}

// Chart names a registered chart.
type Chart struct {
	// Type is the name that it was registered under.
	Type string `json:"type"`
	// Props are what it takes: a value of its type, or a map, as YAML gives it.
	Props any `json:"props,omitempty"`
}

// Override is what differs for an application in one environment.
type Override struct {
	// Name instead of NAME-ENVIRONMENT.
	Name string `json:"name,omitempty"`
	// Namespace instead of the application's.
	Namespace string `json:"namespace,omitempty"`
	// Props are merged into those of the application: objects field by field, all else replaces. A value of the chart's type
	// replaces them all.
	Props any `json:"props,omitempty"`
	// Dependencies are added.
	Dependencies []string `json:"dependencies,omitempty"`
	// Destination instead of the application's.
	Destination Destination `json:"destination,omitzero"`
	// ArgoCD is laid over that of the application.
	ArgoCD ArgoCD `json:"argocd,omitzero"`
	// Values are merged into those of the application.
	Values map[string]any `json:"values,omitempty"`
}

// Destination is a cluster, by its name or by its server.
type Destination struct {
	Name   string `json:"name,omitempty"`
	Server string `json:"server,omitempty"`
}

// Source is where the manifests of a package are read from. {name} is the name of the package.
type Source struct {
	// RepoURL is cnoe://{name}/manifests by default.
	RepoURL string `json:"repoURL,omitempty"`
	// Path in the repository, "." by default.
	Path string `json:"path,omitempty"`
	// TargetRevision is HEAD by default.
	TargetRevision string `json:"targetRevision,omitempty"`
}

// ArgoCD is how Argo CD deploys an application. Nothing is synced automatically, and nothing deleted, unless this says so.
type ArgoCD struct {
	// Name of the Application, that of the package by default.
	Name string `json:"name,omitempty"`
	// Namespace of the Application, argocd by default.
	Namespace string `json:"namespace,omitempty"`
	// Project of the Application, default by default.
	Project string `json:"project,omitempty"`
	// SyncWave of the Application among others; Options.Waves computes those that are not given.
	SyncWave *int `json:"syncWave,omitempty"`
	// Annotations of the Application.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Labels of the Application.
	Labels map[string]string `json:"labels,omitempty"`
	// Finalizers of the Application: v1alpha1.ResourcesFinalizer has its objects deleted with it.
	Finalizers []string `json:"finalizers,omitempty"`
	// SyncPolicy says when and how it is synced.
	SyncPolicy *v1alpha1.SyncPolicy `json:"syncPolicy,omitempty"`
	// SyncOptions and Retry are for the policy, where it does not set them.
	SyncOptions []string                `json:"syncOptions,omitempty"`
	Retry       *v1alpha1.RetryStrategy `json:"retry,omitempty"`
	// IgnoreDifferences are fields that may differ.
	IgnoreDifferences []v1alpha1.ResourceIgnoreDifferences `json:"ignoreDifferences,omitempty"`
	// Sources instead of the manifests of the package: to deploy those too, packages.Source is among them.
	Sources []v1alpha1.ApplicationSource `json:"sources,omitempty"`
}

// Environment is what the applications of an environment have in common. A chart reads it from a field of this type in its props.
type Environment struct {
	// Name is filled in.
	Name string `json:"-"`
	// Inherits is the environment whose images, values, replicas, destination and source serve where this one has none.
	Inherits string `json:"inherits,omitempty"`
	// Destination of its applications.
	Destination Destination `json:"destination,omitzero"`
	// Source of its packages.
	Source Source `json:"source,omitzero"`
	// Replicas of workloads that do not say otherwise.
	Replicas *int32 `json:"replicas,omitempty"`
	// Images by the names that charts know them under.
	Images map[string]string `json:"images,omitempty"`
	// Values are anything else that differs: hosts, levels of logs.
	Values map[string]string `json:"values,omitempty"`
	// ArgoCD is what its Applications have in common.
	ArgoCD ArgoCD `json:"argocd,omitzero"`
}
