// Package digitalocean has the managed resources of DigitalOcean: Droplet, Image, Key and IP, in the API groups of the provider
// that upjet generates, and the Droplet of the classic provider.
//
// What an object needs next is decided by the pure functions of kinds, and requested through api. The package observes and
// carries out: one request that changes something per pass. It refuses to decide when a pass is made, which is up to managed,
// and to write anything to the cluster but by the methods of a managed.Resource.
package digitalocean

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	types "github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// Options are what a person says of how resources of DigitalOcean are served. The zero value is for the real API.
type Options struct {
	// Simulated, when set, is the account that stands in for that of DigitalOcean: credentials that name no API are for it,
	// whatever their token is. Only those that name the address of the real API reach that.
	Simulated *Simulated
	// Inference finds the image of a Droplet that declares none; by default it is found in the unit of the Droplet.
	Inference Inference
	// Clock is that of the machine if it is nil.
	Clock Clock
}

// Simulated is how a simulated account is reached.
type Simulated struct{ URL, Token string }

// Inference says where the image of a Droplet is taken from that declares none.
type Inference interface {
	// ImageOf is the value of a Secret that is meant, or why none is, with the candidates.
	ImageOf(ctx context.Context, r *managed.Resource) (from types.ImageSource, why string, err error)
}

// Clock tells the time.
type Clock interface{ Now() time.Time }

type machine struct{}

func (machine) Now() time.Time { return time.Now() }

// Provider brings the kinds of DigitalOcean.
type Provider struct{ options *Options }

// New returns the provider. The options are read when it is served.
func New(o *Options) *Provider {
	if o == nil {
		o = &Options{}
	}
	return &Provider{o}
}

// Definitions are the CustomResourceDefinitions of the groups.
func (p *Provider) Definitions() ([]*unstructured.Unstructured, error) {
	all, err := deploy.ProvisionCRDs()
	if err != nil {
		return nil, err
	}
	var own []*unstructured.Unstructured
	for _, d := range all {
		if group, _, _ := unstructured.NestedString(d.Object, "spec", "group"); ours(group) {
			own = append(own, d)
		}
	}
	return own, nil
}

// ours reports whether an API group is one of the provider.
func ours(group string) bool {
	for _, of := range []string{modern, namespaced, classic} {
		if group == of || strings.HasSuffix(group, "."+of) {
			return true
		}
	}
	return false
}

// Serve returns what reaches DigitalOcean.
func (p *Provider) Serve(_ context.Context, to managed.Tools) (managed.Connector, error) {
	options := *p.options
	if options.Inference == nil && to.Edges != nil {
		options.Inference = unit{to.Edges}
	}
	return newConnector(options, api.NewAccounts(api.Options{UserAgent: "headgate"})), nil
}

// Groups are the API groups.
func (p *Provider) Groups() []dialect.Group {
	var all []dialect.Group
	seen := map[string]bool{}
	add := func(name, controller string) {
		if !seen[name] {
			seen[name] = true
			all = append(all, dialect.Group{Name: name, Controllers: []string{controller}})
		}
	}
	for _, k := range p.Kinds() {
		controller := upjetController
		if strings.HasSuffix(k.Group, "."+classic) {
			controller = classicController
		}
		add(k.Group, controller)
		for _, c := range k.Configurations {
			add(c.Group, controller)
		}
	}
	return all
}
