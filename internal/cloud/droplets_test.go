package cloud_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"
)

func TestDroplet(t *testing.T) {
	a := start(t)
	key := a.key()
	image := a.imported("nixos")
	d, answer, err := a.do.Droplets.Create(t.Context(), &godo.DropletCreateRequest{
		Name: "web-1", Region: "fra1", Size: "s-1vcpu-1gb", Image: godo.DropletCreateImage{ID: image.ID},
		SSHKeys: []godo.DropletCreateSSHKey{{Fingerprint: key.Fingerprint}}, Tags: []string{"web"}, UserData: "{ ... }: {}",
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.Status != "new" || len(d.Networks.V4) > 0 || answer.StatusCode != 202 {
		t.Errorf("status %q with %v, answered %d; want new without networks, 202", d.Status, d.Networks, answer.StatusCode)
	}
	link := answer.Links.Actions[0]
	if link.Rel != "create" || !strings.HasPrefix(link.HREF, a.URL+"/v2/actions/") {
		t.Errorf("the action is linked as %v", link)
	}
	if got := must[*godo.Action](t)(a.do.DropletActions.GetByURI(t.Context(), link.HREF)); got.Status != "in-progress" || got.CompletedAt != nil {
		t.Errorf("the action is %v", got)
	}
	a.clock.Advance(time.Minute)
	action := must[*godo.Action](t)(a.do.Actions.Get(t.Context(), link.ID))
	if action.Status != "completed" || action.Type != "create" || !action.CompletedAt.Equal(godo.Timestamp{Time: began.Add(6 * time.Minute)}) {
		t.Errorf("the action is %v", action)
	}
	d = must[*godo.Droplet](t)(a.do.Droplets.Get(t.Context(), d.ID))
	public, _ := d.PublicIPv4()
	private, _ := d.PrivateIPv4()
	if d.Status != "active" || !strings.HasPrefix(public, "198.18.") || !strings.HasPrefix(private, "10.") {
		t.Errorf("status %q at %q and %q", d.Status, public, private)
	}
	if d.Image.ID != image.ID || d.Size.Slug != "s-1vcpu-1gb" || d.Memory != 1024 || d.Vcpus != 1 || d.Disk != 25 || d.Region.Slug != "fra1" || d.VPCUUID == "" || d.Locked {
		t.Errorf("it is %v", d)
	}
	if body := a.Audit().Select("POST", "/v2/droplets")[0].Body["user_data"]; body != "(not logged)" {
		t.Errorf("the audit log has the user data %v", body)
	}
	if _, err := a.do.Droplets.Delete(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	must[*godo.Droplet](t)(a.do.Droplets.Get(t.Context(), d.ID))
	a.clock.Advance(10 * time.Second)
	_, _, err = a.do.Droplets.Get(t.Context(), d.ID)
	refused(t, err, 404, "The resource you requested could not be found.")
}

func TestDropletsAtOnce(t *testing.T) {
	a := start(t)
	r := &godo.DropletMultiCreateRequest{
		Names: []string{"a", "b"}, Region: "fra1", Size: "s-1vcpu-1gb", Image: godo.DropletCreateImage{Slug: "debian-12-x64"}, Tags: []string{"pool"}, IPv6: true,
	}
	all := must[[]godo.Droplet](t)(a.do.Droplets.CreateMultiple(t.Context(), r))
	a.clock.Advance(time.Minute)
	listed := must[[]godo.Droplet](t)(a.do.Droplets.ListByTag(t.Context(), "POOL", nil))
	if len(all) != 2 || len(listed) != 2 || listed[0].Name != "a" || listed[1].Name != "b" {
		t.Fatalf("created %v, listed %v", all, listed)
	}
	one, _ := listed[0].PublicIPv4()
	if other, _ := listed[1].PublicIPv4(); one == other {
		t.Errorf("both have the address %q", one)
	}
	if v6, _ := listed[0].PublicIPv6(); !strings.HasPrefix(v6, "2001:db8::") {
		t.Errorf("the IPv6 address is %q", v6)
	}
	if named := must[[]godo.Droplet](t)(a.do.Droplets.ListByName(t.Context(), "B", nil)); len(named) != 1 || named[0].Name != "b" {
		t.Errorf("the name b has %v", named)
	}
	if _, err := a.do.Droplets.DeleteByTag(t.Context(), "pool"); err != nil {
		t.Fatal(err)
	}
	a.clock.Advance(time.Minute)
	if left := must[[]godo.Droplet](t)(a.do.Droplets.List(t.Context(), nil)); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	r.Names = strings.Split("a,b,c,d,e,f,g,h,i,j,k", ",")
	_, _, err := a.do.Droplets.CreateMultiple(t.Context(), r)
	refused(t, err, 422, "You can create 10 Droplets at a time at most.")
}

func TestDropletRequests(t *testing.T) {
	a := start(t)
	custom := a.imported("nixos-latest")
	key := a.key()
	pending := must[*godo.Image](t)(a.do.Images.Create(t.Context(), &godo.CustomImageCreateRequest{Name: "x", Url: serve(t, qcow2(1<<30)), Region: "fra1"}))
	ofCustom := func(r *godo.DropletCreateRequest) {
		r.Image, r.SSHKeys = godo.DropletCreateImage{ID: custom.ID}, []godo.DropletCreateSSHKey{{ID: key.ID}}
	}
	const noImage = "You specified an invalid image for Droplet creation."
	for name, tc := range map[string]struct {
		reason string
		change func(*godo.DropletCreateRequest)
		want   string
	}{
		"Name":        {"a name is a host name", func(r *godo.DropletCreateRequest) { r.Name = "my_vm" }, "Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)"},
		"NoName":      {"a name is needed", func(r *godo.DropletCreateRequest) { r.Name = "" }, "Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)"},
		"Size":        {"an unknown size", func(r *godo.DropletCreateRequest) { r.Size = "512mb" }, "You specified an invalid size for Droplet creation."},
		"Region":      {"an unknown region", func(r *godo.DropletCreateRequest) { r.Region = "mars1" }, "You specified an invalid region for Droplet creation."},
		"Closed":      {"a region without capacity", func(r *godo.DropletCreateRequest) { r.Region = "nyc2" }, "Region is not available"},
		"PrivateSlug": {"the name of a private image is no slug", func(r *godo.DropletCreateRequest) { r.Image = godo.DropletCreateImage{Slug: "nixos-latest"} }, noImage},
		"NoImage":     {"an empty image", func(r *godo.DropletCreateRequest) { r.Image = godo.DropletCreateImage{} }, noImage},
		"Pending":     {"an image that is not imported yet", func(r *godo.DropletCreateRequest) { r.Image = godo.DropletCreateImage{ID: pending.ID} }, noImage},
		"Elsewhere":   {"an image in another region", func(r *godo.DropletCreateRequest) { ofCustom(r); r.Region = "nyc3" }, noImage},
		"Small":       {"a disk that the image does not fit", func(r *godo.DropletCreateRequest) { ofCustom(r); r.Size = "s-1vcpu-512mb-10gb" }, "Cannot create a droplet with a smaller disk (10GB) than the image (20GB)"},
		"NoKeys":      {"a custom image needs keys", func(r *godo.DropletCreateRequest) { ofCustom(r); r.SSHKeys = nil }, "SSH keys are required to create a Droplet from a custom image."},
		"IPv6":        {"a custom image has no IPv6", func(r *godo.DropletCreateRequest) { ofCustom(r); r.IPv6 = true }, "IPv6 is not supported for Droplets that are created from custom images."},
		"Monitoring":  {"a custom image has no agent", func(r *godo.DropletCreateRequest) { ofCustom(r); r.Monitoring = true }, "Monitoring is not supported for Droplets that are created from custom images."},
		"Keys": {"unknown keys", func(r *godo.DropletCreateRequest) {
			r.SSHKeys = []godo.DropletCreateSSHKey{{ID: 7}, {Fingerprint: "aa:bb"}}
		}, "7, aa:bb are invalid key identifiers for Droplet creation."},
		"UserData": {"64 KiB are the most", func(r *godo.DropletCreateRequest) { r.UserData = strings.Repeat("x", 64<<10+1) }, "User data is too long (maximum is 65536 bytes)"},
		"VPC":      {"an unknown network", func(r *godo.DropletCreateRequest) { r.VPCUUID = "b6fr89db" }, "VPC b6fr89db could not be found in the region fra1."},
		"Tag":      {"a tag with a dot", func(r *godo.DropletCreateRequest) { r.Tags = []string{"a.b"} }, `Tag names may contain letters, numbers, colons, dashes, and underscores, and have 255 characters at most: "a.b"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := ubuntu("vm")
			tc.change(r)
			_, _, err := a.do.Droplets.Create(t.Context(), r)
			refused(t, err, 422, tc.want)
		})
	}
	fits := ubuntu("vm")
	ofCustom(fits)
	fits.Region, fits.UserData = "", strings.Repeat("x", 64<<10)
	if d := must[*godo.Droplet](t)(a.do.Droplets.Create(t.Context(), fits)); d.Region.Slug != "fra1" {
		t.Errorf("without a region it is in %s, not in that of the image", d.Region.Slug)
	}
	if made := a.Audit().Select("POST", "/v2/droplets").Done(); len(made) != 1 {
		t.Errorf("%d requests made Droplets, want one", len(made))
	}
}

func TestDropletActions(t *testing.T) {
	a := start(t)
	a.key()
	image := a.imported("nixos")
	d := a.running("vm")
	act := a.do.DropletActions
	done := func(action *godo.Action, _ *godo.Response, err error) *godo.Droplet {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if action.Status != "in-progress" || action.ResourceID != d.ID || action.ResourceType != "droplet" {
			t.Errorf("the action is %v", action)
		}
		a.clock.Advance(10 * time.Second)
		if got := must[*godo.Action](t)(act.Get(t.Context(), d.ID, action.ID)); got.Status != "completed" {
			t.Errorf("%s is %s", got.Type, got.Status)
		}
		return must[*godo.Droplet](t)(a.do.Droplets.Get(t.Context(), d.ID))
	}
	fails := func(want string) func(*godo.Action, *godo.Response, error) {
		return func(_ *godo.Action, _ *godo.Response, err error) {
			t.Helper()
			refused(t, err, 422, want)
		}
	}
	fails("Droplet is already powered on.")(act.PowerOn(t.Context(), d.ID))
	fails("Droplet must be powered off before it can be resized.")(act.Resize(t.Context(), d.ID, "s-1vcpu-2gb", true))
	if got := done(act.Rename(t.Context(), d.ID, "renamed")); got.Name != "renamed" {
		t.Errorf("renamed to %q", got.Name)
	}
	if got := done(act.Reboot(t.Context(), d.ID)); got.Status != "active" {
		t.Errorf("%q after a reboot", got.Status)
	}
	if got := done(act.PowerCycle(t.Context(), d.ID)); got.Status != "active" {
		t.Errorf("%q after a power cycle", got.Status)
	}
	if got := done(act.Shutdown(t.Context(), d.ID)); got.Status != "off" {
		t.Errorf("%q after a shutdown", got.Status)
	}
	fails("Droplet is currently powered off.")(act.Reboot(t.Context(), d.ID))
	fails("Size can not decrease size of Droplet's disk image")(act.Resize(t.Context(), d.ID, "s-1vcpu-512mb-10gb", true))
	if got := done(act.Resize(t.Context(), d.ID, "s-1vcpu-2gb", false)); got.SizeSlug != "s-1vcpu-2gb" || got.Disk != 25 || got.Memory != 2048 || got.Status != "off" {
		t.Errorf("resized to %v", got)
	}
	if got := done(act.Resize(t.Context(), d.ID, "s-2vcpu-4gb", true)); got.Disk != 80 {
		t.Errorf("resized to a disk of %d", got.Disk)
	}
	if got := done(act.PowerOn(t.Context(), d.ID)); got.Status != "active" {
		t.Errorf("%q after power on", got.Status)
	}
	before, _ := d.PublicIPv4()
	got := done(act.RebuildByImageID(t.Context(), d.ID, image.ID))
	if after, _ := got.PublicIPv4(); got.Image.ID != image.ID || after != before {
		t.Errorf("rebuilt from %d at %s, want %d at %s", got.Image.ID, after, image.ID, before)
	}
	fails("IPv6 is not supported for Droplets that are created from custom images.")(act.EnableIPv6(t.Context(), d.ID))
	fails("You specified an invalid image for Droplet rebuild.")(act.RebuildByImageSlug(t.Context(), d.ID, "nixos"))
	if got := done(act.RebuildByImageSlug(t.Context(), d.ID, "debian-12-x64")); got.Image.Slug != "debian-12-x64" {
		t.Errorf("rebuilt from %v", got.Image)
	}
	if got := done(act.EnableBackups(t.Context(), d.ID)); !cmp.Equal(got.Features, []string{"backups", "private_networking"}) {
		t.Errorf("features %v", got.Features)
	}
	if got := done(act.EnableIPv6(t.Context(), d.ID)); len(got.Networks.V6) != 1 {
		t.Errorf("networks %v", got.Networks)
	}
	got = done(act.Snapshot(t.Context(), d.ID, "before"))
	saved := must[[]godo.Image](t)(a.do.Droplets.Snapshots(t.Context(), d.ID, nil))
	if len(saved) != 1 || saved[0].Name != "before" || saved[0].Type != "snapshot" || saved[0].MinDiskSize != 80 || !cmp.Equal(got.SnapshotIDs, []int{saved[0].ID}) {
		t.Errorf("snapshots %v, ids %v", saved, got.SnapshotIDs)
	}
	fails(`The action type "explode" is not valid for this Droplet.`)(rawAction(a, d.ID, "explode"))
	_, _, err := act.PowerOff(t.Context(), d.ID)
	if err != nil {
		t.Fatal(err)
	}
	fails("Droplet already has a pending event.")(act.PowerOff(t.Context(), d.ID))
	_, err = a.do.Droplets.Delete(t.Context(), d.ID)
	refused(t, err, 422, "Droplet already has a pending event.")
	if all := must[[]godo.Action](t)(a.do.Droplets.Actions(t.Context(), d.ID, nil)); all[0].Type != "power_off" || all[len(all)-1].Type != "create" {
		t.Errorf("the actions are %v", all)
	}
}

// rawAction requests an action that the client does not have.
func rawAction(a *account, id int, kind string) (*godo.Action, *godo.Response, error) {
	q, err := a.do.NewRequest(a.Context(), "POST", fmt.Sprintf("v2/droplets/%d/actions", id), godo.ActionRequest{"type": kind})
	if err != nil {
		return nil, nil, err
	}
	answer, err := a.do.Do(a.Context(), q, nil)
	return nil, answer, err
}

func TestActionsByTag(t *testing.T) {
	a := start(t)
	for _, name := range []string{"a", "b", "c"} {
		r := ubuntu(name)
		if name != "c" {
			r.Tags = []string{"pool"}
		}
		must[*godo.Droplet](t)(a.do.Droplets.Create(t.Context(), r))
	}
	a.clock.Advance(time.Minute)
	if all := must[[]godo.Action](t)(a.do.DropletActions.PowerOffByTag(t.Context(), "pool")); len(all) != 2 {
		t.Errorf("the actions are %v", all)
	}
	a.clock.Advance(time.Minute)
	var got []string
	for _, d := range must[[]godo.Droplet](t)(a.do.Droplets.List(t.Context(), nil)) {
		got = append(got, d.Name+" "+d.Status)
	}
	if want := []string{"a off", "b off", "c active"}; !cmp.Equal(got, want) {
		t.Errorf("they are %v, want %v", got, want)
	}
}
