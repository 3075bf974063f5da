// Package v1alpha1 holds the types of the workflows in the group argoproj.io: Workflow, WorkflowTemplate,
// ClusterWorkflowTemplate and CronWorkflow. They were written from the public definitions of the API, of Argo Workflows 4.1,
// and also take the older spellings that people still commit. Fields that this engine does not act on are kept as
// they are, so that whatever reads an object can name them.
//
// +kubebuilder:object:generate=true
// +groupName=argoproj.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}

// The kinds that are served.
const (
	WorkflowKind                = "Workflow"
	WorkflowTemplateKind        = "WorkflowTemplate"
	ClusterWorkflowTemplateKind = "ClusterWorkflowTemplate"
	CronWorkflowKind            = "CronWorkflow"
)

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Workflow{}, &WorkflowList{}, &WorkflowTemplate{}, &WorkflowTemplateList{},
		&ClusterWorkflowTemplate{}, &ClusterWorkflowTemplateList{}, &CronWorkflow{}, &CronWorkflowList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
