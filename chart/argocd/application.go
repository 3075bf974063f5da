// Package argocd has Applications, projects and sync policies of Argo CD for charts. Headgate serves them in its dialect.
//
// Nothing is filled in but what an Application cannot be without: the project default, and the cluster that Argo CD runs in.
package argocd

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/typed"
)

const (
	// InCluster is the server of the cluster that Argo CD runs in.
	InCluster = "https://kubernetes.default.svc"
	// DefaultProject is the project that every installation has.
	DefaultProject = "default"
	// DependsOn is the annotation by which an Application waits for others in Headgate: Application/postgres, Application/redis.
	DependsOn = "headgate.dev/depends-on"
)

// ApplicationProps describe an Application.
type ApplicationProps struct {
	// Name and Namespace of the Application itself.
	Name, Namespace string
	Labels          map[string]string
	Annotations     map[string]string
	// Finalizers of the Application: v1alpha1.ResourcesFinalizer has its objects deleted with it.
	Finalizers []string
	// Wave among other objects that are synced with it.
	Wave *int
	// DependsOn are names of Applications that it waits for.
	DependsOn []string
	// Project is DefaultProject if empty.
	Project string
	// Destination is InCluster if it names no cluster.
	Destination v1alpha1.ApplicationDestination
	// Sources: a single one is written as spec.source.
	Sources           []v1alpha1.ApplicationSource
	SyncPolicy        *v1alpha1.SyncPolicy
	IgnoreDifferences []v1alpha1.ResourceIgnoreDifferences
}

// Application puts an Application below scope.
func Application(scope chart.Scope, id string, props ApplicationProps) typed.Object[*v1alpha1.Application] {
	return typed.Add(scope, id, NewApplication(props))
}

// NewApplication is an Application that is in no chart.
func NewApplication(props ApplicationProps) *v1alpha1.Application {
	app := &v1alpha1.Application{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Application"},
		ObjectMeta: metav1.ObjectMeta{
			Name: props.Name, Namespace: props.Namespace, Labels: maps.Clone(props.Labels),
			Annotations: annotations(props), Finalizers: slices.Clone(props.Finalizers),
		},
		Spec: v1alpha1.ApplicationSpec{
			Project: props.Project, Destination: props.Destination,
			SyncPolicy: props.SyncPolicy.DeepCopy(), IgnoreDifferences: slices.Clone(props.IgnoreDifferences),
		},
	}
	if app.Spec.Project == "" {
		app.Spec.Project = DefaultProject
	}
	if app.Spec.Destination.Name == "" && app.Spec.Destination.Server == "" {
		app.Spec.Destination.Server = InCluster
	}
	if len(props.Sources) == 1 && props.Sources[0].Ref == "" {
		app.Spec.Source = props.Sources[0].DeepCopy()
	} else {
		app.Spec.Sources = slices.Clone(props.Sources)
	}
	return app
}

// annotations are those of the props, with the wave and the dependencies, unless they are among them.
func annotations(props ApplicationProps) map[string]string {
	all := map[string]string{}
	if props.Wave != nil {
		all[v1alpha1.SyncWaveAnnotation] = strconv.Itoa(*props.Wave)
	}
	if len(props.DependsOn) > 0 {
		names := make([]string, len(props.DependsOn))
		for i, name := range props.DependsOn {
			names[i] = "Application/" + name
		}
		all[DependsOn] = strings.Join(names, ", ")
	}
	maps.Copy(all, props.Annotations)
	if len(all) == 0 {
		return nil
	}
	return all
}
