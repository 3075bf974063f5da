package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/api/crossplane/digitalocean/namespaced/droplet"
	"github.com/headgate-dev/headgate/api/crossplane/digitalocean/namespaced/ssh"
	"github.com/headgate-dev/headgate/chart"
)

// region is where the machine runs, and where its image is needed.
const region = "nyc3"

// describeMachine is the machine, and the key of the person who can log in.
func describeMachine(c *chart.Chart, image imageSecret) {
	ada := chart.Add(c, "key", &ssh.Key{
		TypeMeta:   metav1.TypeMeta{APIVersion: "ssh.digitalocean.m.crossplane.io/v1alpha1", Kind: "Key"},
		ObjectMeta: metav1.ObjectMeta{Name: "ada"},
		Spec: ssh.KeySpec{ForProvider: digitalocean.KeyParameters{
			Name: of("ada"), PublicKey: of("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPPGDUUVMfqyB7M2RH8pAqhuXj5ut8LZ8STlZcKXzxT5 ada@example.com"),
		}},
	})
	machine := &droplet.Droplet{
		TypeMeta: metav1.TypeMeta{APIVersion: "droplet.digitalocean.m.crossplane.io/v1alpha1", Kind: "Droplet"},
		// How often DigitalOcean is asked whether it is still there; one minute by default.
		ObjectMeta: metav1.ObjectMeta{Name: "proxy", Annotations: map[string]string{"crossplane.io/poll-interval": "10s"}},
		Spec: droplet.Spec{ForProvider: digitalocean.DropletParameters{
			Name: of("proxy"), Region: of(region), Size: of("s-1vcpu-1gb"),
			ImageFrom:   &digitalocean.ImageSource{SecretKeyRef: &digitalocean.SecretKey{Name: image.name, Key: image.key}},
			SSHKeysRefs: []digitalocean.Reference{{Name: ada.Name()}},
		}},
	}
	// The next one runs before this one is deleted.
	machine.Spec.ReplacementPolicy = "CreateBeforeDestroy"
	chart.Add(c, "machine", machine).DependsOn(ada)
}
