package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Project is a namespace of its name in which pipelines live.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Project struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is where policies were before ProjectConfig; newer versions refuse it.
	// +optional
	Spec *ProjectConfigSpec `json:"spec,omitempty"`
	// Status is what was observed last.
	// +optional
	Status ProjectStatus `json:"status,omitzero"`
}

// ProjectList is a list of Projects.
//
// +kubebuilder:object:root=true
type ProjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Project `json:"items"`
}

// ProjectStatus is what became of a Project.
type ProjectStatus struct {
	// Conditions say where the Project stands.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Stats count the objects of the Project.
	Stats *ProjectStats `json:"stats,omitempty"`
}

// ProjectStats count the objects of a Project.
type ProjectStats struct {
	// Warehouses of the Project.
	// +optional
	Warehouses ResourceStats `json:"warehouses,omitzero"`
	// Stages of the Project.
	// +optional
	Stages ResourceStats `json:"stages,omitzero"`
}

// ResourceStats count objects of one kind.
type ResourceStats struct {
	// Count of all.
	Count int64 `json:"count,omitempty"`
	// Health counts them by their health.
	// +optional
	Health HealthStats `json:"health,omitzero"`
}

// HealthStats count objects by their health.
type HealthStats struct {
	// Healthy ones.
	Healthy int64 `json:"healthy,omitempty"`
}

// ProjectConfig says what is permitted in a Project. It has the name of the Project, and lives in its namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type ProjectConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	// +optional
	Spec ProjectConfigSpec `json:"spec,omitzero"`
	// Status is what was observed last.
	// +optional
	Status ProjectConfigStatus `json:"status,omitzero"`
}

// ProjectConfigList is a list of ProjectConfigs.
//
// +kubebuilder:object:root=true
type ProjectConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProjectConfig `json:"items"`
}

// ProjectConfigSpec is what a ProjectConfig declares.
type ProjectConfigSpec struct {
	// PromotionPolicies say which Stages are promoted to automatically; the first that matches a Stage counts.
	PromotionPolicies []PromotionPolicy `json:"promotionPolicies,omitempty"`
	// WebhookReceivers have Warehouses refreshed when a platform reports something new.
	WebhookReceivers []WebhookReceiver `json:"webhookReceivers,omitempty"`
}

// PromotionPolicy says of some Stages whether they are promoted to automatically.
//
// +kubebuilder:validation:XValidation:message="PromotionPolicy must have exactly one of stage or stageSelector set",rule="has(self.stage) ? !has(self.stageSelector) : has(self.stageSelector)"
type PromotionPolicy struct {
	// Stage is the name of one Stage; StageSelector is preferred.
	// +kubebuilder:validation:Pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
	Stage string `json:"stage,omitempty"`
	// StageSelector selects Stages by name or labels.
	StageSelector *StageSelector `json:"stageSelector,omitempty"`
	// AutoPromotionEnabled has new Freight promoted without being requested.
	AutoPromotionEnabled bool `json:"autoPromotionEnabled,omitempty"`
}

// StageSelector selects Stages; one has to match the name and the labels.
type StageSelector struct {
	// Name is a name, or a pattern with the prefix "glob:", "regex:" or "regexp:".
	Name string `json:"name,omitempty"`
	// MatchLabels and MatchExpressions select by labels.
	MatchLabels      map[string]string                 `json:"matchLabels,omitempty"`
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// ProjectConfigStatus is what became of a ProjectConfig.
type ProjectConfigStatus struct {
	// Conditions say where the ProjectConfig stands.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that was reconciled last.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LastHandledRefresh is the value of the refresh annotation that was handled last.
	LastHandledRefresh string `json:"lastHandledRefresh,omitempty"`
	// WebhookReceivers are the addresses of the receivers.
	WebhookReceivers []WebhookReceiverDetails `json:"webhookReceivers,omitempty"`
}
