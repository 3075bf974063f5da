package kinds_test

import (
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
)

func TestImage(t *testing.T) {
	type change = kinds.Change
	for name, tc := range map[string]struct {
		reason string
		want   func(*digitalocean.ImageParameters)
		facts  func(*kinds.ImageFacts)
		out    kinds.Outcome
	}{
		"Same":     {"NixOS is Unknown there", nil, nil, kinds.Outcome{Condition: kinds.Available}},
		"Missing":  {"it does not exist", nil, func(f *kinds.ImageFacts) { f.Observed = nil }, kinds.Outcome{Condition: kinds.Missing, Message: "the image does not exist"}},
		"New":      {"in capitals", nil, func(f *kinds.ImageFacts) { f.Observed.Status, f.Observed.Regions = "NEW", nil }, kinds.Outcome{Condition: kinds.Creating, Message: "the image is being imported", Wait: true}},
		"Pending":  {"while it is imported it is in no region", nil, func(f *kinds.ImageFacts) { f.Observed.Status, f.Observed.Regions = "pending", nil }, kinds.Outcome{Condition: kinds.Creating, Message: "the image is being imported", Wait: true}},
		"Failed":   {"the import failed", nil, func(f *kinds.ImageFacts) { f.Observed.Status, f.Observed.ErrorMessage = "deleted", "corrupt" }, kinds.Outcome{Condition: kinds.Failed, Message: "the image was not imported: corrupt", Wait: true}},
		"Deleted":  {"deleted beside us", nil, func(f *kinds.ImageFacts) { f.Observed.Status = "deleted" }, kinds.Outcome{Condition: kinds.Missing, Message: "the image was deleted", Wait: true}},
		"Retired":  {"no Droplet is created from it", nil, func(f *kinds.ImageFacts) { f.Observed.Status = "retired" }, kinds.Outcome{Condition: kinds.Unavailable, Message: "the image is retired", Wait: true}},
		"Unknown":  {"a status of the future", nil, func(f *kinds.ImageFacts) { f.Observed.Status = "frozen" }, kinds.Outcome{Condition: kinds.Unavailable, Message: `the status of the image is "frozen"`, Wait: true}},
		"Signed":   {"another signature is not another image", func(w *digitalocean.ImageParameters) { w.URL = ptr("https://s/x.gz?X-Amz-Signature=2&v=1") }, nil, kinds.Outcome{Condition: kinds.Available}},
		"URL":      {"another URL is", func(w *digitalocean.ImageParameters) { w.URL = ptr("https://s/x.gz?v=2") }, nil, kinds.Outcome{Condition: kinds.Available, Replace: []change{{"url", "https://s/x.gz?v=2", "https://s/x.gz?v=1"}}}},
		"Adopted":  {"of an image that others imported the URL is unknown", func(w *digitalocean.ImageParameters) { w.URL = ptr("https://s/y.gz") }, func(f *kinds.ImageFacts) { f.URL = "" }, kinds.Outcome{Condition: kinds.Available}},
		"Tags":     {"a tag is taken away", func(w *digitalocean.ImageParameters) { w.Tags = []string{} }, nil, kinds.Outcome{Condition: kinds.Available, Changes: []change{{"tags", "", "built"}}, Next: &kinds.Call{Verb: kinds.Untag, To: "built"}}},
		"Transfer": {"another region gets a copy", func(w *digitalocean.ImageParameters) { w.Regions = []string{"fra1", "nyc3"} }, nil, kinds.Outcome{Condition: kinds.Available, Changes: []change{{"regions", "fra1,nyc3", "fra1"}}, Next: &kinds.Call{Verb: kinds.Transfer, To: "nyc3"}}},
		"Copying":  {"one at a time", func(w *digitalocean.ImageParameters) { w.Regions = []string{"fra1", "nyc3"} }, func(f *kinds.ImageFacts) { f.Pending = true }, kinds.Outcome{Condition: kinds.Available, Changes: []change{{"regions", "fra1,nyc3", "fra1"}}, Wait: true}},
		"Moved": {
			"out of a region it cannot be taken", func(w *digitalocean.ImageParameters) { w.Regions = []string{"nyc3"} }, nil,
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"regions", "nyc3", "fra1"}}, Changes: []change{{"regions", "nyc3", "fra1"}}, Next: &kinds.Call{Verb: kinds.Transfer, To: "nyc3"}},
		},
		"Described": {
			"one request changes all that describes it", func(w *digitalocean.ImageParameters) { w.Name, w.Distribution = ptr("y"), ptr("debian") }, nil,
			kinds.Outcome{
				Condition: kinds.Available, Changes: []change{{"name", "y", "x"}, {"distribution", "Debian", "Unknown"}},
				Next: &kinds.Call{Verb: kinds.Describe, To: "y", Description: "d", Distribution: "Debian"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := digitalocean.ImageParameters{
				Name: ptr("x"), URL: ptr("https://s/x.gz?v=1&X-Amz-Signature=1"), Regions: []string{"fra1"}, Distribution: ptr("nixos"), Description: ptr("d"), Tags: []string{"built"},
			}
			facts := kinds.ImageFacts{URL: kinds.ComparableURL(*want.URL), Observed: &godo.Image{
				ID: 7, Name: "x", Status: "available", Regions: []string{"fra1"}, Distribution: "Unknown", Description: "d", Tags: []string{"built", "headgate-managed", "headgate-uid:x"},
			}}
			if tc.want != nil {
				tc.want(&want)
			}
			if tc.facts != nil {
				tc.facts(&facts)
			}
			if diff := cmp.Diff(tc.out, kinds.Image(want, facts)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCreateImage(t *testing.T) {
	want := digitalocean.ImageParameters{Name: ptr("x"), URL: ptr("https://s/x.gz?X-Amz-Signature=1"), Regions: []string{"fra1", "nyc3"}, Distribution: ptr("nixos"), Tags: []string{"built"}}
	got, err := kinds.CreateImage(want, kinds.OwnTags("u", 1))
	expected := &godo.CustomImageCreateRequest{Name: "x", Url: "https://s/x.gz?X-Amz-Signature=1", Region: "fra1", Distribution: "Unknown", Tags: []string{"built", "headgate-managed", "headgate-uid:u", "headgate-gen:1"}}
	if diff := cmp.Diff(expected, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	want.Regions = nil
	if _, err := kinds.CreateImage(want, nil); err == nil || err.Error() != "creating an image: spec.forProvider.regions is required" {
		t.Errorf("the error is %v", err)
	}
}

func TestComparableURL(t *testing.T) {
	for address, want := range map[string]string{
		"https://s/x.gz": "https://s/x.gz",
		"https://user:password@s/x.gz?Signature=a&Expires=1&AWSAccessKeyId=b#c":      "https://s/x.gz",
		"https://s/x.gz?X-Amz-Credential=a&X-Amz-Date=b&versionId=3&X-Goog-Expires=": "https://s/x.gz?versionId=3",
		"":              "",
		"http://[::1]]": "",
	} {
		if got := kinds.ComparableURL(address); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}

func TestKey(t *testing.T) {
	have := &godo.Key{ID: 1, Name: "ada", PublicKey: "ssh-ed25519 AAAA ada@example.com"}
	for name, tc := range map[string]struct {
		reason string
		want   digitalocean.KeyParameters
		have   *godo.Key
		out    kinds.Outcome
	}{
		"Same":    {"a comment and spaces are not the key", digitalocean.KeyParameters{Name: ptr("ada"), PublicKey: ptr("ssh-ed25519  AAAA\n")}, have, kinds.Outcome{Condition: kinds.Available}},
		"Missing": {"it does not exist", digitalocean.KeyParameters{}, nil, kinds.Outcome{Condition: kinds.Missing, Message: "the SSH key does not exist"}},
		"Name":    {"a name is changed in place", digitalocean.KeyParameters{Name: ptr("bob")}, have, kinds.Outcome{Condition: kinds.Available, Changes: []kinds.Change{{Field: "name", Want: "bob", Have: "ada"}}, Next: &kinds.Call{Verb: kinds.Rename, To: "bob"}}},
		"Key":     {"another key is another object", digitalocean.KeyParameters{PublicKey: ptr("ssh-ed25519 BBBB bob@example.com")}, have, kinds.Outcome{Condition: kinds.Available, Replace: []kinds.Change{{Field: "publicKey", Want: "bob@example.com", Have: "ada@example.com"}}}},
	} {
		if diff := cmp.Diff(tc.out, kinds.Key(tc.want, tc.have)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
	for key, want := range map[string]string{
		"":                                    "creating an SSH key: spec.forProvider.publicKey is required",
		"-----BEGIN OPENSSH PRIVATE KEY-----": "creating an SSH key: spec.forProvider.publicKey is a private key",
	} {
		if _, err := kinds.CreateKey(digitalocean.KeyParameters{Name: ptr("x"), PublicKey: &key}); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func TestIP(t *testing.T) {
	have := func(droplet int) *godo.ReservedIP {
		r := &godo.ReservedIP{IP: "198.19.1.1", Region: &godo.Region{Slug: "fra1"}}
		if droplet != 0 {
			r.Droplet = &godo.Droplet{ID: droplet}
		}
		return r
	}
	locked := have(3)
	locked.Locked = true
	assign := []kinds.Change{{Field: "dropletId", Want: "4", Have: "3"}}
	for name, tc := range map[string]struct {
		reason string
		want   digitalocean.IPParameters
		facts  kinds.IPFacts
		out    kinds.Outcome
	}{
		"Same":     {"nothing differs", digitalocean.IPParameters{Region: ptr("fra1"), DropletID: ptr(3.0)}, kinds.IPFacts{Observed: have(3)}, kinds.Outcome{Condition: kinds.Available}},
		"Missing":  {"it does not exist", digitalocean.IPParameters{}, kinds.IPFacts{}, kinds.Outcome{Condition: kinds.Missing, Message: "the reserved IP does not exist"}},
		"Others":   {"an assignment that is not declared is another's", digitalocean.IPParameters{}, kinds.IPFacts{Observed: have(3)}, kinds.Outcome{Condition: kinds.Available}},
		"Assign":   {"it is moved to another Droplet", digitalocean.IPParameters{DropletID: ptr(4.0)}, kinds.IPFacts{Observed: have(3)}, kinds.Outcome{Condition: kinds.Available, Changes: assign, Next: &kinds.Call{Verb: kinds.Assign, Droplet: 4}}},
		"Unassign": {"it is taken away", digitalocean.IPParameters{DropletID: ptr(0.0)}, kinds.IPFacts{Observed: have(3)}, kinds.Outcome{Condition: kinds.Available, Changes: []kinds.Change{{Field: "dropletId", Want: "0", Have: "3"}}, Next: &kinds.Call{Verb: kinds.Unassign}}},
		"Locked":   {"an action is in progress on it", digitalocean.IPParameters{DropletID: ptr(4.0)}, kinds.IPFacts{Observed: locked}, kinds.Outcome{Condition: kinds.Available, Changes: assign, Wait: true}},
		"Busy":     {"or on the Droplet", digitalocean.IPParameters{DropletID: ptr(4.0)}, kinds.IPFacts{Observed: have(3), DropletPending: true}, kinds.Outcome{Condition: kinds.Available, Changes: assign, Wait: true}},
		"Region":   {"another region has other addresses", digitalocean.IPParameters{Region: ptr("nyc3")}, kinds.IPFacts{Observed: have(3)}, kinds.Outcome{Condition: kinds.Available, Replace: []kinds.Change{{Field: "region", Want: "nyc3", Have: "fra1"}}}},
		"Address":  {"another address", digitalocean.IPParameters{IPAddress: ptr("198.19.1.2")}, kinds.IPFacts{Observed: have(3)}, kinds.Outcome{Condition: kinds.Available, Replace: []kinds.Change{{Field: "ipAddress", Want: "198.19.1.2", Have: "198.19.1.1"}}}},
	} {
		if diff := cmp.Diff(tc.out, kinds.IP(tc.want, tc.facts)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
	elsewhere := godo.ReservedIP{IP: "198.19.1.3", Region: &godo.Region{Slug: "nyc3"}}
	if got := kinds.NewAddresses([]string{"198.19.1.2"}, []godo.ReservedIP{*have(0), {IP: "198.19.1.2", Region: &godo.Region{Slug: "fra1"}}, elsewhere}, "fra1"); !cmp.Equal(got, []string{"198.19.1.1"}) {
		t.Errorf("new addresses are %v", got)
	}
}

func TestRecover(t *testing.T) {
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return began.Add(d) }
	for name, tc := range map[string]struct {
		reason string
		found  []kinds.Candidate
		now    time.Time
		want   kinds.Recovery
		create bool
	}{
		"Soon":    {"nothing is visible yet", nil, after(59 * time.Second), kinds.Recovery{Until: after(time.Minute)}, false},
		"Late":    {"nothing was made", nil, after(time.Minute), kinds.Recovery{}, true},
		"One":     {"it was made", []kinds.Candidate{{Name: "3"}}, after(time.Second), kinds.Recovery{Adopt: "3"}, false},
		"OneLate": {"and is adopted at any time", []kinds.Candidate{{Name: "3"}}, after(time.Hour), kinds.Recovery{Adopt: "3"}, false},
		"Several": {
			"the oldest is adopted",
			[]kinds.Candidate{{Name: "5", Attempt: 2, Created: after(2)}, {Name: "4", Attempt: 1, Created: after(1)}, {Name: "3", Attempt: 0, Created: after(2)}},
			after(time.Hour),
			kinds.Recovery{Adopt: "4", Others: []string{"3", "5"}},
			false,
		},
	} {
		got := kinds.Recover(tc.found, began, tc.now)
		if diff := cmp.Diff(tc.want, got); diff != "" || got.Create() != tc.create {
			t.Errorf("%s: %s: another request may be sent: %v (-want +got):\n%s", name, tc.reason, got.Create(), diff)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]int{"": 0, "300000001": 300000001, "vm": -1, "-3": -1, "0": -1, "3.0": -1} {
		got, err := kinds.ParseNumber(name)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q is %d, %v", name, got, err)
		}
	}
	const fingerprint = "e1:80:0e:31:07:d5:55:32:8c:dc:2f:65:9e:d1:55:85"
	if id, print, err := kinds.ParseKeyName(fingerprint); id != 0 || print != fingerprint || err != nil {
		t.Errorf("the fingerprint is %d, %q, %v", id, print, err)
	}
	if id, print, err := kinds.ParseKeyName("7"); id != 7 || print != "" || err != nil {
		t.Errorf("the number is %d, %q, %v", id, print, err)
	}
	for name, want := range map[string]string{"": "", "198.19.1.1": "198.19.1.1", "my-ip": "?", "2001:db8::1": "?"} {
		got, err := kinds.ParseAddress(name)
		if (err != nil) != (want == "?") || err == nil && got != want {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	if !kinds.Unnamed("", "vm") || !kinds.Unnamed("vm", "vm") || kinds.Unnamed("7", "vm") {
		t.Error("a resource has no object while its external name is its own, or none")
	}
}

func TestConnection(t *testing.T) {
	d := there()
	d.Networks = &godo.Networks{V4: []godo.NetworkV4{{IPAddress: "198.18.1.1", Type: "public"}, {IPAddress: "10.1.1.1", Type: "private"}}}
	for name, tc := range map[string]struct{ got, want kinds.Connection }{
		"Droplet":   {kinds.DropletConnection(d), kinds.Connection{"endpoint": "198.18.1.1", "id": "3", "name": "vm", "ipv4_address": "198.18.1.1", "ipv4_address_private": "10.1.1.1", "image": "7"}},
		"New":       {kinds.DropletConnection(&godo.Droplet{ID: 3, Name: "vm"}), kinds.Connection{"id": "3", "name": "vm"}},
		"NoDroplet": {kinds.DropletConnection(nil), kinds.Connection{}},
		"Image":     {kinds.ImageConnection(&godo.Image{ID: 7, Name: "x", Status: "available"}), kinds.Connection{"image": "7", "id": "7", "name": "x"}},
		"Pending":   {kinds.ImageConnection(&godo.Image{ID: 7, Name: "x", Status: "pending"}), kinds.Connection{}},
		"Key":       {kinds.KeyConnection(&godo.Key{ID: 1, Name: "ada", Fingerprint: "aa"}), kinds.Connection{"id": "1", "fingerprint": "aa", "name": "ada"}},
		"IP":        {kinds.IPConnection(&godo.ReservedIP{IP: "198.19.1.1"}), kinds.Connection{"endpoint": "198.19.1.1", "ip_address": "198.19.1.1"}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
