package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/provision"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean"
)

// droplets measures how long many Droplets take under the rate limits of DigitalOcean, and what is requested of it then.
type droplets struct {
	n    int
	idle time.Duration
}

var (
	secretKind  = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	configKind  = schema.GroupVersionResource{Group: "digitalocean.crossplane.io", Version: "v1beta1", Resource: "providerconfigs"}
	dropletKind = schema.GroupVersionResource{Group: "droplet.digitalocean.crossplane.io", Version: "v1alpha1", Resource: "droplets"}
)

func (b droplets) measure(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	account, err := cloud.Start(ctx, cloud.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = account.Stop(context.WithoutCancel(ctx)) }()
	k, err := kit.Start(ctx, filepath.Join(dir, "kit"), kit.Options{Dialects: dialects.With(dialects.Options{Provision: provision.Options{
		DigitalOcean: &digitalocean.Options{Simulated: &digitalocean.Simulated{URL: account.URL, Token: account.Token()}},
	}})})
	if err != nil {
		return err
	}
	defer func() { _ = k.Stop(ctx) }()
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.declare(ctx, client); err != nil {
		return err
	}
	if err := b.ready(ctx, client); err != nil {
		return err
	}
	took, asked := time.Since(began), len(account.Audit())
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(b.idle):
	}
	rest := account.Audit()[asked:]
	refused := 0
	for _, e := range account.Audit() {
		if e.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	fmt.Printf("%8d  %7.1f  %16d  %17d  %22.1f  %7d\n", b.n, took.Seconds(), asked, len(account.Audit().Select("POST", "/v2/droplets")),
		float64(len(rest))/b.idle.Minutes(), refused)
	return nil
}

// declare declares the Droplets, and the login that they use.
func (b droplets) declare(ctx context.Context, client dynamic.Interface) error {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "login"}, "stringData": map[string]any{"token": "any"},
	}}
	if _, err := client.Resource(secretKind).Namespace("default").Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return err
	}
	config := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "digitalocean.crossplane.io/v1beta1", "kind": "ProviderConfig", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{"credentials": map[string]any{
			"source": "Secret", "secretRef": map[string]any{"namespace": "default", "name": "login", "key": "token"},
		}},
	}}
	if _, err := client.Resource(configKind).Create(ctx, config, metav1.CreateOptions{}); err != nil {
		return err
	}
	for i := range b.n {
		one := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "droplet.digitalocean.crossplane.io/v1alpha1", "kind": "Droplet", "metadata": map[string]any{"name": fmt.Sprintf("d%03d", i)},
			"spec": map[string]any{"forProvider": map[string]any{"region": "fra1", "size": "s-1vcpu-1gb", "image": "ubuntu-24-04-x64"}},
		}}
		if _, err := client.Resource(dropletKind).Create(ctx, one, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// ready waits until all Droplets are.
func (b droplets) ready(ctx context.Context, client dynamic.Interface) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		list, err := client.Resource(dropletKind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		ready := 0
		for _, u := range list.Items {
			if status, _, _ := unstructured.NestedString(u.Object, "status", "atProvider", "status"); status == "active" {
				ready++
			}
		}
		if ready == b.n {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
