package objects

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/crossplane/kubernetes"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// referredPrefix begins the finalizer of an Object on what it refers to.
const referredPrefix = "kubernetes.crossplane.io/referred-by-object-"

func finalizerOf(r *managed.Resource) string { return referredPrefix + string(r.Object.GetUID()) }

// resolve has every referent exist, and the manifest have their values. Referents are in the cluster of the engine.
func (x *external) resolve(ctx context.Context) error {
	var referred []referent
	for _, ref := range x.spec.References {
		of, has := referentOf(ref, x.resource.Kind.Group)
		if !has {
			continue
		}
		o, err := x.referent(ctx, of)
		if err != nil {
			return fmt.Errorf("cannot get referenced resource: %s: %w", of, err)
		}
		if o == nil {
			return managed.Invalid("cannot get referenced resource: %s not found", of)
		}
		of.Namespace = o.GetNamespace()
		if err := x.patchFrom(ref, o); err != nil {
			return fmt.Errorf("cannot patch from referenced resource: %w", err)
		}
		if x.holds(o) && (o.GetDeletionTimestamp() == nil || slices.Contains(x.record.Referred, of)) {
			referred = append(referred, of)
		}
	}
	return x.refer(ctx, referred)
}

// referent reads one, as the account of the Object if it has one: what that may not read gets into no manifest.
func (x *external) referent(ctx context.Context, of referent) (*unstructured.Unstructured, error) {
	if x.account.reader == "" {
		return x.resource.Read(ctx, of.gvk(), of.name())
	}
	by, err := x.accounts.impersonated(x.account.reader)
	if err != nil {
		return nil, err
	}
	return x.resource.ReadBy(ctx, by.Edges, of.gvk(), of.name())
}

// patchFrom has the manifest have the value of a referent.
func (x *external) patchFrom(ref kubernetes.Reference, o *unstructured.Unstructured) error {
	from := ref.PatchesFrom
	if from == nil || from.FieldPath == nil {
		return nil
	}
	if x.resource.Kind.Namespaced && o.GetNamespace() == "" {
		return managed.Invalid("%s %s: a resource in a namespace depends on objects without one, and takes no values of them", o.GetKind(), o.GetName())
	}
	to := *from.FieldPath
	if ref.ToFieldPath != nil {
		to = *ref.ToFieldPath
	}
	return x.manifest.patch(to, o, *from.FieldPath)
}

// holds reports whether a referent is kept from being deleted before the Object. Secrets and ConfigMaps are not: one that is deleted
// to have it made again would hang. What is without a namespace is not up to an Object in one.
func (x *external) holds(o *unstructured.Unstructured) bool {
	data := o.GetAPIVersion() == "v1" && (o.GetKind() == "Secret" || o.GetKind() == "ConfigMap")
	foreign := x.resource.Kind.Namespaced && o.GetNamespace() == ""
	return !data && !foreign
}

// refer has exactly these referents have the finalizer of the Object. It is remembered before, so that none is left behind.
func (x *external) refer(ctx context.Context, referred []referent) error {
	before := x.record.Referred
	if slices.Equal(before, referred) && !x.record.Unsettled {
		return nil
	}
	dropped := slices.DeleteFunc(slices.Clone(before), func(one referent) bool { return slices.Contains(referred, one) })
	x.record.Referred, x.record.Unsettled = append(slices.Clone(referred), dropped...), true
	if err := x.resource.Keep(ctx, x.record); err != nil {
		return err
	}
	by := x.Home
	if x.account.reader != "" {
		one, err := x.accounts.impersonated(x.account.reader)
		if err != nil {
			return err
		}
		by = one.Cluster
	}
	for _, of := range referred {
		if err := mark(ctx, marker{x.connector, by}, x.resource, of, true); err != nil {
			return fmt.Errorf("cannot add finalizer to referenced resource: %w", err)
		}
	}
	for _, of := range dropped {
		if err := mark(ctx, marker{x.connector, x.Home}, x.resource, of, false); err != nil {
			return fmt.Errorf("cannot remove finalizer from referenced resource: %w", err)
		}
	}
	x.record.Referred, x.record.Unsettled = referred, false
	return x.resource.Keep(ctx, x.record)
}

// Release takes the finalizers off what the Object refers to.
func (c *connector) Release(ctx context.Context, r *managed.Resource) error {
	var held record
	if err := r.Record(&held); err != nil {
		return err
	}
	for _, of := range held.Referred {
		if err := mark(ctx, marker{c, c.Home}, r, of, false); err != nil {
			return fmt.Errorf("cannot remove finalizer from referenced resource: %w", err)
		}
	}
	return nil
}

// marker writes finalizers of referents: those that an Object adds as its account, whose rights may be gone when they are taken off.
type marker struct {
	*connector
	by *cluster.Cluster
}

// mark puts the finalizer of an Object on a referent, or takes it off.
func mark(ctx context.Context, c marker, r *managed.Resource, of referent, on bool) error {
	resource, served := c.Home.Kinds.Lookup(of.gvk())
	if !served {
		return c.Home.Kinds.Gone(ctx, of.gvk().GroupKind())
	}
	client := c.by.Dynamic.Resource(resource.GroupVersionResource).Namespace(of.Namespace)
	o, err := client.Get(ctx, of.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	name := finalizerOf(r)
	wanted := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(one string) bool { return one == name })
	if on {
		wanted = append(wanted, name)
	}
	if slices.Equal(wanted, o.GetFinalizers()) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": wanted, "resourceVersion": o.GetResourceVersion()}})
	if err != nil {
		return err
	}
	made, err := client.Patch(ctx, of.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: controller})
	if err == nil {
		c.Edges.Wrote(r.Key(), o.GetResourceVersion(), made)
	}
	return err
}

// details are the connection details of the Object. They are in the cluster of its object.
func (x *external) details(ctx context.Context) (map[string][]byte, error) {
	values := map[string][]byte{}
	for _, declared := range x.spec.ConnectionDetails {
		d := detailOf(declared, x.manifest)
		o := x.live
		if !d.own {
			var err error
			if o, err = x.detailed(ctx, d); err != nil {
				return nil, err
			}
		}
		value, err := d.value(o)
		if err != nil {
			return nil, err
		}
		values[d.to] = value
	}
	return values, nil
}

// detailed is the object that a connection detail names.
func (x *external) detailed(ctx context.Context, d detail) (*unstructured.Unstructured, error) {
	name := d.name()
	if own := x.resource.Object.GetNamespace(); own != "" && name.Namespace == "" {
		name.Namespace = own
	} else if x.account.engine && own != "" && name.Namespace != own {
		return nil, managed.Invalid("%s: a resource in namespace %s cannot read namespace %s", d.referent, own, name.Namespace)
	}
	o, _, err := x.Get(ctx, x.resource.Key(), d.gvk(), name)
	switch {
	case err != nil:
		return nil, err
	case o == nil:
		return nil, managed.Invalid("cannot get object: %s not found", d.referent)
	case x.account.engine && x.resource.Kind.Namespaced && o.GetNamespace() == "":
		return nil, managed.Invalid("%s: a resource in a namespace takes no values of objects without one", d.referent)
	}
	return o, nil
}
