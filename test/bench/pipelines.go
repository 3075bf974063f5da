package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/promote"
)

// pipelines measures Warehouses that follow repositories of a registry with many tags each: how long until all have Freight, what one costs, and what is
// asked of the API server at rest; and how long an image takes from its push until it is healthy in a Stage that a policy promotes to.
type pipelines struct {
	count, tags int
	idle        time.Duration
}

func kargoKind(plural string) schema.GroupVersionResource {
	return v1alpha1.GroupVersion.WithResource(plural)
}

func (b pipelines) measure(ctx context.Context) error {
	options := promote.Options{Told: true}
	return measured(ctx, kit.Options{Serve: []string{"kargo", "argocd"}, Dialects: dialects.With(dialects.Options{Promote: options})}, b.run)
}

// push pushes one image under several tags.
func push(ctx context.Context, repository string, image v1.Image, tags ...string) error {
	for _, tag := range tags {
		ref, err := name.ParseReference(repository+":"+tag, name.Insecure)
		if err != nil {
			return err
		}
		if err := remote.Write(ref, image, remote.WithContext(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func (b pipelines) run(ctx context.Context, k *kit.Kit, client dynamic.Interface, audit string) error {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	image, err := random.Image(64, 1)
	if err != nil {
		return err
	}
	tags := make([]string, b.tags)
	for i := range tags {
		tags[i] = fmt.Sprintf("1.%d.0", i)
	}
	for i := range b.count {
		if err := push(ctx, fmt.Sprintf("%s/team/app%02d", host, i), image, tags...); err != nil {
			return err
		}
	}
	if err := create(ctx, client, kargoKind("projects"), "", "apiVersion: kargo.akuity.io/v1alpha1\nkind: Project\nmetadata: {name: shop}\n"); err != nil {
		return err
	}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if err := until(ctx, func() (bool, error) {
		_, err := client.Resource(namespaces).Get(ctx, "shop", metav1.GetOptions{})
		return err == nil, nil
	}); err != nil {
		return err
	}
	cpu, began := cpuTime(), time.Now()
	for i := range b.count {
		err := create(ctx, client, kargoKind("warehouses"), "shop", fmt.Sprintf(
			"apiVersion: kargo.akuity.io/v1alpha1\nkind: Warehouse\nmetadata: {name: app%02d}\nspec: {interval: 1h, subscriptions: [{image: {repoURL: %s/team/app%02d}}]}\n", i, host, i))
		if err != nil {
			return err
		}
	}
	found := func(u *unstructured.Unstructured) (bool, error) {
		freight, _, _ := unstructured.NestedString(u.Object, "status", "lastFreightID")
		return freight != "", nil
	}
	if err := allOf(ctx, client.Resource(kargoKind("warehouses")), b.count, found); err != nil {
		return err
	}
	if err := (costs{b.count, began, cpu, b.idle, audit}).print(ctx); err != nil {
		return err
	}
	return b.promoted(ctx, k, client, host+"/team/app00", image)
}

// promoted prints how long an image takes to a Stage.
func (b pipelines) promoted(ctx context.Context, k *kit.Kit, client dynamic.Interface, repository string, image v1.Image) error {
	err := create(ctx, client, kargoKind("projectconfigs"), "shop",
		"apiVersion: kargo.akuity.io/v1alpha1\nkind: ProjectConfig\nmetadata: {name: shop}\nspec: {promotionPolicies: [{stageSelector: {name: dev}, autoPromotionEnabled: true}]}\n")
	if err != nil {
		return err
	}
	host, _, _ := strings.Cut(repository, "/")
	err = create(ctx, client, kargoKind("stages"), "shop", fmt.Sprintf(`apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: dev}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: app00}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: http, config: {url: "http://%s/v2/"}}]}}
`, host))
	if err != nil {
		return err
	}
	healthy := func() (string, error) {
		u, err := client.Resource(kargoKind("stages")).Namespace("shop").Get(ctx, "dev", metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		state, _, _ := unstructured.NestedString(u.Object, "status", "health", "status")
		history, _, _ := unstructured.NestedSlice(u.Object, "status", "freightHistory")
		if state != "Healthy" || len(history) == 0 {
			return "", nil
		}
		return fmt.Sprint(history[0]), nil
	}
	const pushes = 5
	var all []time.Duration
	for i := range pushes {
		tag := fmt.Sprintf("2.%d.0", i)
		began := time.Now()
		if err := push(ctx, repository, image, tag); err != nil {
			return err
		}
		k.Engine.Nudge(func(url string) bool { return url == repository })
		if err := until(ctx, func() (bool, error) {
			has, err := healthy()
			return strings.Contains(has, tag), err
		}); err != nil {
			return err
		}
		all = append(all, time.Since(began))
	}
	fmt.Printf("image pushed to healthy Stage, ms: %v\n", milliseconds(all))
	return nil
}

// until waits until something is so.
func until(ctx context.Context, is func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := is()
		if err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func milliseconds(all []time.Duration) []int64 {
	var numbers []int64
	for _, d := range all {
		numbers = append(numbers, d.Milliseconds())
	}
	return numbers
}
