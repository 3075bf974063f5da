package cloud

import (
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/cloud/disk"
)

// State is everything that a cloud remembers, and what is stored on disk. Of user data it has a digest; the URLs of
// imports may be signed.
type State struct {
	// Next is the next number of an object.
	Next     int           `json:"next"`
	Droplets []*Droplet    `json:"droplets"`
	Images   []*Image      `json:"images"`
	Keys     []*Key        `json:"ssh_keys"`
	Reserved []*ReservedIP `json:"reserved_ips"`
	Actions  []*Action     `json:"actions"`
	Tags     []string      `json:"tags"`
	Faults   []*Fault      `json:"faults,omitempty"`
	// Last is the entry of the audit log that the state was stored with.
	Last *Entry `json:"last,omitempty"`
}

// Droplet is a virtual machine.
type Droplet struct {
	ID       int       `json:"id"`
	Name     string    `json:"name"`
	Region   string    `json:"region"`
	Size     string    `json:"size"`
	Image    int       `json:"image"`
	Disk     int       `json:"disk"`
	Status   string    `json:"status"`
	Created  time.Time `json:"created"`
	Tags     []string  `json:"tags,omitempty"`
	VPC      string    `json:"vpc"`
	Keys     []int     `json:"ssh_keys,omitempty"`
	Features []string  `json:"features,omitempty"`
	// UserData is the digest of the user data, empty when there are none.
	UserData  string    `json:"user_data_sha256,omitempty"`
	PublicV4  string    `json:"public_ipv4,omitempty"`
	PrivateV4 string    `json:"private_ipv4,omitempty"`
	PublicV6  string    `json:"public_ipv6,omitempty"`
	Visible   time.Time `json:"visible,omitzero"`
}

// Image is an image of an account; those of the catalogue are made at each start.
type Image struct {
	ID           int       `json:"id"`
	Name         string    `json:"name"`
	Type         string    `json:"type"`
	Distribution string    `json:"distribution"`
	Slug         string    `json:"slug,omitempty"`
	Public       bool      `json:"public,omitempty"`
	Regions      []string  `json:"regions"`
	Created      time.Time `json:"created"`
	MinDisk      int       `json:"min_disk"`
	Gigabytes    float64   `json:"gigabytes"`
	Description  string    `json:"description,omitempty"`
	Tags         []string  `json:"tags,omitempty"`
	Status       string    `json:"status"`
	Error        string    `json:"error,omitempty"`
	Visible      time.Time `json:"visible,omitzero"`
	// Droplet is the one that a snapshot was made of.
	Droplet int `json:"droplet,omitempty"`
	// Deleted images are remembered, since the API answers a second deletion in its own way.
	Deleted bool    `json:"deleted,omitempty"`
	Import  *Import `json:"import,omitempty"`
}

// Import is how far the import of a custom image has come.
type Import struct {
	URL    string `json:"url"`
	Region string `json:"region"`
	// Pending and Ready are when the status changes at the earliest.
	Pending time.Time `json:"pending"`
	Ready   time.Time `json:"ready"`
	// Fetched is set when the transfer has ended, with what was found or with an error.
	Fetched bool       `json:"fetched"`
	Found   disk.Image `json:"found,omitzero"`
	Error   string     `json:"error,omitempty"`
}

// Key is an SSH key of the account.
type Key struct {
	ID          int       `json:"id"`
	Name        string    `json:"name"`
	Fingerprint string    `json:"fingerprint"`
	PublicKey   string    `json:"public_key"`
	Visible     time.Time `json:"visible,omitzero"`
}

// ReservedIP is an address of the account.
type ReservedIP struct {
	IP      string    `json:"ip"`
	Region  string    `json:"region"`
	Droplet int       `json:"droplet,omitempty"`
	Visible time.Time `json:"visible,omitzero"`
}

// Action is something that takes time, and what it does when it completes.
type Action struct {
	ID        int       `json:"id"`
	Status    string    `json:"status"`
	Type      string    `json:"type"`
	Started   time.Time `json:"started"`
	Completed time.Time `json:"completed,omitzero"`
	// Of is what it acts on: "droplet", "image" or "reserved_ip", with its number or address.
	Of       string    `json:"of"`
	Resource string    `json:"resource"`
	Region   string    `json:"region"`
	Due      time.Time `json:"due"`
	Fails    bool      `json:"fails,omitempty"`
	Request  request   `json:"request,omitzero"`
}

// request is the body of a request for an action.
type request struct {
	Type    string    `json:"type"`
	Name    string    `json:"name,omitempty"`
	Size    string    `json:"size,omitempty"`
	Disk    bool      `json:"disk,omitempty"`
	Image   reference `json:"image,omitempty"`
	Droplet int       `json:"droplet_id,omitempty"`
	Region  string    `json:"region,omitempty"`
}

// recentActions is how many actions are remembered at least; twice as many are the most.
const recentActions = 2_000

// act adds an action, and forgets the oldest ones that have ended.
func (s *State) act(a *Action) {
	s.Actions = append(s.Actions, a)
	if len(s.Actions) < 2*recentActions {
		return
	}
	recent := len(s.Actions) - recentActions
	var kept []*Action
	for i, one := range s.Actions {
		if i >= recent || one.Status == inProgress {
			kept = append(kept, one)
		}
	}
	s.Actions = kept
}

func (s *State) number() int {
	s.Next++
	return s.Next
}

func (s *State) droplet(id int) *Droplet {
	return found(s.Droplets, func(d *Droplet) bool { return d.ID == id })
}

func (s *State) image(id int) *Image {
	return found(s.Images, func(i *Image) bool { return i.ID == id })
}

func (s *State) reserved(ip string) *ReservedIP {
	return found(s.Reserved, func(r *ReservedIP) bool { return r.IP == ip })
}

// key is the key with a number or a fingerprint.
func (s *State) key(name string) *Key {
	return found(s.Keys, func(k *Key) bool { return k.Fingerprint == name || decimal(k.ID) == name })
}

// pending is the action in progress on something, nil when there is none: there is one at a time.
func (s *State) pending(of, id string) *Action {
	return found(s.Actions, func(a *Action) bool { return a.Of == of && a.Resource == id && a.Status == inProgress })
}

// tag remembers tags, which exist once something has them. They are compared without regard to case.
func (s *State) tag(names []string) {
	for _, name := range names {
		if !tagged(s.Tags, name) {
			s.Tags = append(s.Tags, name)
		}
	}
}

func tagged(tags []string, name string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, name) })
}

// found is the first one that matches, nil when none does.
func found[T any](all []*T, matches func(*T) bool) *T {
	if at := slices.IndexFunc(all, matches); at >= 0 {
		return all[at]
	}
	return nil
}
