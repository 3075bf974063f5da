package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/installation"
)

// fieldManager is that of what a migration writes.
const fieldManager = "headgate-migrate"

// Rest has Headgate's own Deployments leave to the engine what it served: those that serve nothing else are scaled to
// nothing. It returns what would start them again: the Kustomizations whose repositories declare them.
func (m *Migration) Rest(ctx context.Context) ([]string, error) {
	list, err := m.client.AppsV1().Deployments(toolkit.Namespace).List(ctx, metav1.ListOptions{LabelSelector: dialect.PartOf + "=headgate"})
	if err != nil {
		return nil, fmt.Errorf("listing Headgate's own Deployments: %w", err)
	}
	var declared []string
	for i := range list.Items {
		live := &list.Items[i]
		if by := live.Labels["kustomize.toolkit.fluxcd.io/name"]; by != "" {
			declared = append(declared, live.Labels["kustomize.toolkit.fluxcd.io/namespace"]+"/"+by)
		}
		d := Controller{Namespace: live.Namespace, Name: live.Name}
		left := m.remaining(installation.ServedBy(live))
		if len(left) > 0 {
			if err := m.serveOnly(ctx, live, left); err != nil {
				return nil, err
			}
			m.say("serves on", d.String()+": "+strings.Join(left, ","))
			continue
		}
		if err := m.scale(ctx, d, 0); err != nil {
			return nil, err
		}
		m.say("paused", d.String())
	}
	return declared, nil
}

// remaining are the groups that are not those of the engine.
func (m *Migration) remaining(served []string) []string {
	groups, err := dialects.All().Parse(served)
	if err != nil || len(served) == 0 {
		return nil
	}
	left := groups.Names()
	for _, upstream := range groups.Upstreams() {
		if upstream.Name == string(m.of) {
			left = slices.DeleteFunc(left, upstream.Serve.Serves)
		}
	}
	return left
}

// serveOnly has a Deployment of Headgate serve some groups only.
func (m *Migration) serveOnly(ctx context.Context, d *appsv1.Deployment, groups []string) error {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value"`
	}
	var patch []operation
	for c, container := range d.Spec.Template.Spec.Containers {
		for i, arg := range container.Args {
			if strings.HasPrefix(arg, "--serve=") {
				path := fmt.Sprintf("/spec/template/spec/containers/%d/args/%d", c, i)
				patch = append(patch, operation{"test", path, arg}, operation{"replace", path, "--serve=" + strings.Join(groups, ",")})
			}
		}
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encoding what Deployment %s/%s serves: %w", d.Namespace, d.Name, err)
	}
	_, err = m.client.AppsV1().Deployments(d.Namespace).Patch(ctx, d.Name, types.JSONPatchType, text, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("changing what Deployment %s/%s serves: %w", d.Namespace, d.Name, err)
	}
	return nil
}

func (m *Migration) scale(ctx context.Context, c Controller, replicas int32) error {
	patch, options := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{FieldManager: fieldManager}
	var err error
	if c.Kind == "" {
		_, err = m.client.AppsV1().Deployments(c.Namespace).Patch(ctx, c.Name, types.MergePatchType, patch, options)
	} else {
		_, err = m.client.AppsV1().StatefulSets(c.Namespace).Patch(ctx, c.Name, types.MergePatchType, patch, options)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("scaling %s to %d: %w", c.Described(), replicas, err)
	}
	return nil
}

// standing is how a controller stands.
type standing struct {
	selector *metav1.LabelSelector
	observed bool
	ready    int32
}

// look reads how a controller stands; there is none when it is gone.
func (m *Migration) look(ctx context.Context, c Controller) (now standing, there bool, err error) {
	if c.Kind == "" {
		live, err := m.client.AppsV1().Deployments(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
		if err != nil {
			return now, false, ignoreMissing(err)
		}
		return standing{live.Spec.Selector, live.Status.ObservedGeneration == live.Generation, live.Status.AvailableReplicas}, true, nil
	}
	live, err := m.client.AppsV1().StatefulSets(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	if err != nil {
		return now, false, ignoreMissing(err)
	}
	return standing{live.Spec.Selector, live.Status.ObservedGeneration == live.Generation, live.Status.ReadyReplicas}, true, nil
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// gone waits until a controller has no pods.
func (m *Migration) gone(ctx context.Context, c Controller) error {
	return m.until(ctx, "the pods of "+c.Described()+" to end", func() (bool, error) {
		now, there, err := m.look(ctx, c)
		if err != nil || !there {
			return err == nil, err
		}
		pods, err := m.client.CoreV1().Pods(c.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(now.selector)})
		return err == nil && len(pods.Items) == 0, err
	})
}

// running waits until a controller has the pods that it should have.
func (m *Migration) running(ctx context.Context, c Controller) error {
	return m.until(ctx, c.Described()+" to be available", func() (bool, error) {
		now, there, err := m.look(ctx, c)
		if err != nil || !there {
			return err == nil, err
		}
		return now.observed && now.ready >= c.Replicas, nil
	})
}
