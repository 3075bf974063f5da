package digitalocean_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/cloud"
)

// declared is a Droplet with more fields of spec and of forProvider.
func declared(spec, fields string) string {
	return `
apiVersion: droplet.digitalocean.crossplane.io/v1alpha1
kind: Droplet
metadata: {name: web}
spec:
  ` + spec + `
  forProvider: {region: fra1, size: s-1vcpu-1gb, ` + fields + `}
`
}

const ubuntu = "image: ubuntu-24-04-x64"

// TestCreatedAndDeleted creates a Droplet, creates it again when it was deleted out of band, and deletes it.
func TestCreatedAndDeleted(t *testing.T) {
	w := begin(t, declared("", ubuntu+", userData: very-secret"))
	w.run()
	first := w.one()
	if first.Name != "web" || !w.ready.True || !w.synced.True || !w.upToDate.True {
		t.Fatalf("%+v: ready %+v, synced %+v, up to date %+v", first, w.ready, w.synced, w.upToDate)
	}
	w.ok(w.Delete("droplet", "web"))
	w.clock.Advance(time.Minute)
	w.run()
	if second := w.one(); second.ID == first.ID || !w.ready.True {
		t.Errorf("Droplet %d after %d was deleted: %+v", second.ID, first.ID, w.ready)
	}
	if text := fmt.Sprint(w.object.Object["status"], w.events); strings.Contains(text, "very-secret") {
		t.Errorf("user data is shown: %s", text)
	}
	w.delete()
	w.clock.Advance(time.Minute)
	w.run()
	if left := w.state().Droplets; len(left) != 0 {
		t.Errorf("left after the deletion: %+v", left)
	}
	if posts := w.posts("/v2/droplets"); len(posts) != 2 {
		t.Errorf("%d creations, want 2", len(posts))
	}
}

// TestOneDropletPerIntent creates one Droplet whatever becomes of the answer.
func TestOneDropletPerIntent(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		faults []cloud.Fault
		posts  int
	}{
		"Gateway":   {"it was created, and is visible at once", []cloud.Fault{{Kind: cloud.LoseAnswer}}, 1},
		"Dropped":   {"the connection ended", []cloud.Fault{{Kind: cloud.Drop}}, 1},
		"Late":      {"it was created, and is visible later", []cloud.Fault{{Kind: cloud.LoseAnswer}, {Kind: cloud.Late, For: 45 * time.Second}}, 1},
		"Nothing":   {"nothing was created", []cloud.Fault{{Kind: cloud.Refuse}}, 2},
		"Throttled": {"nothing was created, and that is certain", []cloud.Fault{{Kind: cloud.Throttle, For: time.Second}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, declared("", ubuntu))
			for i := range tc.faults {
				tc.faults[i].Method, tc.faults[i].Path = "POST", "/v2/droplets"
			}
			w.ok(w.Inject(tc.faults...))
			w.run()
			w.one()
			log := w.posts("/v2/droplets")
			if len(log) != tc.posts {
				t.Errorf("%s: %d creations, want %d", tc.reason, len(log), tc.posts)
			}
			if len(log) > 1 && log[0].Status >= 500 && log[1].Time.Sub(log[0].Time) < time.Minute {
				t.Errorf("%s: the second one came after %s", tc.reason, log[1].Time.Sub(log[0].Time))
			}
		})
	}
}

// TestKilledAnywhere ends the process before each write to the cluster in turn, while a Droplet is created and while it is replaced in
// each way: there is one Droplet in the end, and no more creations than intents.
func TestKilledAnywhere(t *testing.T) {
	for name, tc := range map[string]struct {
		policy string
		posts  int
	}{
		"Recreate":            {"Recreate", 2},
		"CreateBeforeDestroy": {"CreateBeforeDestroy", 2},
		"RebuildInPlace":      {"RebuildInPlace", 1},
	} {
		for write := 1; write < 8; write++ {
			t.Run(fmt.Sprintf("%s/%d", name, write), func(t *testing.T) {
				w := begin(t, declared("replacementPolicy: "+tc.policy, ubuntu))
				w.dies = write
				w.run()
				first := w.one()
				w.declare(declared("replacementPolicy: "+tc.policy, "image: debian-12-x64"))
				w.clock.Advance(time.Minute)
				w.restart()
				w.dies = write
				w.run()
				w.restart()
				w.run()
				last := w.one()
				if last.Image == first.Image || !w.ready.True || !w.upToDate.True {
					t.Errorf("%+v after %+v; ready %+v, up to date %+v", last, first, w.ready, w.upToDate)
				}
				if posts := w.posts("/v2/droplets"); len(posts) != tc.posts {
					t.Errorf("%d creations, want %d: %v", len(posts), tc.posts, w.events)
				}
			})
		}
	}
}

// TestNeverReplaced keeps a Droplet that upstream would refuse to change, and says why.
func TestNeverReplaced(t *testing.T) {
	w := begin(t, declared("", ubuntu))
	w.run()
	w.declare(declared("", "image: debian-12-x64, tags: [web]"))
	w.run()
	d := w.one()
	if w.upToDate.True || w.upToDate.Reason != "ReplacementRequired" || !strings.Contains(w.upToDate.Message, "debian-12-x64") {
		t.Errorf("up to date: %+v", w.upToDate)
	}
	if !strings.Contains(strings.Join(d.Tags, ","), "web") || !w.ready.True {
		t.Errorf("what can be changed is not: %v, %+v", d.Tags, w.ready)
	}
}

// TestPower reports a Droplet that is powered off, and powers it on where that was declared.
func TestPower(t *testing.T) {
	for policy, status := range map[string]string{"Report": "off", "KeepOn": "active"} {
		t.Run(policy, func(t *testing.T) {
			w := begin(t, declared("powerPolicy: "+policy, ubuntu))
			w.run()
			w.ok(w.PowerOff("web"))
			w.clock.Advance(time.Minute)
			w.run()
			if d := w.one(); d.Status != status || w.ready.True != (status == "active") {
				t.Errorf("it is %s, ready %+v", d.Status, w.ready)
			}
			if status == "off" && w.ready.Message != "the Droplet is powered off" {
				t.Errorf("ready: %+v", w.ready)
			}
		})
	}
}

// TestResized powers a Droplet off for another size, and on again, also when the process ends in between.
func TestResized(t *testing.T) {
	for write := range 4 {
		w := begin(t, declared("", ubuntu))
		w.run()
		w.declare(strings.ReplaceAll(declared("", ubuntu), "s-1vcpu-1gb", "s-1vcpu-2gb"))
		w.dies = write
		w.run()
		if d := w.one(); d.Size != "s-1vcpu-2gb" || d.Status != "active" || !w.ready.True {
			t.Errorf("killed before write %d: %+v, ready %+v", write, d, w.ready)
		}
	}
}

// TestImageFromSecret follows the image that a Secret names.
func TestImageFromSecret(t *testing.T) {
	const from = "imageFrom: {secretKeyRef: {namespace: default, name: nixos-connection, key: image}}"
	w := begin(t, declared("", from))
	key := "sshKeys: ['" + w.key() + "'], "
	w.declare(declared("", key+from))
	w.run()
	if len(w.state().Droplets) != 0 || w.ready.Reason != "WaitingForImage" || !w.synced.True {
		t.Fatalf("without a Secret: ready %+v, synced %+v", w.ready, w.synced)
	}
	first := w.imported("nixos-20261120")
	w.secrets["default/nixos-connection"] = map[string]string{"image": first}
	w.run()
	before := w.one()
	if fmt.Sprint(before.Image) != first {
		t.Fatalf("the image is %d, want %s", before.Image, first)
	}

	// The Secret goes, and with it the Droplet: it comes back from the image that it had.
	delete(w.secrets, "default/nixos-connection")
	w.clock.Advance(time.Minute)
	w.run()
	w.ok(w.Delete("droplet", "web"))
	w.clock.Advance(time.Minute)
	w.run()
	again := w.one()
	if again.ID == before.ID || again.Image != before.Image || !w.ready.True {
		t.Fatalf("after %+v: %+v, ready %+v", before, again, w.ready)
	}

	// A name means the newest image. A newer one of the same name changes nothing.
	second := w.imported("nixos-latest")
	w.secrets["default/nixos-connection"] = map[string]string{"image": "nixos-latest\n"}
	w.clock.Advance(time.Minute)
	w.run()
	next := w.one()
	if next.ID == again.ID || fmt.Sprint(next.Image) != second {
		t.Fatalf("the image is %d, want %s: %+v", next.Image, second, w.upToDate)
	}
	w.imported("nixos-latest")
	w.run()
	if same := w.one(); same.ID != next.ID || !w.upToDate.True {
		t.Errorf("another image of the name: %+v, %+v", same, w.upToDate)
	}
}

// TestSecretsAreNotShown keeps values of a Secret that name no image out of everything that is shown: an account that can create a Droplet may not be permitted to read it.
func TestSecretsAreNotShown(t *testing.T) {
	const from = "imageFrom: {secretKeyRef: {namespace: default, name: other, key: password}}"
	for name, tc := range map[string]struct{ reason, value, says string }{
		"Text":   {"a text is not the name of an image", "hunter2", `key "password" of Secret other: no public image has that slug, and no private one that name`},
		"Number": {"a number is not that of an image", "42424242", `the image that key "password" of Secret other names does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			hidden := func(w *world) {
				t.Helper()
				if text := fmt.Sprint(w.object.Object["status"], w.object.GetAnnotations(), w.events, w.ready, w.synced, w.upToDate); strings.Contains(text, tc.value) {
					t.Errorf("%s: it is shown: %s", tc.reason, text)
				}
			}
			w := begin(t, declared("", from))
			w.secrets["default/other"] = map[string]string{"password": tc.value}
			w.pass()
			if w.ready.Reason != "WaitingForImage" || w.ready.Message != tc.says {
				t.Errorf("%s: ready %+v", tc.reason, w.ready)
			}
			hidden(w)
			// Nor does one that exists show it, which is kept.
			for _, policy := range []string{"Never", "Recreate", "CreateBeforeDestroy", "RebuildInPlace"} {
				w = begin(t, declared("replacementPolicy: "+policy, ubuntu))
				w.secrets["default/other"] = map[string]string{"password": tc.value}
				w.run()
				first := w.one()
				w.declare(declared("replacementPolicy: "+policy, from))
				for range 3 {
					w.pass()
					w.clock.Advance(time.Minute)
				}
				if last := w.one(); last.ID != first.ID || !w.ready.True {
					t.Errorf("%s, %s: %+v, ready %+v", tc.reason, policy, last, w.ready)
				}
				if name == "Number" && policy != "Never" && !strings.Contains(w.upToDate.Message, tc.says) {
					t.Errorf("%s, %s: up to date %+v", tc.reason, policy, w.upToDate)
				}
				hidden(w)
			}
		})
	}
}

// TestNothingIsDeletedForAnImageThatIsNotThere keeps a Droplet until its successor could be created.
func TestNothingIsDeletedForAnImageThatIsNotThere(t *testing.T) {
	for _, policy := range []string{"Recreate", "CreateBeforeDestroy", "RebuildInPlace"} {
		w := begin(t, declared("replacementPolicy: "+policy, ubuntu))
		w.run()
		first := w.one()
		w.declare(declared("replacementPolicy: "+policy, "image: '4711'"))
		for range 5 {
			w.pass()
			w.clock.Advance(time.Minute)
		}
		if last := w.one(); last.ID != first.ID || last.Image != first.Image || w.upToDate.True || !strings.Contains(w.upToDate.Message, "image 4711 does not exist") {
			t.Errorf("%s: %+v, %+v", policy, last, w.upToDate)
		}
	}
}

// TestRefusedByName names what is not supported, and what is wrong with a login, without it.
func TestRefusedByName(t *testing.T) {
	for name, tc := range map[string]struct{ manifest, login, says string }{
		"Tags":     {declared("", ubuntu+", tagsRefs: [{name: web}]"), "t", "spec.forProvider.tagsRefs is not supported"},
		"VPC":      {declared("", ubuntu+", vpcUuidSelector: {}"), "t", "spec.forProvider.vpcUuidSelector is not supported"},
		"VPCRef":   {declared("", ubuntu+", vpcUuidRef: {name: net}"), "t", "spec.forProvider.vpcUuidRef is not supported"},
		"TagsOf":   {declared("", ubuntu+", tagsSelector: {}"), "t", "spec.forProvider.tagsSelector is not supported"},
		"InitRef":  {declared("initProvider: {sshKeysRefs: [{name: x}]}", ubuntu), "t", "spec.initProvider.sshKeysRefs is not supported: set it in spec.forProvider"},
		"InitLast": {declared("initProvider: {gracefulShutdown: true}", ubuntu), "t", "spec.initProvider.gracefulShutdown is not supported: set it in spec.forProvider"},
		"Both":     {declared("", ubuntu+", imageFrom: {secretKeyRef: {namespace: x, name: x, key: x}}"), "t", "image and imageFrom are both set"},
		"Endpoint": {declared("", ubuntu), `{"token":"my-token","api_endpoint":"http://169.254.169.254/"}`, "api_endpoint is not an API that this engine may call"},
		"Login":    {declared("", ubuntu), `{"token":"my-token`, "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, tc.manifest)
			w.secrets["crossplane-system/login"] = map[string]string{"token": tc.login}
			w.run()
			if w.synced.True || !strings.Contains(w.synced.Message, tc.says) || strings.Contains(w.synced.Message, "my-token") {
				t.Errorf("synced: %+v, want %q", w.synced, tc.says)
			}
		})
	}
}

// TestInitProvider has what is only declared for the creation: it is created with, yields to forProvider, and is not compared later.
func TestInitProvider(t *testing.T) {
	w := begin(t, declared("initProvider: {tags: [first], size: s-1vcpu-2gb, monitoring: true}", ubuntu))
	w.run()
	first := w.one()
	if tags := strings.Join(first.Tags, ","); !strings.Contains(tags, "first") || first.Size != "s-1vcpu-1gb" || !strings.Contains(strings.Join(first.Features, ","), "monitoring") {
		t.Errorf("it was created as %+v", first)
	}
	w.declare(declared("replacementPolicy: Recreate\n  initProvider: {tags: [second], monitoring: false}", ubuntu))
	w.run()
	if last := w.one(); last.ID != first.ID || strings.Contains(strings.Join(last.Tags, ","), "second") || !w.upToDate.True {
		t.Errorf("it is compared: %+v, up to date %+v", last, w.upToDate)
	}
}

// TestGracefulShutdown shuts a Droplet down before it is deleted, and deletes it without where that was not declared.
func TestGracefulShutdown(t *testing.T) {
	for fields, want := range map[string]string{
		ubuntu: "DELETE", ubuntu + ", gracefulShutdown: false": "DELETE", ubuntu + ", gracefulShutdown: true": "POST shutdown,DELETE",
	} {
		t.Run(fields, func(t *testing.T) {
			w := begin(t, declared("", fields))
			w.run()
			made := w.one()
			before := len(w.Audit().Done())
			w.delete()
			w.run()
			var got []string
			for _, e := range w.Audit().Done()[before:] {
				text := e.Method
				if kind, is := e.Body["type"].(string); is {
					text += " " + kind
				}
				got = append(got, text)
			}
			if all := strings.Join(got, ","); all != want || len(w.state().Droplets) != 0 {
				t.Errorf("Droplet %d was deleted by %q, want %q; left %+v", made.ID, all, want, w.state().Droplets)
			}
		})
	}
}

// TestObserved says of a Droplet that is only observed that it does not exist, whatever it would be created from.
func TestObserved(t *testing.T) {
	for name, fields := range map[string]string{"NoImage": "image: ''", "Image": ubuntu} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, declared("managementPolicies: [Observe]", fields))
			w.run()
			if w.synced.True || w.synced.Message != "external resource does not exist" || w.ready.Reason != "Unavailable" || len(w.Audit().Select("POST", "")) != 0 {
				t.Errorf("synced %+v, ready %+v", w.synced, w.ready)
			}
		})
	}
}

// TestImageRequired waits for a person where no image is named.
func TestImageRequired(t *testing.T) {
	w := begin(t, declared("", "image: ''"))
	w.run()
	if w.ready.Reason != "ImageRequired" || len(w.Audit().Select("POST", "")) != 0 {
		t.Errorf("ready: %+v", w.ready)
	}
}
