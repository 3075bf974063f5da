package kinds_test

import (
	"testing"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
)

func ptr[T any](v T) *T { return &v }

// declared is a Droplet of the image 7 with everything that is compared.
func declared() digitalocean.DropletParameters {
	return digitalocean.DropletParameters{
		Name: ptr("vm"), Region: ptr("fra1"), Size: ptr("s-1vcpu-1gb"), Image: ptr("7"), SSHKeys: []string{"1", "aa:bb"}, Tags: []string{"web", "Env:Prod"},
		UserData: ptr("{ }: { }"), VPCUUID: ptr("vpc"), Backups: ptr(false), IPv6: ptr(false), Monitoring: ptr(false), DropletAgent: ptr(false),
	}
}

// there is the same Droplet as DigitalOcean has it.
func there() *godo.Droplet {
	return &godo.Droplet{
		ID: 3, Name: "vm", Region: &godo.Region{Slug: "fra1"}, SizeSlug: "s-1vcpu-1gb", Image: &godo.Image{ID: 7}, Status: "active", VPCUUID: "vpc",
		Tags: []string{"env:prod", "web", "headgate-managed", "headgate-uid:x", "headgate-gen:1"}, Features: []string{"private_networking"},
	}
}

func TestDroplet(t *testing.T) {
	type change = kinds.Change
	active := kinds.Outcome{Condition: kinds.Available}
	for name, tc := range map[string]struct {
		reason string
		want   func(*digitalocean.DropletParameters)
		facts  func(*kinds.DropletFacts)
		out    kinds.Outcome
	}{
		"Same":     {"nothing differs: tags have no order and no case, and ours are not users'", nil, nil, active},
		"Missing":  {"it does not exist", nil, func(f *kinds.DropletFacts) { f.Observed = nil }, kinds.Outcome{Condition: kinds.Missing, Message: "the Droplet does not exist"}},
		"New":      {"it is being created", nil, func(f *kinds.DropletFacts) { f.Observed.Status = "new" }, kinds.Outcome{Condition: kinds.Creating, Message: "the Droplet is being created", Wait: true}},
		"Archived": {"a status that does not run", nil, func(f *kinds.DropletFacts) { f.Observed.Status = "archive" }, kinds.Outcome{Condition: kinds.Unavailable, Message: `the status of the Droplet is "archive"`}},
		"Off":      {"powered off by others: by default that is reported", nil, func(f *kinds.DropletFacts) { f.Observed.Status = "off" }, kinds.Outcome{Condition: kinds.Unavailable, Message: "the Droplet is powered off"}},
		"KeptOn": {
			"by policy it is powered on", nil, func(f *kinds.DropletFacts) { f.Observed.Status, f.Power = "off", kinds.KeepOn },
			kinds.Outcome{Condition: kinds.Unavailable, Message: "the Droplet is powered off", Changes: []change{{"status", "active", "off"}}, Next: &kinds.Call{Verb: kinds.PowerOn}},
		},
		"Rename": {
			"a name is changed in place", func(w *digitalocean.DropletParameters) { w.Name = ptr("web") }, nil,
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"name", "web", "vm"}}, Next: &kinds.Call{Verb: kinds.Rename, To: "web"}},
		},
		"Pending": {
			"there is one action at a time", func(w *digitalocean.DropletParameters) { w.Name = ptr("web") }, func(f *kinds.DropletFacts) { f.Pending = true },
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"name", "web", "vm"}}, Wait: true},
		},
		"SizeOn": {
			"a Droplet is resized while it is off", func(w *digitalocean.DropletParameters) { w.Size = ptr("s-1vcpu-2gb") }, nil,
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"size", "s-1vcpu-2gb", "s-1vcpu-1gb"}}, Next: &kinds.Call{Verb: kinds.PowerOff}},
		},
		"SizeOff": {
			"and then with its disk", func(w *digitalocean.DropletParameters) { w.Size = ptr("s-1vcpu-2gb") }, func(f *kinds.DropletFacts) { f.Observed.Status, f.Restart, f.Power = "off", true, kinds.KeepOn },
			kinds.Outcome{
				Condition: kinds.Unavailable, Message: "the Droplet is powered off", Changes: []change{{"size", "s-1vcpu-2gb", "s-1vcpu-1gb"}, {"status", "active", "off"}},
				Next: &kinds.Call{Verb: kinds.Resize, To: "s-1vcpu-2gb", Disk: true},
			},
		},
		"SizeWithoutDisk": {
			"unless the disk is to stay", func(w *digitalocean.DropletParameters) { w.Size, w.ResizeDisk = ptr("s-1vcpu-2gb"), ptr(false) }, func(f *kinds.DropletFacts) { f.Observed.Status = "off" },
			kinds.Outcome{Condition: kinds.Unavailable, Message: "the Droplet is powered off", Changes: []change{{"size", "s-1vcpu-2gb", "s-1vcpu-1gb"}}, Next: &kinds.Call{Verb: kinds.Resize, To: "s-1vcpu-2gb"}},
		},
		"Restart": {
			"and then it is powered on again", nil, func(f *kinds.DropletFacts) { f.Observed.Status, f.Restart = "off", true },
			kinds.Outcome{Condition: kinds.Unavailable, Message: "the Droplet is powered off", Changes: []change{{"status", "active", "off"}}, Next: &kinds.Call{Verb: kinds.PowerOn}},
		},
		"Backups": {
			"backups are turned on", func(w *digitalocean.DropletParameters) { w.Backups = ptr(true) }, nil,
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"backups", "true", "false"}}, Next: &kinds.Call{Verb: kinds.EnableBackups}},
		},
		"NoBackups": {
			"and off", nil, func(f *kinds.DropletFacts) { f.Observed.Features = []string{"backups"} },
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"backups", "false", "true"}}, Next: &kinds.Call{Verb: kinds.DisableBackups}},
		},
		"IPv6": {
			"IPv6 is turned on", func(w *digitalocean.DropletParameters) { w.IPv6 = ptr(true) }, nil,
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"ipv6", "true", "false"}}, Next: &kinds.Call{Verb: kinds.EnableIPv6}},
		},
		"NoIPv6": {
			"but never off", nil, func(f *kinds.DropletFacts) { f.Observed.Features = []string{"ipv6"} },
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"ipv6", "false", "true"}}},
		},
		"Tag": {
			"a tag is added, one at a time", func(w *digitalocean.DropletParameters) { w.Tags = []string{"one", "two"} }, nil,
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"tags", "one,two", "env:prod,web"}}, Next: &kinds.Call{Verb: kinds.Tag, To: "one"}},
		},
		"Untag": {
			"and others are taken away, but ours", func(w *digitalocean.DropletParameters) {
				w.Tags = []string{"web", "headgate-managed", "headgate-uid:y"}
			}, nil,
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"tags", "web", "env:prod,web"}}, Next: &kinds.Call{Verb: kinds.Untag, To: "env:prod"}},
		},
		"NoTags": {"tags that are not declared are left alone", func(w *digitalocean.DropletParameters) { w.Tags = nil }, nil, active},
		"Volumes": {
			"a volume is attached", func(w *digitalocean.DropletParameters) { w.VolumeIDs = []string{"v"} }, func(f *kinds.DropletFacts) { f.Observed.VolumeIDs = []string{"w"} },
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"volumeIds", "v", "w"}}, Next: &kinds.Call{Verb: kinds.Attach, To: "v"}},
		},
		"Detach": {
			"and detached", func(w *digitalocean.DropletParameters) { w.VolumeIDs = []string{} }, func(f *kinds.DropletFacts) { f.Observed.VolumeIDs = []string{"w"} },
			kinds.Outcome{Condition: kinds.Available, Changes: []change{{"volumeIds", "", "w"}}, Next: &kinds.Call{Verb: kinds.Detach, To: "w"}},
		},
		"Image": {
			"another image needs another Droplet", func(w *digitalocean.DropletParameters) { w.Image = ptr("8") }, nil,
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"image", "8", "7"}}},
		},
		"Rebuilt": {
			"it was rebuilt beside us", nil, func(f *kinds.DropletFacts) { f.Observed.Image.ID = 9 },
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"image", "7", "9"}}},
		},
		"NoImage": {"an image that is not resolved yet deletes nothing", func(w *digitalocean.DropletParameters) { w.Image = nil }, nil, active},
		"SlugMoved": {
			"a slug that means a newer image by now is the one it was created from", func(w *digitalocean.DropletParameters) { w.Image = ptr("debian-12-x64") },
			func(f *kinds.DropletFacts) { f.Recorded.Image, f.Observed.Image = "debian-12-x64", &godo.Image{ID: 6} }, active,
		},
		"OtherSlug": {
			"another slug is not", func(w *digitalocean.DropletParameters) { w.Image = ptr("debian-13-x64") },
			func(f *kinds.DropletFacts) { f.Recorded.Image = "debian-12-x64" },
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"image", "debian-13-x64", "debian-12-x64"}}},
		},
		"AdoptedSlug": {
			"of a Droplet that others created there is only its slug", func(w *digitalocean.DropletParameters) { w.Image = ptr("debian-13-x64") },
			func(f *kinds.DropletFacts) {
				f.Recorded, f.Observed.Image = kinds.DropletRecord{}, &godo.Image{ID: 6, Slug: "debian-12-x64"}
			},
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"image", "debian-13-x64", "debian-12-x64"}}},
		},
		"Region": {
			"another region", func(w *digitalocean.DropletParameters) { w.Region = ptr("nyc3") }, nil,
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"region", "nyc3", "fra1"}}},
		},
		"VPC": {
			"another network", func(w *digitalocean.DropletParameters) { w.VPCUUID = ptr("other") }, nil,
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"vpcUuid", "other", "vpc"}}},
		},
		"Keys": {
			"other keys", func(w *digitalocean.DropletParameters) { w.SSHKeys = []string{"1"} }, nil,
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"sshKeys", "1", "1,aa:bb"}}},
		},
		"UserData": {
			"other user data, which are not shown", func(w *digitalocean.DropletParameters) { w.UserData = ptr("password") }, nil,
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"userData", "", ""}}},
		},
		"Switches": {
			"agents are installed at the creation only", func(w *digitalocean.DropletParameters) {
				w.Monitoring, w.DropletAgent, w.PublicNetworking = ptr(true), ptr(true), ptr(false)
			}, nil,
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"monitoring", "true", "false"}, {"dropletAgent", "true", "false"}, {"publicNetworking", "false", ""}}},
		},
		"Explicit": {
			"to declare what is usual changes nothing", func(w *digitalocean.DropletParameters) { w.PublicNetworking = ptr(true) }, func(f *kinds.DropletFacts) { f.Recorded.Monitoring = nil }, active,
		},
		"Adopted": {
			"of a Droplet that others created nothing is recorded, and nothing is assumed", func(w *digitalocean.DropletParameters) {
				w.UserData, w.SSHKeys, w.Monitoring = ptr("other"), []string{"9"}, ptr(true)
			}, func(f *kinds.DropletFacts) { f.Recorded = kinds.DropletRecord{} }, active,
		},
		"Both": {
			"what can be changed is, whatever is decided about the rest", func(w *digitalocean.DropletParameters) { w.Name, w.Image = ptr("web"), ptr("8") }, nil,
			kinds.Outcome{Condition: kinds.Available, Replace: []change{{"image", "8", "7"}}, Changes: []change{{"name", "web", "vm"}}, Next: &kinds.Call{Verb: kinds.Rename, To: "web"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := declared()
			facts := kinds.DropletFacts{Observed: there(), Recorded: kinds.RecordDroplet(want)}
			if tc.want != nil {
				tc.want(&want)
			}
			if tc.facts != nil {
				tc.facts(&facts)
			}
			got := kinds.Droplet(want, facts)
			if diff := cmp.Diff(tc.out, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got.OnlyImage() != (len(tc.out.Replace) == 1 && tc.out.Replace[0].Field == "image") || got.UpToDate() != (tc.out.Changes == nil && tc.out.Replace == nil) {
				t.Errorf("%s: up to date %v, only the image differs %v", tc.reason, got.UpToDate(), got.OnlyImage())
			}
		})
	}
}

func TestCreateDroplet(t *testing.T) {
	want := declared()
	want.Image, want.IPv6, want.Backups = ptr("debian-12-x64"), ptr(true), ptr(true)
	want.BackupPolicy, want.VolumeIDs = []digitalocean.BackupPolicy{{Plan: ptr("weekly"), Hour: ptr(4.0)}}, []string{"v"}
	want.Tags = append(want.Tags, "headgate-managed", "headgate-uid:stolen")
	got, err := kinds.CreateDroplet(want, kinds.OwnTags("x", 2))
	if err != nil {
		t.Fatal(err)
	}
	expected := &godo.DropletCreateRequest{
		Name: "vm", Region: "fra1", Size: "s-1vcpu-1gb", Image: godo.DropletCreateImage{Slug: "debian-12-x64"},
		SSHKeys: []godo.DropletCreateSSHKey{{ID: 1}, {Fingerprint: "aa:bb"}}, Backups: true, IPv6: true, UserData: "{ }: { }", VPCUUID: "vpc",
		Volumes: []godo.DropletCreateVolume{{ID: "v"}}, Tags: []string{"web", "Env:Prod", "headgate-managed", "headgate-uid:x", "headgate-gen:2"}, WithDropletAgent: ptr(false),
		BackupPolicy: &godo.DropletBackupPolicyRequest{Plan: "weekly", Hour: ptr(4)},
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	want.Image = ptr("")
	if _, err := kinds.CreateDroplet(want, nil); err == nil || err.Error() != "creating a Droplet: spec.forProvider.image is required" {
		t.Errorf("the error is %v", err)
	}
	if attempt, owned := kinds.Attempt(got.Tags, "X"); !owned || attempt != 2 {
		t.Errorf("attempt %d, owned %v", attempt, owned)
	}
	if _, owned := kinds.Attempt(got.Tags, "stolen"); owned {
		t.Error("a manifest claims the object of another resource")
	}
}

func TestClassic(t *testing.T) {
	want := kinds.FromClassic(digitalocean.ClassicDropletParameters{Region: "fra1", Size: "s-1vcpu-1gb", Image: "7", SSHKeys: []string{"1"}, WithDropletAgent: ptr(true)}, "vm")
	expected := digitalocean.DropletParameters{
		Name: ptr("vm"), Region: ptr("fra1"), Size: ptr("s-1vcpu-1gb"), Image: ptr("7"), SSHKeys: []string{"1"}, DropletAgent: ptr(true),
	}
	if diff := cmp.Diff(expected, want); diff != "" {
		t.Errorf("a classic Droplet (-want +got):\n%s", diff)
	}
}
