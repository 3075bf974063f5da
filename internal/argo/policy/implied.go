package policy

import "github.com/headgate-dev/headgate/api/argoproj/v1alpha1"

// Completed is a default project with what it leaves out of the one that permits everything: upstream's server creates that one first, and what
// is applied over it keeps the rest. A list that is declared and empty stays empty.
func Completed(project *v1alpha1.AppProject) *v1alpha1.AppProject {
	full := project.DeepCopy()
	if full.Spec.SourceRepos == nil {
		full.Spec.SourceRepos = []string{"*"}
	}
	if full.Spec.Destinations == nil {
		full.Spec.Destinations = []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}}
	}
	if full.Spec.ClusterResourceWhitelist == nil {
		full.Spec.ClusterResourceWhitelist = []v1alpha1.ClusterResourceRestrictionItem{{Group: "*", Kind: "*"}}
	}
	return full
}
