package digitalocean

// ImageParameters are what a custom image declares.
type ImageParameters struct {
	// +optional
	Name *string `json:"name,omitempty"`
	// URL is where the image is imported from; the server has to answer HEAD.
	// +optional
	URL *string `json:"url,omitempty"`
	// +optional
	// +listType=set
	Regions []string `json:"regions,omitempty"`
	// +optional
	Distribution *string `json:"distribution,omitempty"`
	// +optional
	Description *string `json:"description,omitempty"`
	// +optional
	// +listType=set
	Tags []string `json:"tags,omitempty"`
}

// ImageObservation is what is observed of a custom image.
type ImageObservation struct {
	ID            string   `json:"id,omitempty"`
	ImageID       float64  `json:"imageId,omitempty"`
	Name          string   `json:"name,omitempty"`
	Status        string   `json:"status,omitempty"`
	Type          string   `json:"type,omitempty"`
	Slug          string   `json:"slug,omitempty"`
	Public        bool     `json:"public,omitempty"`
	Regions       []string `json:"regions,omitempty"`
	Distribution  string   `json:"distribution,omitempty"`
	Description   string   `json:"description,omitempty"`
	Tags          []string `json:"tags,omitempty"`
	MinDiskSize   float64  `json:"minDiskSize,omitempty"`
	SizeGigabytes float64  `json:"sizeGigabytes,omitempty"`
	CreatedAt     string   `json:"createdAt,omitempty"`
	// URL is where the image was imported from, without its signature.
	URL string `json:"url,omitempty"`
}

// KeyParameters are what an SSH key declares.
type KeyParameters struct {
	// +optional
	Name *string `json:"name,omitempty"`
	// +optional
	PublicKey *string `json:"publicKey,omitempty"`
}

// KeyObservation is what is observed of an SSH key.
type KeyObservation struct {
	ID          string `json:"id,omitempty"`
	Name        string `json:"name,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	PublicKey   string `json:"publicKey,omitempty"`
}

// IPParameters are what a reserved IP declares.
type IPParameters struct {
	// +optional
	Region *string `json:"region,omitempty"`
	// +optional
	IPAddress *string `json:"ipAddress,omitempty"`
	// +optional
	DropletID *float64 `json:"dropletId,omitempty"`
	// +optional
	DropletIDRef *Reference `json:"dropletIdRef,omitempty"`
	// +optional
	DropletIDSelector *Selector `json:"dropletIdSelector,omitempty"`
}

// IPObservation is what is observed of a reserved IP.
type IPObservation struct {
	ID        string  `json:"id,omitempty"`
	IPAddress string  `json:"ipAddress,omitempty"`
	Region    string  `json:"region,omitempty"`
	DropletID float64 `json:"dropletId,omitempty"`
	URN       string  `json:"urn,omitempty"`
}
