package digitalocean

// DropletPolicies are what a Droplet declares that upstream providers do not have.
type DropletPolicies struct {
	// ReplacementPolicy says what is done when a field differs that cannot be changed in place. Never keeps the Droplet, and
	// says so in the condition UpToDate; Recreate deletes it and creates another one; CreateBeforeDestroy creates the other one
	// first; RebuildInPlace gives it another image, so that it keeps its number and its addresses, and loses its disk.
	// By default it is Recreate where the image is taken from a Secret, and Never otherwise.
	// +optional
	// +kubebuilder:validation:Enum=Never;Recreate;CreateBeforeDestroy;RebuildInPlace
	ReplacementPolicy string `json:"replacementPolicy,omitempty"`
	// PowerPolicy says what is done about a Droplet that is powered off. Report, the default, has it not be ready; KeepOn powers
	// it on.
	// +optional
	// +kubebuilder:validation:Enum=Report;KeepOn
	PowerPolicy string `json:"powerPolicy,omitempty"`
}

// ReplacementPolicy is what other kinds declare that upstream providers do not have.
type ReplacementPolicy struct {
	// ReplacementPolicy says what is done when a field differs that cannot be changed in place. Never, the default, keeps the
	// object, and says so in the condition UpToDate; Recreate deletes it and creates another one.
	// +optional
	// +kubebuilder:validation:Enum=Never;Recreate
	ReplacementPolicy string `json:"replacementPolicy,omitempty"`
}
