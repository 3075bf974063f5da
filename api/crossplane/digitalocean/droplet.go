package digitalocean

// DropletParameters are what a Droplet declares.
type DropletParameters struct {
	// +optional
	Name *string `json:"name,omitempty"`
	// +optional
	Region *string `json:"region,omitempty"`
	// +optional
	Size *string `json:"size,omitempty"`
	// Image is the number of an image, or the slug of a public one.
	// +optional
	Image *string `json:"image,omitempty"`
	// +optional
	ImageRef *Reference `json:"imageRef,omitempty"`
	// +optional
	ImageSelector *Selector `json:"imageSelector,omitempty"`
	// ImageFrom takes the image from a Secret. Upjet's provider has no such field.
	// +optional
	ImageFrom *ImageSource `json:"imageFrom,omitempty"`
	// SSHKeys are numbers or fingerprints of keys.
	// +optional
	// +listType=set
	SSHKeys []string `json:"sshKeys,omitempty"`
	// +optional
	SSHKeysRefs []Reference `json:"sshKeysRefs,omitempty"`
	// +optional
	SSHKeysSelector *Selector `json:"sshKeysSelector,omitempty"`
	// +optional
	// +listType=set
	Tags []string `json:"tags,omitempty"`
	// +optional
	TagsRefs []Reference `json:"tagsRefs,omitempty"`
	// +optional
	TagsSelector *Selector `json:"tagsSelector,omitempty"`
	// +optional
	UserData *string `json:"userData,omitempty"`
	// +optional
	VPCUUID *string `json:"vpcUuid,omitempty"`
	// +optional
	VPCUUIDRef *Reference `json:"vpcUuidRef,omitempty"`
	// +optional
	VPCUUIDSelector *Selector `json:"vpcUuidSelector,omitempty"`
	// +optional
	Backups *bool `json:"backups,omitempty"`
	// +optional
	BackupPolicy []BackupPolicy `json:"backupPolicy,omitempty"`
	// +optional
	IPv6 *bool `json:"ipv6,omitempty"`
	// +optional
	IPv6Address *string `json:"ipv6Address,omitempty"`
	// +optional
	Monitoring *bool `json:"monitoring,omitempty"`
	// +optional
	DropletAgent *bool `json:"dropletAgent,omitempty"`
	// +optional
	GracefulShutdown *bool `json:"gracefulShutdown,omitempty"`
	// ResizeDisk makes a larger size enlarge the disk too, which cannot be reverted. It is true by default.
	// +optional
	ResizeDisk *bool `json:"resizeDisk,omitempty"`
	// +optional
	PrivateNetworking *bool `json:"privateNetworking,omitempty"`
	// +optional
	PublicNetworking *bool `json:"publicNetworking,omitempty"`
	// +optional
	// +listType=set
	VolumeIDs []string `json:"volumeIds,omitempty"`
}

// BackupPolicy says when backups are made.
type BackupPolicy struct {
	// +optional
	Plan *string `json:"plan,omitempty"`
	// +optional
	Weekday *string `json:"weekday,omitempty"`
	// +optional
	Hour *float64 `json:"hour,omitempty"`
}

// DropletObservation is what is observed of a Droplet.
type DropletObservation struct {
	ID                 string   `json:"id,omitempty"`
	Name               string   `json:"name,omitempty"`
	Status             string   `json:"status,omitempty"`
	Region             string   `json:"region,omitempty"`
	Size               string   `json:"size,omitempty"`
	Image              string   `json:"image,omitempty"`
	IPv4Address        string   `json:"ipv4Address,omitempty"`
	IPv4AddressPrivate string   `json:"ipv4AddressPrivate,omitempty"`
	IPv6Address        string   `json:"ipv6Address,omitempty"`
	CreatedAt          string   `json:"createdAt,omitempty"`
	URN                string   `json:"urn,omitempty"`
	VPCUUID            string   `json:"vpcUuid,omitempty"`
	Tags               []string `json:"tags,omitempty"`
	VolumeIDs          []string `json:"volumeIds,omitempty"`
	SSHKeys            []string `json:"sshKeys,omitempty"`
	// UserData is the digest of the user data.
	UserData     string  `json:"userData,omitempty"`
	Memory       float64 `json:"memory,omitempty"`
	VCPUs        float64 `json:"vcpus,omitempty"`
	Disk         float64 `json:"disk,omitempty"`
	PriceHourly  float64 `json:"priceHourly,omitempty"`
	PriceMonthly float64 `json:"priceMonthly,omitempty"`
	Locked       bool    `json:"locked,omitempty"`
	Backups      bool    `json:"backups,omitempty"`
	IPv6         bool    `json:"ipv6,omitempty"`
	Monitoring   bool    `json:"monitoring,omitempty"`
}

// ClassicDropletParameters are what a Droplet of the classic provider declares; its name is the external name.
type ClassicDropletParameters struct {
	Region string `json:"region"`
	Size   string `json:"size"`
	Image  string `json:"image"`
	// ImageFrom takes the image from a Secret. The classic provider has no such field.
	// +optional
	ImageFrom *ImageSource `json:"imageFrom,omitempty"`
	// +optional
	SSHKeys []string `json:"sshKeys,omitempty"`
	// +optional
	Backups *bool `json:"backups,omitempty"`
	// +optional
	IPv6 *bool `json:"ipv6,omitempty"`
	// +optional
	PrivateNetworking *bool `json:"privateNetworking,omitempty"`
	// +optional
	Monitoring *bool `json:"monitoring,omitempty"`
	// +optional
	UserData *string `json:"userData,omitempty"`
	// +optional
	Volumes []string `json:"volumes,omitempty"`
	// +optional
	Tags []string `json:"tags,omitempty"`
	// +optional
	VPCUUID *string `json:"vpcUuid,omitempty"`
	// +optional
	WithDropletAgent *bool `json:"withDropletAgent,omitempty"`
}

// ClassicDropletObservation is what the classic provider shows of a Droplet.
type ClassicDropletObservation struct {
	CreationTimestamp string `json:"creationTimestamp,omitempty"`
	ID                int    `json:"id,omitempty"`
	PrivateIPv4       string `json:"privateIPv4,omitempty"`
	PublicIPv4        string `json:"publicIPv4,omitempty"`
	Region            string `json:"region,omitempty"`
	Size              string `json:"size,omitempty"`
	Status            string `json:"status,omitempty"`
}
