package argocd

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/typed"
)

// ProjectProps describe an AppProject: what its Applications may deploy, from where and to where. What is not listed is not permitted.
type ProjectProps struct {
	Name, Namespace string
	Labels          map[string]string
	Annotations     map[string]string
	Description     string
	// SourceRepos are patterns of addresses.
	SourceRepos []string
	// Destinations are clusters with namespaces.
	Destinations []v1alpha1.ApplicationDestination
	// ClusterResources are the kinds without namespaces that may be deployed.
	ClusterResources []v1alpha1.ClusterResourceRestrictionItem
}

// AppProject puts a project below scope.
func AppProject(scope chart.Scope, id string, props ProjectProps) typed.Object[*v1alpha1.AppProject] {
	return typed.Add(scope, id, &v1alpha1.AppProject{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "AppProject"},
		ObjectMeta: metav1.ObjectMeta{
			Name: props.Name, Namespace: props.Namespace, Labels: props.Labels, Annotations: props.Annotations,
		},
		Spec: v1alpha1.AppProjectSpec{
			Description: props.Description, SourceRepos: props.SourceRepos, Destinations: props.Destinations,
			ClusterResourceWhitelist: props.ClusterResources,
		},
	})
}
