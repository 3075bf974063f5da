// Package v1alpha1 holds the types of the group kargo.akuity.io: Project, ProjectConfig, Warehouse, Freight, Stage, Promotion,
// PromotionTask and ClusterPromotionTask. They were written from the public definitions of the API, of Kargo 1.6 to 1.11, and take what
// those take: AllowTags, which newer versions refuse, as well as AllowTagsRegexes.
//
// Durations are strings ("5m", "1h30m"), so that what is written is what was said.
//
// +kubebuilder:object:generate=true
// +groupName=kargo.akuity.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "kargo.akuity.io", Version: "v1alpha1"}

// The kinds of the group.
const (
	ProjectKind              = "Project"
	ProjectConfigKind        = "ProjectConfig"
	WarehouseKind            = "Warehouse"
	FreightKind              = "Freight"
	StageKind                = "Stage"
	PromotionKind            = "Promotion"
	PromotionTaskKind        = "PromotionTask"
	ClusterPromotionTaskKind = "ClusterPromotionTask"
)

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Project{}, &ProjectList{}, &ProjectConfig{}, &ProjectConfigList{}, &Warehouse{}, &WarehouseList{}, &Freight{}, &FreightList{},
		&Stage{}, &StageList{}, &Promotion{}, &PromotionList{}, &PromotionTask{}, &PromotionTaskList{},
		&ClusterPromotionTask{}, &ClusterPromotionTaskList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
